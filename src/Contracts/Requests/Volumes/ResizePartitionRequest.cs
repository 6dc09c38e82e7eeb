namespace TierSpaces.Contracts;

/// <summary>Resizes partitions with the file systems on them.</summary>
[Verb(
    "Resize-Partition", "Resizes partitions with the file systems on them.", DefaultSet = "ByUniqueId", ChangesState = true, IsIdempotent = true,
    WhenInterrupted = "the host ends a change of size that is not complete. The same command completes it.")]
public sealed record ResizePartitionRequest : StorageRequest<PartitionInfo>
{
    [VerbParameter("Specifies the number of the disk.", Sets = "ByNumber", Required = true, Position = 0, Pipeline = PipelineBinding.ByPropertyName)]
    public uint[]? DiskNumber { get; init; }

    [VerbParameter("Specifies the drive letter, A to Z.", Sets = "ByDriveLetter", Required = true, Pipeline = PipelineBinding.ByPropertyName)]
    public string[]? DriveLetter { get; init; }

    [VerbParameter(
        "Specifies the identifier of the disk: its UniqueId, its ObjectId or its Path.",
        Sets = "ById", Required = true, Pipeline = PipelineBinding.ByPropertyName)]
    public string[]? DiskId { get; init; }

    [VerbParameter("Specifies the number of the partition.", Sets = "ByNumber", Required = true, Position = 1, Aliases = "Number")]
    public uint[]? PartitionNumber { get; init; }

    [VerbParameter(
        "Specifies the offset of the partition on its disk, in bytes.",
        Sets = "ById", Required = true, Pipeline = PipelineBinding.ByPropertyName, Kind = ParameterKind.Size)]
    public ulong[]? Offset { get; init; }

    [VerbParameter(
        "Specifies the objects themselves.",
        Sets = "InputObject (cdxml)", Required = true, Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_Partition")]
    public string[]? InputObject { get; init; }

    [VerbParameter(
        "Indicates that this cmdlet returns the object. By default it returns nothing.",
        Sets = "ById,ByNumber,ByDriveLetter,InputObject (cdxml)")]
    public bool PassThru { get; init; }

    [VerbParameter(
        "Specifies the new size in bytes; Get-PartitionSupportedSize returns the range. The file system is resized too.",
        Sets = "ById,ByNumber,ByDriveLetter,InputObject (cdxml)", Required = true, Position = 2, Kind = ParameterKind.Size)]
    public ulong? Size { get; init; }
}
