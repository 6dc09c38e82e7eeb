namespace TierSpaces.Contracts;

/// <summary>Placement of a slice of a virtual disk and the reason for it. Returned by Get-StorageTierExplanation.</summary>
[WindowsClass("TierSpaces_StorageTierExplanation", "VirtualDisk=VirtualDiskFriendlyName", "Offset", "Tier", "Explanation")]
public sealed record StorageTierExplanationInfo
{
    public string VirtualDiskFriendlyName { get; init; } = "";

    public string VirtualDiskUniqueId { get; init; } = "";

    /// <summary>The file that was asked about; null where a range was.</summary>
    public string? FilePath { get; init; }

    /// <summary>Its number, from 0.</summary>
    public uint Slice { get; init; }

    /// <summary>Its first byte in the virtual disk.</summary>
    public ulong Offset { get; init; }

    /// <summary>In bytes.</summary>
    public ulong Length { get; init; }

    /// <summary>Friendly name of the tier it is on; null while nothing was written to it.</summary>
    public string? Tier { get; init; }

    /// <summary>Reason for its place, as in the heat map; null while the slice has no place.</summary>
    public string? Reason { get; init; }

    /// <summary>Time at which the slice came to its place, to the hour, UTC; null while it has none.</summary>
    public DateTime? Since { get; init; }

    /// <summary>In requests, each of which counts half after a half-life.</summary>
    public double Heat { get; init; }

    /// <summary>Its place among the slices that are on a tier, 1 for the hottest; null while it is nowhere.</summary>
    public uint? Rank { get; init; }

    /// <summary>
    /// Number of slices that the tiers faster than its own can hold; on the fastest, the number that this tier can hold. Without the part
    /// that is kept free.
    /// </summary>
    public ulong Fitting { get; init; }

    /// <summary>Heat above which a slice comes to the next faster tier; null on the fastest and of one that is nowhere.</summary>
    public double? Threshold { get; init; }

    /// <summary>Friendly name of the tier it is pinned to; null for none.</summary>
    public string? PinnedTier { get; init; }

    /// <summary>Friendly name of the tier that the next optimization brings it to; null when it stays.</summary>
    public string? NextTier { get; init; }

    /// <summary>All of it in sentences.</summary>
    public string Explanation { get; init; } = "";
}
