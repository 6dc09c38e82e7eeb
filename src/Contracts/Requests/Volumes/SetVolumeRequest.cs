namespace TierSpaces.Contracts;

/// <summary>Changes the labels of volumes.</summary>
[Verb("Set-Volume", "Changes the labels of volumes.", DefaultSet = "ByDriveLetterSetLabel", ChangesState = true, IsIdempotent = true, ReturnsNothing = true)]
public sealed record SetVolumeRequest : StorageRequest<VolumeInfo>
{
    [VerbParameter(
        "Specifies the unique identifier; wildcards are accepted.",
        Sets = "ByUniqueIdSetLabel,ByUniqueIdSetDedup", Required = true, Pipeline = PipelineBinding.ByValue)]
    public string? UniqueId { get; init; }

    [VerbParameter(
        "Specifies the drive letter, A to Z.",
        Sets = "ByDriveLetterSetLabel,ByDriveLetterSetDedup", Required = true, Pipeline = PipelineBinding.ByValue)]
    public string? DriveLetter { get; init; }

    [VerbParameter(
        "Specifies the label; wildcards are accepted.",
        Sets = "ByLabelSetLabel,ByLabelSetDedup", Required = true, Pipeline = PipelineBinding.ByValue)]
    public string? FileSystemLabel { get; init; }

    [VerbParameter(
        "Specifies a path that the volume is mounted at, any path on it, or its block device.",
        Sets = "ByPathSetLabel,ByPathSetDedup", Required = true, Pipeline = PipelineBinding.ByValue, Kind = ParameterKind.Path)]
    public string? Path { get; init; }

    [VerbParameter(
        "Specifies the objects themselves.",
        Sets = "ByObjectSetDedup,ByObjectSetLabel", Required = true, Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_Volume")]
    public string[]? InputObject { get; init; }

    [VerbParameter(
        "Sets deduplication.",
        Sets = "ByObjectSetDedup,ByUniqueIdSetDedup,ByPathSetDedup,ByLabelSetDedup,ByDriveLetterSetDedup",
        Refused = "Deduplication is not available.")]
    public DedupMode? DedupMode { get; init; }

    [VerbParameter(
        "Specifies the new label: up to 16 bytes on ext4, 12 on xfs, 255 on btrfs, 128 characters on NTFS. The access paths stay.",
        Sets = "ByDriveLetterSetLabel,ByObjectSetLabel,ByLabelSetLabel,ByPathSetLabel,ByUniqueIdSetLabel")]
    public string? NewFileSystemLabel { get; init; }
}
