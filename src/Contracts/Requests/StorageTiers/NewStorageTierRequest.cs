namespace TierSpaces.Contracts;

/// <summary>Creates a template of storage tiers in a pool.</summary>
[Verb("New-StorageTier", "Creates a template of storage tiers in a storage pool.", DefaultSet = "ByFriendlyName", ChangesState = true)]
public sealed record NewStorageTierRequest : StorageRequest<StorageTierInfo>, ITierTemplateSettings
{
    [VerbParameter(
        "Friendly name of the pool; wildcards are accepted.", Sets = "ByFriendlyName", Required = true, Position = 0,
        Pipeline = PipelineBinding.ByPropertyName)]
    public string[]? StoragePoolFriendlyName { get; init; }

    [VerbParameter(
        "Unique identifier of the pool; wildcards are accepted.", Sets = "ByUniqueId", Required = true,
        Pipeline = PipelineBinding.ByPropertyName, Aliases = "StoragePoolId")]
    public string[]? StoragePoolUniqueId { get; init; }

    [VerbParameter(
        "Name of the pool; wildcards are accepted.", Sets = "ByName", Required = true,
        Pipeline = PipelineBinding.ByPropertyName)]
    public string[]? StoragePoolName { get; init; }

    [VerbParameter(
        "The objects themselves, named by unique identifier or friendly name.", Sets = "InputObject (cdxml)",
        Required = true, Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_StoragePool")]
    public string[]? InputObject { get; init; }

    [VerbParameter("Friendly name of the new tier.", Required = true, Aliases = "StorageTierFriendlyName")]
    public string? FriendlyName { get; init; }

    [VerbParameter("Kind of medium.", Except = "Unspecified")]
    public MediaType? MediaType { get; init; }

    [VerbParameter("Simple, Mirror or Parity; open unless said.", Suggestions = "Simple, Mirror, Parity")]
    public string? ResiliencySettingName { get; init; }

    [VerbParameter("Disks that may fail without loss of data: 0, 1 or 2.")]
    public ushort? PhysicalDiskRedundancy { get; init; }

    [VerbParameter("Copies of the data: 1, 2 or 3.")]
    public ushort? NumberOfDataCopies { get; init; }

    [VerbParameter("Columns that data is striped over; 0 for as many as the disks allow.")]
    public ushort? NumberOfColumns { get; init; }

    [VerbParameter(
        "Groups of a local reconstruction code.", Refused = "Local reconstruction codes are not available.", Default = "1")]
    public ushort? NumberOfGroups { get; init; }

    [VerbParameter("Size of one strip in bytes: a power of two from 16 KB to 16 MB; open unless said.", Kind = ParameterKind.Size)]
    public ulong? Interleave { get; init; }

    [VerbParameter("Text of your own.")]
    public string? Description { get; init; }

    [VerbParameter(
        "Type of the fault domains that hold at most one copy of a block; PhysicalDisk leaves it to the virtual disk.")]
    public FaultDomainType? FaultDomainAwareness { get; init; }

    [VerbParameter(
        "Type of the fault domains that hold at most one disk of a row.")]
    public FaultDomainType? ColumnIsolation { get; init; }

    [VerbParameter("Fixed (all slabs at creation) or Thin (slabs on first write); open unless said.", IsUndocumented = true)]
    public ProvisioningType? ProvisioningType { get; init; }

    [VerbParameter(
        "Unit of allocation in bytes.", Kind = ParameterKind.Size,
        WithoutEffect = "the unit of allocation is the slab of the pool.", IsUndocumented = true)]
    public ulong? AllocationUnitSize { get; init; }

    [VerbParameter("Specifies the usage of the tier.", Refused = "Storage tiers hold data.", Default = "Data", IsUndocumented = true)]
    public StorageTierUsage? Usage { get; init; }

    [VerbParameter(
        "Allocates on the disks in these fault domains only.", ObjectClass = "MSFT_StorageFaultDomain",
        Refused = "A template names a medium, not disks.", IsUndocumented = true)]
    public string[]? StorageFaultDomainsToUse { get; init; }
}
