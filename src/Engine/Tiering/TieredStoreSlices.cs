using System.Collections.Immutable;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tiering;

public sealed partial class TieredStore
{
    /// <summary>First of the slices that belong to the store itself, beyond those of the disk.</summary>
    internal const int SystemSlices = SlicesMapped.SystemSlices;

    private const long RetryNs = 1_000_000_000;

    private readonly HashSet<int> _allocating = [];                       // slices being given a place
    private readonly Dictionary<int, SliceEntry> _uncertain = [];         // slices that no commit is known of to have given or to have left them this place
    private readonly LaneSignal _vacated = new();
    private int _vacating;                                                // batches of slots on their way to being free

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
        Invariant.That(end != SliceCommit.Committed || _map[slice] == entry, "The map in memory is the one that was committed.");
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
                Invariant.That(changes.TrueForAll(change => _map[change.Slice] == change.Entry), "The map in memory is the one that was committed.");
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

            Invariant.That(
                !_map[slices[i]].IsMapped || _map[slices[i]].Tier != places[i].Tier || _map[slices[i]].Slot != places[i].Slot,
                "A slot is given to another slice only after the map has left it.");
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
