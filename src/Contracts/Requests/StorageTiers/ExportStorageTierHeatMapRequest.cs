namespace TierSpaces.Contracts;

/// <summary>Writes the heat of a virtual disk with tiers to a file.</summary>
[Verb(
    "Export-StorageTierHeatMap", "Writes the heat of a virtual disk with tiers to a file.",
    DefaultSet = "ByFriendlyName", SelectedClass = "MSFT_VirtualDisk", ChangesState = true, IsIdempotent = true, IsOurs = true)]
public sealed record ExportStorageTierHeatMapRequest : StorageRequest<StorageTierHeatFileInfo>
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

    [VerbParameter("The file to write.", Required = true, Position = 1, Kind = ParameterKind.Path)]
    public string? Path { get; init; }

    [VerbParameter("Replaces a file that is there.")]
    public bool Force { get; init; }
}
