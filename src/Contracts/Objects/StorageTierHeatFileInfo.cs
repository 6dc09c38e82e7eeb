namespace TierSpaces.Contracts;

/// <summary>A file with the heat of a virtual disk: what Export-StorageTierHeatMap and Import-StorageTierHeatMap return.</summary>
[WindowsClass(
    "TierSpaces_StorageTierHeatFile", "Path", "VirtualDisk=VirtualDiskFriendlyName", "SliceSize:bytes", "HotSlices", "Size:bytes", "TimeWritten")]
public sealed record StorageTierHeatFileInfo
{
    public string Path { get; init; } = "";

    /// <summary>Virtual disk whose heat was written to the file, or replaced by it.</summary>
    public string VirtualDiskFriendlyName { get; init; } = "";

    public string VirtualDiskUniqueId { get; init; } = "";

    /// <summary>Identifier of the virtual disk whose heat the file holds.</summary>
    public string SourceUniqueId { get; init; } = "";

    /// <summary>Bytes of a slice of the file.</summary>
    public ulong SliceSize { get; init; }

    /// <summary>Slices of the file that have heat.</summary>
    public ulong HotSlices { get; init; }

    /// <summary>Of the file, in bytes.</summary>
    public ulong Size { get; init; }

    /// <summary>UTC.</summary>
    public DateTime TimeWritten { get; init; }
}
