using System.Text.Json.Serialization;

namespace TierSpaces.Contracts;

/// <summary>A run of slabs on one disk for one column and copy: what Get-PhysicalExtent returns.</summary>
[WindowsClass(
    "MSFT_PhysicalExtent", "VirtualDiskOffset", "Size:bytes", "ColumnNumber", "CopyNumber", "PhysicalDiskUniqueId",
    "PhysicalDiskOffset", "OperationalStatus", Inner = nameof(Slice))]
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

    /// <summary>With -Tier: a column and copy of a slice, which is shown in place of this one.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public SliceExtentInfo? Slice { get; init; }

    public string? StorageTierUniqueId { get; init; }

    public ulong VirtualDiskOffset { get; init; }

    public string VirtualDiskUniqueId { get; init; } = "";
}
