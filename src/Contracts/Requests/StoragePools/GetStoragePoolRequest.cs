namespace TierSpaces.Contracts;

/// <summary>Lists storage pools.</summary>
[Verb("Get-StoragePool", "Lists storage pools.", DefaultSet = "ByFriendlyName")]
public sealed record GetStoragePoolRequest : StorageRequest<StoragePoolInfo>
{
    [VerbParameter(
        "Friendly name; wildcards are accepted.", Sets = "ByFriendlyName", Position = 0,
        Pipeline = PipelineBinding.ByPropertyName)]
    public string[]? FriendlyName { get; init; }

    [VerbParameter("Specifies the usage of the object.", Sets = "ByFriendlyName, ByUsage", Pipeline = PipelineBinding.ByPropertyName)]
    public StoragePoolUsage[]? Usage { get; init; }

    [VerbParameter(
        "Unique identifier; wildcards are accepted.", Sets = "ByUniqueId", Pipeline = PipelineBinding.ByPropertyName,
        Aliases = "Id")]
    public string[]? UniqueId { get; init; }

    [VerbParameter("Name; wildcards are accepted.", Sets = "ByName", Pipeline = PipelineBinding.ByPropertyName)]
    public string[]? Name { get; init; }

    [VerbParameter("Describes the usage when it is Other.", Sets = "ByUsage", Pipeline = PipelineBinding.ByPropertyName)]
    public string[]? OtherUsageDescription { get; init; }

    [VerbParameter(
        "Only objects associated with this StorageJob.", Sets = "ByStorageJob", Pipeline = PipelineBinding.ByValue,
        ObjectClass = "MSFT_StorageJob")]
    public string? StorageJob { get; init; }

    [VerbParameter(
        "Only objects associated with this Volume.", Sets = "ByVolume", Pipeline = PipelineBinding.ByValue,
        ObjectClass = "MSFT_Volume")]
    public string? Volume { get; init; }

    [VerbParameter(
        "The storage tier, by friendly name or unique identifier.", Sets = "ByStorageTier",
        Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_StorageTier")]
    public string? StorageTier { get; init; }

    [VerbParameter(
        "The resiliency setting, by name or unique identifier.", Sets = "ByResiliencySetting",
        Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_ResiliencySetting")]
    public string? ResiliencySetting { get; init; }

    [VerbParameter(
        "The virtual disk, by friendly name or unique identifier.", Sets = "ByVirtualDisk",
        Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_VirtualDisk")]
    public string? VirtualDisk { get; init; }

    [VerbParameter(
        "The physical disk, by friendly name or unique identifier.", Sets = "ByPhysicalDisk",
        Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_PhysicalDisk")]
    public string? PhysicalDisk { get; init; }

    [VerbParameter(
        "Only objects associated with this StorageNode.", Sets = "ByStorageNode", Pipeline = PipelineBinding.ByValue,
        ObjectClass = "MSFT_StorageNode", Refused = "StorageNode objects do not exist here.")]
    public string? StorageNode { get; init; }

    [VerbParameter(
        "The storage subsystem, by friendly name or unique identifier.", Sets = "ByStorageSubSystem",
        Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_StorageSubSystem")]
    public string? StorageSubSystem { get; init; }

    [VerbParameter("Only the primordial pool (or only concrete pools).")]
    public bool[]? IsPrimordial { get; init; }

    [VerbParameter("Only objects of this health.")]
    public HealthStatus[]? HealthStatus { get; init; }
}
