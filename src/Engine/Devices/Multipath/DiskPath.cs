using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Devices;

/// <summary>One path to a disk, common to all lanes that use the disk.</summary>
internal sealed class DiskPath(string uri, IDisk disk)
{
    private const long RetryNs = 5_000_000_000;

    private volatile bool _isFailed;
    private long _retryNs;

    /// <summary>URI by which it was opened.</summary>
    internal string Uri => uri;

    /// <summary>The device, for the lane that owns the disk.</summary>
    internal IDisk Disk => disk;

    /// <summary>Whether a request has failed on it that another path has done, or it is gone: it is not used.</summary>
    internal bool IsFailed => _isFailed || !disk.IsPresent;

    /// <summary>Whether it may be used; called on any lane.</summary>
    internal bool IsUsable => !_isFailed && disk.IsPresent;

    /// <summary>A request has failed on it.</summary>
    internal void NoteFailed(long nowNs)
    {
        Volatile.Write(ref _retryNs, nowNs + RetryNs);
        _isFailed = true;
    }

    /// <summary>A request has succeeded on it.</summary>
    internal void NoteAnswer()
    {
        if (_isFailed)
        {
            _isFailed = false;
        }
    }

    /// <summary>Whether a path that has failed and is there is to be tried now, with one read. The next attempt is due later.</summary>
    internal bool TakeTrial(long nowNs)
    {
        if (!_isFailed || nowNs < Volatile.Read(ref _retryNs) || !disk.IsPresent)
        {
            return false;
        }

        Volatile.Write(ref _retryNs, nowNs + RetryNs);
        return true;
    }
}
