namespace TierSpaces.Contracts;

/// <summary>Lists files, and ranges of virtual disks, that are pinned to tiers.</summary>
[Verb(
    "Get-FileStorageTier", "Lists files, and ranges of virtual disks, that are pinned to storage tiers, and how much of them is there.",
    DefaultSet = "ByVolumeDriveLetter")]
public sealed record GetFileStorageTierRequest : StorageRequest<FileStorageTierInfo>
{
    private const string DiskSets = "ByVirtualDiskFriendlyName, ByVirtualDiskUniqueId, ByVirtualDisk";

    [VerbParameter(
        "The volume, by drive letter.", Sets = "ByVolumeDriveLetter", Required = true, Pipeline = PipelineBinding.ByPropertyName)]
    public string? VolumeDriveLetter { get; init; }

    [VerbParameter(
        "Specifies the mount point of the volume, or any path on it.", Sets = "ByVolumePath", Required = true,
        Pipeline = PipelineBinding.ByPropertyName, Kind = ParameterKind.Path)]
    public string? VolumePath { get; init; }

    [VerbParameter(
        "The volume.", Sets = "ByVolume", Required = true, Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_Volume")]
    public string? Volume { get; init; }

    [VerbParameter(
        "The file.", Sets = "ByFilePath", Required = true, Pipeline = PipelineBinding.ByPropertyName, Kind = ParameterKind.Path)]
    public string? FilePath { get; init; }

    [VerbParameter("Friendly name of the virtual disk; wildcards are accepted.", Sets = "ByVirtualDiskFriendlyName", Required = true, IsOurs = true)]
    public string[]? VirtualDiskFriendlyName { get; init; }

    [VerbParameter("Unique identifier of the virtual disk; wildcards are accepted.", Sets = "ByVirtualDiskUniqueId", Required = true, IsOurs = true)]
    public string[]? VirtualDiskUniqueId { get; init; }

    [VerbParameter(
        "The virtual disks themselves, named by unique identifier or friendly name.", Sets = "ByVirtualDisk", Required = true,
        Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_VirtualDisk", IsOurs = true)]
    public string[]? VirtualDisk { get; init; }

    [VerbParameter(
        "First byte of a range that pins must have a slice of; the beginning unless said.", Sets = DiskSets, Kind = ParameterKind.Size, IsOurs = true)]
    public ulong? Offset { get; init; }

    [VerbParameter("Bytes of the range, 1 or more; to the end unless said.", Sets = DiskSets, Kind = ParameterKind.Size, IsOurs = true)]
    public ulong? Length { get; init; }
}
