namespace TierSpaces.Contracts;

/// <summary>Lists reliability counters of physical disks.</summary>
[Verb("Get-StorageReliabilityCounter", "Lists reliability counters of physical disks.")]
public sealed record GetStorageReliabilityCounterRequest : StorageRequest<StorageReliabilityCounterInfo>
{
    [VerbParameter(
        "The physical disk, named by unique identifier or friendly name; wildcards are accepted.", Sets = "ByPhysicalDisk",
        Required = true, Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_PhysicalDisk")]
    public string? PhysicalDisk { get; init; }

    [VerbParameter(
        "The Disk.", Sets = "ByDisk", Required = true, Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_Disk",
        Refused = "A disk is a virtual disk; counters are those of physical disks: Get-PhysicalDisk -VirtualDisk.")]
    public string? Disk { get; init; }
}
