namespace TierSpaces.Contracts;

/// <summary>Lists files that are pinned to tiers.</summary>
[Verb("Get-FileStorageTier", "Lists files that are pinned to storage tiers, and how much of them is there.", DefaultSet = "ByVolumeDriveLetter")]
public sealed record GetFileStorageTierRequest : StorageRequest<FileStorageTierInfo>
{
    [VerbParameter(
        "The volume, by drive letter.", Sets = "ByVolumeDriveLetter", Required = true, Pipeline = PipelineBinding.ByPropertyName,
        Refused = "Drive letters do not exist here; -VolumePath takes a mount point.")]
    public string? VolumeDriveLetter { get; init; }

    [VerbParameter(
        "Where the volume is mounted, or any path on it.", Sets = "ByVolumePath", Required = true,
        Pipeline = PipelineBinding.ByPropertyName, Kind = ParameterKind.Path)]
    public string? VolumePath { get; init; }

    [VerbParameter(
        "The volume.", Sets = "ByVolume", Required = true, Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_Volume",
        Refused = "Volume objects do not exist here.")]
    public string? Volume { get; init; }

    [VerbParameter(
        "The file.", Sets = "ByFilePath", Required = true, Pipeline = PipelineBinding.ByPropertyName, Kind = ParameterKind.Path)]
    public string? FilePath { get; init; }
}
