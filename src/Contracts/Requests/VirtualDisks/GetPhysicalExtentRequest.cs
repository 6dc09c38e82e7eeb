namespace TierSpaces.Contracts;

/// <summary>Lists where virtual disks lie on physical disks.</summary>
[Verb("Get-PhysicalExtent", "Lists where virtual disks lie on physical disks.")]
public sealed record GetPhysicalExtentRequest : StorageRequest<PhysicalExtentInfo>
{
    [VerbParameter(
        "The virtual disk, by friendly name or unique identifier.", Sets = "ByVirtualDisk", Required = true,
        Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_VirtualDisk")]
    public string? VirtualDisk { get; init; }

    [VerbParameter(
        "The storage tier, by friendly name or unique identifier.", Sets = "ByStorageTier", Required = true,
        Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_StorageTier")]
    public string? StorageTier { get; init; }

    [VerbParameter(
        "The physical disk, by friendly name or unique identifier.", Sets = "ByPhysicalDisk", Required = true,
        Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_PhysicalDisk")]
    public string? PhysicalDisk { get; init; }

    [VerbParameter("Lists the slices of virtual disks with tiers that have a place, each with its tier and its number, instead of slabs.")]
    public bool Tier { get; init; }
}
