namespace TierSpaces.Contracts;

/// <summary>Changes settings of the storage subsystem, this machine.</summary>
[Verb(
    "Set-StorageSubSystem", "Changes settings of the storage subsystem, this machine.", DefaultSet = "ByUniqueIdDescription", ChangesState = true,
    IsIdempotent = true, ReturnsNothing = true)]
public sealed record SetStorageSubSystemRequest : StorageRequest<StorageSubSystemInfo>
{
    private const string Attributes = "ByUniqueIdSetAttributes, ByObjectSetAttributes, ByFriendlyNameSetAttributes, ByNameSetAttributes";

    [VerbParameter(
        "Unique identifier; wildcards are accepted.", Sets = "ByUniqueIdDescription, ByUniqueIdSetAttributes", Required = true,
        Pipeline = PipelineBinding.ByPropertyName, Aliases = "Id")]
    public string? UniqueId { get; init; }

    [VerbParameter(
        "The object itself, named by unique identifier or friendly name.", Sets = "ByObjectSetAttributes, ByObjectDescription", Required = true, Position = 0,
        Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_StorageSubSystem")]
    public string[]? InputObject { get; init; }

    [VerbParameter(
        "Friendly name; wildcards are accepted.", Sets = "ByFriendlyNameDescription, ByFriendlyNameSetAttributes", Required = true, Position = 0,
        Pipeline = PipelineBinding.ByPropertyName)]
    public string? FriendlyName { get; init; }

    [VerbParameter(
        "Name; wildcards are accepted.", Sets = "ByNameDescription, ByNameSetAttributes", Required = true, Pipeline = PipelineBinding.ByPropertyName)]
    public string? Name { get; init; }

    [VerbParameter(
        "Text of your own.", Sets = "ByUniqueIdDescription, ByObjectDescription, ByNameDescription, ByFriendlyNameDescription",
        Refused = "The description of the subsystem is fixed.")]
    public string? Description { get; init; }

    [VerbParameter("Indicates whether a cluster takes pools over by itself.", Sets = Attributes, Refused = "There is one machine, and no cluster.")]
    public bool? AutomaticClusteringEnabled { get; init; }

    [VerbParameter(
        "Type of fault domains for new pools.", Sets = Attributes, Refused = "Each pool has its own: Set-StoragePool -FaultDomainAwarenessDefault.",
        Default = "PhysicalDisk")]
    public FaultDomainType? FaultDomainAwarenessDefault { get; init; }

    [VerbParameter(
        "Specifies the share of the disks that repairs have while clients use them: VeryLow (1), Low (2), Medium (4), High (8) or VeryHigh (16).",
        Sets = Attributes,
        Aliases = "VirtualDiskRepairPriority", IsUndocumented = true)]
    public RepairPriority? VirtualDiskRepairQueueDepth { get; init; }
}
