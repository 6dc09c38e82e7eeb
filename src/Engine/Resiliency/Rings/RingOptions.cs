using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Resiliency;

/// <summary>Everything a ring over slabs of a pool is made with.</summary>
internal sealed record RingOptions
{
    /// <summary>Name of the ring, for messages.</summary>
    internal required string Name { get; init; }

    /// <summary>Per copy, the slabs that follow each other in the ring; each copy on a disk of its own.</summary>
    internal required IReadOnlyList<IReadOnlyList<SlabPlace>> Copies { get; init; }

    /// <summary>Length in blocks of 4096 bytes.</summary>
    internal required int Blocks { get; init; }

    /// <summary>Copies that nothing may be recovered from, bit per copy.</summary>
    internal required int StaleCopies { get; init; }

    /// <summary>Records durably that a copy is stale.</summary>
    internal required Func<int, LaneTask<IoError>> MarkStale { get; init; }

    /// <summary>Records durably that a copy is whole again.</summary>
    internal required Func<int, LaneTask<IoError>> ClearStale { get; init; }

    /// <summary>Whether writes wait for room on a full host file system as long as the space serves; else a minute.</summary>
    internal bool AwaitsRoom { get; init; }

    /// <summary>Whether the last copy stays readable when a write to it fails: its owner writes nothing more then.</summary>
    internal bool KeepsLastCopy { get; init; }

    /// <summary>Called when a disk leaves and no copy takes part any more; null: that has no effect but on the ring.</summary>
    internal Action? SourceLost { get; init; }
}
