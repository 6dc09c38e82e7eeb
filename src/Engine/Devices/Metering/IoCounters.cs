using System.Numerics;

namespace TierSpaces.Engine.Devices;

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

    /// <summary>Reads that failed.</summary>
    public long ReadErrors;

    /// <summary>Writes, zeroing and unmaps that failed.</summary>
    public long WriteErrors;

    /// <summary>Flushes that failed.</summary>
    public long FlushErrors;

    /// <summary>Requests of any kind that a device failed with an I/O error of its own; it was there and answered.</summary>
    public long MediaErrors;

    /// <summary>Longest read, in nanoseconds.</summary>
    public long ReadNsMax;

    /// <summary>Longest write, zeroing or unmap, in nanoseconds.</summary>
    public long WriteNsMax;

    /// <summary>Longest flush, in nanoseconds.</summary>
    public long FlushNsMax;

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

    internal void EndRead(long nanoseconds, bool failed)
    {
        ReadErrors += failed ? 1 : 0;
        ReadNsMax = Math.Max(ReadNsMax, nanoseconds);
        End(_reads, nanoseconds, failed);
    }

    internal void EndWrite(long nanoseconds, bool failed)
    {
        WriteErrors += failed ? 1 : 0;
        WriteNsMax = Math.Max(WriteNsMax, nanoseconds);
        End(_writes, nanoseconds, failed);
    }

    internal void EndFlush(long nanoseconds, bool failed)
    {
        FlushErrors += failed ? 1 : 0;
        FlushNsMax = Math.Max(FlushNsMax, nanoseconds);
        End(_flushes, nanoseconds, failed);
    }

    /// <summary>The longest requests are those from now on.</summary>
    internal void ForgetLongest() => ReadNsMax = WriteNsMax = FlushNsMax = 0;

    private void End(long[] latencies, long nanoseconds, bool failed)
    {
        Queue--;
        LatencyNsTotal += nanoseconds;
        Errors += failed ? 1 : 0;
        latencies[Math.Min(LatencyClasses - 1, BitOperations.Log2((ulong)Math.Max(1, nanoseconds / 1000)))]++;
    }
}
