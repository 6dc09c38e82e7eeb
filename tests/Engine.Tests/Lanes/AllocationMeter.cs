namespace TierSpaces.Engine.Tests.Lanes;

/// <summary>
/// Bytes that the current thread allocates per window of equal work: the least of several, because a collection started
/// by another test counts what is left of the thread's allocation buffer.
/// </summary>
public sealed class AllocationMeter
{
    private long _start;

    public long Least { get; private set; } = long.MaxValue;

    /// <summary>The least number of bytes that <paramref name="work"/> allocates in one of five windows.</summary>
    public static long LeastOf(Action work)
    {
        AllocationMeter meter = new();
        for (int window = 0; window < 5; window++)
        {
            meter.Begin();
            work();
            meter.End();
        }

        return meter.Least;
    }

    public void Begin() => _start = GC.GetAllocatedBytesForCurrentThread();

    public void End() => Least = Math.Min(Least, GC.GetAllocatedBytesForCurrentThread() - _start);
}
