namespace TierSpaces.Contracts;

/// <summary>Tells what the write caches of virtual disks hold and did.</summary>
[Verb("Get-VirtualDiskWriteCache", "Tells what the write caches of virtual disks hold and did.", DefaultSet = "ByFriendlyName", IsOurs = true)]
public sealed record GetVirtualDiskWriteCacheRequest : StorageRequest<VirtualDiskWriteCacheInfo>
{
    [VerbParameter(
        "Friendly name of the virtual disk; wildcards are accepted.", Sets = "ByFriendlyName", Position = 0,
        Pipeline = PipelineBinding.ByPropertyName)]
    public string[]? FriendlyName { get; init; }

    [VerbParameter(
        "Unique identifier of the virtual disk; wildcards are accepted.", Sets = "ByUniqueId", Required = true,
        Pipeline = PipelineBinding.ByPropertyName, Aliases = "Id")]
    public string[]? UniqueId { get; init; }

    [VerbParameter(
        "The virtual disks themselves, named by unique identifier or friendly name.", Sets = "InputObject (cdxml)",
        Required = true, Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_VirtualDisk")]
    public string[]? InputObject { get; init; }
}
