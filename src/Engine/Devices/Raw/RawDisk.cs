using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Lanes.Native;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Devices.Raw;

// A file or block device as a disk. One class for both lane backends: the lane decides how an operation is run, this
// class decides which operation is run.
//
//   Direct    aligned requests go to the lane; other requests go through UnalignedAccess
//   Buffered  a read asks the page cache first (RWF_NOWAIT), unless the file is foreign, then goes to the lane
//   Memory    reads and writes are plain calls here and now
//
// Invariants
//  1. Every request is checked against geometry and closing before anything is touched.
//  2. A flush or durable write succeeds only while the device is still there with its size: a truncated or unlinked
//     image would swallow writes without an error. Once gone, a disk stays gone until it is reopened. Of a foreign file that is found out by a status
//     operation, which begins after the data is durable; of others the kernel knows it.
//  3. The descriptor is closed after the last request in flight.
//  4. A handle has a duplicate of the descriptor and all else of its own, but DeviceUsers. Writes smaller than the unit of direct access read it first: the
//     gate of UnalignedAccess keeps writes of this lane apart only, see IDisk.Share.

/// <summary>A member disk over an image file or a block device.</summary>
public sealed class RawDisk : IDisk
{
    private readonly OpenedDevice _device;
    private readonly LaneFile _file;
    private readonly UnalignedAccess? _unaligned;     // direct access only
    private readonly RawRanges _ranges;
    private readonly DeviceUsers _users;
    private FreeList<DiskRequest> _free;
    private LaneCompletion<Nothing>? _drained;        // while Close waits
    private bool _tryPageCache;
    private bool _closing;
    private bool _isClosed;
    private FlushFailures _reported;                  // failed flushes of the device, by any handle, that this one has answered with: see DeviceUsers

    internal RawDisk(Lane lane, OpenedDevice device, DiskIdentity identity, int atomicSize)
        : this(lane, device, identity, atomicSize, new DeviceUsers())
    {
    }

    private RawDisk(Lane lane, OpenedDevice device, DiskIdentity identity, int atomicSize, DeviceUsers users)
    {
        Lane = lane;
        Identity = identity;
        Geometry = new StoreGeometry(device.SizeBytes, identity.LogicalSectorSize, atomicSize, BufferPool.LargestBuffer);
        _device = device;
        _users = users;
        _reported = users.Failures;
        _file = lane.AddFile(device.Descriptor, device.IsForeign ? device.SizeBytes : 0, users.Guard);
        _tryPageCache = device.Access == DiskAccess.Buffered && !device.IsForeign;
        _unaligned = device.Access == DiskAccess.Direct ? new UnalignedAccess(this, device) : null;
        _ranges = new RawRanges(this, device, _file, _unaligned);
    }

    /// <inheritdoc/>
    public DiskIdentity Identity { get; }

    /// <inheritdoc/>
    public StoreGeometry Geometry { get; }

    /// <summary>Path of requests to the medium.</summary>
    public DiskAccess Access => _device.Access;

    /// <summary>Reason for that path, in words.</summary>
    public string AccessReason => _device.AccessReason;

    /// <inheritdoc/>
    public int InFlight { get; private set; }

    /// <inheritdoc/>
    public bool IsPresent => !_isClosed && !_users.IsGone;

    internal Lane Lane { get; }

    /// <inheritdoc cref="OpenedDevice.IsForeign"/>
    internal bool IsForeign => _device.IsForeign;

    /// <summary>The operation that looks at the file.</summary>
    internal FileOperation StatusOperation => new(FileOpcode.Status, _file, 0, 0, _device.SizeBytes, 0);

    /// <inheritdoc/>
    public LaneTask<IoError> CheckPresence() =>
        _closing ? new LaneTask<IoError>(IoError.ShutDown)
        : !IsPresent || _device.IsBlockDevice || _device.Access == DiskAccess.Memory ? new LaneTask<IoError>(PresenceError())
        : Start(StatusOperation, syncAfter: false);

    /// <inheritdoc/>
    public LaneTask<IoError> Read(long offset, IoBuffer target)
    {
        if (Check(offset, target.Length, Geometry.MaxTransfer) is var error and not IoError.None)
        {
            return new LaneTask<IoError>(error);
        }

        if (_device.Access == DiskAccess.Memory)
        {
            return new LaneTask<IoError>(ReadNow(offset, target));
        }

        if (_unaligned is { } unaligned && !unaligned.IsAligned(offset, target))
        {
            return unaligned.Read(offset, target);
        }

        return _tryPageCache && ReadFromPageCache(offset, target)
            ? new LaneTask<IoError>(IoError.None)
            : StartRead(offset, target);
    }

    /// <inheritdoc/>
    public LaneTask<IoError> Write(long offset, IoBuffer source, WriteFlags flags)
    {
        if (CheckWrite(offset, source.Length, Geometry.MaxTransfer) is var error and not IoError.None)
        {
            return new LaneTask<IoError>(error);
        }

        bool durable = (flags & WriteFlags.ForceUnitAccess) != 0;
        if (_device.Access == DiskAccess.Memory)
        {
            return new LaneTask<IoError>(WriteNow(offset, source, durable));
        }

        return _unaligned is { } unaligned && !unaligned.MayWriteDirectly(offset, source)
            ? unaligned.Write(offset, source, durable)
            : StartWrite(offset, source, durable);
    }

    /// <inheritdoc/>
    public LaneTask<IoError> Flush()
    {
        if (_closing)
        {
            return new LaneTask<IoError>(IoError.ShutDown);
        }

        return _device.Access == DiskAccess.Memory
            ? new LaneTask<IoError>(PresenceError())
            : Start(new FileOperation(FileOpcode.Sync, _file, 0, 0, 0, 0), syncAfter: false);
    }

    /// <inheritdoc/>
    public LaneTask<IoError> Unmap(long offset, long length)
    {
        IoError error = CheckWrite(offset, length, long.MaxValue);
        return error != IoError.None || length == 0 ? new LaneTask<IoError>(error) : _ranges.Unmap(offset, length);
    }

    /// <inheritdoc/>
    public LaneTask<IoError> WriteZeroes(long offset, long length, WriteFlags flags)
    {
        IoError error = CheckWrite(offset, length, long.MaxValue);
        return error != IoError.None || length == 0 ? new LaneTask<IoError>(error) : _ranges.Zero(offset, length, flags);
    }

    /// <inheritdoc/>
    public LaneTask<IoError> Status(long offset, long length, List<StoreExtent> extents)
    {
        IoError error = Check(offset, length, long.MaxValue);
        if (error != IoError.None || length == 0)
        {
            return new LaneTask<IoError>(error);
        }

        if (_device.IsBlockDevice)
        {
            FileExtents.Append(extents, length, ExtentState.Data);
            return new LaneTask<IoError>(IoError.None);
        }

        return _ranges.StatusOfFile(offset, length, extents);
    }

    /// <inheritdoc/>
    void IDisk.GuardCalls(ICallCondition? condition) => _users.Guard.Require(condition);

    /// <inheritdoc/>
    public DiskShare Share()
    {
        if (_closing)
        {
            throw new InvalidOperationException($"{Identity.Uri} is closed.");
        }

        int descriptor = Libc.CountOrError(Libc.FileControl(_device.Descriptor, Libc.DuplicateCloseOnExec, 0));
        if (descriptor < 0)
        {
            throw new DiskOpenException(DiskOpenFailure.Failed, $"Cannot open '{Identity.Uri}' for another lane: {Errno.Describe(-descriptor)}.");
        }

        _users.Add();
        OpenedDevice device = _device with { Descriptor = descriptor };
        return new DiskShare(
            lane => new RawDisk((Lane)lane, device, Identity, Geometry.AtomicSize, _users),
            () => CloseFile(new LaneFile(descriptor, -1)).Forget());
    }

    /// <inheritdoc/>
    public async LaneTask Close()
    {
        if (_closing)
        {
            return;
        }

        _closing = true;
        if (InFlight > 0)
        {
            _drained = LaneCompletion<Nothing>.Rent();
            await new LaneTask(_drained.Task);
        }

        _isClosed = true;
        Lane.RemoveFile(_file);
        await CloseFile(_file);
    }

    internal LaneTask<IoError> StartRead(long offset, IoBuffer target) => Start(FileOpcode.Read, offset, target, 0, syncAfter: false);

    internal LaneTask<IoError> StartWrite(long offset, IoBuffer source, bool durable)
    {
        bool byFlag = durable && _device.HonoursSyncFlag;
        int flags = byFlag ? Libc.RwDataSync : 0;
        return Start(FileOpcode.Write, offset, source, flags, syncAfter: durable && !byFlag);
    }

    /// <summary>Counts work that spans several requests, so that Close waits for it.</summary>
    internal void RequestBegun() => InFlight++;

    internal void RequestEnded()
    {
        InFlight--;
        if (InFlight == 0 && _drained is { } drained)
        {
            _drained = null;
            drained.Complete(default);
        }
    }

    internal void Return(DiskRequest request) => _free.Return(request);

    /// <summary>Runs calls on the open file on a thread, in turn with its other operations.</summary>
    internal LaneTask OffloadCalls(Action calls) => Lane.OffloadBlocking(calls, _file);

    /// <summary>None while the device is there, else the error of a flush. Of a foreign file it is what was last found.</summary>
    internal IoError PresenceError()
    {
        if (IsPresent && !IsForeign && !DevicePresence.IsThere(_device))
        {
            NoteGone();
        }

        return IsPresent ? IoError.None : IoError.NoDevice;
    }

    /// <summary>A status operation has found the file gone.</summary>
    internal void NoteGone() => _users.NoteGone();

    /// <summary>A sync has failed: the flushes of the other handles fail too.</summary>
    internal void NoteFailedFlush(IoError error)
    {
        _users.NoteFailedFlush(error);
        FlushFailures failures = _users.Failures;
        _reported = error == IoError.NoSpace ? _reported with { Full = failures.Full } : failures;   // the request that failed is the answer
    }

    /// <summary>Returns the error that a flush which succeeded here ends with because flushes of other handles have failed.</summary>
    internal IoError TakeFailedFlush()
    {
        FlushFailures failures = _users.Failures;
        IoError error = failures.ErrorSince(_reported);
        _reported = failures;
        return error;
    }

    private unsafe LaneTask<IoError> Start(FileOpcode opcode, long offset, IoBuffer buffer, int flags, bool syncAfter)
    {
        FileOperation operation = new(opcode, _file, (nint)buffer.Pointer, offset, buffer.Length, flags);
        return buffer.IsStriped ? StartVectors(operation, buffer, syncAfter) : Start(operation, syncAfter);
    }

    private unsafe LaneTask<IoError> StartVectors(in FileOperation operation, IoBuffer buffer, bool syncAfter)
    {
        InFlight++;
        DiskRequest request = _free.Take() ?? new DiskRequest(this);
        IoVector* vectors = request.RentVectors(buffer.Strips);
        int count = MemoryVectors.Describe(vectors, buffer);
        return request.Start(operation with { Buffer = (nint)vectors, Vectors = (ushort)count }, syncAfter);
    }

    internal LaneTask<IoError> Start(in FileOperation operation, bool syncAfter)
    {
        InFlight++;
        DiskRequest request = _free.Take() ?? new DiskRequest(this);
        return request.Start(operation, syncAfter);
    }

    private LaneTask<IoError> CloseFile(LaneFile file) =>
        Start(new FileOperation(FileOpcode.Close, file, 0, 0, 0, Flags: _users.RemoveAndSeeIfLast() ? 1 : 0), syncAfter: false);

    private IoError Check(long offset, long length, long lengthMax)
    {
        if (_closing)
        {
            return IoError.ShutDown;
        }

        bool inside = offset >= 0 && length >= 0 && offset <= Geometry.Length - length;
        if (!inside || ((offset | length) & (Geometry.BlockSize - 1)) != 0)
        {
            return IoError.InvalidArgument;
        }

        return length > lengthMax ? IoError.TooLarge : IoError.None;
    }

    private IoError CheckWrite(long offset, long length, long lengthMax) => _device.IsReadOnly ? IoError.ReadOnly : Check(offset, length, lengthMax);

    private unsafe bool ReadFromPageCache(long offset, IoBuffer target)
    {
        int result = target.IsStriped ? TransferVectors(FileOpcode.Read, offset, target, 0, Libc.RwNoWait)
            : FileCalls.Read(_device.Descriptor, target.Pointer, (nuint)target.Length, offset, Libc.RwNoWait);
        _tryPageCache = result != -Errno.EOPNOTSUPP;
        return result == target.Length;
    }

    private unsafe IoError ReadNow(long offset, IoBuffer target)
    {
        for (int done = 0; done < target.Length;)
        {
            int result = target.IsStriped ? TransferVectors(FileOpcode.Read, offset, target, done, 0)
                : FileCalls.Read(_device.Descriptor, target.Pointer + done, (nuint)(target.Length - done), offset + done, 0);
            if (result <= 0 && result != -Errno.EINTR)
            {
                return result < 0 ? IoErrors.FromResult(result) : PresenceError() == IoError.None ? IoError.Io : IoError.NoDevice;
            }

            done += Math.Max(0, result);
        }

        return IoError.None;
    }

    private unsafe IoError WriteNow(long offset, IoBuffer source, bool durable)
    {
        for (int done = 0; done < source.Length;)
        {
            int result = source.IsStriped ? TransferVectors(FileOpcode.Write, offset, source, done, 0)
                : FileCalls.Write(_device.Descriptor, source.Pointer + done, (nuint)(source.Length - done), offset + done, 0);
            if (result <= 0 && result != -Errno.EINTR)
            {
                return result < 0 ? IoErrors.FromResult(result) : IoError.Io;
            }

            done += Math.Max(0, result);   // a short count in memory means that it is full: the next call says so
        }

        return durable ? PresenceError() : IoError.None;
    }

    /// <summary>Reads or writes a striped buffer here and now, from a byte on.</summary>
    private unsafe int TransferVectors(FileOpcode opcode, long offset, IoBuffer buffer, int done, int flags)
    {
        Invariant.That(buffer.Strips <= MemoryVectors.Max, "A request has so many strips at most.");
        IoVector* vectors = stackalloc IoVector[buffer.Strips];
        int count = MemoryVectors.Describe(vectors, buffer, done);
        nuint length = (nuint)(buffer.Length - done);
        return opcode == FileOpcode.Read
            ? FileCalls.ReadVectors(_device.Descriptor, vectors, count, length, offset + done, flags)
            : FileCalls.WriteVectors(_device.Descriptor, vectors, count, length, offset + done, flags);
    }
}
