using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// The slabs behind one stretch of a space and what is known of them.
//
// Invariants
//  1. A row is in the map before it is used (IsInitialized) and leaves it only when no request uses it any more (Users).
//  2. Users are counted in two generations. When the slabs of the row change, the generation changes: its former users may have seen the
//     former slabs, and those are free when they have ended.
//  3. The target of a move takes every write beside its source and is not read.
//  4. A checksum page is blank (TakeBlank) from when the row was made until it is taken into memory: until then nothing writes it to its disks.

/// <summary>One row of a space.</summary>
internal sealed class SpaceRow
{
    private readonly ILayout _layout;
    private readonly int _regionSize;
    private int _users0;   // requests that began in an even generation
    private int _users1;
    private int _generation;
    private RegionLacks?[]? _lacks;   // per position; null: no position lacks anything
    private bool _isListed;           // in the list of rows with marked regions
    private ulong[] _blank = [];      // checksum pages that are blank on their disks, bit per page of all columns

    internal SpaceRow(ILayout layout, in SpaceShape shape, SpaceRowMap map)
    {
        _layout = layout;
        _regionSize = shape.RegionSize;
        Index = map.Index;
        Places = (SlabPlace[])map.Places.Clone();
        IsInitialized = map.Initialized;
        Stale = map.Stale;
        StaleWhenMade = (ushort[])map.Stale.Clone();
        PagesMissed = (ushort[])map.Stale.Clone();
        StalePending = new ushort[Places.Length];
        StaleClearing = new ushort[Places.Length];
        Missed = new ushort[Places.Length];
        for (int position = 0; position < Places.Length; position++)
        {
            if (Stale[position] != 0)
            {
                LacksAt(position).NoteUnknown(Stale[position]);   // marks of an earlier process
            }
        }

        Regions = new Region[layout.Groups * SpaceShape.RegionsPerSlab];
        WrittenBlocks = map.Initialized ? -1 : 0;
    }

    internal int Index { get; }

    internal SlabPlace[] Places { get; }

    internal bool IsInitialized { get; private set; }

    /// <summary>Per position, the regions that it missed, as durably recorded.</summary>
    internal ushort[] Stale { get; }

    /// <summary>The same when the row was taken from the pool's map, as the last process that had the space left it.</summary>
    internal ushort[] StaleWhenMade { get; }

    /// <summary>The same, and the regions of checksum pages that were written since without the position.</summary>
    internal ushort[] PagesMissed { get; }

    /// <summary>Per position, the regions being recorded as stale.</summary>
    internal ushort[] StalePending { get; }

    /// <summary>Per position, the regions whose mark is being taken off: a new mark waits for the end of that.</summary>
    internal ushort[] StaleClearing { get; }

    /// <summary>Per position, the regions that it missed something of since its repair last began them.</summary>
    internal ushort[] Missed { get; }

    /// <summary>Dirty regions: sixteen for each group.</summary>
    internal Region[] Regions { get; }

    /// <summary>Whether a mark of several regions is on its way to the log.</summary>
    internal bool IsBeingMarked { get; private set; }

    /// <summary>Requests that read or write the row now.</summary>
    internal int Users => _users0 + _users1;

    /// <summary>Position whose slab moves; −1: none.</summary>
    internal int JoiningPosition { get; private set; } = -1;

    /// <summary>Target of the move.</summary>
    internal SlabPlace Joining { get; private set; }

    /// <summary>Whether the target missed something: then it cannot take the source's place.</summary>
    internal bool JoiningFailed { get; private set; }

    /// <summary>Blocks whose entry is not never-written; −1 while not counted. Only kept with checksums.</summary>
    internal int WrittenBlocks { get; private set; }

    /// <summary>Begins a use of the row; <see cref="Leave"/> takes the generation that this returns.</summary>
    internal int Enter()
    {
        _ = _generation == 0 ? _users0++ : _users1++;
        return _generation;
    }

    internal void Leave(int generation)
    {
        int left = generation == 0 ? --_users0 : --_users1;
        Invariant.That(left >= 0, "A request leaves the row once, in the generation in which it began.");
    }

    /// <summary>Begins another generation and returns the former one, whose users have seen the former places.</summary>
    internal int NextGeneration()
    {
        _generation = 1 - _generation;
        return 1 - _generation;
    }

    internal int UsersOf(int generation) => generation == 0 ? _users0 : _users1;

    /// <summary>The row is in the map, and its slabs are clear.</summary>
    /// <param name="blankPages">Checksum pages of the row, blank on their disks, durably; 0 without checksums.</param>
    internal void Initialize(int blankPages)
    {
        WrittenBlocks = 0;
        IsInitialized = true;
        _blank = new ulong[(blankPages + 63) / 64];
        Array.Fill(_blank, ulong.MaxValue);
    }

    /// <summary>Takes a checksum page that is known to be blank: the caller has it in memory from now on and need not read it. False: it must.</summary>
    /// <param name="page">Number of the page in its row: column × pages of a slab + page of the slab.</param>
    internal bool TakeBlank(int page)
    {
        ulong bit = 1UL << (page % 64);
        bool isBlank = page / 64 < _blank.Length && (_blank[page / 64] & bit) != 0;
        if (isBlank)
        {
            _blank[page / 64] &= ~bit;
        }

        return isBlank;
    }

    internal void NoteWritten(int change) => WrittenBlocks += change;

    internal void SetWritten(int blocks) => WrittenBlocks = blocks;

    internal void BeginJoining(int position, SlabPlace target) => (JoiningPosition, Joining, JoiningFailed) = (position, target, false);

    internal void FailJoining() => JoiningFailed = true;

    internal void EndJoining() => JoiningPosition = -1;

    /// <summary>Marks of some regions are on their way to the log, one mark for all of them.</summary>
    /// <param name="isWide">Whether it can be of several regions.</param>
    internal void BeginMarking(bool isWide) => IsBeingMarked = isWide;

    /// <summary>Marks are in the log, or have failed.</summary>
    internal void EndMarking() => IsBeingMarked = false;

    /// <summary>Whether the row comes into the list of rows with marked regions now: it was not in it.</summary>
    internal bool TryList() => !_isListed && (_isListed = true);

    /// <summary>The row is taken out of that list.</summary>
    internal void Unlist() => _isListed = false;

    internal ref Region RegionAt(int index) => ref Regions[index];

    /// <summary>Returns the number of a dirty region, from a column and an offset in its slab.</summary>
    internal int RegionOf(int column, int slabOffset) => (_layout.GroupOf(column) * SpaceShape.RegionsPerSlab) + (slabOffset / _regionSize);

    /// <summary>Whether a position misses writes of a region; the region may be numbered in the row or in its group.</summary>
    internal bool IsStale(int position, int region) => ((Stale[position] >> (region % SpaceShape.RegionsPerSlab)) & 1) != 0;

    /// <summary>Blocks that a position can lack; null: none was noted.</summary>
    internal RegionLacks? FindLacks(int position) => _lacks?[position];

    /// <summary>Blocks that a position can lack.</summary>
    internal RegionLacks LacksAt(int position) => (_lacks ??= new RegionLacks?[Places.Length])[position] ??= new RegionLacks();

    /// <summary>Regions, over all positions, that have notes of blocks.</summary>
    internal int RegionsWithNotes => _lacks?.Sum(static lacks => lacks?.Notes.Count(static notes => notes is not null) ?? 0) ?? 0;

    /// <summary>Returns the unresolved regions of a group, bit per region.</summary>
    internal ushort UnresolvedMask(int group)
    {
        ushort mask = 0;
        for (int i = 0; i < SpaceShape.RegionsPerSlab; i++)
        {
            mask |= (ushort)(Regions[(group * SpaceShape.RegionsPerSlab) + i].IsUnresolved ? 1 << i : 0);
        }

        return mask;
    }

    /// <summary>Returns the regions of a group that a disk which leaves now may differ in, bit per region.</summary>
    internal ushort DirtyMask(int group)
    {
        ushort mask = 0;
        for (int i = 0; i < SpaceShape.RegionsPerSlab; i++)
        {
            mask |= (ushort)(Regions[(group * SpaceShape.RegionsPerSlab) + i].MayDiffer ? 1 << i : 0);
        }

        return mask;
    }
}
