namespace TierSpaces.Contracts;

/// <summary>A file that is pinned to a storage tier. What Get-FileStorageTier returns.</summary>
[WindowsClass("MSFT_FileStorageTier", "FilePath", "DesiredStorageTierName", "PlacementStatus", "State")]
public sealed record FileStorageTierInfo
{
    public string FilePath { get; init; } = "";

    public string State { get; init; } = "";

    public string PlacementStatus { get; init; } = "";

    public string DesiredStorageTierName { get; init; } = "";

    public string DesiredStorageTierClass { get; init; } = "";

    /// <summary>In bytes: the places that are pinned.</summary>
    public ulong FileSize { get; init; }

    /// <summary>In bytes.</summary>
    public ulong FileSizeOnDesiredStorageTier { get; init; }

    /// <summary>In bytes.</summary>
    public ulong FileSizeOnDesiredStorageTierClass { get; init; }

    /// <summary>In bytes.</summary>
    public ulong FileSizeOnPerformanceTierClass { get; init; }

    /// <summary>In bytes.</summary>
    public ulong FileSizeOnCapacityTierClass { get; init; }

    /// <summary>Ours. Virtual disk that the file is on.</summary>
    public string VirtualDiskUniqueId { get; init; } = "";
}
