using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

// Outcome of the repairs of one virtual disk, and the time at which the next one may begin by itself. Nothing of it outlives the host.

/// <summary>Repairs of a virtual disk so far.</summary>
internal sealed class RepairHistory
{
    private const long LeavingLookNs = 10_000_000_000;   // until a virtual disk with slabs on a disk that they are to leave is looked at again
    private const long LookNs = 2_000_000_000;           // until another one is
    private const int DoublingsMax = 10;

    private (Pool Pool, DiskNumber Disk)[] _lookedAtFor = [];   // disks that its slabs were to leave when it was last found whether a repair is due
    private (Pool Pool, DiskNumber Disk)[] _stoppedFor = [];    // disks that were to be drained when a user stopped its repair
    private long _leftBehind;                                   // bytes that its last repair could have made whole and did not
    private int _vainRepairs;                                   // in a row, that left more than half of what the one before left

    /// <summary>Whether a user stopped its repair: none is begun for stale copies without a command, or until another disk is back.</summary>
    internal bool IsStopped { get; private set; }

    /// <summary>Before this, on the lane's clock, no repair is begun without a command.</summary>
    internal long NotBeforeNs { get; private set; }

    /// <summary>Whether it is time to find out if a repair is due, which it is at once for a disk that slabs are to leave and were not before.</summary>
    internal bool TryLook(long nowNs, (Pool Pool, DiskNumber Disk)[] leaving)
    {
        if (nowNs < NotBeforeNs && !leaving.Except(_lookedAtFor).Any())
        {
            return false;
        }

        _lookedAtFor = leaving;
        NotBeforeNs = nowNs + (leaving.Length > 0 ? LeavingLookNs : LookNs);
        return true;
    }

    /// <summary>Disks that a repair may drain without a command.</summary>
    internal IEnumerable<(Pool Pool, DiskNumber Disk)> MayDrain((Pool Pool, DiskNumber Disk)[] leaving) => leaving.Except(_stoppedFor);

    /// <summary>A repair begins by itself.</summary>
    internal void Begin() => IsStopped = false;

    /// <summary>No repair begins by itself before a time.</summary>
    internal void WaitUntil(long notBeforeNs) => NotBeforeNs = notBeforeNs;

    /// <summary>A repair has ended, or a user has stopped it.</summary>
    /// <param name="isStopped">Whether a user has.</param>
    /// <param name="leaving">Disks that slabs are to leave now.</param>
    internal void End(bool isStopped, IEnumerable<(Pool Pool, DiskNumber Disk)> leaving)
    {
        _stoppedFor = isStopped ? [.. leaving] : [];
        IsStopped = isStopped;
    }

    /// <summary>Notes what a repair has left to do.</summary>
    /// <param name="nowNs">The moment.</param>
    /// <param name="left">Bytes that it could have made whole and did not.</param>
    /// <param name="isDone">Whether nothing is left to do, or a user has stopped it.</param>
    /// <param name="times">Times to wait.</param>
    internal void NoteLeft(long nowNs, long left, bool isDone, HealingTimes times)
    {
        _vainRepairs = left > 0 && left > _leftBehind / 2 && _leftBehind > 0 ? _vainRepairs + 1 : 0;
        _leftBehind = left;
        NotBeforeNs = isDone ? 0
            : nowNs + (left > 0 ? times.ReturnPollNs << Math.Min(_vainRepairs, DoublingsMax) : times.RetryNs);
    }
}
