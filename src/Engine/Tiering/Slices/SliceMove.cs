using TierSpaces.Engine.Formats;

namespace TierSpaces.Engine.Tiering;

/// <summary>An order to bring a slice to another tier.</summary>
/// <param name="Slice">The slice.</param>
/// <param name="Tier">Number of the tier.</param>
/// <param name="Reason">Reason of the move.</param>
public readonly record struct SliceOrder(int Slice, int Tier, SliceReason Reason);

// Invariants
//  1. A move that has failed stays so: the slice keeps its source.
//  2. From the commit on either place may be the true one; what one of them misses fails the request, not the move.

//  3. A copied byte is counted once; a move whose copy is not complete is not committed.

/// <summary>A slice whose place is being changed.</summary>
/// <param name="slice">The slice.</param>
/// <param name="source">Source place.</param>
/// <param name="target">Target place.</param>
/// <param name="isTargetClean">Whether the target reads as zeros.</param>
internal sealed class SliceMove(int slice, SliceEntry source, SliceEntry target, bool isTargetClean)
{
    /// <summary>A slice that is being given back: no request begins in it until that has ended.</summary>
    internal static SliceMove Going { get; } = new(-1, SliceEntry.None, SliceEntry.None, isTargetClean: false);

    internal int Slice => slice;

    /// <summary>Source place of the slice, valid as long as the map says so.</summary>
    internal SliceEntry Source => source;

    /// <summary>Target place of the slice.</summary>
    internal SliceEntry Target => target;

    /// <summary>Whether the target read as zeros when the move began: then never-written blocks are not copied, else they are zeroed there.</summary>
    internal bool IsTargetClean => isTargetClean;

    /// <summary>Bytes of the slice that the target holds.</summary>
    internal int Copied { get; private set; }

    internal bool IsGoing => !target.IsMapped;

    /// <summary>Whether something could not be copied or written to the target: the slice stays at its source.</summary>
    internal bool HasFailed { get; private set; }

    /// <summary>Whether the change of the map is on its way: it is unknown which of the two places is the true one.</summary>
    internal bool IsCommitting { get; private set; }

    internal void NoteCopied(int bytes) => Copied += bytes;

    internal void Fail() => HasFailed = true;

    internal void BeginCommit() => IsCommitting = true;
}
