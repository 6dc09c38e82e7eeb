using System.Text.Json.Serialization;

namespace TierSpaces.Contracts;

/// <summary>
/// Counters of one virtual disk, of a tier of one, or of a physical disk, since the host started: what Get-StorageCounter returns. Operations and bytes are
/// whole and never reset; for a physical disk data and pool metadata are counted apart.
/// </summary>
[WindowsClass(
    "TierSpaces_StorageCounter",
    "ObjectType", "FriendlyName", "Reads", "ReadBytes", "Writes", "WriteBytes", "Flushes", "QueueLength", "ReadModifyWrites",
    Inner = nameof(Sample))]
public sealed record StorageCounterInfo
{
    /// <summary>VirtualDisk, StorageTier or PhysicalDisk.</summary>
    public string ObjectType { get; init; } = "";

    /// <summary>Friendly name of the disk or tier.</summary>
    public string FriendlyName { get; init; } = "";

    /// <summary>Identifier of the disk or tier.</summary>
    public string UniqueId { get; init; } = "";

    /// <summary>Reads of data completed.</summary>
    public ulong Reads { get; init; }

    /// <summary>Bytes of data read.</summary>
    public ulong ReadBytes { get; init; }

    /// <summary>Writes of data completed.</summary>
    public ulong Writes { get; init; }

    /// <summary>Bytes of data written.</summary>
    public ulong WriteBytes { get; init; }

    /// <summary>Flushes completed.</summary>
    public ulong Flushes { get; init; }

    /// <summary>Ranges given back.</summary>
    public ulong Unmaps { get; init; }

    /// <summary>Bytes given back.</summary>
    public ulong UnmapBytes { get; init; }

    /// <summary>Reads of metadata. Of a virtual disk: checksum pages. Of a physical disk: everything outside the data of slabs.</summary>
    public ulong MetadataReads { get; init; }

    /// <summary>Bytes of metadata read.</summary>
    public ulong MetadataReadBytes { get; init; }

    /// <summary>Writes of metadata. Of a virtual disk: checksum pages and its log, one for each copy. Of a physical disk: as the reads.</summary>
    public ulong MetadataWrites { get; init; }

    /// <summary>Bytes of metadata written.</summary>
    public ulong MetadataWriteBytes { get; init; }

    /// <summary>Stripes of a virtual disk with parity that were written whole, without reading anything.</summary>
    public ulong WholeStripeWrites { get; init; }

    /// <summary>Changes of a part of a stripe.</summary>
    public ulong PartialStripeWrites { get; init; }

    /// <summary>Changes that were recorded in the parity journal.</summary>
    public ulong ParityJournalWrites { get; init; }

    /// <summary>Blocks of 4 KiB that were computed from the other columns of their stripe.</summary>
    public ulong RebuiltBlocks { get; init; }

    /// <summary>Size of the integrity log of a virtual disk in bytes, that of all tiers together.</summary>
    public ulong IntegrityLogSize { get; init; }

    /// <summary>Bytes of the integrity log in use at its last commit. From half of its size on, checksum pages are written back to the disks.</summary>
    public ulong IntegrityLogUsed { get; init; }

    /// <summary>Most bytes of the integrity log in use at once since the virtual disk was opened.</summary>
    public ulong IntegrityLogUsedMax { get; init; }

    /// <summary>Requests that failed.</summary>
    public ulong Errors { get; init; }

    /// <summary>Requests under way now.</summary>
    public ulong QueueLength { get; init; }

    /// <summary>Most requests under way at once.</summary>
    public ulong QueueLengthMax { get; init; }

    /// <summary>Requests that were taken apart because they crossed a strip or a row.</summary>
    public ulong Splits { get; init; }

    /// <summary>Writes smaller than a sector, or than a block of checksums, that had to read first.</summary>
    public ulong ReadModifyWrites { get; init; }

    /// <summary>Slices that their first write put on the tier.</summary>
    public ulong SlicesAllocated { get; init; }

    /// <summary>Writes that were the first into a slice, which was given its place on the tier for them; the other writes found their slice there.</summary>
    public ulong FirstWrites { get; init; }

    /// <summary>Bytes of them.</summary>
    public ulong FirstWriteBytes { get; init; }

    /// <summary>Bytes that came to the tier from the write cache. They are not in <see cref="WriteBytes"/>: the cache counted them.</summary>
    public ulong DestagedBytes { get; init; }

    /// <summary>Slices that came to the tier from another.</summary>
    public ulong SlicesMovedIn { get; init; }

    /// <summary>Slices that went from the tier to another.</summary>
    public ulong SlicesMovedOut { get; init; }

    /// <summary>Upper bounds of the latency classes in microseconds; the last class has none.</summary>
    public ulong[] LatencyBoundsUs { get; init; } = [];

    /// <summary>Reads per latency class.</summary>
    public ulong[] ReadLatency { get; init; } = [];

    /// <summary>Writes, zeroing and unmaps per latency class.</summary>
    public ulong[] WriteLatency { get; init; } = [];

    /// <summary>Flushes per latency class.</summary>
    public ulong[] FlushLatency { get; init; } = [];

    /// <summary>Sum of all latencies in microseconds.</summary>
    public ulong LatencyTotalUs { get; init; }

    /// <summary>With -CounterSet: one counter of one object, which is shown in place of this one.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public StorageCounterSampleInfo? Sample { get; init; }
}
