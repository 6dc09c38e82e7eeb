namespace TierSpaces.Contracts;

/// <summary>Moves what is used most to the fast tiers of virtual disks.</summary>
[Verb(
    "Optimize-StorageTier", "Moves what is used most to the fast tiers of virtual disks, and what is used less to the slow ones.",
    DefaultSet = "ByFriendlyName", ChangesState = true, IsIdempotent = true, JobName = "Storage Tiers Optimization", IsOurs = true)]
public sealed record OptimizeStorageTierRequest : StorageRequest<StorageTierOptimizationInfo>
{
    [VerbParameter(
        "Friendly name of a tier of the virtual disk; wildcards are accepted.", Sets = "ByFriendlyName", Required = true, Position = 0,
        Pipeline = PipelineBinding.ByPropertyName)]
    public string[]? FriendlyName { get; init; }

    [VerbParameter(
        "Unique identifier of a tier of the virtual disk; wildcards are accepted.", Sets = "ByUniqueId", Required = true,
        Pipeline = PipelineBinding.ByPropertyName, Aliases = "Id")]
    public string[]? UniqueId { get; init; }

    [VerbParameter(
        "The tiers themselves, named by unique identifier or friendly name.", Sets = "InputObject (cdxml)",
        Required = true, Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_StorageTier")]
    public string[]? InputObject { get; init; }

    [VerbParameter(
        "The virtual disks, by friendly name or unique identifier.", Sets = "ByVirtualDisk", Required = true,
        Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_VirtualDisk")]
    public string[]? VirtualDisk { get; init; }

    [VerbParameter("Most bytes moved on each virtual disk in this run, the most worthwhile first: one slice or more.", Kind = ParameterKind.Size)]
    public ulong? MaximumBytes { get; init; }

    [VerbParameter("Mean latency of reads and writes of clients, in milliseconds, at or below which the moves keep it: 1 to 10000.")]
    public uint? LatencyTarget { get; init; }
}
