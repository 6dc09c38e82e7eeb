using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Jobs;

// The piece of a job that is under way. It may run on the lane of a virtual disk while the job is on the control lane.
//
// Invariants
//  1. While a piece runs only its lane writes, between two pieces only the job; other lanes see each number whole.
//  2. A stop is a flag that the job sets and the piece reads at its breaks.

/// <summary>State that a job and its piece under way share.</summary>
internal sealed class JobPiece(JobPacer pacer)
{
    private long _bytes;         // that the breaks within the piece have told of, and paid for
    private long _workSinceNs;   // when the work since the last pause began
    private volatile bool _isStopped;

    /// <summary>Bytes that the piece has gone through and paused for.</summary>
    internal long Bytes => Volatile.Read(ref _bytes);

    /// <summary>Whether the job yields to clients now.</summary>
    internal bool IsYielding => pacer.IsYielding;

    /// <summary>Parts of the piece that are in flight together beside clients.</summary>
    internal int Burst => pacer.Burst;

    /// <summary>The piece is to end at its next break.</summary>
    internal void Stop() => _isStopped = true;

    /// <summary>A piece begins.</summary>
    internal void Begin(long nowNs) => _workSinceNs = nowNs;

    /// <summary>Ends the piece and returns the bytes that it has paused for.</summary>
    internal long End()
    {
        long bytes = _bytes;
        Volatile.Write(ref _bytes, 0);
        return bytes;
    }

    /// <summary>After a piece: a pause for what it has not paused for yet.</summary>
    internal LaneTask Pause(ILane lane, long bytes) => pacer.Pause(bytes, lane.NowNs - _workSinceNs, lane);

    /// <summary>Within a piece: a pause for the work since the last one. False when the job is to stop: what has begun is given up, not cut.</summary>
    internal async LaneTask<bool> Break(ILane lane, long bytes)
    {
        if (!_isStopped)
        {
            Volatile.Write(ref _bytes, _bytes + bytes);
            await Pause(lane, bytes);
            _workSinceNs = lane.NowNs;
        }

        return !_isStopped;
    }
}
