namespace TierSpaces.Contracts;

/// <summary>Lists virtual disks.</summary>
[Verb("Get-VirtualDisk", "Lists virtual disks.", DefaultSet = "ByFriendlyName")]
public sealed record GetVirtualDiskRequest : StorageRequest<VirtualDiskInfo>
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
        "Only objects associated with this StorageJob.", Sets = "ByStorageJob", Pipeline = PipelineBinding.ByValue,
        ObjectClass = "MSFT_StorageJob")]
    public string? StorageJob { get; init; }

    [VerbParameter(
        "Only objects associated with this TargetPort.", Sets = "ByTargetPort", Pipeline = PipelineBinding.ByValue,
        ObjectClass = "MSFT_TargetPort", Refused = "TargetPort objects do not exist here.")]
    public string? TargetPort { get; init; }

    [VerbParameter(
        "Only objects associated with this InitiatorId.", Sets = "ByInitiatorId", Pipeline = PipelineBinding.ByValue,
        ObjectClass = "MSFT_InitiatorId", Refused = "InitiatorId objects do not exist here.")]
    public string? InitiatorId { get; init; }

    [VerbParameter(
        "Only objects associated with this MaskingSet.", Sets = "ByMaskingSet", Pipeline = PipelineBinding.ByValue,
        ObjectClass = "MSFT_MaskingSet", Refused = "MaskingSet objects do not exist here.")]
    public string? MaskingSet { get; init; }

    [VerbParameter(
        "Only objects associated with this InitiatorPort.", Sets = "ByInitiatorPort", Pipeline = PipelineBinding.ByValue,
        ObjectClass = "MSFT_InitiatorPort", Refused = "InitiatorPort objects do not exist here.")]
    public string? InitiatorPort { get; init; }

    [VerbParameter(
        "Only objects associated with this Disk.", Sets = "ByDisk", Pipeline = PipelineBinding.ByValue,
        ObjectClass = "MSFT_Disk")]
    public string? Disk { get; init; }

    [VerbParameter(
        "The storage tier, by friendly name or unique identifier.", Sets = "ByStorageTier",
        Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_StorageTier")]
    public string? StorageTier { get; init; }

    [VerbParameter(
        "The physical disk, by friendly name or unique identifier.", Sets = "ByPhysicalDisk",
        Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_PhysicalDisk")]
    public string? PhysicalDisk { get; init; }

    [VerbParameter(
        "The storage pool, by friendly name or unique identifier.", Sets = "ByStoragePool",
        Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_StoragePool")]
    public string? StoragePool { get; init; }

    [VerbParameter(
        "Only objects associated with this StorageNode.", Sets = "ByStorageNode", Pipeline = PipelineBinding.ByValue,
        ObjectClass = "MSFT_StorageNode", Refused = "StorageNode objects do not exist here.")]
    public string? StorageNode { get; init; }

    [VerbParameter(
        "The storage subsystem, by friendly name or unique identifier.", Sets = "ByStorageSubSystem",
        Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_StorageSubSystem")]
    public string? StorageSubSystem { get; init; }

    [VerbParameter(
        "Only objects associated with this StorageChassis.", Sets = "ByStorageChassis", Pipeline = PipelineBinding.ByValue,
        ObjectClass = "MSFT_StorageChassis", Refused = "StorageChassis objects do not exist here.", IsUndocumented = true)]
    public string? StorageChassis { get; init; }

    [VerbParameter(
        "Only objects associated with this StorageEnclosure.", Sets = "ByStorageEnclosure",
        Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_StorageEnclosure",
        Refused = "StorageEnclosure objects do not exist here.", IsUndocumented = true)]
    public string? StorageEnclosure { get; init; }

    [VerbParameter(
        "Only objects associated with this StorageRack.", Sets = "ByStorageRack", Pipeline = PipelineBinding.ByValue,
        ObjectClass = "MSFT_StorageRack", Refused = "StorageRack objects do not exist here.", IsUndocumented = true)]
    public string? StorageRack { get; init; }

    [VerbParameter(
        "Only objects associated with this StorageScaleUnit.", Sets = "ByStorageScaleUnit",
        Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_StorageScaleUnit",
        Refused = "StorageScaleUnit objects do not exist here.", IsUndocumented = true)]
    public string? StorageScaleUnit { get; init; }

    [VerbParameter("Specifies the usage of the object.")]
    public VirtualDiskUsage[]? Usage { get; init; }

    [VerbParameter("Describes the usage when it is Other.")]
    public string[]? OtherUsageDescription { get; init; }

    [VerbParameter("Only snapshots (or only virtual disks that are none).")]
    public bool[]? IsSnapshot { get; init; }

    [VerbParameter("Only objects of this health.")]
    public HealthStatus[]? HealthStatus { get; init; }

    [VerbParameter(
        "Only objects associated with this TargetVirtualDisk.", Sets = "ByTargetVirtualDisk",
        ObjectClass = "MSFT_VirtualDisk", Refused = "TargetVirtualDisk objects do not exist here.")]
    public string? TargetVirtualDisk { get; init; }

    [VerbParameter(
        "Only objects associated with this SourceVirtualDisk.", Sets = "BySourceVirtualDisk",
        ObjectClass = "MSFT_VirtualDisk", Refused = "SourceVirtualDisk objects do not exist here.")]
    public string? SourceVirtualDisk { get; init; }

    [VerbParameter("Start of the range on the physical disk in bytes.", Sets = "ByPhysicalDisk", Kind = ParameterKind.Size)]
    public ulong? PhysicalRangeMin { get; init; }

    [VerbParameter("End of the range on the physical disk in bytes.", Sets = "ByPhysicalDisk", Kind = ParameterKind.Size)]
    public ulong? PhysicalRangeMax { get; init; }

    [VerbParameter("Only where no other copy of the data exists.", Sets = "ByPhysicalDisk")]
    public bool NoRedundancy { get; init; }

    [VerbParameter(
        "Also returns the associated objects.", Sets = "BySourceVirtualDisk",
        WithoutEffect = "there are no associated objects.", IsUndocumented = true)]
    public bool AssociatedObjects { get; init; }
}
