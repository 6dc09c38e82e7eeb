namespace TierSpaces.Contracts;

/// <summary>Lists storage jobs.</summary>
[Verb("Get-StorageJob", "Lists storage jobs: those at work, and for ten minutes those that have ended.", DefaultSet = "ByFriendlyName")]
public sealed record GetStorageJobRequest : StorageRequest<StorageJobInfo>
{
    [VerbParameter(
        "Unique identifier; wildcards are accepted.", Sets = "ByUniqueId", Pipeline = PipelineBinding.ByPropertyName,
        Aliases = "Id")]
    public string[]? UniqueId { get; init; }

    [VerbParameter("Name, for example Repair; wildcards are accepted.", Sets = "ByFriendlyName, ByVirtualDisk, ByStoragePool",
        Suggestions = "Repair, Scrub, Optimize")]
    public string[]? Name { get; init; }

    [VerbParameter(
        "Only jobs in one of these states.",
        Sets = "ByFriendlyName, ByUniqueId, ByVirtualDisk, ByStoragePool, ByVolume, ByDisk, BySubsystem")]
    public StorageJobState[]? JobState { get; init; }

    [VerbParameter(
        "Only jobs in this storage pool.", Sets = "ByStoragePool", Pipeline = PipelineBinding.ByValue,
        ObjectClass = "MSFT_StoragePool")]
    public string? StoragePool { get; init; }

    [VerbParameter(
        "Only jobs on this virtual disk.", Sets = "ByStoragePool", Pipeline = PipelineBinding.ByValue,
        ObjectClass = "MSFT_VirtualDisk")]
    public string? VirtualDisk { get; init; }

    [VerbParameter(
        "Only jobs of this Volume.", Sets = "ByVolume", Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_Volume")]
    public string? Volume { get; init; }

    [VerbParameter(
        "Only jobs of this Disk.", Sets = "ByDisk", Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_Disk")]
    public string? Disk { get; init; }

    [VerbParameter(
        "Only jobs of this storage subsystem: this machine.", Sets = "BySubsystem", Pipeline = PipelineBinding.ByValue,
        ObjectClass = "MSFT_StorageSubSystem")]
    public string? StorageSubsystem { get; init; }
}
