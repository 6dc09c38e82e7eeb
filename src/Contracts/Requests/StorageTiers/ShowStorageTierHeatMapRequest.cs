namespace TierSpaces.Contracts;

/// <summary>Draws the heat of virtual disks with tiers.</summary>
[Verb(
    "Show-StorageTierHeatMap", "Draws how hot the parts of virtual disks with tiers are, and on which tier, as a few lines of text.",
    DefaultSet = "ByFriendlyName", SelectedClass = "MSFT_VirtualDisk", IsOurs = true)]
public sealed record ShowStorageTierHeatMapRequest : StorageRequest<StorageTierHeatPictureInfo>
{
    [VerbParameter(
        "Friendly name of the virtual disk; wildcards are accepted.", Sets = "ByFriendlyName", Required = true, Position = 0,
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

    [VerbParameter("First byte of the range; the beginning unless said.", Kind = ParameterKind.Size)]
    public ulong? Offset { get; init; }

    [VerbParameter("Bytes of the range, 1 or more; to the end unless said.", Kind = ParameterKind.Size)]
    public ulong? Length { get; init; }

    [VerbParameter("Characters in a line of the picture: 8 to 128 (default 32).")]
    public ushort? Width { get; init; }

    [VerbParameter("Lines of the picture at most: 1 to 256 (default 16).")]
    public ushort? Lines { get; init; }
}
