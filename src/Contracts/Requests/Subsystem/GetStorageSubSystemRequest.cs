namespace TierSpaces.Contracts;

/// <summary>Describes the storage subsystem, this machine.</summary>
[Verb("Get-StorageSubSystem", "Describes the storage subsystem, this machine.", DefaultSet = "ByFriendlyName")]
public sealed record GetStorageSubSystemRequest : StorageRequest<StorageSubSystemInfo>
{
    [VerbParameter(
        "Friendly name; wildcards are accepted.", Sets = "ByFriendlyName", Position = 0,
        Pipeline = PipelineBinding.ByPropertyName)]
    public string[]? FriendlyName { get; init; }

    [VerbParameter(
        "Unique identifier; wildcards are accepted.", Sets = "ByUniqueId", Pipeline = PipelineBinding.ByPropertyName,
        Aliases = "Id")]
    public string[]? UniqueId { get; init; }

    [VerbParameter("Name; wildcards are accepted.", Sets = "ByName", Pipeline = PipelineBinding.ByPropertyName)]
    public string[]? Name { get; init; }

    [VerbParameter(
        "A physical disk, by friendly name or unique identifier.", Sets = "ByStorageFaultDomain",
        Pipeline = PipelineBinding.ByValue,
        Aliases = "PhysicalDisk, StorageChassis, StorageEnclosure, StorageRack, StorageScaleUnit, StorageSite",
        ObjectClass = "MSFT_StorageFaultDomain")]
    public string? StorageFaultDomain { get; init; }

    [VerbParameter(
        "Only objects associated with this FileServer.", Sets = "ByFileServer", Pipeline = PipelineBinding.ByValue,
        ObjectClass = "MSFT_FileServer", Refused = "FileServer objects do not exist here.")]
    public string? FileServer { get; init; }

    [VerbParameter(
        "Only objects associated with this Volume.", Sets = "ByVolume", Pipeline = PipelineBinding.ByValue,
        ObjectClass = "MSFT_Volume")]
    public string? Volume { get; init; }

    [VerbParameter(
        "Only objects associated with this Partition.", Sets = "ByPartition", Pipeline = PipelineBinding.ByValue,
        ObjectClass = "MSFT_Partition")]
    public string? Partition { get; init; }

    [VerbParameter(
        "Only objects associated with this Disk.", Sets = "ByDisk", Pipeline = PipelineBinding.ByValue,
        ObjectClass = "MSFT_Disk")]
    public string? Disk { get; init; }

    [VerbParameter(
        "Only objects associated with this OffloadDataTransferSetting.", Sets = "ByOffloadDataTransferSetting",
        Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_OffloadDataTransferSetting",
        Refused = "OffloadDataTransferSetting objects do not exist here.")]
    public string? OffloadDataTransferSetting { get; init; }

    [VerbParameter(
        "Only objects associated with this InitiatorId.", Sets = "ByInitiatorId", Pipeline = PipelineBinding.ByValue,
        ObjectClass = "MSFT_InitiatorId", Refused = "InitiatorId objects do not exist here.")]
    public string? InitiatorId { get; init; }

    [VerbParameter(
        "Only objects associated with this TargetPortal.", Sets = "ByTargetPortal", Pipeline = PipelineBinding.ByValue,
        ObjectClass = "MSFT_TargetPortal", Refused = "TargetPortal objects do not exist here.")]
    public string? TargetPortal { get; init; }

    [VerbParameter(
        "Only objects associated with this TargetPort.", Sets = "ByTargetPort", Pipeline = PipelineBinding.ByValue,
        ObjectClass = "MSFT_TargetPort", Refused = "TargetPort objects do not exist here.")]
    public string? TargetPort { get; init; }

    [VerbParameter(
        "Only objects associated with this MaskingSet.", Sets = "ByMaskingSet", Pipeline = PipelineBinding.ByValue,
        ObjectClass = "MSFT_MaskingSet", Refused = "MaskingSet objects do not exist here.")]
    public string? MaskingSet { get; init; }

    [VerbParameter(
        "The virtual disk, by friendly name or unique identifier.", Sets = "ByVirtualDisk",
        Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_VirtualDisk")]
    public string? VirtualDisk { get; init; }

    [VerbParameter(
        "The storage pool, by friendly name or unique identifier.", Sets = "ByStoragePool",
        Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_StoragePool")]
    public string? StoragePool { get; init; }

    [VerbParameter(
        "Only objects associated with this StorageNode.", Sets = "ByStorageNode", Pipeline = PipelineBinding.ByValue,
        ObjectClass = "MSFT_StorageNode", Refused = "StorageNode objects do not exist here.")]
    public string? StorageNode { get; init; }

    [VerbParameter(
        "Only objects associated with this StorageProvider.", Sets = "ByStorageProvider", Pipeline = PipelineBinding.ByValue,
        ObjectClass = "MSFT_StorageProvider", Refused = "StorageProvider objects do not exist here.")]
    public string? StorageProvider { get; init; }

    [VerbParameter("Only objects of this health.", Except = "Unknown")]
    public HealthStatus[]? HealthStatus { get; init; }

    [VerbParameter("Only objects of this manufacturer; wildcards are accepted.")]
    public string[]? Manufacturer { get; init; }

    [VerbParameter("Only objects of this model; wildcards are accepted.")]
    public string[]? Model { get; init; }
}
