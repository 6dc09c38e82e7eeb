namespace TierSpaces.Engine.Primitives;

/// <summary>The newest spans of one lane. Used on that lane.</summary>
public sealed class TraceRing
{
    /// <summary>Spans that it holds.</summary>
    public const int Capacity = 1 << 16;

    private readonly TraceSpan[] _spans = new TraceSpan[Capacity];
    private long _next;

    /// <summary>Adds a span in the place of the oldest.</summary>
    internal void Add(in TraceSpan span) => _spans[_next++ & (Capacity - 1)] = span;

    /// <summary>Returns a copy of the spans, the oldest first.</summary>
    public TraceSpan[] Copy()
    {
        int count = (int)Math.Min(_next, Capacity);
        TraceSpan[] copy = new TraceSpan[count];
        for (int i = 0; i < count; i++)
        {
            copy[i] = _spans[(_next - count + i) & (Capacity - 1)];
        }

        return copy;
    }
}
