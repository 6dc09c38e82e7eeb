namespace TierSpaces.Contracts;

/// <summary>
/// Result of an optimization of tiers, and the fit of the tier sizes to the load. Returned by Optimize-StorageTier. Sizes are in bytes. I/O is that
/// of the last days; recent requests count more.
/// </summary>
[WindowsClass(
    "TierSpaces_StorageTierOptimization", "VirtualDisk=VirtualDiskFriendlyName", "State", "Promoted=BytesPromoted:bytes", "Demoted=BytesDemoted:bytes",
    "PerfTierSize=PerformanceTierSize:bytes", "%Before=PercentOfIoBefore", "%After=PercentOfIoAfter", Text = nameof(Report))]
public sealed record StorageTierOptimizationInfo
{
    public string VirtualDiskFriendlyName { get; init; } = "";

    public string VirtualDiskUniqueId { get; init; } = "";

    /// <summary>The storage job that did it.</summary>
    public string StorageJobUniqueId { get; init; } = "";

    /// <summary>State in which it ended: Completed, Terminated, Suspended or Exception.</summary>
    public string State { get; init; } = "";

    /// <summary>Slices that were to move.</summary>
    public ulong SlicesPlanned { get; init; }

    /// <summary>Brought to faster tiers.</summary>
    public ulong BytesPromoted { get; init; }

    /// <summary>Brought to slower tiers.</summary>
    public ulong BytesDemoted { get; init; }

    /// <summary>Bytes of moves that would be worth making and that the limit of the run, -MaximumBytes, left out.</summary>
    public ulong BytesLeftOut { get; init; }

    /// <summary>Size of the fastest tier.</summary>
    public ulong PerformanceTierSize { get; init; }

    /// <summary>Percent of the I/O whose slices were on the fastest tier when it began.</summary>
    public double PercentOfIoBefore { get; init; }

    /// <summary>Percent of the I/O whose slices are on the fastest tier now.</summary>
    public double PercentOfIoAfter { get; init; }

    /// <summary>The tiers, fastest first.</summary>
    public StorageTierShareInfo[] Tiers { get; init; } = [];

    /// <summary>Sizes that the fastest tier needs for 100, 95, … 5 percent of the I/O.</summary>
    public PerformanceTierSizeInfo[] SizesRequired { get; init; } = [];

    /// <summary>All of it as the text that Windows prints.</summary>
    public string Report { get; init; } = "";
}

/// <summary>Share of a tier in the I/O of its virtual disk.</summary>
public sealed record StorageTierShareInfo
{
    public string FriendlyName { get; init; } = "";

    /// <summary>Size of the tier.</summary>
    public ulong Size { get; init; }

    /// <summary>Bytes of slices that are on it.</summary>
    public ulong MappedSize { get; init; }

    /// <summary>Percent of the I/O whose slices are on it.</summary>
    public double PercentOfIo { get; init; }

    /// <summary>Bytes of slices that are pinned to it.</summary>
    public ulong PinnedSize { get; init; }

    /// <summary>Percent of the I/O that these have.</summary>
    public double PinnedPercentOfIo { get; init; }
}

/// <summary>A line of the report: so much of the I/O takes so large a fastest tier.</summary>
public sealed record PerformanceTierSizeInfo
{
    public int PercentOfIo { get; init; }

    /// <summary>Bytes.</summary>
    public ulong SizeRequired { get; init; }
}
