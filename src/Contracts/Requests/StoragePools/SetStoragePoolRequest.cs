namespace TierSpaces.Contracts;

/// <summary>Changes attributes and defaults of storage pools.</summary>
[Verb("Set-StoragePool", "Changes attributes and defaults of storage pools.", DefaultSet = "ByUniqueId", ChangesState = true)]
public sealed record SetStoragePoolRequest : StorageRequest<StoragePoolInfo>
{
    [VerbParameter(
        "Unique identifier; wildcards are accepted.", Sets = "ByUniqueId, ByUniqueIdAttributes, ByUniqueIdDefaults",
        Required = true, Pipeline = PipelineBinding.ByPropertyName, Aliases = "Id")]
    public string? UniqueId { get; init; }

    [VerbParameter(
        "The objects themselves, named by unique identifier or friendly name.",
        Sets = "ByObjectAttributes, ByObjectDefaults, ByObject", Required = true, Position = 0,
        Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_StoragePool")]
    public string[]? InputObject { get; init; }

    [VerbParameter(
        "Friendly name; wildcards are accepted.", Sets = "ByFriendlyName, ByFriendlyNameAttributes, ByFriendlyNameDefaults",
        Required = true, Position = 0, Pipeline = PipelineBinding.ByPropertyName)]
    public string? FriendlyName { get; init; }

    [VerbParameter(
        "Name; wildcards are accepted.", Sets = "ByName, ByNameAttributes, ByNameDefaults", Required = true,
        Pipeline = PipelineBinding.ByPropertyName)]
    public string? Name { get; init; }

    [VerbParameter("The new friendly name.", Sets = "ByUniqueId, ByObject, ByFriendlyName, ByName")]
    public string? NewFriendlyName { get; init; }

    [VerbParameter(
        "Overwrites slabs with zeros when they are given back.", Sets = "ByUniqueId, ByObject, ByFriendlyName, ByName",
        Refused = "Clearing of slabs is not available.")]
    public bool? ClearOnDeallocate { get; init; }

    [VerbParameter(
        "Indicates whether the disks keep what they have acknowledged through a power failure: then no flush reaches a disk.",
        Sets = "ByUniqueId, ByObject, ByFriendlyName, ByName", Endangers = true)]
    public bool? IsPowerProtected { get; init; }

    [VerbParameter(
        "Indicates whether virtual disks are repaired one after the other (Sequential) or side by side (Parallel).",
        Sets = "ByUniqueId, ByObject, ByFriendlyName, ByName")]
    public RepairPolicy? RepairPolicy { get; init; }

    [VerbParameter("Indicates whether missing disks are retired.", Sets = "ByUniqueId, ByObject, ByFriendlyName, ByName")]
    public RetireMissingPhysicalDisks? RetireMissingPhysicalDisks { get; init; }

    [VerbParameter(
        "Specifies the usage of the object.", Sets = "ByUniqueId, ByObject, ByFriendlyName, ByName", Aliases = "NewUsage",
        Except = "Unknown", WithoutEffect = "the usage of a pool is not kept.", Default = "Other")]
    public StoragePoolUsage? Usage { get; init; }

    [VerbParameter(
        "Describes the usage when it is Other.", Sets = "ByUniqueId, ByObject, ByFriendlyName, ByName",
        Aliases = "NewOtherUsageDescription", WithoutEffect = "the usage of a pool is not kept.")]
    public string? OtherUsageDescription { get; init; }

    [VerbParameter(
        "Percentages of use at which a warning is raised, 1 to 99.", Sets = "ByUniqueId, ByObject, ByFriendlyName, ByName")]
    public ushort[]? ThinProvisioningAlertThresholds { get; init; }

    [VerbParameter(
        "Days between two complete verifications of each virtual disk, 1 to 3650; 0 for none on a schedule. 14 unless set.",
        Sets = "ByUniqueId, ByObject, ByFriendlyName, ByName", IsOurs = true)]
    public uint? ScrubIntervalDays { get; init; }

    [VerbParameter(
        "Specifies the maximum number of bytes that the pool provides for write caches of virtual disks of other pools; 0 for none. The default value is no limit.",
        Sets = "ByUniqueId, ByObject, ByFriendlyName, ByName", Kind = ParameterKind.Size, IsOurs = true)]
    public ulong? LentWriteCacheSizeMax { get; init; }

    [VerbParameter(
        "Indicates whether the configuration is read-only.",
        Sets = "ByObjectAttributes, ByUniqueIdAttributes, ByNameAttributes, ByFriendlyNameAttributes")]
    public bool? IsReadOnly { get; init; }

    [VerbParameter(
        "Fixed or Thin, unless said otherwise at creation.",
        Sets = "ByObjectDefaults, ByUniqueIdDefaults, ByNameDefaults, ByFriendlyNameDefaults")]
    public ProvisioningType? ProvisioningTypeDefault { get; init; }

    [VerbParameter(
        "Kind of medium for new virtual disks unless said otherwise.",
        Sets = "ByObjectDefaults, ByUniqueIdDefaults, ByNameDefaults, ByFriendlyNameDefaults",
        Refused = "A pool has no default medium; give -MediaType at New-VirtualDisk.", Default = "Unspecified")]
    public MediaType? MediaTypeDefault { get; init; }

    [VerbParameter(
        "Resiliency of new virtual disks unless said otherwise.",
        Sets = "ByObjectDefaults, ByUniqueIdDefaults, ByNameDefaults, ByFriendlyNameDefaults", Suggestions = "Simple, Mirror, Parity")]
    public string? ResiliencySettingNameDefault { get; init; }

    [VerbParameter(
        "Indicates whether the copies of a block are in different enclosures, unless said otherwise.",
        Sets = "ByObjectDefaults, ByUniqueIdDefaults, ByNameDefaults, ByFriendlyNameDefaults")]
    public bool? EnclosureAwareDefault { get; init; }

    [VerbParameter(
        "Type of the fault domains that hold at most one copy of a block, unless said otherwise.",
        Sets = "ByObjectDefaults, ByUniqueIdDefaults, ByNameDefaults, ByFriendlyNameDefaults")]
    public FaultDomainType? FaultDomainAwarenessDefault { get; init; }

    [VerbParameter(
        "Size of the write cache of new virtual disks in bytes unless said otherwise; 0 for none.",
        Sets = "ByObjectDefaults, ByUniqueIdDefaults, ByNameDefaults, ByFriendlyNameDefaults", Kind = ParameterKind.Size)]
    public ulong? WriteCacheSizeDefault { get; init; }

    [VerbParameter(
        "Indicates whether the pool chooses the size of the write cache of new virtual disks unless said otherwise.",
        Sets = "ByObjectDefaults, ByUniqueIdDefaults, ByNameDefaults, ByFriendlyNameDefaults")]
    public bool? AutoWriteCacheSize { get; init; }
}
