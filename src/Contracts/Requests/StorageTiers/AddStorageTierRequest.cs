namespace TierSpaces.Contracts;

/// <summary>Adds a tier to virtual disks.</summary>
[Verb(
    "Add-StorageTier", "Adds a tier to virtual disks with tiers while they are in use, and makes them larger by it.", DefaultSet = "ByVirtualDiskFriendlyName",
    ChangesState = true, IsOurs = true)]
public sealed record AddStorageTierRequest : StorageRequest<StorageTierInfo>
{
    [VerbParameter(
        "Friendly name of the virtual disk; wildcards are accepted.", Sets = "ByVirtualDiskFriendlyName", Required = true, Position = 0)]
    public string[]? VirtualDiskFriendlyName { get; init; }

    [VerbParameter("Unique identifier of the virtual disk; wildcards are accepted.", Sets = "ByVirtualDiskUniqueId", Required = true)]
    public string[]? VirtualDiskUniqueId { get; init; }

    [VerbParameter(
        "The virtual disks themselves, named by unique identifier or friendly name.", Sets = "ByVirtualDisk",
        Required = true, Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_VirtualDisk")]
    public string[]? VirtualDisk { get; init; }

    [VerbParameter(
        "The template that the tier is made of, by friendly name or unique identifier.", Required = true, Position = 1, ObjectClass = "MSFT_StorageTier")]
    public string? StorageTier { get; init; }

    [VerbParameter(
        "Size of the tier in bytes; KB, MB, GB, TB and PB are accepted. Rounded up to whole slices.", Required = true, Position = 2, Kind = ParameterKind.Size)]
    public ulong? Size { get; init; }

    [VerbParameter("Returns the tier.")]
    public bool PassThru { get; init; }
}
