namespace TierSpaces.Engine.Tiering;

// Invariants
//  1. A slice is listed at most once: it moves or it is given back, not both.
//  2. The caller that lists a slice takes it off again and then notifies waiters of its place.

/// <summary>The slices whose place is being changed.</summary>
internal sealed class MovingSlices
{
    private readonly Dictionary<int, SliceMove> _moves = [];

    internal bool Any => _moves.Count > 0;

    /// <summary>Returns the move of a slice; null: its place is not being changed.</summary>
    internal SliceMove? Of(int slice) => _moves.Count > 0 && _moves.TryGetValue(slice, out SliceMove? move) ? move : null;

    internal void Add(int slice, SliceMove move) => _moves.Add(slice, move);

    internal void Remove(int slice) => _moves.Remove(slice);
}
