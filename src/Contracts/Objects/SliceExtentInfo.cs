namespace TierSpaces.Contracts;

/// <summary>Place of a column and copy of a slice of a tiered virtual disk: an object of Get-PhysicalExtent -Tier.</summary>
[WindowsClass(
    "TierSpaces_SliceExtent", "SliceNumber", "StorageTierFriendlyName", "VirtualDiskOffset:bytes", "Size:bytes", "ColumnNumber", "CopyNumber",
    "PhysicalDiskFriendlyName", "PhysicalDiskOffset:bytes")]
public sealed record SliceExtentInfo
{
    /// <summary>Number of the slice, from 0.</summary>
    public uint SliceNumber { get; init; }

    /// <summary>Friendly name of the tier that it is on.</summary>
    public string StorageTierFriendlyName { get; init; } = "";

    /// <summary>Unique identifier of the tier.</summary>
    public string StorageTierUniqueId { get; init; } = "";

    /// <summary>Unique identifier of the virtual disk.</summary>
    public string VirtualDiskUniqueId { get; init; } = "";

    /// <summary>Offset of the slice in the virtual disk, in bytes.</summary>
    public ulong VirtualDiskOffset { get; init; }

    /// <summary>Bytes of it that lie here; of parity the stripes that the slice is in, parity included.</summary>
    public ulong Size { get; init; }

    /// <summary>Column, from 0.</summary>
    public ushort ColumnNumber { get; init; }

    /// <summary>Copy, from 0.</summary>
    public ushort CopyNumber { get; init; }

    /// <summary>Friendly name of the physical disk.</summary>
    public string PhysicalDiskFriendlyName { get; init; } = "";

    /// <summary>Unique identifier of the physical disk.</summary>
    public string PhysicalDiskUniqueId { get; init; } = "";

    /// <summary>Offset on the physical disk, in bytes.</summary>
    public ulong PhysicalDiskOffset { get; init; }

    /// <summary>Whether the copy can be used.</summary>
    public string[] OperationalStatus { get; init; } = [];
}
