namespace TierSpaces.Contracts;

/// <summary>Lists the classes of disks that can be emulated, with their figures.</summary>
[Verb("Get-StorageDiskProfile", "Lists the classes of disks that can be emulated, with their figures.", IsOurs = true)]
public sealed record GetStorageDiskProfileRequest : StorageRequest<StorageDiskProfileInfo>
{
    [VerbParameter(
        "Name of the class; wildcards are accepted.", Position = 0, Pipeline = PipelineBinding.ByPropertyName,
        Suggestions = "HDD5400, HDD7200, HDD10K, HDD15K, SSDSata, SSDSas, NVMe")]
    public string[]? Name { get; init; }
}
