namespace TierSpaces.Contracts;

/// <summary>A line of a picture of a virtual disk's heat: what Show-StorageTierHeatMap returns.</summary>
[WindowsClass("TierSpaces_StorageTierHeatPicture", "VirtualDisk=VirtualDiskFriendlyName", "Offset:bytes", "Heat", "Tier")]
public sealed record StorageTierHeatPictureInfo
{
    public string VirtualDiskFriendlyName { get; init; } = "";

    public string VirtualDiskUniqueId { get; init; } = "";

    /// <summary>First byte of the line.</summary>
    public ulong Offset { get; init; }

    /// <summary>Bytes per character.</summary>
    public ulong CharacterSize { get; init; }

    /// <summary>
    /// The hottest slice behind each character: blank where nothing was written, then . : - = + * # % @, each twice as hot as the one before.
    /// </summary>
    public string Heat { get; init; } = "";

    /// <summary>The tier that most slices behind each character are on: 1 is the fastest, blank where nothing was written.</summary>
    public string Tier { get; init; } = "";
}
