using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Caching;

// A run of which no copy of the ring can give every block: readable blocks are written to the backing store, the others are marked as lost there.
//
// Invariants
//  1. A block counts as lost when no copy gave it three times a second apart, while every copy that takes part gave its anchors: a disk that gives
//     nothing is no reason to give up what it holds.
//  2. The marks on the backing store are durable before the tail passes the record: a crash in between finds the record, and the same loss, again.

/// <summary>Destages runs that cannot be read as a whole.</summary>
internal sealed class LostRuns(CacheContext cache, DestagePlan plan, CacheLosses losses, ServingRing serving)
{
    private const int BlockSize = CacheRecord.BlockSize;
    private const long RetryNs = 1_000_000_000;
    private const int ReadsMax = 3;

    private readonly ILane _lane = cache.Lane;
    private readonly IBackingStore _backing = cache.Backing;
    private readonly CacheStatus _status = cache.Status;
    private readonly WriteCacheCounters _counters = cache.Counters;

    /// <summary>Reads the blocks of a run one by one and destages the run.</summary>
    /// <param name="ring">The ring.</param>
    /// <param name="at">First block of the run in the plan.</param>
    /// <param name="data">Memory of the run.</param>
    /// <param name="offset">Offset of the run on the backing store.</param>
    internal async LaneTask<IoError> Take(CacheRing ring, int at, IoBuffer data, long offset)
    {
        List<int> missing = [.. Enumerable.Range(0, data.Length / BlockSize)];
        for (int i = 0; i < ReadsMax && missing.Count > 0; i++)
        {
            await (i == 0 ? _lane.Yield() : _lane.Delay(RetryNs));
            for (int m = missing.Count - 1; m >= 0 && !_status.IsClosing; m--)
            {
                IoBuffer block = data.Slice(missing[m] * BlockSize, BlockSize);
                if (await ring.Read(plan[at + missing[m]].Place.Position, block, _counters) == IoError.None)
                {
                    missing.RemoveAt(m);
                }
            }
        }

        bool isKnown = !_status.IsClosing && (missing.Count == 0 || await ring.IsWithinReach());
        return isKnown ? await TakeAround(missing, data, offset) : _status.IsClosing ? IoError.Cancelled : IoError.Io;
    }

    /// <summary>Writes the blocks of a run that there are, and marks those that are missing.</summary>
    private async LaneTask<IoError> TakeAround(List<int> missing, IoBuffer data, long offset)
    {
        IoError error = IoError.None;
        int next = 0;
        for (int i = 0; i < data.Length / BlockSize && error == IoError.None;)
        {
            int end = next < missing.Count ? missing[next] : data.Length / BlockSize;
            if (end > i)
            {
                IoBuffer part = data.Slice(i * BlockSize, (end - i) * BlockSize);
                error = losses.NoteWritten(await _backing.Write(offset + (i * BlockSize), part, WriteFlags.Destage), offset + (i * BlockSize), part.Length);
                i = end;
            }
            else
            {
                error = await GiveUp((offset / BlockSize) + i);
                next++;
                i++;
            }
        }

        return error;
    }

    private async LaneTask<IoError> GiveUp(long block)
    {
        IoError error = await losses.GiveUp(block);
        if (error == IoError.None)
        {
            serving.Medium!.ReportLost();
        }

        return error;
    }
}
