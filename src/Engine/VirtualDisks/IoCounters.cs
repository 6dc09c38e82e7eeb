using System.Numerics;

namespace TierSpaces.Engine.VirtualDisks;

/// <summary>
/// What passed through a virtual disk since it was opened. Written on its lane only; readers on other threads see each number
/// whole and may see them at slightly different instants.
/// </summary>
public sealed class IoCounters
{
    /// <summary>Latency classes: class n counts requests of 2^n to 2^(n+1) microseconds, class 0 also shorter ones.</summary>
    public const int LatencyClasses = 24;

    private readonly long[] _latencies = new long[LatencyClasses];

    /// <summary>Completed reads.</summary>
    public long ReadOperations;

    /// <summary>Bytes read.</summary>
    public long ReadBytes;

    /// <summary>Completed writes, zeroing included.</summary>
    public long WriteOperations;

    /// <summary>Bytes written.</summary>
    public long WriteBytes;

    /// <summary>Completed flushes.</summary>
    public long FlushOperations;

    /// <summary>Completed unmaps.</summary>
    public long UnmapOperations;

    /// <summary>Bytes unmapped.</summary>
    public long UnmapBytes;

    /// <summary>Requests that failed.</summary>
    public long Errors;

    /// <summary>Writes that had to read the rest of a 4 KiB block first.</summary>
    public long ReadModifyWrites;

    /// <summary>Requests under way.</summary>
    public int Queue;

    /// <summary>Most requests under way at once.</summary>
    public int QueueMax;

    /// <summary>Sum of all latencies, in nanoseconds.</summary>
    public long LatencyNsTotal;

    /// <summary>Requests per latency class.</summary>
    public ReadOnlySpan<long> Latencies => _latencies;

    internal void Begin()
    {
        Queue++;
        QueueMax = Math.Max(QueueMax, Queue);
    }

    internal void End(long nanoseconds, bool failed)
    {
        Queue--;
        LatencyNsTotal += nanoseconds;
        Errors += failed ? 1 : 0;
        _latencies[Math.Min(LatencyClasses - 1, BitOperations.Log2((ulong)Math.Max(1, nanoseconds / 1000)))]++;
    }
}
