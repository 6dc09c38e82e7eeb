using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Devices;

/// <summary>One request in flight on a disk with several paths: if the path fails, it is made again on each other path, one after the other.</summary>
internal sealed class PathRequest : LaneTaskSource<IoError>
{
    private readonly MultipathDisk _disk;
    private readonly Action _resume;
    private LaneTask<IoError>.Awaiter _followed;
    private MultipathDisk.Use? _use;
    private ulong _tried;      // uses that have failed, by position
    private ulong _traced;     // see RequestTrace

    internal PathRequest(MultipathDisk disk) => (_disk, _resume) = (disk, Resume);

    internal PathOperation Operation { get; private set; }

    internal long Offset { get; private set; }

    internal long Length { get; private set; }

    internal IoBuffer Buffer { get; private set; }

    internal WriteFlags Flags { get; private set; }

    /// <summary>Follows the request on its first path.</summary>
    internal LaneTask<IoError> Begin(
        PathOperation operation, long offset, long length, IoBuffer buffer, WriteFlags flags, MultipathDisk.Use use, LaneTask<IoError> below)
    {
        (Operation, Offset, Length, Buffer, Flags, _tried) = (operation, offset, length, buffer, flags, 0);
        _traced = RequestTrace.IsOn ? RequestTrace.Current : 0;
        LaneTask<IoError> task = Task;
        Follow(use, below);
        return task;
    }

    /// <inheritdoc/>
    protected override void Recycle()
    {
        Buffer = default;
        _use = null;
        _disk.Return(this);
    }

    private void Follow(MultipathDisk.Use use, LaneTask<IoError> below)
    {
        _use = use;
        use.Begin();
        _followed = below.GetAwaiter();
        _followed.UnsafeOnCompleted(_resume);
    }

    private void Resume()
    {
        if (_traced == 0)
        {
            End();
            return;
        }

        ulong before = RequestTrace.Enter(_traced);
        End();
        RequestTrace.Enter(before);
    }

    private void End()
    {
        IoError error = _followed.GetResult();
        _followed = default;
        MultipathDisk.Use use = _use!;
        use.End();
        if (_disk.Next(this, use, error, ref _tried) is { } other)
        {
            Follow(other, _disk.Submit(other, this));
        }
        else
        {
            Complete(_disk.Answer(Operation, use, error, isRepeated: _tried != 0));
        }
    }
}
