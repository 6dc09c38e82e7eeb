using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

/// <summary>State of a dirty region.</summary>
internal enum RegionState : byte
{
    /// <summary>Copies agree with each other and with their entries, durably.</summary>
    Clean,

    /// <summary>The mark is on its way to the log.</summary>
    Marking,

    /// <summary>Marked durably: writes may be under way or unflushed.</summary>
    Dirty,

    /// <summary>Was dirty at an unclean stop and has not been made equal yet: nothing may be answered from it.</summary>
    Unresolved,

    /// <summary>Being made equal.</summary>
    Resolving,
}

/// <summary>One dirty region of a column of a row.</summary>
internal struct Region
{
    internal RegionState State;
    internal int InFlight;          // writes admitted and not completed
    internal ulong ActiveRound;     // number of the next flush round when a write was last admitted or completed
    internal long ActiveNs;         // when that was
    internal ulong MarkSequence;    // log block of its dirty mark; 0: none that the log must keep
}

/// <summary>
/// The slabs behind one stretch of a space and what is known of them. A row is in the map before it is used (Initialized) and
/// leaves it only when no request uses it any more (Users).
/// </summary>
internal sealed class SpaceRow
{
    private readonly SpaceShape _shape;

    internal SpaceRow(SpaceShape shape, SpaceRowMap map)
    {
        _shape = shape;
        Index = map.Index;
        Places = map.Places;
        IsInitialized = map.Initialized;
        Stale = map.Stale;
        StalePending = new ushort[Places.Length];
        Regions = new Region[shape.Columns * SpaceShape.RegionsPerSlab];
        WrittenBlocks = map.Initialized ? -1 : 0;
    }

    internal int Index { get; }

    internal SlabPlace[] Places { get; }

    internal bool IsInitialized { get; set; }

    /// <summary>Regions a copy missed, as durably recorded.</summary>
    internal ushort[] Stale { get; }

    /// <summary>Regions being recorded as stale right now.</summary>
    internal ushort[] StalePending { get; }

    internal Region[] Regions { get; }

    /// <summary>Requests that read or write the row now.</summary>
    internal int Users { get; set; }

    /// <summary>Blocks whose entry is not never-written; −1 while not counted. Only kept with checksums.</summary>
    internal int WrittenBlocks { get; set; }

    internal ref Region RegionAt(int index) => ref Regions[index];

    internal int RegionOf(int column, int slabOffset) => (column * SpaceShape.RegionsPerSlab) + (slabOffset / _shape.RegionSize);

    internal SlabPlace Place(int column, int copy) => Places[(column * _shape.Copies) + copy];

    internal bool IsStale(int column, int copy, int region) =>
        ((Stale[(column * _shape.Copies) + copy] >> (region % SpaceShape.RegionsPerSlab)) & 1) != 0;
}
