using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Devices;

/// <summary>One path to a disk, common to all lanes that use the disk.</summary>
internal sealed class DiskPath(string uri, IDisk disk)
{
    private volatile bool _isFailed;
    private bool _isTried;   // now; used on the owner's lane

    /// <summary>URI by which it was opened.</summary>
    internal string Uri => uri;

    /// <summary>The device, for the lane that owns the disk.</summary>
    internal IDisk Disk => disk;

    /// <summary>Whether it may be used: it is there, and no request has failed on it that another path has done. Called on any lane.</summary>
    internal bool IsUsable => !_isFailed && disk.IsPresent;

    /// <summary>A request has failed on it.</summary>
    internal void NoteFailed() => _isFailed = true;

    /// <summary>A request has succeeded on it.</summary>
    internal void NoteAnswer()
    {
        if (_isFailed)
        {
            _isFailed = false;
        }
    }

    /// <summary>Begins to try it, see <see cref="MultipathDisk.Try"/>, if it cannot be used and is there; on the owner's lane.</summary>
    internal bool TryBegin() => !_isTried && !IsUsable && disk.IsPresent && (_isTried = true);

    /// <summary>It has been tried.</summary>
    internal void EndTry() => _isTried = false;
}
