namespace TierSpaces.Contracts;

/// <summary>A run of slabs on one disk for one column and copy: what Get-PhysicalExtent returns.</summary>
[WindowsClass(
    "MSFT_PhysicalExtent", "VirtualDiskOffset", "Size:bytes", "ColumnNumber", "CopyNumber", "PhysicalDiskUniqueId",
    "PhysicalDiskOffset", "OperationalStatus")]
public sealed record PhysicalExtentInfo
{
    public ushort ColumnNumber { get; init; }

    public ushort CopyNumber { get; init; }

    public ulong? Flags { get; init; }

    public string[]? OperationalDetails { get; init; }

    public string[] OperationalStatus { get; init; } = [];

    public ulong PhysicalDiskOffset { get; init; }

    public string PhysicalDiskUniqueId { get; init; } = "";

    public ushort? ReplacementCopyNumber { get; init; }

    public ulong Size { get; init; }

    public string? StorageTierUniqueId { get; init; }

    public ulong VirtualDiskOffset { get; init; }

    public string VirtualDiskUniqueId { get; init; } = "";
}
