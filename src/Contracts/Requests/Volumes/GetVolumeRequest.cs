namespace TierSpaces.Contracts;

/// <summary>Lists volumes.</summary>
[Verb("Get-Volume", "Lists volumes.", DefaultSet = "ByDriveLetter")]
public sealed record GetVolumeRequest : StorageRequest<VolumeInfo>
{
    [VerbParameter("Specifies the unique identifier; wildcards are accepted.", Sets = "ByUniqueId", Pipeline = PipelineBinding.ByPropertyName)]
    public string[]? UniqueId { get; init; }

    [VerbParameter(
        "Specifies the identifier: the ObjectId or the UniqueId of the volume; wildcards are accepted.",
        Sets = "ById", Aliases = "Id", Pipeline = PipelineBinding.ByPropertyName)]
    public string[]? ObjectId { get; init; }

    [VerbParameter("Specifies the drive letter, A to Z.", Sets = "ByDriveLetter", Position = 0, Pipeline = PipelineBinding.ByPropertyName)]
    public string[]? DriveLetter { get; init; }

    [VerbParameter("Specifies the label; wildcards are accepted.", Sets = "ByLabel", Pipeline = PipelineBinding.ByPropertyName)]
    public string[]? FileSystemLabel { get; init; }

    [VerbParameter(
        "Specifies a path that the volume is mounted at, any path on it, or its block device.",
        Sets = "ByPaths", Pipeline = PipelineBinding.ByPropertyName, Kind = ParameterKind.Path)]
    public string[]? Path { get; init; }

    [VerbParameter("Specifies the partition.", Sets = "ByPartition", Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_Partition")]
    public string? Partition { get; init; }

    [VerbParameter(
        "Only volumes of this disk image.",
        Sets = "ByDiskImage", Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_DiskImage", Refused = "DiskImage objects do not exist here.")]
    public string? DiskImage { get; init; }

    [VerbParameter(
        "Specifies any path on the volume.",
        Sets = "ByFilePath", Aliases = "FullName", Pipeline = PipelineBinding.ByPropertyName, Kind = ParameterKind.Path)]
    public string? FilePath { get; init; }

    [VerbParameter(
        "Only volumes of this file share.",
        Sets = "ByFileShare", Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_FileShare", Refused = "FileShare objects do not exist here.")]
    public string? FileShare { get; init; }

    [VerbParameter(
        "Only volumes of this file server.",
        Sets = "ByStorageFileServer", Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_StorageFileServer",
        Refused = "StorageFileServer objects do not exist here.")]
    public string? StorageFileServer { get; init; }

    [VerbParameter(
        "Specifies the storage job whose virtual disk is meant.",
        Sets = "ByStorageJob", Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_StorageJob")]
    public string? StorageJob { get; init; }

    [VerbParameter(
        "Specifies the storage node: this machine.",
        Sets = "ByStorageNode", Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_StorageNode")]
    public string? StorageNode { get; init; }

    [VerbParameter(
        "Specifies the storage pool whose virtual disks are meant.",
        Sets = "ByStoragePool", Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_StoragePool")]
    public string? StoragePool { get; init; }

    [VerbParameter(
        "Specifies the storage subsystem, by friendly name or unique identifier.",
        Sets = "ByStorageSubSystem", Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_StorageSubSystem")]
    public string? StorageSubSystem { get; init; }
}
