namespace TierSpaces.Contracts;

/// <summary>Puts heat that was exported in place of that of a virtual disk with tiers.</summary>
[Verb(
    "Import-StorageTierHeatMap", "Puts heat that was exported in place of that of a virtual disk with tiers.",
    DefaultSet = "ByFriendlyName", SelectedClass = "MSFT_VirtualDisk", ChangesState = true, IsIdempotent = true, IsOurs = true)]
public sealed record ImportStorageTierHeatMapRequest : StorageRequest<StorageTierHeatFileInfo>
{
    [VerbParameter(
        "Friendly name of the virtual disk.", Sets = "ByFriendlyName", Required = true, Position = 0,
        Pipeline = PipelineBinding.ByPropertyName)]
    public string? FriendlyName { get; init; }

    [VerbParameter(
        "Unique identifier of the virtual disk.", Sets = "ByUniqueId", Required = true,
        Pipeline = PipelineBinding.ByPropertyName, Aliases = "Id")]
    public string? UniqueId { get; init; }

    [VerbParameter(
        "The virtual disk itself, named by unique identifier or friendly name.", Sets = "InputObject (cdxml)",
        Required = true, Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_VirtualDisk")]
    public string? InputObject { get; init; }

    [VerbParameter("The file to read.", Required = true, Position = 1, Kind = ParameterKind.Path)]
    public string? Path { get; init; }

    [VerbParameter("Returns what was read.")]
    public bool PassThru { get; init; }
}
