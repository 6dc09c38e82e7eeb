namespace TierSpaces.Contracts;

/// <summary>Lists physical disks.</summary>
[Verb("Get-PhysicalDisk", "Lists physical disks.", DefaultSet = "ByUniqueId")]
public sealed record GetPhysicalDiskRequest : StorageRequest<PhysicalDiskInfo>
{
    [VerbParameter(
        "Unique identifier; wildcards are accepted.", Sets = "ByUniqueId", Pipeline = PipelineBinding.ByValue,
        Aliases = "Id")]
    public string? UniqueId { get; init; }

    [VerbParameter(
        "Object identifier.", Sets = "ByObjectId", Pipeline = PipelineBinding.ByValue, Aliases = "PhysicalDiskObjectId")]
    public string? ObjectId { get; init; }

    [VerbParameter("Friendly name; wildcards are accepted.", Sets = "ByName", Position = 0, Pipeline = PipelineBinding.ByValue)]
    public string? FriendlyName { get; init; }

    [VerbParameter("Serial number; wildcards are accepted.", Sets = "ByName", Position = 1, Pipeline = PipelineBinding.ByValue)]
    public string? SerialNumber { get; init; }

    [VerbParameter(
        "The objects themselves, named by unique identifier or friendly name.", Sets = "ByInputObject", Required = true,
        Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_PhysicalDisk")]
    public string? InputObject { get; init; }

    [VerbParameter(
        "The storage subsystem, by friendly name or unique identifier.", Sets = "ByStorageSubsystem", Required = true,
        Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_StorageSubSystem")]
    public string? StorageSubsystem { get; init; }

    [VerbParameter(
        "Only disks in this fault domain, by friendly name or unique identifier.", Sets = "ByStorageEnclosure", Required = true,
        Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_StorageEnclosure")]
    public string? StorageEnclosure { get; init; }

    [VerbParameter(
        "Only disks that are connected to this node, as all of them are.", Sets = "ByStorageNode", Required = true,
        Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_StorageNode")]
    public string? StorageNode { get; init; }

    [VerbParameter(
        "The storage pool, by friendly name or unique identifier.", Sets = "ByStoragePool", Required = true,
        Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_StoragePool")]
    public string? StoragePool { get; init; }

    [VerbParameter(
        "The virtual disk, by friendly name or unique identifier.", Sets = "ByVirtualDisk", Required = true,
        Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_VirtualDisk")]
    public string? VirtualDisk { get; init; }

    [VerbParameter(
        "Only disks in this fault domain, by friendly name or unique identifier.", Sets = "ByStorageChassis", Required = true,
        Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_StorageChassis", IsUndocumented = true)]
    public string? StorageChassis { get; init; }

    [VerbParameter(
        "Only disks in this fault domain, by friendly name or unique identifier.", Sets = "ByStorageRack", Required = true,
        Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_StorageRack", IsUndocumented = true)]
    public string? StorageRack { get; init; }

    [VerbParameter(
        "Only disks in this fault domain, by friendly name or unique identifier.", Sets = "ByStorageScaleUnit", Required = true,
        Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_StorageScaleUnit", IsUndocumented = true)]
    public string? StorageScaleUnit { get; init; }

    [VerbParameter(
        "Only objects associated with this StorageSite.", Sets = "ByStorageSite", Required = true,
        Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_StorageSite",
        Refused = "StorageSite objects do not exist here.", IsUndocumented = true)]
    public string? StorageSite { get; init; }

    [VerbParameter(
        "Specifies the usage of the object.",
        Sets = "ByUniqueId, ByObjectId, ByName, ByStorageSubsystem, ByStorageEnclosure, ByStorageNode, ByStoragePool, "
            + "ByVirtualDisk")]
    public PhysicalDiskUsage? Usage { get; init; }

    [VerbParameter(
        "Only disks of this description; wildcards are accepted.",
        Sets = "ByUniqueId, ByObjectId, ByName, ByStorageSubsystem, ByStorageEnclosure, ByStorageNode, ByStoragePool, "
            + "ByVirtualDisk")]
    public string? Description { get; init; }

    [VerbParameter(
        "Only objects of this manufacturer; wildcards are accepted.",
        Sets = "ByUniqueId, ByObjectId, ByName, ByStorageSubsystem, ByStorageEnclosure, ByStorageNode, ByStoragePool, "
            + "ByVirtualDisk")]
    public string? Manufacturer { get; init; }

    [VerbParameter(
        "Only objects of this model; wildcards are accepted.",
        Sets = "ByUniqueId, ByObjectId, ByName, ByStorageSubsystem, ByStorageEnclosure, ByStorageNode, ByStoragePool, "
            + "ByVirtualDisk")]
    public string? Model { get; init; }

    [VerbParameter(
        "Only disks that can (or cannot) be added to a pool.",
        Sets = "ByUniqueId, ByObjectId, ByName, ByStorageSubsystem, ByStorageEnclosure, ByStorageNode, ByStoragePool, "
            + "ByVirtualDisk")]
    public bool? CanPool { get; init; }

    [VerbParameter(
        "Only objects of this health.",
        Sets = "ByUniqueId, ByObjectId, ByName, ByStorageSubsystem, ByStorageEnclosure, ByStorageNode, ByStoragePool, "
            + "ByVirtualDisk")]
    public HealthStatus? HealthStatus { get; init; }

    [VerbParameter(
        "Only disks that are connected to the node, as all of them are.", Sets = "ByStorageNode")]
    public bool PhysicallyConnected { get; init; }

    [VerbParameter("Start of the range in the virtual disk in bytes.", Sets = "ByVirtualDisk", Kind = ParameterKind.Size)]
    public ulong? VirtualRangeMin { get; init; }

    [VerbParameter("End of the range in the virtual disk in bytes.", Sets = "ByVirtualDisk", Kind = ParameterKind.Size)]
    public ulong? VirtualRangeMax { get; init; }

    [VerbParameter("Only disks that hold (or do not hold) slabs of the virtual disk.", Sets = "ByVirtualDisk")]
    public bool? HasAllocations { get; init; }

    [VerbParameter(
        "Only disks that the virtual disk may (or may not) take further slabs from.", Sets = "ByVirtualDisk")]
    public bool? SelectedForUse { get; init; }

    [VerbParameter("Only where no other copy of the data exists.", Sets = "ByVirtualDisk")]
    public bool NoRedundancy { get; init; }

    [VerbParameter("Number of the disk, as in DeviceId.", Sets = "ByDeviceNumber", IsUndocumented = true)]
    public string? DeviceNumber { get; init; }

    [VerbParameter(
        "Only disks that hold pool metadata.", Sets = "ByStoragePool, ByVirtualDisk", IsUndocumented = true)]
    public bool HasMetadata { get; init; }
}
