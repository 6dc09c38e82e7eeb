namespace TierSpaces.Contracts;

/// <summary>A slice of a virtual disk with tiers and what is known of it: what Get-StorageTierHeatMap returns.</summary>
[WindowsClass(
    "TierSpaces_StorageTierHeat", "VirtualDisk=VirtualDiskFriendlyName", "Offset", "Length:bytes", "Heat", "Rank", "Tier", "PinnedTier",
    "Reason", "Since")]
public sealed record StorageTierHeatInfo
{
    public string VirtualDiskFriendlyName { get; init; } = "";

    public string VirtualDiskUniqueId { get; init; } = "";

    /// <summary>Its number, from 0.</summary>
    public uint Slice { get; init; }

    /// <summary>Its first byte in the virtual disk.</summary>
    public ulong Offset { get; init; }

    /// <summary>In bytes.</summary>
    public ulong Length { get; init; }

    /// <summary>In requests, each of which counts half after a half-life.</summary>
    public double Heat { get; init; }

    /// <summary>Its place among the slices that are on a tier, 1 for the hottest; equal heat has the same place. Null while it is nowhere.</summary>
    public uint? Rank { get; init; }

    /// <summary>Friendly name of the tier it is on; null while nothing was written to it.</summary>
    public string? Tier { get; init; }

    /// <summary>Kind of medium of that tier.</summary>
    public string? MediaType { get; init; }

    /// <summary>Friendly name of the tier it is pinned to; null for none.</summary>
    public string? PinnedTier { get; init; }

    /// <summary>Reason for its place: FirstWrite, Promoted, MadeRoom, Pinned, Cold, Reserve or Demoted; null while the slice has no place.</summary>
    public string? Reason { get; init; }

    /// <summary>Time at which the slice came to its place, to the hour, UTC; null while it has none.</summary>
    public DateTime? Since { get; init; }
}
