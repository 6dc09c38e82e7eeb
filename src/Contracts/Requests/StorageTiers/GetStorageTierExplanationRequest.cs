namespace TierSpaces.Contracts;

/// <summary>Tells why parts of a virtual disk, or a file, are on the tier that they are on.</summary>
[Verb(
    "Get-StorageTierExplanation", "Tells why parts of a virtual disk, or a file, are on the tier that they are on, and what will be done with them.",
    DefaultSet = "ByFriendlyName", SelectedClass = "MSFT_VirtualDisk", IsOurs = true)]
public sealed record GetStorageTierExplanationRequest : StorageRequest<StorageTierExplanationInfo>
{
    private const string DiskSets = "ByFriendlyName, ByUniqueId, InputObject (cdxml)";

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

    [VerbParameter("First byte of the range; the beginning unless said.", Sets = DiskSets, Kind = ParameterKind.Size)]
    public ulong? Offset { get; init; }

    [VerbParameter("Bytes of the range, 1 or more; one slice unless said.", Sets = DiskSets, Kind = ParameterKind.Size)]
    public ulong? Length { get; init; }

    [VerbParameter(
        "A file on a connected virtual disk.", Sets = "ByFilePath", Required = true, Pipeline = PipelineBinding.ByPropertyName,
        Kind = ParameterKind.Path, Aliases = "FullName")]
    public string? FilePath { get; init; }
}
