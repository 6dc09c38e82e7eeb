namespace TierSpaces.Contracts;

/// <summary>
/// The write cache of one virtual disk: what Get-VirtualDiskWriteCache returns. Counters are whole numbers since the virtual disk was opened
/// and never reset; sizes are bytes of one copy.
/// </summary>
[WindowsClass(
    "TierSpaces_VirtualDiskWriteCache",
    "FriendlyName", "State", "Size:bytes", "DirtyBytes:bytes", "AvailableBytes:bytes", "CacheWrites", "BypassFullWrites", "HitBytes:bytes",
    "DestagedBytes:bytes")]
public sealed record VirtualDiskWriteCacheInfo
{
    /// <summary>Friendly name of the virtual disk.</summary>
    public string FriendlyName { get; init; } = "";

    /// <summary>Identifier of the virtual disk.</summary>
    public string UniqueId { get; init; } = "";

    /// <summary>Name of the pool that it is in; null: the virtual disk has no write cache.</summary>
    public string? CachePool { get; init; }

    /// <summary>Size of one copy in bytes; 0: the virtual disk has no write cache.</summary>
    public ulong Size { get; init; }

    /// <summary>Bytes in it that are not destaged yet.</summary>
    public ulong DirtyBytes { get; init; }

    /// <summary>Bytes that can be written to it now.</summary>
    public ulong AvailableBytes { get; init; }

    /// <summary>Bytes destaged.</summary>
    public ulong DestagedBytes { get; init; }

    /// <summary>Times that part of it was freed for new writes.</summary>
    public ulong Evictions { get; init; }

    /// <summary>Bytes freed for new writes.</summary>
    public ulong EvictedBytes { get; init; }

    /// <summary>Bytes read from it.</summary>
    public ulong HitBytes { get; init; }

    /// <summary>Bytes read from the home.</summary>
    public ulong MissBytes { get; init; }

    /// <summary>Writes that went to it.</summary>
    public ulong CacheWrites { get; init; }

    /// <summary>Bytes of them.</summary>
    public ulong CacheBytes { get; init; }

    /// <summary>Writes that passed it by because there was room for them on media as fast: the first into a slice or row.</summary>
    public ulong SsdAllocatedWrites { get; init; }

    /// <summary>Bytes of them.</summary>
    public ulong SsdAllocatedBytes { get; init; }

    /// <summary>Writes that passed it by because their home is as fast.</summary>
    public ulong SsdResidentWrites { get; init; }

    /// <summary>Bytes of them.</summary>
    public ulong SsdResidentBytes { get; init; }

    /// <summary>Writes that passed it by because they are larger than 256 KiB.</summary>
    public ulong BypassLargeWrites { get; init; }

    /// <summary>Bytes of them.</summary>
    public ulong BypassLargeBytes { get; init; }

    /// <summary>Writes that passed it by because it was full.</summary>
    public ulong BypassFullWrites { get; init; }

    /// <summary>Bytes of them.</summary>
    public ulong BypassFullBytes { get; init; }

    /// <summary>Writes that passed it by because it takes none.</summary>
    public ulong WriteThroughWrites { get; init; }

    /// <summary>Bytes of them.</summary>
    public ulong WriteThroughBytes { get; init; }

    /// <summary>Writes to media slower than flash of a virtual disk without a write cache.</summary>
    public ulong SlowWrites { get; init; }

    /// <summary>Bytes of them.</summary>
    public ulong SlowBytes { get; init; }

    /// <summary>Bytes read from flash. <see cref="HitBytes"/> counts the bytes that the write cache gave.</summary>
    public ulong SsdReadBytes { get; init; }

    /// <summary>Bytes read from slower media.</summary>
    public ulong SlowReadBytes { get; init; }

    /// <summary>Writes and unmaps that waited because their range was still in the full cache.</summary>
    public ulong WaitOverlaps { get; init; }

    /// <summary>
    /// Bytes that no copy of it returned when they were destaged. The virtual disk returns errors for them until they are written or unmapped.
    /// </summary>
    public ulong LostBytes { get; init; }

    /// <summary>Time that reading it took when the virtual disk was opened, as hh:mm:ss.fff.</summary>
    public string ReplayTime { get; init; } = "";

    /// <summary>None, Active, Retiring, WriteThrough, Lost, Absent while its pool is not open, or Closed while the virtual disk is not open.</summary>
    public string State { get; init; } = "";

    /// <summary>Reason for the state; null when there is none to report.</summary>
    public string? StateReason { get; init; }

    /// <summary>Percent full at which destaging starts.</summary>
    public ushort DestageStart { get; init; }

    /// <summary>Percent full at which destaging stops.</summary>
    public ushort DestageStop { get; init; }

    /// <summary>Seconds without a write after which everything is destaged.</summary>
    public uint DestageIdle { get; init; }

    /// <summary>Most bytes destaged in a second; 0: no limit.</summary>
    public ulong DestageBytesPerSecond { get; init; }

    /// <summary>Whether writes are kept until it is 80 % full or the time of day comes.</summary>
    public bool DestageHold { get; init; }

    /// <summary>The time of day at which what was kept is destaged, HH:mm; null: none.</summary>
    public string? DestageHoldUntil { get; init; }
}
