namespace TierSpaces.Contracts;

/// <summary>Lists the enclosures that physical disks are in.</summary>
[Verb("Get-StorageEnclosure", "Lists the enclosures that physical disks are in.", DefaultSet = "ByUniqueId")]
public sealed record GetStorageEnclosureRequest : StorageRequest<StorageEnclosureInfo>
{
    [VerbParameter("Unique identifier; wildcards are accepted.", Sets = "ByUniqueId", Pipeline = PipelineBinding.ByPropertyName, Aliases = "Id")]
    public string[]? UniqueId { get; init; }

    [VerbParameter(
        "Friendly name; wildcards are accepted.", Sets = "ByFriendlyName", Position = 0, Pipeline = PipelineBinding.ByPropertyName)]
    public string[]? FriendlyName { get; init; }

    [VerbParameter(
        "Only enclosures of this serial number; wildcards are accepted.", Sets = "ByFriendlyName", Position = 1,
        Pipeline = PipelineBinding.ByPropertyName)]
    public string[]? SerialNumber { get; init; }

    [VerbParameter(
        "Only the enclosure that this physical disk is in.", Sets = "ByPhysicalDisk", Pipeline = PipelineBinding.ByValue,
        ObjectClass = "MSFT_PhysicalDisk")]
    public string? PhysicalDisk { get; init; }

    [VerbParameter(
        "Only enclosures of this node.", Sets = "ByStorageNode", Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_StorageNode")]
    public string? StorageNode { get; init; }

    [VerbParameter("Only enclosures that are connected to the node, as all of them are.", Sets = "ByStorageNode")]
    public bool PhysicallyConnected { get; init; }

    [VerbParameter(
        "The storage subsystem, by friendly name or unique identifier.", Sets = "ByStorageSubSystem", Pipeline = PipelineBinding.ByValue,
        ObjectClass = "MSFT_StorageSubSystem")]
    public string? StorageSubSystem { get; init; }

    [VerbParameter("Only objects of this manufacturer; wildcards are accepted.")]
    public string[]? Manufacturer { get; init; }

    [VerbParameter("Only objects of this model; wildcards are accepted.")]
    public string[]? Model { get; init; }

    [VerbParameter("Only objects of this health.")]
    public HealthStatus[]? HealthStatus { get; init; }
}
