namespace TierSpaces.Contracts;

/// <summary>Changes storage tiers.</summary>
[Verb("Set-StorageTier", "Changes storage tiers.", DefaultSet = "ByUniqueIdNewFriendlyName", ChangesState = true)]
public sealed record SetStorageTierRequest : StorageRequest<StorageTierInfo>, ITierTemplateSettings
{
    private const string Attributes = "ByUniqueIdAttributes, ByObjectAttributes, ByFriendlyNameAttributes";

    [VerbParameter(
        "Unique identifier; wildcards are accepted.", Sets = "ByUniqueIdNewFriendlyName, ByUniqueIdAttributes, ByUniqueIdDescription",
        Required = true, Pipeline = PipelineBinding.ByPropertyName, Aliases = "Id")]
    public string? UniqueId { get; init; }

    [VerbParameter(
        "The objects themselves, named by unique identifier or friendly name.",
        Sets = "ByObjectNewFriendlyName, ByObjectAttributes, ByObjectDescription", Required = true, Pipeline = PipelineBinding.ByValue,
        ObjectClass = "MSFT_StorageTier")]
    public string[]? InputObject { get; init; }

    [VerbParameter(
        "Friendly name; wildcards are accepted.",
        Sets = "ByFriendlyNameNewFriendlyName, ByFriendlyNameAttributes, ByFriendlyNameDescription", Required = true, Position = 0,
        Pipeline = PipelineBinding.ByPropertyName)]
    public string? FriendlyName { get; init; }

    [VerbParameter("The new friendly name.", Sets = "ByUniqueIdNewFriendlyName, ByObjectNewFriendlyName, ByFriendlyNameNewFriendlyName")]
    public string? NewFriendlyName { get; init; }

    [VerbParameter("Kind of medium.", Sets = Attributes, Except = "Unspecified")]
    public MediaType? MediaType { get; init; }

    [VerbParameter("Simple, Mirror or Parity.", Sets = Attributes, Suggestions = "Simple, Mirror, Parity")]
    public string? ResiliencySettingName { get; init; }

    [VerbParameter("Disks that may fail without loss of data: 0, 1 or 2.", Sets = Attributes)]
    public ushort? PhysicalDiskRedundancy { get; init; }

    [VerbParameter("Copies of the data: 1, 2 or 3.", Sets = Attributes)]
    public ushort? NumberOfDataCopies { get; init; }

    [VerbParameter("Columns that data is striped over; 0 for as many as the disks allow.", Sets = Attributes)]
    public ushort? NumberOfColumns { get; init; }

    [VerbParameter(
        "Groups of a local reconstruction code.", Sets = Attributes, Refused = "Local reconstruction codes are not available.",
        Default = "1")]
    public ushort? NumberOfGroups { get; init; }

    [VerbParameter("Size of one strip in bytes: a power of two from 16 KB to 16 MB.", Sets = Attributes, Kind = ParameterKind.Size)]
    public ulong? Interleave { get; init; }

    [VerbParameter("Text of your own.", Sets = "ByUniqueIdDescription, ByObjectDescription, ByFriendlyNameDescription")]
    public string? Description { get; init; }

    [VerbParameter(
        "Type of the fault domains that hold at most one copy of a block; PhysicalDisk leaves it to the virtual disk.", Sets = Attributes)]
    public FaultDomainType? FaultDomainAwareness { get; init; }

    [VerbParameter(
        "Type of the fault domains that hold at most one disk of a row.", Sets = Attributes)]
    public FaultDomainType? ColumnIsolation { get; init; }

    [VerbParameter("Fixed (all slabs at creation) or Thin (slabs on first write).", Sets = Attributes, Except = "Unknown", IsUndocumented = true)]
    public ProvisioningType? ProvisioningType { get; init; }

    [VerbParameter(
        "Unit of allocation in bytes.", Sets = Attributes, Kind = ParameterKind.Size,
        WithoutEffect = "the unit of allocation is the slab of the pool.", IsUndocumented = true)]
    public ulong? AllocationUnitSize { get; init; }

    [VerbParameter("Specifies the usage of the tier.", Sets = Attributes, Refused = "Storage tiers hold data.", Default = "Data", IsUndocumented = true)]
    public StorageTierUsage? Usage { get; init; }
}
