namespace TierSpaces.Contracts;

/// <summary>Lists storage tiers.</summary>
[Verb("Get-StorageTier", "Lists storage tiers: templates of storage pools, and tiers of virtual disks.", DefaultSet = "ByFriendlyName")]
public sealed record GetStorageTierRequest : StorageRequest<StorageTierInfo>
{
    [VerbParameter(
        "Friendly name; wildcards are accepted.", Sets = "ByFriendlyName", Position = 0,
        Pipeline = PipelineBinding.ByPropertyName)]
    public string[]? FriendlyName { get; init; }

    [VerbParameter(
        "Unique identifier; wildcards are accepted.", Sets = "ByUniqueId", Pipeline = PipelineBinding.ByPropertyName,
        Aliases = "Id")]
    public string[]? UniqueId { get; init; }

    [VerbParameter(
        "The virtual disk, by friendly name or unique identifier.", Sets = "ByVirtualDisk",
        Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_VirtualDisk")]
    public string? VirtualDisk { get; init; }

    [VerbParameter(
        "The storage pool, by friendly name or unique identifier.", Sets = "ByStoragePool",
        Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_StoragePool")]
    public string? StoragePool { get; init; }

    [VerbParameter("Only tiers of these kinds of medium.")]
    public MediaType[]? MediaType { get; init; }
}
