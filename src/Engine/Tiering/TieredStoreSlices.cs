using System.Collections.Immutable;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tiering;

public sealed partial class TieredStore
{
    /// <summary>First of the slices that belong to the store itself, beyond those of the disk.</summary>
    internal const int SystemSlices = SlicesMapped.SystemSlices;

    private const int FreedAtOnce = 64;
    private const long RetryNs = 1_000_000_000;

    private readonly HashSet<int> _allocating = [];                       // slices being given a place
    private readonly Dictionary<int, SliceEntry> _uncertain = [];         // slices that no commit is known of to have given or to have left them this place
    private readonly HashSet<int> _leaving = [];                          // slices unmapped as a whole while they could not go
    private readonly Queue<int> _mayLeave = new();                        // those of them that may be able to now
    private bool _isLeaving;                                              // one task gives them back
    private readonly LaneSignal _vacated = new();
    private int _vacating;                                                // batches of slots on their way to being free

    /// <inheritdoc/>
    public LaneTask<IoError> Unmap(long offset, long length) => Zero(offset, length, WriteFlags.None, isUnmap: true);

    /// <inheritdoc/>
    public LaneTask<IoError> WriteZeroes(long offset, long length, WriteFlags flags) => Zero(offset, length, flags, isUnmap: false);

    private bool IsSettled(int slice) => _map[slice].IsMapped && MoveOf(slice) is not { IsGoing: true } && !IsUncertain(slice);

    private bool IsUncertain(int slice) => _uncertain.Count > 0 && _uncertain.ContainsKey(slice);

    /// <summary>A step towards a slice having a place that stays: gives it one, or waits for whoever is about it.</summary>
    private async LaneTask<IoError> Settle(int slice)
    {
        if (Fault is not IoError.None and var fault)
        {
            return fault;
        }

        if (MoveOf(slice) is { IsGoing: true } || !_allocating.Add(slice))
        {
            await _changed.Wait();
            return IoError.None;
        }

        IoError error = _map[slice].IsMapped && !IsUncertain(slice) ? IoError.None : await Allocate(slice);
        _allocating.Remove(slice);
        _changed.NotifyAll();
        return error;
    }

    // The fastest tier that has room; while slots are on their way to being free, that is waited for. A slice has one place at a time that may be
    // or become its own: a commit that may still come about is repeated, not replaced.
    private async LaneTask<IoError> Allocate(int slice)
    {
        while (true)
        {
            IoError error = _uncertain.TryGetValue(slice, out SliceEntry entry) ? await Enter(slice, entry) : await AllocateNew(slice);
            bool mayHelp = error == IoError.NoSpace && !_uncertain.ContainsKey(slice) && (_vacating > 0 || _moves.Count > 0);
            if (!mayHelp || _closing || Fault != IoError.None)
            {
                return error;
            }

            await _vacated.Wait();
        }
    }

    // When every tier holds as much as it may, while moves are under way, a slot meant for moves will do. The store itself takes none that a
    // slice of the disk may need.
    private async LaneTask<IoError> AllocateNew(int slice)
    {
        IoError error = IoError.NoSpace;
        ImmutableArray<int> order = Order;
        for (int i = 0; i < 2 * order.Length && error == IoError.NoSpace && !_uncertain.ContainsKey(slice); i++)
        {
            int number = order[i % order.Length];
            StorageTierStore tier = _tiers[number];
            bool hasRoom = slice >= SystemSlices ? tier.HasRoomBeside : tier.Users < tier.SizeSlices || i >= order.Length;
            if (hasRoom && tier.Slots.TryTake(out uint slot))
            {
                error = await AllocateAt(slice, number, slot);
            }
        }

        return error;
    }

    private async LaneTask<IoError> AllocateAt(int slice, int index, uint slot)
    {
        StorageTierStore tier = _tiers[index];
        tier.Hold(slot, slice, 1);
        IoError error = await Prepare(tier, slot);
        if (error != IoError.None)
        {
            tier.Hold(slot, slice, -1);
            tier.Slots.Release(slot);
            return error;
        }

        tier.Counters.SlicesAllocated += slice < SystemSlices ? 1 : 0;
        return await Enter(slice, new SliceEntry(index, slot, SliceReason.FirstWrite, _lane.UtcNow.UtcTicks));
    }

    /// <summary>Enters a slice in the map that was nowhere, or may be.</summary>
    private async LaneTask<IoError> Enter(int slice, SliceEntry entry)
    {
        SliceCommit end = await _host.Commit([new SliceChange(slice, entry)]);
        _map = _host.Map;
        if (end == SliceCommit.NoRoom)
        {
            _uncertain[slice] = entry;
            return IoError.NoSpace;
        }

        _uncertain.Remove(slice);
        return end == SliceCommit.Committed ? IoError.None : Fail(IoError.Io, "it is not known whether a slice has got a place");
    }

    /// <summary>Makes a slot that was taken read as zeros, durably, and gives it room in a thin tier.</summary>
    private async LaneTask<IoError> Prepare(StorageTierStore tier, uint slot)
    {
        IoError error = tier.IsThin ? await tier.Space.Reserve((int)(slot / tier.RowSlots)) : IoError.None;
        if (error == IoError.None && !tier.Slots.IsClean(slot))
        {
            error = await Clean(tier, slot);
        }

        tier.Slots.SetClean(slot, error != IoError.None && tier.Slots.IsClean(slot));
        return error;
    }

    private async LaneTask<IoError> Clean(StorageTierStore tier, uint slot)
    {
        IoError error = await IsZero(tier, slot) ? IoError.None : await tier.Space.Unmap(tier.Address(slot), _sliceSize);
        return error == IoError.None ? await tier.Space.Flush() : error;   // zeros that are there already may not be durable yet
    }

    private async LaneTask<IoError> Zero(long offset, long length, WriteFlags flags, bool isUnmap)
    {
        IoError error = Refusal(offset, length);
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
            while (error == IoError.None && !IsSettled(slice))
            {
                error = await Settle(slice);
            }

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

    /// <summary>
    /// Gives slices without data back if the metadata have room for that. Where they have not, it may still come about: their places stay theirs, and
    /// the next write into one of them enters it there again.
    /// </summary>
    private async LaneTask<bool> CommitIfRoom(List<SliceChange> changes, List<SliceEntry> places)
    {
        SliceCommit end = changes.Count == 0 ? SliceCommit.Committed : await _host.Commit(changes);
        _map = _host.Map;
        for (int i = 0; i < changes.Count && end == SliceCommit.NoRoom; i++)
        {
            _uncertain[changes[i].Slice] = places[i];
        }

        if (end == SliceCommit.Unknown)
        {
            Fail(IoError.Io, "it is not known where slices are");
        }

        return end == SliceCommit.Committed;
    }

    /// <summary>Commits what cannot stay undecided, however long it takes; false: the store has failed.</summary>
    private async LaneTask<bool> CommitSurely(List<SliceChange> changes)
    {
        while (changes.Count > 0)
        {
            SliceCommit end = await _host.Commit(changes);
            _map = _host.Map;
            if (end == SliceCommit.Committed)
            {
                changes.ForEach(change => _uncertain.Remove(change.Slice));   // whatever was to become true of them has, or never will
                return true;
            }

            if (end == SliceCommit.Unknown || _closing || Fault != IoError.None)
            {
                Fail(IoError.Io, "it is not known where slices are");
                return false;
            }

            await _lane.Delay(RetryNs);
        }

        return true;
    }

    /// <summary>
    /// Gives back, in the background, rows of thin tiers that no slice is in: a crash left them, before a slice came or after it had gone. Once,
    /// at the opening.
    /// </summary>
    internal void GiveLeftoversBack()
    {
        VacateLeftovers(Enumerable.Range(0, _tiers.Length).SelectMany(tier => Enumerable.Range(0, _tiers[tier].Rows).Select(row => (tier, row))));
    }

    // Not where a first write would find no other slot meanwhile and go to a slower tier.
    private void VacateLeftovers(IEnumerable<(int Tier, int Row)> rows)
    {
        List<SliceEntry> places = [];
        foreach ((int index, int row) in rows)
        {
            StorageTierStore tier = _tiers[index];
            List<uint> slots = [.. tier.LeftoversIn(row)];
            if (tier.Slots.Count - tier.Slots.Taken - slots.Count >= tier.RowSlots)
            {
                slots.ForEach(tier.Slots.Take);
                slots.ForEach(slot => tier.Hold(slot, SystemSlices, 1));
                places.AddRange(slots.Select(slot => new SliceEntry((byte)index, slot, SliceReason.FirstWrite, 0)));
            }
        }

        if (places.Count > 0)
        {
            StartVacating(places.ConvertAll(static _ => SystemSlices), places);
        }
    }

    private void StartVacating(List<int> slices, List<SliceEntry> places)
    {
        _vacating++;
        Vacate(slices, places).Forget();
    }

    // Slots that the map has left: 1. whoever knew them has ended. 2. They read as zeros, durably. 3. What lies below is given back. 4. They are free.
    private async LaneTask Vacate(List<int> slices, List<SliceEntry> places)
    {
        await Drain();
        IoError error = IoError.None;
        for (int i = 0; i < places.Count && error == IoError.None; i++)
        {
            error = await ZeroAt(places[i], 0, _sliceSize, WriteFlags.None, isUnmap: true);
        }

        for (int tier = 0; tier < _tiers.Length && error == IoError.None; tier++)
        {
            error = places.Exists(place => place.Tier == tier) ? await _tiers[tier].Space.Flush() : IoError.None;
        }

        for (int i = 0; i < places.Count; i++)
        {
            StorageTierStore tier = _tiers[places[i].Tier];
            if (error == IoError.None)
            {
                await tier.Space.Punch(tier.Address(places[i].Slot), _sliceSize);
            }

            tier.Slots.SetClean(places[i].Slot, error == IoError.None && tier.Space.Shape.Checksums);   // else what was punched may read as anything
            tier.Hold(places[i].Slot, slices[i], -1);
            tier.Slots.Release(places[i].Slot);
        }

        if (error == IoError.None && !_closing)
        {
            VacateLeftovers(places.Select(place => (place.Tier, (int)(place.Slot / _tiers[place.Tier].RowSlots))).Distinct());
        }

        _vacating--;
        _vacated.NotifyAll();
        _changed.NotifyAll();
    }

    /// <summary>Completes when every request that began before has ended.</summary>
    private async LaneTask<Nothing> Drain()
    {
        while (_isDraining)
        {
            await _requestEnded.Wait();
        }

        _isDraining = true;
        int before = _turn;
        _turn ^= 1;
        while (_requests[before] > 0)
        {
            await _requestEnded.Wait();
        }

        _isDraining = false;
        _requestEnded.NotifyAll();
        return default;
    }

    private bool _isDraining;   // one at a time: the other turn has to be empty before requests begin in it
}
