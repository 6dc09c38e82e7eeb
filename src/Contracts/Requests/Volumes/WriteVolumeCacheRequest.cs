namespace TierSpaces.Contracts;

/// <summary>Writes what is cached of volumes to the virtual disk, and flushes that.</summary>
[Verb(
    "Write-VolumeCache", "Writes what is cached of volumes to the virtual disk, and flushes that.",
    DefaultSet = "ByDriveLetter", ChangesState = true, IsIdempotent = true, SelectedClass = "MSFT_Volume",
    WhenInterrupted = "the host may not have written all that was cached. Repeat the command.")]
public sealed record WriteVolumeCacheRequest : StorageRequest<VolumeInfo>
{
    [VerbParameter(
        "Specifies the identifier: the ObjectId or the UniqueId of the volume; wildcards are accepted.",
        Sets = "ById", Required = true, Aliases = "Id", Pipeline = PipelineBinding.ByPropertyName)]
    public string[]? ObjectId { get; init; }

    [VerbParameter("Specifies the drive letter, A to Z.", Sets = "ByDriveLetter", Required = true, Position = 0, Pipeline = PipelineBinding.ByPropertyName)]
    public string[]? DriveLetter { get; init; }

    [VerbParameter("Specifies the label; wildcards are accepted.", Sets = "ByLabel", Required = true, Pipeline = PipelineBinding.ByPropertyName)]
    public string[]? FileSystemLabel { get; init; }

    [VerbParameter(
        "Specifies a path that the volume is mounted at, any path on it, or its block device.",
        Sets = "ByPaths", Required = true, Pipeline = PipelineBinding.ByPropertyName, Kind = ParameterKind.Path)]
    public string[]? Path { get; init; }

    [VerbParameter(
        "Specifies the objects themselves.",
        Sets = "InputObject (cdxml)", Required = true, Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_Volume")]
    public string[]? InputObject { get; init; }

    [VerbParameter("Indicates that this cmdlet returns the object. By default it returns nothing.")]
    public bool PassThru { get; init; }
}
