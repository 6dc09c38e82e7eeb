using TierSpaces.Engine.Exports.Nbd;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Lanes.Native;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Exports.Fuse;

// One virtual disk as the one file of a FUSE file system, on the lane of the disk: the kernel's requests are read, given to the store and answered here, with
// no process in between. Only writes of at most CopiedMax bytes are copied.
//
// Invariants
//  1. Every byte that an answer consists of, and every byte that a request is read into, is memory of the lane's buffers, which is locked. A process that is
//     killed while the kernel copies an answer from a page that has to be fetched loses the request: it is neither answered nor delivered again.
//  2. A request that was read is answered once, or the channel owes an answer, and the next session asks the kernel for it again.
//  3. At most BytesMax bytes of data and SlotsMax requests are under way; the rest waits in the kernel.
//  4. PerTurn requests are read in a turn of the lane: one busy disk cannot keep the lane from the others.
//  5. The landing is rented whenever no write has taken it over.
//  6. The kernel is asked to deliver again before the first request is read: what it delivers again comes before what is new. It stays a client until it
//     has ended the connection; the end of a session alone ends no request.

/// <summary>The kernel as a client of an export.</summary>
internal sealed class FuseSession : IExportClient, IStoreClient
{
    private const int SlotsMax = 256;
    private const int PerTurn = 16;
    private const int CopiedMax = 64 << 10;              // a write of more takes the landing over
    private const long BytesMax = 48L * FuseAbi.MaxData;
    private const int SmallBytes = 4096;
    private const int BodyAt = FuseHead.Size;
    private const int AnswerAt = 1024;                   // of the small memory: the head of an answer, and what is short
    private const int NameMax = 512;

    private readonly ILane _lane;
    private readonly NbdExport _export;
    private readonly IBlockStore _store;
    private readonly FuseChannel _channel;
    private readonly Action<string> _notice;
    private readonly Action _takeInTurn;
    private readonly NbdSignal _quiet = new();
    private readonly IoBuffer _small;
    private readonly IoBuffer _headIn;
    private readonly IoBuffer _headOut;
    private ILaneMessages _messages = null!;
    private IoBuffer _landing;
    private FreeList<FuseRequest> _free;
    private int _running;
    private long _bytes;        // of data that requests hold
    private bool _isDue;        // a turn of its own will read on
    private bool _isHeld;       // something that ends reads on
    private bool _isEnding;
    private WriteFlags _client;

    private FuseSession(ILane lane, NbdExport export, FuseChannel channel, Action<string> notice)
    {
        (_lane, _export, _channel, _notice) = (lane, export, channel, notice);
        _store = export.Store;
        _takeInTurn = TakeInTurn;
        _small = lane.Buffers.Rent(SmallBytes);
        _headIn = _small.Slice(0, FuseAbi.WriteHead);
        _headOut = _small.Slice(AnswerAt, FuseAbi.AnswerHead);
        _landing = lane.Buffers.Rent(FuseAbi.MaxData).AllowKeeping();
    }

    /// <summary>Serves an export to the kernel, on its lane. The kernel sends requests again that an earlier session has not answered.</summary>
    /// <exception cref="IOException">The memory of the lane cannot be locked.</exception>
    internal static FuseSession Start(ILane lane, ILaneNetwork network, NbdExport export, FuseChannel channel, Action<string> notice)
    {
        FuseSession session = new(lane, export, channel, notice);
        try
        {
            session._messages = network.OpenMessages(channel.Descriptor, session.OnReadable);
        }
        catch (IOException)
        {
            session.ReturnMemory();
            throw;
        }

        session._client = StoreClients.Add(session);
        export.Attach(session);
        channel.SetAnswers(!export.IsSuspended);
        session.AskAgain();
        session.TakeSoon();
        return session;
    }

    /// <summary>Takes no further request, and completes when those that were taken have been answered. The connection stays.</summary>
    internal async LaneTask Drain()
    {
        _isEnding = true;
        _channel.SetAnswers(false);
        while (_running > 0)
        {
            await _quiet.Next();
        }

        _messages.Close();
        _export.Detach(this);
        await _lane.Yield();   // the request that ended last is still on the stack
        StoreClients.Remove(_client);
        ReturnMemory();
    }

    /// <inheritdoc/>
    public bool HasEnded => _channel.IsGone;

    /// <inheritdoc/>
    public void Wake() => TakeSoon();

    /// <summary>A call that took its time has ended.</summary>
    internal void End(FuseRequest request, IoError error, RequestException? failure)
    {
        Finish(request, error, failure);
        if (_isHeld)
        {
            TakeSoon();
        }

        if (_running == 0 && _isEnding)
        {
            _quiet.Set();
        }
    }

    private void ReturnMemory()
    {
        _lane.Buffers.Return(_landing);
        _lane.Buffers.Return(_small);
    }

    private void AskAgain()
    {
        if (_channel.TakeUnanswered())
        {
            FuseAbi.PutResend(_headOut.Span);
            if (_messages.Write(_headOut, default) is < 0 and var error)
            {
                _channel.LeaveUnanswered();
                _notice($"FUSE: the kernel does not deliver requests again that a host before has left: {Errno.Describe(-error)}");
            }
        }
    }

    private void OnReadable()
    {
        if (!_isDue)
        {
            TakeInTurn();
        }
    }

    /// <summary>Reads in a turn of its own: the caller may be in the middle of a request.</summary>
    private void TakeSoon()
    {
        if (!_isDue)
        {
            _isDue = true;
            _lane.Post(_takeInTurn);
        }
    }

    private void TakeInTurn()
    {
        _isDue = false;
        for (int taken = 0; taken < PerTurn; taken++)
        {
            if (_isEnding || _channel.IsGone)
            {
                return;
            }

            _channel.SetAnswers(!_export.IsSuspended);
            _isHeld = _export.IsSuspended || _running >= SlotsMax || _bytes >= BytesMax;
            if (_isHeld)
            {
                return;
            }

            int length = _messages.Read(_headIn, _landing);
            if (length >= FuseHead.Size)
            {
                Take(FuseHead.Decode(_headIn.Span), length);
            }
            else if (length == -Errno.EAGAIN)
            {
                return;
            }
            else if (length != -Errno.ENOENT)   // that one was given up by its sender
            {
                _channel.SetGone();   // unmounted, or aborted
                return;
            }
        }

        TakeSoon();
    }

    private void Take(in FuseHead head, int length)
    {
        Span<byte> body = _small.Span[BodyAt..];
        if (head.Operation != FuseOperation.Write && length > FuseAbi.WriteHead)
        {
            _landing.Span[..Math.Min(length - FuseAbi.WriteHead, NameMax)].CopyTo(_small.Span[FuseAbi.WriteHead..]);
        }

        switch (head.Operation)
        {
            case FuseOperation.Read:
                TakeRead(head.Unique, FuseRange.OfTransfer(body));
                break;
            case FuseOperation.Write:
                TakeWrite(head.Unique, FuseRange.OfTransfer(body), length - FuseAbi.WriteHead);
                break;
            case FuseOperation.Sync when head.Node == FuseAbi.DiskNode:
                Begin(head.Unique, NbdCommand.Flush, WriteFlags.None, default, default);
                break;
            case FuseOperation.Allocate:
                TakeAllocation(head.Unique, FuseRange.OfAllocation(body));
                break;
            case FuseOperation.Forget or FuseOperation.ForgetSeveral or FuseOperation.Interrupt or FuseOperation.Destroy:
                break;   // these are not answered
            default:
                AnswerInPlace(head, body);
                break;
        }
    }

    private void TakeRead(ulong unique, in FuseRange asked)
    {
        long left = _export.Store.Geometry.Length - asked.Offset;
        FuseRange range = asked with { Length = Math.Clamp(left, 0, asked.Length) };
        if (Check(range) is not 0 and var errno)
        {
            Answer(unique, errno, default);
        }
        else if (range.Length == 0)
        {
            Answer(unique, 0, default);
        }
        else
        {
            Begin(unique, NbdCommand.Read, WriteFlags.None, range, _lane.Buffers.Rent((int)range.Length).AllowKeeping());
        }
    }

    private void TakeWrite(ulong unique, in FuseRange range, int received)
    {
        int errno = range.Length != received || range.Length is 0 or > FuseAbi.MaxData ? Errno.EINVAL : CheckChange(range);
        if (errno != 0)
        {
            Answer(unique, errno, default);
        }
        else if (received > CopiedMax)
        {
            IoBuffer taken = _landing;
            _landing = _lane.Buffers.Rent(FuseAbi.MaxData).AllowKeeping();
            Begin(unique, NbdCommand.Write, WriteFlags.None, range, taken);
        }
        else
        {
            IoBuffer copy = _lane.Buffers.Rent(received).AllowKeeping();
            _landing.Span[..received].CopyTo(copy.Span);
            Begin(unique, NbdCommand.Write, WriteFlags.None, range, copy);
        }
    }

    /// <summary>Zeroes that may be a hole, or that keep their space.</summary>
    private void TakeAllocation(ulong unique, in FuseRange range)
    {
        bool isHole = range.Mode == (FuseAllocation.PunchHole | FuseAllocation.KeepSize);
        bool isZero = (range.Mode & ~FuseAllocation.KeepSize) == FuseAllocation.ZeroRange;
        int errno = !isHole && !isZero ? Errno.EOPNOTSUPP : range.Length <= 0 ? Errno.EINVAL : CheckChange(range);
        if (errno != 0)
        {
            Answer(unique, errno, default);
        }
        else
        {
            Begin(unique, isHole ? NbdCommand.Trim : NbdCommand.WriteZeroes, isHole ? WriteFlags.None : WriteFlags.NoHole, range, default);
        }
    }

    private int CheckChange(in FuseRange range) =>
        _export.IsReadOnly ? Errno.EROFS : range.Length > _export.Store.Geometry.Length - range.Offset ? Errno.ENOSPC : Check(range);

    private int Check(in FuseRange range) =>
        range.Offset < 0 || ((range.Offset | range.Length) & (_export.Store.Geometry.SmallestRequest - 1)) != 0 ? Errno.EINVAL : 0;

    private void Begin(ulong unique, NbdCommand command, WriteFlags flags, in FuseRange range, IoBuffer memory)
    {
        FuseRequest request = _free.Take() ?? new FuseRequest(this);
        request.Begin(unique, command, flags | _client, range, memory);
        _running++;
        _bytes += memory.Length;
        _export.BeginCall();
        if (!request.TryExecute(_lane, _export, _store, out LaneTask<IoError>.Awaiter call, out RequestException? failure))
        {
            Finish(request, IoError.Io, failure);
        }
        else if (call.IsCompleted)
        {
            Finish(request, StoreCall.ResultOf(call, out failure), failure);
        }
        else
        {
            request.Await(call);
        }
    }

    private void Finish(FuseRequest request, IoError error, RequestException? failure)
    {
        _export.EndCall();
        request.EndTrace(_lane, _export);
        _export.Counters.Count(request.Command, request.Length, error == IoError.None);
        if (failure is not null)
        {
            _notice($"FUSE: {request.Command} of {ByteText.Exact(request.Length)} at offset {ByteText.Offset(request.Offset)} ended with an exception. {failure}");
        }

        IoBuffer data = request.Command == NbdCommand.Read ? request.Settle(_lane.Buffers) : default;
        if (error == IoError.ShutDown)
        {
            _channel.LeaveUnanswered();   // the store is closing: the disk will be back, or its device is removed
        }
        else if (request.Command == NbdCommand.Write && error == IoError.None)
        {
            BitConverter.TryWriteBytes(_small.Span[(AnswerAt + FuseAbi.AnswerHead)..], request.Length);   // 4 bytes, then 4 of no meaning
            Answer(request.Unique, 0, _small.Slice(AnswerAt + FuseAbi.AnswerHead, 8));
        }
        else
        {
            Answer(request.Unique, ErrnoOf(error), error == IoError.None ? data : default);
        }

        _bytes -= request.Memory.Length;
        if (request.TakeMemory() is { Length: > 0 } memory)
        {
            _lane.Buffers.Return(memory);
        }

        _running--;
        _free.Return(request);
    }

    /// <summary>Answers what needs nothing of the store.</summary>
    private void AnswerInPlace(in FuseHead head, ReadOnlySpan<byte> body)
    {
        Span<byte> answer = _small.Span[(AnswerAt + FuseAbi.AnswerHead)..];
        StoreGeometry geometry = _export.Store.Geometry;
        int errno = 0;
        int length = 0;
        switch (head.Operation)
        {
            case FuseOperation.Init:
                (errno, length) = BeginConnection(body, answer);
                break;
            case FuseOperation.LookUp when IsName(body):
                length = FuseAbi.PutEntry(answer, geometry, _export.IsReadOnly);
                break;
            case FuseOperation.LookUp:
                errno = Errno.ENOENT;
                break;
            case FuseOperation.SetAttributes when (BitConverter.ToUInt32(body) & FuseAbi.SetsSize) != 0 && BitConverter.ToInt64(body[16..]) != geometry.Length:
                errno = Errno.EPERM;   // Resize-VirtualDisk is for that
                break;
            case FuseOperation.GetAttributes or FuseOperation.SetAttributes:
                length = FuseAbi.PutAttributesOf(answer, head.Node, geometry, _export.IsReadOnly);
                break;
            case FuseOperation.Open or FuseOperation.OpenFolder:
                length = FuseAbi.PutOpen(answer, head.Operation == FuseOperation.Open ? FuseAbi.OpenDirect : 0);
                break;
            case FuseOperation.ReadFolder:
                length = FuseAbi.PutFolder(answer, _channel.FileName, BitConverter.ToInt64(body[8..]));
                break;
            case FuseOperation.StatFileSystem:
                length = FuseAbi.PutFileSystem(answer, geometry);
                break;
            case FuseOperation.Release or FuseOperation.ReleaseFolder or FuseOperation.Access or FuseOperation.Sync:
                break;
            default:
                errno = Errno.ENOSYS;   // the kernel does without
                break;
        }

        Answer(head.Unique, errno, _small.Slice(AnswerAt + FuseAbi.AnswerHead, length));
    }

    private (int Errno, int Length) BeginConnection(ReadOnlySpan<byte> offer, Span<byte> answer)
    {
        if ((FuseAbi.OfferedBy(offer) & FuseFeatures.Resend) == 0)
        {
            _channel.Begin("this kernel does not deliver requests again that a host was killed over (FUSE_HAS_RESEND, Linux 6.9)");
            return (Errno.EOPNOTSUPP, 0);
        }

        _channel.Begin("");
        return (0, FuseAbi.PutChoice(answer, offer));
    }

    private bool IsName(ReadOnlySpan<byte> body) => body.Length > _channel.FileName.Length
        && body.StartsWith(_channel.FileName) && body[_channel.FileName.Length] == 0;

    private void Answer(ulong unique, int errno, IoBuffer data)
    {
        FuseAbi.PutHead(_headOut.Span, unique, errno, data.Length);
        if (!_channel.IsGone && _messages.Write(_headOut, data) is < 0 and (not -Errno.ENOENT) and var error)
        {
            if (error == -Errno.ENODEV)
            {
                _channel.SetGone();
            }
            else
            {
                _notice($"FUSE: the kernel does not take an answer: {Errno.Describe(-error)}");
                _channel.LeaveUnanswered();
            }
        }
    }

    private static int ErrnoOf(IoError error) => error switch
    {
        IoError.None => 0,
        IoError.NoSpace => Errno.ENOSPC,
        IoError.NoMemory => Errno.ENOMEM,
        IoError.NotPermitted or IoError.ReadOnly => Errno.EROFS,
        IoError.NotSupported => Errno.EOPNOTSUPP,
        IoError.InvalidArgument => Errno.EINVAL,
        _ => Errno.EIO,
    };
}
