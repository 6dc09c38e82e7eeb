namespace TierSpaces.Contracts;

/// <summary>Returns the sizes that partitions can be resized to.</summary>
[Verb("Get-PartitionSupportedSize", "Returns the sizes that partitions can be resized to.", DefaultSet = "ByUniqueId")]
public sealed record GetPartitionSupportedSizeRequest : StorageRequest<PartitionSupportedSizeInfo>
{
    [VerbParameter("Specifies the number of the disk.", Sets = "ByNumber", Required = true, Position = 0, Pipeline = PipelineBinding.ByPropertyName)]
    public uint[]? DiskNumber { get; init; }

    [VerbParameter("Specifies the drive letter, A to Z.", Sets = "ByDriveLetter", Required = true, Pipeline = PipelineBinding.ByPropertyName)]
    public string[]? DriveLetter { get; init; }

    [VerbParameter(
        "Specifies the identifier of the disk: its UniqueId, its ObjectId or its Path.",
        Sets = "ById", Required = true, Pipeline = PipelineBinding.ByPropertyName)]
    public string[]? DiskId { get; init; }

    [VerbParameter("Specifies the number of the partition.", Sets = "ByNumber", Position = 1, Aliases = "Number")]
    public uint[]? PartitionNumber { get; init; }

    [VerbParameter(
        "Specifies the offset of the partition on its disk, in bytes.",
        Sets = "ById", Pipeline = PipelineBinding.ByPropertyName, Kind = ParameterKind.Size)]
    public ulong[]? Offset { get; init; }

    [VerbParameter(
        "Specifies the objects themselves.",
        Sets = "InputObject (cdxml)", Required = true, Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_Partition")]
    public string[]? InputObject { get; init; }
}
