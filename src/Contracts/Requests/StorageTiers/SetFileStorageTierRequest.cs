namespace TierSpaces.Contracts;

/// <summary>Pins a file to a tier.</summary>
[Verb(
    "Set-FileStorageTier", "Pins a file to a tier of the virtual disk that it is on.", DefaultSet = "ByDesiredStorageTierFriendlyName",
    ChangesState = true, IsIdempotent = true)]
public sealed record SetFileStorageTierRequest : StorageRequest<FileStorageTierInfo>
{
    [VerbParameter("The file.", Required = true, Pipeline = PipelineBinding.ByPropertyName, Kind = ParameterKind.Path)]
    public string? FilePath { get; init; }

    [VerbParameter(
        "Friendly name of the tier.", Sets = "ByDesiredStorageTierFriendlyName", Required = true,
        Pipeline = PipelineBinding.ByPropertyName)]
    public string? DesiredStorageTierFriendlyName { get; init; }

    [VerbParameter(
        "The tier, by friendly name or unique identifier.", Sets = "ByDesiredStorageTier", Required = true,
        Pipeline = PipelineBinding.ByPropertyName, ObjectClass = "MSFT_StorageTier")]
    public string? DesiredStorageTier { get; init; }

    [VerbParameter(
        "Unique identifier of the tier.", Sets = "ByDesiredStorageTierUniqueId", Required = true,
        Pipeline = PipelineBinding.ByPropertyName)]
    public string? DesiredStorageTierUniqueId { get; init; }

    [VerbParameter("Moves what is pinned at once and waits for it, instead of leaving it to the next optimization.", IsOurs = true)]
    public bool Now { get; init; }
}
