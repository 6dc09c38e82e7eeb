using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tiering;

// Slots that the map has left become free:
//
//  1. Requests that knew them have ended.
//  2. They read as zeros, durably, where the space has entries that say so. Zeros would have to be written otherwise, and again when the slot is used.
//  3. The disks get the space below them back.
//  4. They are free.
//
// Invariants
//  1. A slot is given to another slice only after the map has left it and step 4.
//  2. A slot counts as clean only if step 2 succeeded and the space has entries that keep its zeros when it is punched.

/// <summary>Empties slots that the slice map has left, and frees them.</summary>
internal sealed class SlotVacator(TieredContext store, GracePeriods periods)
{
    /// <summary>Slice number of a slot whose slice is unknown. Such slots do not count as the disk's.</summary>
    private const int NoSlice = SlicesMapped.SystemSlices;

    private readonly TierSet _tiers = store.Tiers;
    private readonly SliceTable _table = store.Table;
    private readonly SliceIo _io = store.Io;
    private readonly TieredStatus _status = store.Status;
    private int _running;   // tasks after which slots may be free

    /// <summary>Whether tasks run after which slots may be free.</summary>
    internal bool IsRunning => _running > 0;

    /// <summary>Counts a task that will vacate slots.</summary>
    internal void Begin() => _running++;

    /// <summary>Ends such a task.</summary>
    internal void End()
    {
        _running--;
        _status.SlotsFreed.NotifyAll();
    }

    /// <summary>Starts vacating the former places of slices.</summary>
    internal void Start(List<int> slices, List<SliceEntry> places)
    {
        Begin();
        Vacate(slices, places).Forget();
    }

    /// <summary>
    /// Starts giving back rows of thin tiers that no slice is in. A crash left them, before a slice came or after it had gone. Called once, at the
    /// opening.
    /// </summary>
    internal void VacateLeftovers() =>
        VacateLeftovers(Enumerable.Range(0, _tiers.Count).SelectMany(tier => Enumerable.Range(0, _tiers[tier].Rows).Select(row => (tier, row))));

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
                slots.ForEach(slot => tier.Hold(slot, NoSlice, 1));
                places.AddRange(slots.Select(slot => new SliceEntry((byte)index, slot, SliceReason.FirstWrite, 0)));
            }
        }

        if (places.Count > 0)
        {
            Start(places.ConvertAll(static _ => NoSlice), places);
        }
    }

    private async LaneTask Vacate(List<int> slices, List<SliceEntry> places)
    {
        await periods.Drain();
        IoError error = IoError.None;
        for (int i = 0; i < places.Count && error == IoError.None; i++)
        {
            error = _tiers.SpaceOf(places[i]).Shape.Checksums ? await _io.Unmap(places[i]) : IoError.None;
        }

        for (int tier = 0; tier < _tiers.Count && error == IoError.None; tier++)
        {
            error = places.Exists(place => place.Tier == tier) ? await _tiers[tier].Space.Flush() : IoError.None;
        }

        if (error == IoError.None)
        {
            await Punch(places);
        }

        for (int i = 0; i < places.Count; i++)
        {
            StorageTierStore tier = _tiers[places[i].Tier];
            SliceEntry now = _table[slices[i]];
            Invariant.That(
                !now.IsMapped || now.Tier != places[i].Tier || now.Slot != places[i].Slot, "A slot is given to another slice only after the map has left it.");
            tier.Slots.SetClean(places[i].Slot, error == IoError.None && tier.Space.Shape.Checksums);   // else what was punched may read as anything
            tier.Hold(places[i].Slot, slices[i], -1);
            tier.Slots.Release(places[i].Slot);
        }

        if (error == IoError.None && !_status.IsClosing)
        {
            VacateLeftovers(places.Select(place => (place.Tier, _tiers[place.Tier].RowOf(place.Slot))).Distinct());
        }

        End();
        _status.PlaceChanged.NotifyAll();
    }

    /// <summary>Gives what is under slots back to the disks, side by side: a batch has as many slots as are to move at a time.</summary>
    private async LaneTask<Nothing> Punch(List<SliceEntry> places)
    {
        List<LaneTask<Nothing>> punches = places.ConvertAll(place => _tiers.SpaceOf(place).Punch(_tiers.AddressOf(place, 0), _tiers.Grid.Size));
        foreach (LaneTask<Nothing> punch in punches)
        {
            await punch;
        }

        return default;
    }
}
