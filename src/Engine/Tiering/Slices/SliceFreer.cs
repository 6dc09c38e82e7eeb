using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tiering;

// Whole slices that are unmapped leave the map in batches:
//
//  1. From here on no request begins in these slices.
//  2. Requests that began before have ended.
//  3. The slices read as zeros where they are.
//  4. The map leaves them, durably.
//  5. Their slots are vacated, after the acknowledgement.
//
// A crash before 4 leaves slices that read as zeros, or as before. A slice that moves, or that the write cache holds data for, keeps its place; it
// is freed later.
//
// Invariants
//  1. A slice is freed later only if it still reads as zeros and was not given room for good since.
//  2. One task frees slices later.

/// <summary>Frees whole slices; defers those that move or that the write cache holds.</summary>
internal sealed class SliceFreer(
    TieredContext store, MovingSlices moves, GracePeriods periods, SliceAllocator allocator, SlicesAhead ahead, SlotVacator vacator)
{
    /// <summary>Slices of a batch.</summary>
    internal const int AtOnce = 64;

    private readonly TierSet _tiers = store.Tiers;
    private readonly SliceTable _table = store.Table;
    private readonly SliceIo _io = store.Io;
    private readonly TieredStatus _status = store.Status;
    private readonly HashSet<int> _deferred = [];   // slices that were unmapped as a whole while they had to stay
    private readonly Queue<int> _ready = new();     // those of them that may be free to go now
    private bool _isRunning;                        // the task that frees them
    private Func<int, bool>? _isHeld;               // by the write cache in front of the store; null: there is none

    /// <summary>Slices keep their places as long as the write cache in front of the store holds data for them.</summary>
    internal void KeepSlices(Func<int, bool> isHeld) => _isHeld = isHeld;

    /// <summary>
    /// Whether a slice can be freed as a whole: it has a place, does not move and is not being entered in the map, and the write cache holds no data for it.
    /// </summary>
    internal bool CanFree(int slice) => _table[slice].IsMapped && moves.Of(slice) is null && !allocator.IsAllocating(slice) && !_table.IsUncertain(slice)
        && _isHeld?.Invoke(slice) != true;

    /// <summary>Zeroes slices and takes them out of the map.</summary>
    internal LaneTask<IoError> Free(List<int> slices) => FreeWhole(slices, ifZero: false);

    /// <summary>Takes those of some slices out of the map that read as zeros and may leave.</summary>
    internal async LaneTask<Nothing> FreeIfZero(List<int> slices)
    {
        List<int> going = slices.FindAll(CanFree);
        if (going.Count > 0)
        {
            vacator.Begin();
            await FreeWhole(going, ifZero: true);
            vacator.End();
        }

        return default;
    }

    /// <summary>Records that a slice was unmapped as a whole and has kept its place, or forgets one that is to keep it.</summary>
    /// <param name="slice">The slice.</param>
    /// <param name="length">Bytes of it that were unmapped.</param>
    /// <param name="flags">Flags of the request.</param>
    internal void NoteZeroed(int slice, long length, WriteFlags flags)
    {
        if ((flags & WriteFlags.NoHole) != 0)
        {
            _deferred.Remove(slice);
        }
        else if (length == _tiers.Grid.Size && _table[slice].IsMapped)
        {
            _deferred.Add(slice);
            FreeDeferred(slice);
        }
    }

    /// <summary>Frees a slice that was deferred, if what kept it in its place has ended.</summary>
    internal void FreeDeferred(int slice)
    {
        if (_deferred.Contains(slice) && CanFree(slice))
        {
            _ready.Enqueue(slice);
            if (!_isRunning)
            {
                _isRunning = true;
                vacator.Begin();
                FreeReady().Forget();
            }
        }
    }

    private async LaneTask FreeReady()
    {
        while (_ready.Count > 0 && !_status.IsStopping)
        {
            List<int> slices = [];
            while (slices.Count < AtOnce && _ready.TryDequeue(out int slice))
            {
                if (_deferred.Contains(slice) && CanFree(slice))
                {
                    _deferred.Remove(slice);
                    slices.Add(slice);
                }
            }

            if (slices.Count > 0)
            {
                await FreeWhole(slices, ifZero: true);
            }
        }

        _isRunning = false;
        vacator.End();
    }

    private async LaneTask<IoError> FreeWhole(List<int> slices, bool ifZero)
    {
        foreach (int slice in slices)
        {
            ahead.Remove(slice);
            moves.Add(slice, SliceMove.Going);
        }

        await periods.Drain();
        if (ifZero)
        {
            await LeaveOutUsed(slices);
        }

        List<SliceChange> changes = slices.ConvertAll(static slice => new SliceChange(slice, SliceEntry.None));
        List<SliceEntry> places = slices.ConvertAll(slice => _table[slice]);
        IoError error = IoError.None;
        for (int i = 0; i < places.Count && error == IoError.None; i++)
        {
            error = await _io.Unmap(places[i]);
        }

        bool hasLeft = error == IoError.None && (ifZero ? await _table.CommitIfRoom(changes, places) : await _table.CommitSurely(changes));
        slices.ForEach(moves.Remove);
        _status.PlaceChanged.NotifyAll();
        if (hasLeft)
        {
            vacator.Start(slices, places);
        }
        else
        {
            _status.SlotsFreed.NotifyAll();
        }

        return error == IoError.None && !hasLeft ? _status.Fault : error;
    }

    private async LaneTask<Nothing> LeaveOutUsed(List<int> slices)
    {
        for (int i = slices.Count - 1; i >= 0; i--)
        {
            SliceEntry place = _table[slices[i]];
            if (!await _io.IsZero(_tiers[place.Tier], place.Slot))
            {
                moves.Remove(slices[i]);
                slices.RemoveAt(i);
            }
        }

        _status.PlaceChanged.NotifyAll();
        return default;
    }
}
