namespace TierSpaces.Contracts;

/// <summary>Makes partitions on initialized disks.</summary>
[Verb("New-Partition", "Makes partitions on initialized disks.", DefaultSet = "ByNumber", ChangesState = true)]
public sealed record NewPartitionRequest : StorageRequest<PartitionInfo>
{
    [VerbParameter("Specifies the number of the disk.", Sets = "ByNumber", Required = true, Position = 0, Pipeline = PipelineBinding.ByPropertyName)]
    public uint[]? DiskNumber { get; init; }

    [VerbParameter(
        "Specifies the drive letter, A to Z. The volume is mounted at the folder of that name below the volume root as soon as it is formatted.",
        Aliases = "NewDriveLetter")]
    public string? DriveLetter { get; init; }

    [VerbParameter(
        "Specifies the identifier of the disk: its UniqueId, its ObjectId or its Path.",
        Sets = "ByUniqueId", Required = true, Aliases = "Id", Pipeline = PipelineBinding.ByPropertyName)]
    public string[]? DiskId { get; init; }

    [VerbParameter(
        "Specifies the block device of the disk, or the stable link to it.",
        Sets = "ByPath", Required = true, Pipeline = PipelineBinding.ByPropertyName, Kind = ParameterKind.Path)]
    public string[]? DiskPath { get; init; }

    [VerbParameter(
        "Specifies the offset in bytes, a multiple of the sector size in a free extent. By default the first free extent that is large enough is "
        + "taken.",
        Kind = ParameterKind.Size)]
    public ulong? Offset { get; init; }

    [VerbParameter(
        "Specifies the objects themselves.",
        Sets = "InputObject (cdxml)", Required = true, Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_Disk")]
    public string[]? InputObject { get; init; }

    [VerbParameter(
        "Specifies the bytes whose multiples the partition starts at. The default value is 1 MB or the next common multiple with the stripe of "
        + "the virtual disk.")]
    public uint? Alignment { get; init; }

    [VerbParameter("Indicates that this cmdlet assigns the first free drive letter from D on.")]
    public bool AssignDriveLetter { get; init; }

    [VerbParameter("Specifies the type of the partition in a GPT, a GUID. The default value is that of data.")]
    public string? GptType { get; init; }

    [VerbParameter("Indicates that the partition of an MBR is active.")]
    public bool IsActive { get; init; }

    [VerbParameter("Indicates that the partition is hidden: it has no access paths.")]
    public bool IsHidden { get; init; }

    [VerbParameter("Specifies the type of the partition in an MBR. The default value is Huge. Extended is refused: a GPT has 128 partitions.")]
    public MbrType? MbrType { get; init; }

    [VerbParameter("Specifies the size in bytes, 1 MB or more. It is rounded up to a multiple of 4 KB.", Kind = ParameterKind.Size)]
    public ulong? Size { get; init; }

    [VerbParameter("Indicates that the partition takes all of the largest free extent.")]
    public bool UseMaximumSize { get; init; }
}
