using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Caching;

// Runs that follow each other on the backing store are begun together, as a group: sorted writes that are under way together cost a rotating disk much less
// than one after the other, also beside clients, where there is one group at a time.
//
// Invariants
//  1. Take completes only when every run that it began has ended.
//  2. After the first error no group begins.

/// <summary>Writes the runs of a plan to the backing store, in groups.</summary>
internal sealed class DestageRuns(
    CacheContext cache, DestagePlan plan, DestagePace pace, LostRuns lostRuns, CacheLosses losses, BackingWrites backingWrites)
{
    private const int BlockSize = CacheRecord.BlockSize;
    private const int GroupsMax = 2;              // under way while no client is at work
    private const int GroupRuns = 64;             // of a rotating disk with a queue of 32, a client waits tens of milliseconds for so many
    private const long GroupBytesMax = 2 << 20;   // no run is added to a group of as many

    private readonly ILane _lane = cache.Lane;
    private readonly IBackingStore _backing = cache.Backing;
    private readonly CacheStatus _status = cache.Status;
    private readonly WriteCacheCounters _counters = cache.Counters;
    private readonly WorkWindow _window = new(pace, () => cache.Status.IsClosing, GroupsMax);

    /// <summary>Writes every planned run to the backing store.</summary>
    internal async LaneTask<IoError> Take(CacheRing ring)
    {
        _window.Begin();
        for (int at = 0; at < plan.Count && await _window.Room();)
        {
            int from = at;
            (at, int bytes) = GroupFrom(from);
            _window.Add(TakeGroup(ring, from, at), bytes);
        }

        await _window.Drain();
        return _status.IsClosing ? IoError.Cancelled : _window.Error;
    }

    private (int End, int Bytes) GroupFrom(int at)
    {
        long most = Math.Min(GroupBytesMax, pace.BytesMax);
        int bytes = 0;
        for (int runs = 0; runs < GroupRuns && at < plan.Count && (runs == 0 || bytes < most); runs++)
        {
            int first = plan.LastVersion(at);
            at = plan.RunEnd(first);
            bytes += (at - first) * BlockSize;
        }

        return (at, bytes);
    }

    private async LaneTask<IoError> TakeGroup(CacheRing ring, int at, int end)
    {
        WaitGroup runs = WaitGroup.Rent();
        while (at < end)
        {
            int first = plan.LastVersion(at);
            at = plan.RunEnd(first);
            runs.Add(TakeRun(ring, first, at - first));
        }

        return await runs.Wait();
    }

    private async LaneTask<IoError> TakeRun(CacheRing ring, int at, int count)
    {
        long offset = plan[at].Block * BlockSize;
        IoError error = plan[at].Place.IsZero
            ? losses.NoteWritten(await _backing.Unmap(offset, (long)count * BlockSize), offset, (long)count * BlockSize)
            : await TakeData(ring, at, count, offset);
        _counters.NoteDestaged(error == IoError.None ? count * BlockSize : 0);
        backingWrites.NoteRun();
        return error;
    }

    private async LaneTask<IoError> TakeData(CacheRing ring, int at, int count, long offset)
    {
        IoBuffer data = _lane.Buffers.Rent(count * BlockSize);
        WaitGroup reads = WaitGroup.Rent();
        for (int i = 0; i < count;)
        {
            int length = plan.LengthInRing(at + i, count - i);
            reads.Add(ring.Read(plan[at + i].Place.Position, data.Slice(i * BlockSize, length * BlockSize), _counters));
            i += length;
        }

        IoError error = await reads.Wait();
        error = error == IoError.None
            ? losses.NoteWritten(await _backing.Write(offset, data, WriteFlags.Destage), offset, data.Length) : await lostRuns.Take(ring, at, data, offset);
        _lane.Buffers.Return(data);
        return error;
    }
}
