using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

// One group on its way to the metadata disks of a pool in which every one of them has to hold it.
//
// It ends when each has taken it or failed, or when the rest is late: they have not taken it within a second after the others, rotating disks within
// two. A disk on a full file system is not late. Nor is any where fewer than two have taken the group: two copies of the metadata are kept.

/// <summary>Waits for the metadata disks to take a group.</summary>
internal sealed class CommitRound
{
    /// <summary>Time after which a disk is late that does not rotate, in nanoseconds.</summary>
    internal const long LateAfterNs = 1_000_000_000;

    private const int LeastCopies = 2;

    private readonly ILane _lane;
    private readonly List<MemberDisk> _awaited;
    private readonly LaneCompletion<bool> _ended = LaneCompletion<bool>.Rent();
    private long _lastNs;   // when the last disk took the group
    private int _copies;
    private bool _hasEnded;

    internal CommitRound(ILane lane, IReadOnlyCollection<MemberDisk> disks)
    {
        (_lane, _awaited, Ended) = (lane, [.. disks], _ended.Task);
        EndIfComplete();
    }

    /// <summary>Completes when the round ends.</summary>
    internal LaneTask<bool> Ended { get; }

    /// <summary>Disks that have neither taken the group nor failed.</summary>
    internal IReadOnlyList<MemberDisk> Awaited => _awaited;

    /// <summary>Time that a disk has after the others, in nanoseconds.</summary>
    internal static long LimitOf(DiskDescription? disk) => disk?.IsFlash() == true ? LateAfterNs : 2 * LateAfterNs;

    /// <summary>A disk has taken the group, or failed.</summary>
    internal void Report(MemberDisk disk, bool hasTaken)
    {
        if (!_hasEnded && _awaited.Remove(disk))
        {
            _copies += hasTaken ? 1 : 0;
            _lastNs = _lane.NowNs;
            EndIfComplete();
        }
    }

    /// <summary>Ends the round if those that it waits for are late.</summary>
    internal void EndIfLate(Func<DiskNumber, DiskDescription?> describe)
    {
        long waited = _lane.NowNs - _lastNs;
        if (!_hasEnded && _copies >= LeastCopies && _awaited.TrueForAll(disk => disk.FullSinceNs == 0 && waited >= LimitOf(describe(disk.Number))))
        {
            End();
        }
    }

    private void EndIfComplete()
    {
        if (_awaited.Count == 0)
        {
            End();
        }
    }

    private void End()
    {
        _hasEnded = true;
        _ended.Complete(true);
    }
}
