using System.Collections.Immutable;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tiering;

// Slices that are zeroed or given back: parts of them where they are, whole ones as a batch, later where something keeps them in their places.

public sealed partial class TieredStore
{
    private const int FreedAtOnce = 64;

    private readonly HashSet<int> _leaving = [];                          // slices unmapped as a whole while they could not go
    private readonly Queue<int> _mayLeave = new();                        // those of them that may be able to now
    private bool _isLeaving;                                              // one task gives them back

    /// <inheritdoc/>
    public LaneTask<IoError> Unmap(long offset, long length) => Zero(offset, length, WriteFlags.None, isUnmap: true);

    /// <inheritdoc/>
    public LaneTask<IoError> WriteZeroes(long offset, long length, WriteFlags flags) => Zero(offset, length, flags, isUnmap: false);

    private async LaneTask<IoError> Zero(long offset, long length, WriteFlags flags, bool isUnmap)
    {
        IoError error = RefusalOfRange(offset, length);
        List<int> whole = [];
        for (long at = offset; at < offset + length && error == IoError.None;)
        {
            int slice = (int)(at >> _sliceShift);
            long end = Math.Min((slice + 1L) << _sliceShift, offset + length);
            if (end - at == _sliceSize && (flags & WriteFlags.NoHole) == 0 && CanGo(slice))
            {
                whole.Add(slice);
            }
            else
            {
                error = await ZeroPart(slice, at, end - at, flags, isUnmap);
                NoteWhole(slice, end - at, flags);
            }

            if (whole.Count == FreedAtOnce)
            {
                error = error == IoError.None ? await Free(whole) : error;
                whole.Clear();
            }

            at = end;
        }

        error = error == IoError.None && whole.Count > 0 ? await Free(whole) : error;
        return error == IoError.None && (flags & WriteFlags.ForceUnitAccess) != 0 ? await Flush() : error;
    }

    /// <summary>Whether a slice can be given back as a whole: it is somewhere, stays there, and nothing in front holds data for it.</summary>
    private bool CanGo(int slice) => _map[slice].IsMapped && MoveOf(slice) is null && !IsUncertain(slice) && IsUnitHeld?.Invoke(slice) != true;

    private async LaneTask<IoError> ZeroPart(int slice, long offset, long length, WriteFlags flags, bool isUnmap)
    {
        while (!IsSettled(slice))
        {
            if ((flags & WriteFlags.NoHole) == 0 && MoveOf(slice) is null)
            {
                return IoError.None;   // nowhere: zeros already
            }

            IoError settled = await Settle(slice);
            if (settled != IoError.None)
            {
                return settled;
            }
        }

        SliceEntry entry = _map[slice];
        int turn = Enter();
        IoError error = MoveOf(slice) is { } move
            ? await ZeroBoth(move, offset, length, flags, isUnmap) : await ZeroAt(entry, offset, length, flags, isUnmap);
        Leave(turn);
        return error;
    }

    /// <inheritdoc/>
    public async LaneTask<IoError> Poison(long offset, long length)
    {
        IoError error = Refusal(offset, length);
        for (long at = offset; at < offset + length && error == IoError.None;)
        {
            int slice = (int)(at >> _sliceShift);
            long end = Math.Min((slice + 1L) << _sliceShift, offset + length);
            error = await Reserve(slice);
            error = error == IoError.None ? await PoisonSlice(slice, at, end - at) : error;
            at = end;
        }

        return error;
    }

    private async LaneTask<IoError> PoisonSlice(int slice, long offset, long length)
    {
        SliceEntry entry = _map[slice];
        int turn = Enter();
        IoError error = MoveOf(slice) is { } move ? await PoisonBoth(move, offset, length) : await PoisonAt(entry, offset, length);
        Leave(turn);
        return error;
    }

    private LaneTask<IoError> PoisonAt(SliceEntry entry, long offset, long length) =>
        _tiers[entry.Tier].Space.Poison(AddressOf(entry, offset), length);

    private LaneTask<IoError> ZeroAt(SliceEntry entry, long offset, long length, WriteFlags flags, bool isUnmap)
    {
        long address = AddressOf(entry, offset);
        return isUnmap ? _tiers[entry.Tier].Space.Unmap(address, length)
            : _tiers[entry.Tier].Space.WriteZeroes(address, length, flags & ~WriteFlags.ForceUnitAccess);
    }

    /// <summary>Gives whole slices back; one that cannot go now, because it moves or somebody else is about it, is zeroed where it is.</summary>
    private async LaneTask<IoError> Free(List<int> slices)
    {
        List<int> going = slices.FindAll(CanGo);
        List<int> staying = slices.FindAll(slice => !going.Contains(slice));
        IoError error = await FreeWhole(going);
        for (int i = 0; i < staying.Count && error == IoError.None; i++)
        {
            error = await ZeroPart(staying[i], (long)staying[i] << _sliceShift, _sliceSize, WriteFlags.None, isUnmap: true);
            NoteWhole(staying[i], _sliceSize, WriteFlags.None);
        }

        return error;
    }

    // 1. From here on nobody begins anything in these slices. 2. What began before has ended. 3. They read as zeros where they are. 4. The map
    // leaves them. 5. Their slots are vacated, after the acknowledgement. A crash before 4 leaves slices that read as zeros, or as before.
    private async LaneTask<IoError> FreeWhole(List<int> slices, bool ifZero = false)
    {
        slices.ForEach(slice => _moves.Add(slice, SliceMove.Going));
        await Drain();
        if (ifZero)
        {
            await LeaveOutUsed(slices);
        }

        List<SliceChange> changes = slices.ConvertAll(static slice => new SliceChange(slice, SliceEntry.None));
        List<SliceEntry> places = slices.ConvertAll(slice => _map[slice]);
        IoError error = IoError.None;
        for (int i = 0; i < places.Count && error == IoError.None; i++)
        {
            error = await ZeroAt(places[i], 0, _sliceSize, WriteFlags.None, isUnmap: true);
        }

        bool isLeft = error == IoError.None && (ifZero ? await CommitIfRoom(changes, places) : await CommitSurely(changes));
        slices.ForEach(slice => _moves.Remove(slice));
        _changed.NotifyAll();
        if (isLeft)
        {
            StartVacating(slices, places);
        }
        else
        {
            _vacated.NotifyAll();
        }

        return error == IoError.None && !isLeft ? Fault : error;
    }

    private async LaneTask<Nothing> LeaveOutUsed(List<int> slices)
    {
        for (int i = slices.Count - 1; i >= 0; i--)
        {
            SliceEntry place = _map[slices[i]];
            if (!await IsZero(_tiers[place.Tier], place.Slot))
            {
                _moves.Remove(slices[i]);
                slices.RemoveAt(i);
            }
        }

        _changed.NotifyAll();
        return default;
    }

    /// <summary>Remembers a slice that was unmapped as a whole and has kept its place, and forgets one that is to keep it.</summary>
    private void NoteWhole(int slice, long length, WriteFlags flags)
    {
        if ((flags & WriteFlags.NoHole) != 0)
        {
            _leaving.Remove(slice);
        }
        else if (length == _sliceSize && _map[slice].IsMapped)
        {
            _leaving.Add(slice);
            LeaveNow(slice);
        }
    }

    /// <summary>What kept a slice in its place has ended, perhaps: if it was unmapped as a whole meanwhile, and holds nothing, it is given back.</summary>
    private void LeaveNow(int slice)
    {
        if (_leaving.Contains(slice) && CanGo(slice))
        {
            _mayLeave.Enqueue(slice);
            if (!_isLeaving)
            {
                _isLeaving = true;
                _vacating++;
                Leave().Forget();
            }
        }
    }

    private async LaneTask Leave()
    {
        while (_mayLeave.Count > 0 && Fault == IoError.None && !_closing)
        {
            List<int> slices = [];
            while (slices.Count < FreedAtOnce && _mayLeave.TryDequeue(out int slice))
            {
                if (_leaving.Contains(slice) && CanGo(slice))
                {
                    _leaving.Remove(slice);
                    slices.Add(slice);
                }
            }

            if (slices.Count > 0)
            {
                await FreeWhole(slices, ifZero: true);
            }
        }

        _isLeaving = false;
        _vacating--;
        _vacated.NotifyAll();
    }

    private async LaneTask<bool> IsZero(StorageTierStore tier, uint slot)
    {
        List<StoreExtent> extents = [];
        IoError error = await tier.Space.Status(tier.Address(slot), _sliceSize, extents);
        return error == IoError.None && extents.TrueForAll(static extent => (extent.State & ExtentState.Zero) != 0);
    }
}
