using System.Collections.Immutable;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Tiering;

// Tiers have numbers, by which the map names them and which stay as they are when a tier is added. The order says how fast they are compared with each
// other. Planners count tiers from the fastest instead (DiskTiering).
//
// Invariants
//  1. A tier keeps its number. A tier is added behind the others and never leaves.
//  2. Order names every tier once.

/// <summary>The tiers of a virtual disk: their spaces, their order, and where an entry of the slice map is in them.</summary>
internal sealed class TierSet
{
    private StorageTierStore[] _tiers;   // by number

    internal TierSet(IReadOnlyList<StorageTierStore> tiers, IReadOnlyList<int> order, SliceGrid grid)
    {
        _tiers = [.. tiers];
        Order = [.. order];
        Grid = grid;
    }

    /// <summary>Division of the disk into slices.</summary>
    internal SliceGrid Grid { get; }

    internal int Count => _tiers.Length;

    /// <summary>Numbers of the tiers, that of the fastest first.</summary>
    internal ImmutableArray<int> Order { get; private set; }

    /// <summary>First fault among the spaces; <see cref="IoError.None"/> while all of them serve.</summary>
    internal IoError Fault
    {
        get
        {
            IoError fault = IoError.None;
            for (int tier = 0; tier < _tiers.Length && fault == IoError.None; tier++)
            {
                fault = _tiers[tier].Space.Fault;
            }

            return fault;
        }
    }

    internal string FaultReason => Array.Find(_tiers, static tier => tier.Space.Fault != IoError.None)?.Space.FaultReason ?? "";

    internal int MembersVersion => _tiers.Sum(static tier => tier.Space.MembersVersion);

    internal StorageTierStore this[int number] => _tiers[number];

    /// <summary>Returns the space that an entry is in.</summary>
    internal Space SpaceOf(SliceEntry entry) => _tiers[entry.Tier].Space;

    /// <summary>Returns the address in the space of its tier at which an entry holds an address of its slice.</summary>
    internal long AddressOf(SliceEntry entry, long offset) => _tiers[entry.Tier].Address(entry.Slot) + Grid.Within(offset);

    /// <summary>Adds a tier behind the others.</summary>
    /// <param name="tier">The tier.</param>
    /// <param name="rank">Number of the other tiers that are faster.</param>
    internal void Add(StorageTierStore tier, int rank)
    {
        _tiers = [.. _tiers, tier];
        Order = Order.Insert(rank, _tiers.Length - 1);
    }

    /// <summary>Takes the slots that a map names, at the opening.</summary>
    internal void Load(SliceMapState map)
    {
        for (int tier = 0; tier < _tiers.Length; tier++)
        {
            Load(tier, map);
        }
    }

    /// <summary>Makes the completed writes to every tier durable.</summary>
    internal async LaneTask<IoError> Flush()
    {
        WaitGroup group = WaitGroup.Rent();
        foreach (StorageTierStore tier in _tiers)
        {
            group.Add(tier.Space.Flush());
        }

        return await group.Wait();
    }

    /// <summary>Returns the lowest rank among the disks under an entry.</summary>
    internal int LowestRank(SliceEntry entry, Func<int, int> rankOf) =>
        entry.IsMapped ? SpaceOf(entry).LowestRank(_tiers[entry.Tier].RowOf(entry.Slot), rankOf) : int.MaxValue;

    private void Load(int number, SliceMapState map)
    {
        StorageTierStore tier = _tiers[number];
        for (int word = 0; word * 64L < tier.Slots.Count; word++)
        {
            tier.Slots.Load(word, map.Word(number, word));
        }

        foreach ((int slice, SliceEntry entry) in map.Enumerate())
        {
            if (entry.Tier == number)
            {
                tier.Hold(entry.Slot, slice, 1);
            }
        }
    }
}
