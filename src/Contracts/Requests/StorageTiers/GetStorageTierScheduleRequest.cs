namespace TierSpaces.Contracts;

/// <summary>Tells when the tiers of virtual disks are optimized without a command.</summary>
[Verb(
    "Get-StorageTierSchedule", "Tells when the tiers of virtual disks are optimized without a command.", DefaultSet = "ByFriendlyName", IsOurs = true)]
public sealed record GetStorageTierScheduleRequest : StorageRequest<StorageTierScheduleInfo>
{
    [VerbParameter(
        "Friendly name of the pool; wildcards are accepted.", Sets = "ByFriendlyName", Position = 0,
        Pipeline = PipelineBinding.ByPropertyName, Aliases = "FriendlyName, StoragePoolName")]
    public string[]? StoragePoolFriendlyName { get; init; }

    [VerbParameter(
        "Unique identifier of the pool; wildcards are accepted.", Sets = "ByUniqueId", Required = true,
        Pipeline = PipelineBinding.ByPropertyName, Aliases = "UniqueId, StoragePoolId")]
    public string[]? StoragePoolUniqueId { get; init; }

    [VerbParameter(
        "The pools themselves, named by unique identifier or friendly name.", Sets = "InputObject (cdxml)",
        Required = true, Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_StoragePool")]
    public string[]? InputObject { get; init; }
}
