namespace TierSpaces.Contracts;

/// <summary>Creates a storage pool from physical disks.</summary>
[Verb("New-StoragePool", "Creates a storage pool from physical disks.", DefaultSet = "ByFriendlyName", ChangesState = true)]
public sealed record NewStoragePoolRequest : StorageRequest<StoragePoolInfo>
{
    [VerbParameter(
        "Friendly name of the subsystem; there is one, the local machine.", Sets = "ByFriendlyName", Required = true,
        Position = 0, Pipeline = PipelineBinding.ByPropertyName, Default = "*")]
    public string[]? StorageSubSystemFriendlyName { get; init; }

    [VerbParameter("Friendly name of the new pool.", Required = true, Aliases = "StoragePoolFriendlyName")]
    public string? FriendlyName { get; init; }

    [VerbParameter(
        "The physical disks, by friendly name or unique identifier; wildcards and lists are accepted.", Required = true,
        ObjectClass = "MSFT_PhysicalDisk")]
    public string[]? PhysicalDisks { get; init; }

    [VerbParameter(
        "Unique identifier of the subsystem; there is one, the local machine.", Sets = "ByUniqueId", Required = true,
        Pipeline = PipelineBinding.ByPropertyName, Aliases = "StorageSubsystemId")]
    public string[]? StorageSubSystemUniqueId { get; init; }

    [VerbParameter(
        "Name of the subsystem; there is one, the local machine.", Sets = "ByName", Required = true,
        Pipeline = PipelineBinding.ByPropertyName)]
    public string[]? StorageSubSystemName { get; init; }

    [VerbParameter(
        "The objects themselves, named by unique identifier or friendly name.", Sets = "InputObject (cdxml)",
        Required = true, Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_StorageSubSystem")]
    public string[]? InputObject { get; init; }

    [VerbParameter(
        "Specifies the usage of the object.", Aliases = "StoragePoolUsage", Except = "Unknown",
        WithoutEffect = "the usage of a pool is not kept.", Default = "Other")]
    public StoragePoolUsage? Usage { get; init; }

    [VerbParameter(
        "Describes the usage when it is Other.", Aliases = "StoragePoolOtherUsageDescription",
        WithoutEffect = "the usage of a pool is not kept.")]
    public string? OtherUsageDescription { get; init; }

    [VerbParameter("Fixed or Thin, unless said otherwise at creation.", Default = "Fixed")]
    public ProvisioningType? ProvisioningTypeDefault { get; init; }

    [VerbParameter(
        "Kind of medium for new virtual disks unless said otherwise.", Except = "Unspecified",
        Refused = "A pool has no default medium; give -MediaType at New-VirtualDisk.", Default = "Unspecified")]
    public MediaType? MediaTypeDefault { get; init; }

    [VerbParameter(
        "Indicates whether the copies of a block are in different enclosures, unless said otherwise.")]
    public bool? EnclosureAwareDefault { get; init; }

    [VerbParameter(
        "Type of the fault domains that hold at most one copy of a block, unless said otherwise.")]
    public FaultDomainType? FaultDomainAwarenessDefault { get; init; }

    [VerbParameter("Resiliency of new virtual disks unless said otherwise.", Default = "Mirror", Suggestions = "Simple, Mirror, Parity")]
    public string? ResiliencySettingNameDefault { get; init; }

    [VerbParameter("Logical sector size of new virtual disks in bytes, 512 or 4096.", Kind = ParameterKind.Size, Suggestions = "512, 4096")]
    public ulong? LogicalSectorSizeDefault { get; init; }

    [VerbParameter(
        "Size of the write cache of new virtual disks in bytes unless said otherwise; 0 for none.", Kind = ParameterKind.Size)]
    public ulong? WriteCacheSizeDefault { get; init; }

    [VerbParameter("Indicates whether the pool chooses the size of the write cache of new virtual disks unless said otherwise; true unless a size is given.")]
    public bool? AutoWriteCacheSize { get; init; }

    [VerbParameter(
        "Metadata version of the pool.",
        Values = "WindowsServer2012, WindowsServer2012R2, WindowsServer2016, WindowsServer2016RS3, WindowsServer2019, "
            + "WindowsServer2022",
        WithoutEffect = "pools are created with the newest version.", IsUndocumented = true)]
    public string? Version { get; init; }
}
