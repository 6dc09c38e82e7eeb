namespace TierSpaces.Contracts;

/// <summary>Mounts the volumes of partitions at a drive letter or a folder.</summary>
[Verb(
    "Add-PartitionAccessPath", "Mounts the volumes of partitions at a drive letter or a folder.",
    DefaultSet = "ByNumber", ChangesState = true, IsIdempotent = true)]
public sealed record AddPartitionAccessPathRequest : StorageRequest<PartitionInfo>
{
    [VerbParameter("Specifies the number of the disk.", Sets = "ByNumber", Required = true, Position = 0, Pipeline = PipelineBinding.ByPropertyName)]
    public uint[]? DiskNumber { get; init; }

    [VerbParameter("Specifies the drive letter, A to Z.", Sets = "ByDriveLetter", Required = true, Pipeline = PipelineBinding.ByPropertyName)]
    public string[]? DriveLetter { get; init; }

    [VerbParameter(
        "Specifies the identifier of the disk: its UniqueId, its ObjectId or its Path.",
        Sets = "ById", Required = true, Pipeline = PipelineBinding.ByPropertyName)]
    public string[]? DiskId { get; init; }

    [VerbParameter(
        "Specifies the number of the partition.",
        Sets = "ByNumber", Required = true, Position = 1, Aliases = "Number", Pipeline = PipelineBinding.ByPropertyName)]
    public uint[]? PartitionNumber { get; init; }

    [VerbParameter(
        "Specifies the offset of the partition on its disk, in bytes.",
        Sets = "ById", Required = true, Pipeline = PipelineBinding.ByPropertyName, Kind = ParameterKind.Size)]
    public ulong[]? Offset { get; init; }

    [VerbParameter(
        "Specifies the objects themselves.",
        Sets = "InputObject (cdxml)", Required = true, Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_Partition")]
    public string[]? InputObject { get; init; }

    [VerbParameter("Specifies a drive letter with a colon, or the absolute path of an empty or missing folder.", Position = 2)]
    public string? AccessPath { get; init; }

    [VerbParameter("Indicates that this cmdlet assigns the first free drive letter from D on.")]
    public bool AssignDriveLetter { get; init; }

    [VerbParameter("Indicates that this cmdlet returns the object. By default it returns nothing.")]
    public bool PassThru { get; init; }
}
