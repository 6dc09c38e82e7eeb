namespace TierSpaces.Contracts;

/// <summary>A file, or a range of a virtual disk, that is pinned to a storage tier. Returned by Get-FileStorageTier.</summary>
[WindowsClass("MSFT_FileStorageTier", "FilePath=Place", "DesiredStorageTierName", "PlacementStatus", "State")]
public sealed record FileStorageTierInfo
{
    /// <summary>Empty for a range.</summary>
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

    /// <summary>Ours. Identifier of the pin. Not UniqueId: cmdlets that take a file or an identifier would be given both.</summary>
    public string PinUniqueId { get; init; } = "";

    /// <summary>Ours. Virtual disk that it is on.</summary>
    public string VirtualDiskUniqueId { get; init; } = "";

    /// <summary>Ours. First byte of a range, of a whole slice; null for a file.</summary>
    public ulong? Offset { get; init; }

    /// <summary>Ours. Bytes of a range, whole slices; null for a file.</summary>
    public ulong? Length { get; init; }

    /// <summary>Ours. Pinned file or range, as the table shows it: the path, or the range in words.</summary>
    public string Place { get; init; } = "";
}
