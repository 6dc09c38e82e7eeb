using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tiering;

/// <summary>New place of a slice.</summary>
/// <param name="Slice">The slice.</param>
/// <param name="Entry">Its place, or <see cref="SliceEntry.None"/>.</param>
public readonly record struct SliceChange(int Slice, SliceEntry Entry);

/// <summary>Result of a change of the slice map.</summary>
public enum SliceCommit
{
    /// <summary>It is durable.</summary>
    Committed,

    /// <summary>There is no room for it now; it may still become true.</summary>
    NoRoom,

    /// <summary>The pool cannot change any more; whether it became true the next opening will show.</summary>
    Unknown,
}

/// <summary>Services that a pool provides to a tiered store.</summary>
public interface ISliceHost
{
    /// <summary>The map in force.</summary>
    SliceMapState Map { get; }

    /// <summary>
    /// Slices of an aligned window to which the first write into one of them gives places, a power of two: 1 where no commit waits for a rotating disk.
    /// </summary>
    int WindowSlices { get; }

    /// <summary>Commits changes of the map, all or none.</summary>
    LaneTask<SliceCommit> Commit(IReadOnlyList<SliceChange> changes);
}
