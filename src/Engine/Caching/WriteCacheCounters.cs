namespace TierSpaces.Engine.Caching;

/// <summary>Reason for the destination of a write.</summary>
public enum WriteReason
{
    /// <summary>To the cache.</summary>
    Cache,

    /// <summary>Past the cache: the backing store has it on media as fast as the cache's.</summary>
    SsdResident,

    /// <summary>Past the cache: it was the first into its place, for which there was room on media as fast as the cache's.</summary>
    SsdAllocated,

    /// <summary>Past the cache: larger than the cache takes.</summary>
    BypassLarge,

    /// <summary>Past the cache: there was no room.</summary>
    BypassFull,

    /// <summary>Past the cache: it takes no writes (a disk of it is lost, or it is being resized).</summary>
    WriteThrough,
}

/// <summary>Counters of a write cache since it was opened.</summary>
public sealed class WriteCacheCounters
{
    private readonly long[] _writes = new long[Enum.GetValues<WriteReason>().Length];
    private readonly long[] _bytes = new long[Enum.GetValues<WriteReason>().Length];

    /// <summary>Writes and unmaps that waited because their range was still in the full cache.</summary>
    public long WaitOverlap { get; private set; }

    /// <summary>Bytes of blocks read from the cache.</summary>
    public long HitBytes { get; private set; }

    /// <summary>Bytes of blocks read from the backing store.</summary>
    public long MissBytes { get; private set; }

    /// <summary>Bytes that destaging has written to the backing store.</summary>
    public long DestagedBytes { get; private set; }

    /// <summary>Bytes of the ring given free for new writes.</summary>
    public long EvictedBytes { get; private set; }

    /// <summary>Times that part of the ring was given free.</summary>
    public long Evictions { get; private set; }

    /// <summary>Records written, each a group of writes.</summary>
    public long Records { get; private set; }

    /// <summary>Bytes written to the ring, per copy.</summary>
    public long RecordBytes { get; private set; }

    /// <summary>Blocks of the ring rewritten on one copy from another.</summary>
    public long BlocksHealed { get; private set; }

    /// <summary>Times that no copy could give a block of the ring.</summary>
    public long BlocksLost { get; private set; }

    /// <summary>Bytes of them that were marked as lost on the backing store: reads of them fail until they are written or unmapped.</summary>
    public long LostBytes { get; private set; }

    /// <summary>Writes that went somewhere for a reason.</summary>
    public long Writes(WriteReason reason) => _writes[(int)reason];

    /// <summary>Bytes of them.</summary>
    public long WriteBytes(WriteReason reason) => _bytes[(int)reason];

    internal void NoteWrite(WriteReason reason, long bytes)
    {
        _writes[(int)reason]++;
        _bytes[(int)reason] += bytes;
    }

    internal void NoteWaitOverlap(bool isFirstWait) => WaitOverlap += isFirstWait ? 1 : 0;

    internal void NoteHit(int bytes) => HitBytes += bytes;

    internal void NoteMiss(int bytes) => MissBytes += bytes;

    internal void NoteDestaged(long bytes) => DestagedBytes += bytes;

    internal void NoteEviction(long bytes)
    {
        Evictions++;
        EvictedBytes += bytes;
    }

    internal void NoteRecord(long bytes)
    {
        Records++;
        RecordBytes += bytes;
    }

    internal void NoteHealed(int blocks) => BlocksHealed += blocks;

    internal void NoteBlockLost() => BlocksLost++;

    internal void NoteLostBytes(int bytes) => LostBytes += bytes;
}
