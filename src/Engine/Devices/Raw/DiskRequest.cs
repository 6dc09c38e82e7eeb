using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Lanes.Native;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Devices.Raw;

// One request on its way through the lane's backend: the pooled slot behind a disk's LaneTask.
//
// Decisions, by answer
//   whole count          done (a write that must be durable without RWF_DSYNC goes on with a sync)
//   EAGAIN, EINTR        again, RetriesMax times
//   short read           go on behind it; nothing at all means that the file ends early: it was truncated
//   short write          an error; the rest is tried once to learn whether the reason is a full host
//   other errno          IoErrors.FromErrno

/// <summary>A pooled request slot of a raw disk.</summary>
internal sealed class DiskRequest(RawDisk disk) : LaneTaskSource<IoError>, ICompletionTarget
{
    private const int RetriesMax = 100;

    private FileOperation _operation;
    private int _retries;
    private bool _syncAfter;      // a durable write whose first half is under way
    private bool _wasShort;       // a write came back short: only its reason is still wanted

    internal LaneTask<IoError> Start(in FileOperation operation, bool syncAfter)
    {
        _syncAfter = syncAfter;
        _retries = 0;
        _wasShort = false;
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

        switch (_operation.Opcode)
        {
            case FileOpcode.Read when result >= 0 && result < _operation.Length:
                ContinueRead(result);
                break;
            case FileOpcode.Write:
                EndWrite(result);
                break;
            case FileOpcode.Sync:
                Finish(result < 0 ? IoErrors.FromResult(result) : disk.PresenceError());
                break;
            default:
                Finish(IoErrors.FromResult(result));
                break;
        }
    }

    protected override void Recycle() => disk.Return(this);

    private void ContinueRead(int count)
    {
        if (count == 0)
        {
            IoError error = disk.PresenceError();
            Finish(error == IoError.None ? IoError.Io : error);
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
        else
        {
            bool durable = (_operation.Flags & Libc.RwDataSync) != 0;
            Finish(durable ? disk.PresenceError() : IoError.None);
        }
    }

    private FileOperation Rest(int count) => _operation with
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
        disk.RequestEnded();
        Complete(error);
    }
}
