namespace TierSpaces.Contracts;

/// <summary>Sets when the tiers of virtual disks are optimized without a command.</summary>
[Verb(
    "Set-StorageTierSchedule", "Sets when the tiers of virtual disks are optimized without a command.", DefaultSet = "ByFriendlyName",
    ChangesState = true, IsIdempotent = true, IsOurs = true)]
public sealed record SetStorageTierScheduleRequest : StorageRequest<StorageTierScheduleInfo>
{
    [VerbParameter(
        "Friendly name of the pool; wildcards are accepted.", Sets = "ByFriendlyName", Required = true, Position = 0,
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

    [VerbParameter("Times of the day, local, as HH:mm: 00:00 to 23:59, 1 to 48 of them.")]
    public string[]? Time { get; init; }

    [VerbParameter("Indicates whether tiers are optimized at these times.")]
    public bool? Enabled { get; init; }

    [VerbParameter("Indicates whether slices also move in between, as soon as it is worth it.")]
    public bool? Continuous { get; init; }

    [VerbParameter("Percent of every tier but the slowest that is kept free for new data while -Continuous is set: 0 to 50.")]
    public ushort? FreeReservePercent { get; init; }

    [VerbParameter(
        "Most bytes moved on each virtual disk by a run at these times, the most worthwhile first: 16 MB or more; 0 for no limit (the default).",
        Kind = ParameterKind.Size)]
    public ulong? MaximumBytes { get; init; }

    [VerbParameter(
        "Mean latency of reads and writes of clients, in milliseconds, at or below which the moves keep it: 1 to 10000; 0 for no target (the default).")]
    public uint? LatencyTarget { get; init; }

    [VerbParameter("Returns the object.")]
    public bool PassThru { get; init; }
}
