using System.Numerics;

namespace TierSpaces.Engine.Devices;

/// <summary>
/// Traffic of a virtual disk, or of a member disk through one handle, since it was opened. The counters are written on its lane only. Readers on other
/// threads see each number whole, and may see the numbers at slightly different instants.
/// </summary>
public sealed class IoCounters
{
    /// <summary>Latency classes: class n counts requests of 2^n to 2^(n+1) microseconds, class 0 also shorter ones.</summary>
    public const int LatencyClasses = 24;

    private long[] _reads = new long[LatencyClasses];
    private long[] _writes = new long[LatencyClasses];
    private long[] _flushes = new long[LatencyClasses];
    private long _readModifyWrites;

    /// <summary>Completed requests of any kind.</summary>
    public long Operations => ReadOperations + WriteOperations + FlushOperations + UnmapOperations;

    /// <summary>Completed reads.</summary>
    public long ReadOperations { get; private set; }

    /// <summary>Bytes read.</summary>
    public long ReadBytes { get; private set; }

    /// <summary>Completed writes, zeroing included.</summary>
    public long WriteOperations { get; private set; }

    /// <summary>Bytes written.</summary>
    public long WriteBytes { get; private set; }

    /// <summary>Reads of metadata. Of a member disk: outside the data of slabs (<see cref="MetadataAreas"/>).</summary>
    public long MetadataReads { get; private set; }

    /// <summary>Bytes of them.</summary>
    public long MetadataReadBytes { get; private set; }

    /// <summary>Writes of metadata.</summary>
    public long MetadataWrites { get; private set; }

    /// <summary>Bytes of them.</summary>
    public long MetadataWriteBytes { get; private set; }

    /// <summary>Completed flushes.</summary>
    public long FlushOperations { get; private set; }

    /// <summary>Completed unmaps.</summary>
    public long UnmapOperations { get; private set; }

    /// <summary>Bytes unmapped.</summary>
    public long UnmapBytes { get; private set; }

    /// <summary>Requests that failed.</summary>
    public long Errors { get; private set; }

    /// <summary>Reads that failed.</summary>
    public long ReadErrors { get; private set; }

    /// <summary>Writes, zeroing and unmaps that failed.</summary>
    public long WriteErrors { get; private set; }

    /// <summary>Flushes that failed.</summary>
    public long FlushErrors { get; private set; }

    /// <summary>Requests of any kind that a device failed with an I/O error of its own; it was there and answered.</summary>
    public long MediaErrors { get; private set; }

    /// <summary>Longest read, in nanoseconds.</summary>
    public long ReadNsMax { get; private set; }

    /// <summary>Longest write, zeroing or unmap, in nanoseconds.</summary>
    public long WriteNsMax { get; private set; }

    /// <summary>Longest flush, in nanoseconds.</summary>
    public long FlushNsMax { get; private set; }

    /// <summary>Writes that had to read the rest of a 4 KiB block first.</summary>
    public long ReadModifyWrites
    {
        get => _readModifyWrites;
        init => _readModifyWrites = value;
    }

    /// <summary>Number of times that the longest requests were forgotten.</summary>
    internal long Forgets { get; private set; }

    /// <summary>Requests under way.</summary>
    public int Queue { get; private set; }

    /// <summary>Most requests under way at once.</summary>
    public int QueueMax { get; private set; }

    /// <summary>Sum of the latencies of reads, in nanoseconds.</summary>
    public long ReadNsTotal { get; private set; }

    /// <summary>Sum of the latencies of writes, zeroing and unmaps, in nanoseconds.</summary>
    public long WriteNsTotal { get; private set; }

    /// <summary>Sum of the latencies of flushes, in nanoseconds.</summary>
    public long FlushNsTotal { get; private set; }

    /// <summary>Sum of all latencies, in nanoseconds.</summary>
    public long LatencyNsTotal => ReadNsTotal + WriteNsTotal + FlushNsTotal;

    /// <summary>Reads per latency class.</summary>
    public ReadOnlySpan<long> ReadLatencies => _reads;

    /// <summary>Writes, zeroing and unmaps per latency class.</summary>
    public ReadOnlySpan<long> WriteLatencies => _writes;

    /// <summary>Flushes per latency class.</summary>
    public ReadOnlySpan<long> FlushLatencies => _flushes;

    /// <summary>Returns the counters as they are now; called on their lane.</summary>
    internal IoCounters Copy()
    {
        IoCounters copy = (IoCounters)MemberwiseClone();
        copy._reads = [.. _reads];
        copy._writes = [.. _writes];
        copy._flushes = [.. _flushes];
        return copy;
    }

    /// <summary>
    /// Adds what another handle of the same disk has counted; called on the lane of these counters. The longest requests are the longest of both. The sum of
    /// <see cref="QueueMax"/> is an upper bound.
    /// </summary>
    /// <param name="other">The counters to add.</param>
    /// <param name="forgets">Number of times that their longest requests were to be forgotten; until their lane has done that they count as none.</param>
    internal void Add(IoCounters other, long forgets = 0)
    {
        ReadOperations += other.ReadOperations;
        ReadBytes += other.ReadBytes;
        WriteOperations += other.WriteOperations;
        WriteBytes += other.WriteBytes;
        MetadataReads += other.MetadataReads;
        MetadataReadBytes += other.MetadataReadBytes;
        MetadataWrites += other.MetadataWrites;
        MetadataWriteBytes += other.MetadataWriteBytes;
        FlushOperations += other.FlushOperations;
        UnmapOperations += other.UnmapOperations;
        UnmapBytes += other.UnmapBytes;
        Errors += other.Errors;
        ReadErrors += other.ReadErrors;
        WriteErrors += other.WriteErrors;
        FlushErrors += other.FlushErrors;
        MediaErrors += other.MediaErrors;
        if (other.Forgets >= forgets)
        {
            ReadNsMax = Math.Max(ReadNsMax, other.ReadNsMax);
            WriteNsMax = Math.Max(WriteNsMax, other.WriteNsMax);
            FlushNsMax = Math.Max(FlushNsMax, other.FlushNsMax);
        }

        _readModifyWrites += other._readModifyWrites;
        Queue += other.Queue;
        QueueMax += other.QueueMax;
        ReadNsTotal += other.ReadNsTotal;
        WriteNsTotal += other.WriteNsTotal;
        FlushNsTotal += other.FlushNsTotal;
        Add(_reads, other._reads);
        Add(_writes, other._writes);
        Add(_flushes, other._flushes);
    }

    internal void NoteMetadataRead(long bytes)
    {
        MetadataReads++;
        MetadataReadBytes += bytes;
    }

    internal void NoteMetadataWrite(long bytes)
    {
        MetadataWrites++;
        MetadataWriteBytes += bytes;
    }

    internal void Begin()
    {
        Queue++;
        QueueMax = Math.Max(QueueMax, Queue);
    }

    internal void EndRead(long bytes, long nanoseconds, bool failed)
    {
        ReadOperations++;
        ReadBytes += bytes;
        ReadErrors += failed ? 1 : 0;
        ReadNsMax = Math.Max(ReadNsMax, nanoseconds);
        ReadNsTotal += nanoseconds;
        End(_reads, nanoseconds, failed);
    }

    internal void EndWrite(long bytes, long nanoseconds, bool failed)
    {
        WriteOperations++;
        WriteBytes += bytes;
        EndChange(nanoseconds, failed);
    }

    /// <summary>A write of a virtual disk has ended.</summary>
    /// <param name="bytes">Bytes written.</param>
    /// <param name="nanoseconds">Its duration.</param>
    /// <param name="failed">Whether it failed.</param>
    /// <param name="readModifyWrites">Writes so far that had to read the rest of a block first.</param>
    internal void EndWrite(long bytes, long nanoseconds, bool failed, long readModifyWrites)
    {
        _readModifyWrites = readModifyWrites;
        EndWrite(bytes, nanoseconds, failed);
    }

    internal void EndUnmap(long bytes, long nanoseconds, bool failed)
    {
        UnmapOperations++;
        UnmapBytes += bytes;
        EndChange(nanoseconds, failed);
    }

    /// <summary>The device does not know the request for an unmap or a hole: it counts as no unmap, but it took its time.</summary>
    internal void EndUnknownUnmap(long nanoseconds, bool failed) => EndChange(nanoseconds, failed);

    internal void EndFlush(long nanoseconds, bool failed)
    {
        FlushOperations++;
        FlushErrors += failed ? 1 : 0;
        FlushNsMax = Math.Max(FlushNsMax, nanoseconds);
        FlushNsTotal += nanoseconds;
        End(_flushes, nanoseconds, failed);
    }

    /// <summary>The device is closed.</summary>
    internal void EndClose() => Queue--;

    /// <summary>The device is closed for good: its requests under way have ended, or are given up.</summary>
    internal void EndAll() => Queue = 0;

    internal void NoteMediaError() => MediaErrors++;

    /// <summary>The longest requests are those from now on.</summary>
    internal void ForgetLongest()
    {
        ReadNsMax = WriteNsMax = FlushNsMax = 0;
        Forgets++;
    }

    private static void Add(long[] to, long[] from)
    {
        for (int number = 0; number < LatencyClasses; number++)
        {
            to[number] += from[number];
        }
    }

    private void EndChange(long nanoseconds, bool failed)
    {
        WriteErrors += failed ? 1 : 0;
        WriteNsMax = Math.Max(WriteNsMax, nanoseconds);
        WriteNsTotal += nanoseconds;
        End(_writes, nanoseconds, failed);
    }

    private void End(long[] latencies, long nanoseconds, bool failed)
    {
        Queue--;
        Errors += failed ? 1 : 0;
        latencies[Math.Min(LatencyClasses - 1, BitOperations.Log2((ulong)Math.Max(1, nanoseconds / 1000)))]++;
    }
}
