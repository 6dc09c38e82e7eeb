namespace TierSpaces.Contracts;

/// <summary>Describes the node, this machine.</summary>
[Verb("Get-StorageNode", "Describes the node, this machine.", DefaultSet = "ByName")]
public sealed record GetStorageNodeRequest : StorageRequest<StorageNodeInfo>
{
    [VerbParameter("Name; wildcards are accepted.", Sets = "ByName", Pipeline = PipelineBinding.ByPropertyName)]
    public string[]? Name { get; init; }

    [VerbParameter("Unique identifier; wildcards are accepted.", Sets = "ByUniqueId", Pipeline = PipelineBinding.ByPropertyName, Aliases = "Id")]
    public string[]? UniqueId { get; init; }

    [VerbParameter("Object identifier.", Sets = "ByObjectId", Pipeline = PipelineBinding.ByPropertyName, Aliases = "StorageNodeObjectId")]
    public string[]? ObjectId { get; init; }

    [VerbParameter("Only nodes of this operational status.")]
    public StorageNodeOperationalStatus[]? OperationalStatus { get; init; }

    [VerbParameter(
        "Only objects associated with this Volume.", Sets = "ByVolume", Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_Volume")]
    public string? Volume { get; init; }

    [VerbParameter(
        "The virtual disk, by friendly name or unique identifier.", Sets = "ByVirtualDisk", Pipeline = PipelineBinding.ByValue,
        ObjectClass = "MSFT_VirtualDisk")]
    public string? VirtualDisk { get; init; }

    [VerbParameter(
        "The physical disk, by friendly name or unique identifier.", Sets = "ByPhysicalDisk", Pipeline = PipelineBinding.ByValue,
        ObjectClass = "MSFT_PhysicalDisk")]
    public string? PhysicalDisk { get; init; }

    [VerbParameter(
        "Only nodes that the disk or the enclosure is connected to, as it is to this one.", Sets = "ByPhysicalDisk, ByStorageEnclosure")]
    public bool PhysicallyConnected { get; init; }

    [VerbParameter(
        "The storage pool, by friendly name or unique identifier.", Sets = "ByStoragePool", Pipeline = PipelineBinding.ByValue,
        ObjectClass = "MSFT_StoragePool")]
    public string? StoragePool { get; init; }

    [VerbParameter(
        "The enclosure, by friendly name or unique identifier.", Sets = "ByStorageEnclosure", Pipeline = PipelineBinding.ByValue,
        ObjectClass = "MSFT_StorageEnclosure")]
    public string? StorageEnclosure { get; init; }

    [VerbParameter(
        "The storage subsystem, by friendly name or unique identifier.", Sets = "ByStorageSubSystem", Pipeline = PipelineBinding.ByValue,
        ObjectClass = "MSFT_StorageSubSystem")]
    public string? StorageSubSystem { get; init; }

    [VerbParameter(
        "Only objects associated with this Disk.", Sets = "ByDisk", Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_Disk")]
    public string? Disk { get; init; }
}
