using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Caching;

// Invariants
//  1. Take completes only when every run that it began has ended.
//  2. After the first error no run begins.

/// <summary>Writes the runs of a plan to the backing store, several at a time.</summary>
internal sealed class DestageRuns(
    ILane lane, IBackingStore backing, DestagePlan plan, DestagePace pace, LostRuns lostRuns, CacheLosses losses, BackingWrites backingWrites,
    CacheStatus status, WriteCacheCounters counters)
{
    private const int BlockSize = CacheRecord.BlockSize;
    private const int InFlightMax = 16;

    private readonly LaneSignal _ended = new();
    private int _inFlight;
    private IoError _error;   // first of the runs of this round

    /// <summary>Writes every planned run to the backing store.</summary>
    internal async LaneTask<IoError> Take(CacheRing ring)
    {
        _error = IoError.None;
        for (int at = 0; at < plan.Count && _error == IoError.None && !status.IsClosing;)
        {
            at = plan.LastVersion(at);
            int end = plan.RunEnd(at);
            await pace.Wait((end - at) * BlockSize);
            while (_inFlight >= InFlightMax)
            {
                await _ended.Wait();
            }

            _inFlight++;
            TakeRun(ring, at, end - at).Forget();
            at = end;
        }

        while (_inFlight > 0)
        {
            await _ended.Wait();
        }

        return status.IsClosing ? IoError.Cancelled : _error;
    }

    private async LaneTask TakeRun(CacheRing ring, int at, int count)
    {
        long offset = plan[at].Block * BlockSize;
        IoError error = plan[at].Place.IsZero
            ? losses.NoteWritten(await backing.Unmap(offset, (long)count * BlockSize), offset, (long)count * BlockSize)
            : await TakeData(ring, at, count, offset);
        counters.NoteDestaged(error == IoError.None ? count * BlockSize : 0);
        _error = _error == IoError.None ? error : _error;
        _inFlight--;
        backingWrites.NoteRun();
        _ended.NotifyAll();
    }

    private async LaneTask<IoError> TakeData(CacheRing ring, int at, int count, long offset)
    {
        IoBuffer data = lane.Buffers.Rent(count * BlockSize);
        WaitGroup reads = WaitGroup.Rent();
        for (int i = 0; i < count;)
        {
            int length = plan.LengthInRing(at + i, count - i);
            reads.Add(ring.Read(plan[at + i].Place.Position, data.Slice(i * BlockSize, length * BlockSize), counters));
            i += length;
        }

        IoError error = await reads.Wait();
        error = error == IoError.None
            ? losses.NoteWritten(await backing.Write(offset, data, WriteFlags.Destage), offset, data.Length) : await lostRuns.Take(ring, at, data, offset);
        lane.Buffers.Return(data);
        return error;
    }
}
