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

    private readonly long[] _reads = new long[LatencyClasses];
    private readonly long[] _writes = new long[LatencyClasses];
    private readonly long[] _flushes = new long[LatencyClasses];

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

    /// <summary>Reads per latency class.</summary>
    public ReadOnlySpan<long> ReadLatencies => _reads;

    /// <summary>Writes, zeroing and unmaps per latency class.</summary>
    public ReadOnlySpan<long> WriteLatencies => _writes;

    /// <summary>Flushes per latency class.</summary>
    public ReadOnlySpan<long> FlushLatencies => _flushes;

    internal void Begin()
    {
        Queue++;
        QueueMax = Math.Max(QueueMax, Queue);
    }

    internal void EndRead(long nanoseconds, bool failed) => End(_reads, nanoseconds, failed);

    internal void EndWrite(long nanoseconds, bool failed) => End(_writes, nanoseconds, failed);

    internal void EndFlush(long nanoseconds, bool failed) => End(_flushes, nanoseconds, failed);

    private void End(long[] latencies, long nanoseconds, bool failed)
    {
        Queue--;
        LatencyNsTotal += nanoseconds;
        Errors += failed ? 1 : 0;
        latencies[Math.Min(LatencyClasses - 1, BitOperations.Log2((ulong)Math.Max(1, nanoseconds / 1000)))]++;
    }
}
