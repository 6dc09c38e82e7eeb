using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

/// <summary>A row as the pool's map has it.</summary>
/// <param name="Index">Row of the space.</param>
/// <param name="Places">One place per position.</param>
/// <param name="Initialized">Whether its checksum pages are its own: false for slabs owned but never written.</param>
/// <param name="Stale">Per position, the regions whose writes that copy missed.</param>
public sealed record SpaceRowMap(int Index, SlabPlace[] Places, bool Initialized, ushort[] Stale);

/// <summary>Everything a space is opened with.</summary>
public sealed record SpaceOptions
{
    /// <summary>Idle time after which a dirty region is cleaned by default, in nanoseconds.</summary>
    public const long CleanAfterNsByDefault = 30_000_000_000;

    /// <summary>Id of the space in its pool.</summary>
    public required uint Space { get; init; }

    /// <summary>First eight bytes of the pool's id.</summary>
    public required ulong PoolTag { get; init; }

    /// <summary>Shape: columns, copies, interleave and slab size.</summary>
    public required SpaceShape Shape { get; init; }

    /// <summary>Resiliency: the layout and the engine that executes it.</summary>
    internal LayoutDescriptor Resiliency { get; init; } = LayoutDescriptor.Mirror;

    /// <summary>Length in bytes, a multiple of 4096.</summary>
    public required long Length { get; init; }

    /// <summary>Whether rows are allocated on first write and given back when empty.</summary>
    public required bool IsThin { get; init; }

    /// <summary>Rows that have slabs.</summary>
    public required IReadOnlyList<SpaceRowMap> Rows { get; init; }

    /// <summary>Slabs of the integrity log: per copy, the slabs that follow each other in the ring. Empty when it keeps none.</summary>
    public required IReadOnlyList<IReadOnlyList<SlabPlace>> LogCopies { get; init; }

    /// <summary>Copies of the integrity log that miss blocks, bit per copy: nothing is recovered from them.</summary>
    public int StaleLogCopies { get; init; }

    /// <summary>Owner id in the blocks of the integrity log.</summary>
    public required Guid LogOwner { get; init; }

    /// <summary>Largest ring of the integrity log, in blocks of 4 KiB.</summary>
    public int LogBlocksMax { get; init; } = 4096;

    /// <summary>Blocks of 4 KiB at the end of the ring of the integrity log that are the parity journal; 0 without parity.</summary>
    public int ParityJournalBlocks { get; init; }

    /// <summary>Memory that outlives the process, for records of writes not yet flushed; null when the host has none.</summary>
    public IoBuffer? RecordMemory { get; init; }

    /// <summary>Checksum pages kept in memory; each covers up to 2 MiB of data.</summary>
    public int CachedPagesMax { get; init; } = 16384;

    /// <summary>Time after which another copy is read too, in nanoseconds.</summary>
    public long HedgeAfterNs { get; init; } = 250_000_000;

    /// <summary>
    /// Neighbouring regions of a group that are marked dirty together, at first: a power of two, 1 to 16. More than one where a mark is slow: each mark of
    /// a row doubles what is dirty of it, so a load over much of a disk needs few marks, and one write marks little.
    /// </summary>
    public int RegionsPerMark { get; init; } = 1;

    /// <summary>Idle time after which a dirty region is cleaned, in nanoseconds.</summary>
    public long CleanAfterNs { get; init; } = CleanAfterNsByDefault;
}
