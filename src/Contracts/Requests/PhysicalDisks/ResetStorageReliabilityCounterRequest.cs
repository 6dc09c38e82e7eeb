namespace TierSpaces.Contracts;

/// <summary>Sets reliability counters of physical disks to zero.</summary>
[Verb(
    "Reset-StorageReliabilityCounter", "Sets reliability counters of physical disks to zero.", ChangesState = true, IsIdempotent = true)]
public sealed record ResetStorageReliabilityCounterRequest : StorageRequest<StorageReliabilityCounterInfo>
{
    [VerbParameter(
        "The physical disk, named by unique identifier or friendly name; wildcards are accepted.", Sets = "ByPhysicalDisk",
        Required = true, Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_PhysicalDisk")]
    public string? PhysicalDisk { get; init; }

    [VerbParameter(
        "The Disk.", Sets = "ByDisk", Required = true, Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_Disk",
        Refused = "A disk is a virtual disk; counters are those of physical disks: Get-PhysicalDisk -VirtualDisk.")]
    public string? Disk { get; init; }

    [VerbParameter(
        "The counters themselves, named by the unique identifier or friendly name of their disk.", Sets = "InputObject (cdxml)",
        Required = true, Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_StorageReliabilityCounter")]
    public string[]? InputObject { get; init; }

    [VerbParameter("Returns the object.")]
    public bool PassThru { get; init; }
}
