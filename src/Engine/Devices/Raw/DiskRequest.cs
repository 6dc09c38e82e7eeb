using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Lanes.Native;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Devices.Raw;

// One request on its way through the lane's backend: the pooled slot behind a disk's LaneTask.
//
// Decisions, by answer
//   whole count          done (a write that must be durable without RWF_DSYNC goes on with a sync)
//   durable              done if the device is still there: by a status operation of a foreign file, else at once
//   EAGAIN, EINTR        again, RetriesMax times
//   short read           go on behind it; nothing at all means that the file ends early: it was truncated, if its status says so too
//   short write          an error; the rest is tried once to learn whether the reason is a full host
//   other errno          IoErrors.FromErrno; of a sync it is counted for the other handles of the device
//   flush                done if no flush of another handle has failed since the last answer here, see DeviceUsers

/// <summary>A pooled request slot of a raw disk.</summary>
internal sealed class DiskRequest(RawDisk disk) : LaneTaskSource<IoError>, ICompletionTarget
{
    private const int RetriesMax = 100;

    private FileOperation _operation;
    private IoBuffer _vectors;    // rented for the vectors of a striped buffer
    private int _retries;
    private bool _syncAfter;      // a durable write whose first half is under way
    private bool _wasShort;       // a write came back short: only its reason is still wanted
    private bool _isFlush;
    private IoError _answer;      // of a request whose last step is a status operation, if the file is there

    /// <summary>Gives memory for the vectors of a striped buffer, which is the request's until it ends.</summary>
    internal unsafe IoVector* RentVectors(int count)
    {
        Invariant.That(count <= MemoryVectors.Max, "A request has so many strips at most.");
        _vectors = disk.Lane.Buffers.Rent(MemoryVectors.BytesOf(count));
        return (IoVector*)_vectors.Pointer;
    }

    internal LaneTask<IoError> Start(in FileOperation operation, bool syncAfter)
    {
        _syncAfter = syncAfter;
        _retries = 0;
        _isFlush = operation.Opcode == FileOpcode.Sync;
        _wasShort = false;
        _answer = IoError.None;
        LaneTask<IoError> task = Task;
        Submit(operation);
        return task;
    }

    public void OnCompletion(int result, bool more)
    {
        if (result is -Errno.EAGAIN or -Errno.EINTR && _retries++ < RetriesMax)
        {
            Submit(_operation);
            return;
        }

        if (result < 0 && result != FileCalls.Gone && HasSynced)
        {
            disk.NoteFailedFlush(IoErrors.FromResult(result));
        }

        switch (_operation.Opcode)
        {
            case FileOpcode.Read when result >= 0 && result < _operation.Length:
                ContinueRead(result);
                break;
            case FileOpcode.Write:
                EndWrite(result);
                break;
            case FileOpcode.Sync when result >= 0 && !disk.IsForeign:
                FinishIfPresent(IoError.None);
                break;
            case FileOpcode.Sync or FileOpcode.Status:
                FinishSeen(result);
                break;
            default:
                Finish(IoErrors.FromResult(result));
                break;
        }
    }

    protected override void Recycle() => disk.Return(this);

    /// <summary>
    /// Whether an error of the operation may be that of data written before: of every sync, and of a durable write through the page cache, which ends with one.
    /// </summary>
    private bool HasSynced => _operation.Opcode == FileOpcode.Sync
        || (_operation.Opcode == FileOpcode.Write && (_operation.Flags & Libc.RwDataSync) != 0 && disk.Access == DiskAccess.Buffered);

    private void ContinueRead(int count)
    {
        if (count == 0)
        {
            FinishIfPresent(IoError.Io);
            return;
        }

        Submit(Rest(count));
    }

    private void EndWrite(int result)
    {
        if (_wasShort || result < 0)
        {
            IoError error = IoErrors.FromResult(result);
            Finish(_wasShort && error != IoError.NoSpace ? IoError.Io : error);
        }
        else if (result < _operation.Length)
        {
            _wasShort = true;
            Submit(Rest(result));
        }
        else if (_syncAfter)
        {
            Submit(new FileOperation(FileOpcode.Sync, _operation.File, 0, 0, 0, 0));
        }
        else if ((_operation.Flags & Libc.RwDataSync) != 0)
        {
            FinishIfPresent(IoError.None);
        }
        else
        {
            Finish(IoError.None);
        }
    }

    /// <summary>Ends the request with this answer if the device is there, else with NoDevice.</summary>
    private void FinishIfPresent(IoError answer)
    {
        FileOperation status = disk.StatusOperation;
        if (disk.IsForeign || (CallFaults.IsOn && FileCalls.HasFault(status)))
        {
            _answer = answer;
            Submit(status);
            return;
        }

        IoError error = disk.PresenceError();
        Finish(error == IoError.None ? answer : error);
    }

    /// <summary>Ends a request whose last step was a status operation, or a sync that ends with one.</summary>
    private void FinishSeen(int result)
    {
        if (result == FileCalls.Gone)
        {
            disk.NoteGone();
        }

        IoError error = result is < 0 and not FileCalls.Gone ? IoErrors.FromResult(result) : disk.IsPresent ? IoError.None : IoError.NoDevice;
        Finish(error == IoError.None ? _answer : error);
    }

    private FileOperation Rest(int count) => _operation.Vectors > 0 ? MemoryVectors.Rest(_operation, count) : _operation with
    {
        Buffer = _operation.Buffer + count,
        Offset = _operation.Offset + count,
        Length = _operation.Length - count,
    };

    private void Submit(in FileOperation operation)
    {
        _operation = operation;
        disk.Lane.Submit(operation, this);
    }

    private void Finish(IoError error)
    {
        _operation = default;
        if (_vectors.Length > 0)
        {
            disk.Lane.Buffers.Return(_vectors);
            _vectors = default;
        }

        if (_isFlush && error == IoError.None)
        {
            error = disk.TakeFailedFlush();
        }

        disk.RequestEnded();
        Complete(error);
    }
}
