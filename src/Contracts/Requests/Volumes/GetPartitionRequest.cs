namespace TierSpaces.Contracts;

/// <summary>Lists partitions.</summary>
[Verb("Get-Partition", "Lists partitions.", DefaultSet = "ByUniqueId")]
public sealed record GetPartitionRequest : StorageRequest<PartitionInfo>
{
    [VerbParameter("Specifies the number of the disk.", Sets = "ByNumber", Position = 0, Pipeline = PipelineBinding.ByPropertyName)]
    public uint[]? DiskNumber { get; init; }

    [VerbParameter("Specifies the unique identifier; wildcards are accepted.", Sets = "ByUniqueId", Pipeline = PipelineBinding.ByPropertyName)]
    public string[]? UniqueId { get; init; }

    [VerbParameter("Specifies the drive letter, A to Z.", Sets = "ByDriveLetter", Pipeline = PipelineBinding.ByPropertyName)]
    public string[]? DriveLetter { get; init; }

    [VerbParameter(
        "Specifies the identifier of the disk: its UniqueId, its ObjectId or its Path.",
        Sets = "ById", Required = true, Aliases = "DiskPath", Pipeline = PipelineBinding.ByPropertyName)]
    public string[]? DiskId { get; init; }

    [VerbParameter("Specifies the number of the partition.", Sets = "ByNumber", Position = 1, Aliases = "Number")]
    public uint[]? PartitionNumber { get; init; }

    [VerbParameter(
        "Specifies the offset of the partition on its disk, in bytes.",
        Sets = "ById", Pipeline = PipelineBinding.ByPropertyName, Kind = ParameterKind.Size)]
    public ulong[]? Offset { get; init; }

    [VerbParameter("Specifies the volume.", Sets = "ByVolume", Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_Volume")]
    public string? Volume { get; init; }

    [VerbParameter("Specifies the disk.", Sets = "ByDisk", Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_Disk")]
    public string? Disk { get; init; }

    [VerbParameter(
        "Specifies the storage subsystem, by friendly name or unique identifier.",
        Sets = "ByStorageSubSystem", Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_StorageSubSystem")]
    public string? StorageSubSystem { get; init; }
}
