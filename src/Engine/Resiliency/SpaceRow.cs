using TierSpaces.Engine.Primitives;
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
    internal ulong ActiveRound;     // number of the next flush round when a write last completed
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
    private int _users0;   // requests that began in an even turn
    private int _users1;
    private int _turn;

    internal SpaceRow(SpaceShape shape, SpaceRowMap map)
    {
        _shape = shape;
        Index = map.Index;
        Places = (SlabPlace[])map.Places.Clone();
        IsInitialized = map.Initialized;
        Stale = map.Stale;
        StalePending = new ushort[Places.Length];
        StaleClearing = new ushort[Places.Length];
        Missed = new ushort[Places.Length];
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

    /// <summary>Regions whose mark is being taken off right now: a new mark waits for the end of that.</summary>
    internal ushort[] StaleClearing { get; }

    /// <summary>Regions that a copy missed something of since its repair last began them.</summary>
    internal ushort[] Missed { get; }

    internal Region[] Regions { get; }

    /// <summary>Requests that read or write the row now.</summary>
    internal int Users => _users0 + _users1;

    /// <summary>Position whose slab moves, or −1: its target takes every write beside the source and is not read.</summary>
    internal int JoiningPosition { get; set; } = -1;

    /// <summary>Where it moves to.</summary>
    internal SlabPlace Joining { get; set; }

    /// <summary>Whether the target missed something: then it cannot take the source's place.</summary>
    internal bool JoiningFailed { get; set; }

    /// <summary>A request begins to use the row; <see cref="Leave"/> takes what this gives.</summary>
    internal int Enter()
    {
        _ = _turn == 0 ? _users0++ : _users1++;
        return _turn;
    }

    internal void Leave(int turn)
    {
        int left = turn == 0 ? --_users0 : --_users1;
        Invariant.That(left >= 0, "A request leaves the row once, in the turn in which it began.");
    }

    /// <summary>Begins another turn; gives the one before, whose users have seen the places of before.</summary>
    internal int NextTurn()
    {
        _turn = 1 - _turn;
        return 1 - _turn;
    }

    internal int UsersOf(int turn) => turn == 0 ? _users0 : _users1;

    /// <summary>Blocks whose entry is not never-written; −1 while not counted. Only kept with checksums.</summary>
    internal int WrittenBlocks { get; set; }

    internal ref Region RegionAt(int index) => ref Regions[index];

    internal int RegionOf(int column, int slabOffset) => (column * SpaceShape.RegionsPerSlab) + (slabOffset / _shape.RegionSize);

    internal SlabPlace Place(int column, int copy) => Places[(column * _shape.Copies) + copy];

    internal bool IsStale(int column, int copy, int region) =>
        ((Stale[(column * _shape.Copies) + copy] >> (region % SpaceShape.RegionsPerSlab)) & 1) != 0;
}
