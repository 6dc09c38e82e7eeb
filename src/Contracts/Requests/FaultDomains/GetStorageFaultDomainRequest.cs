namespace TierSpaces.Contracts;

/// <summary>Lists fault domains: racks, chassis, scale units, enclosures and physical disks.</summary>
[Verb(
    "Get-StorageFaultDomain", "Lists fault domains: racks, chassis, scale units, enclosures and physical disks.", DefaultSet = "EnumerateFaultDomains")]
public sealed record GetStorageFaultDomainRequest : StorageRequest<StorageFaultDomainInfo>
{
    [VerbParameter("Only fault domains of this type.")]
    public StorageFaultDomainType? Type { get; init; }

    [VerbParameter("Only fault domains at this place; wildcards are accepted.")]
    public string? PhysicalLocation { get; init; }

    [VerbParameter(
        "Only fault domains that contain this one or are contained in it.", Sets = "ByStorageFaultDomain", Required = true,
        Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_StorageFaultDomain")]
    public string? StorageFaultDomain { get; init; }

    [VerbParameter(
        "The storage subsystem, by friendly name or unique identifier.", Sets = "ByStorageSubsystem", Required = true,
        Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_StorageSubSystem")]
    public string? StorageSubsystem { get; init; }

    [VerbParameter("Only fault domains of this friendly name; wildcards are accepted.", IsUndocumented = true)]
    public string? FriendlyName { get; init; }

    [VerbParameter("Only fault domains of this serial number; wildcards are accepted.", IsUndocumented = true)]
    public string? SerialNumber { get; init; }

    [VerbParameter(
        "Only fault domains that hold a part of this virtual disk.", Sets = "ByVirtualDisk", Required = true, Pipeline = PipelineBinding.ByValue,
        ObjectClass = "MSFT_VirtualDisk", IsUndocumented = true)]
    public string? VirtualDisk { get; init; }
}
