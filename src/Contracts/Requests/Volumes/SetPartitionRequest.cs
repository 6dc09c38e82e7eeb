namespace TierSpaces.Contracts;

/// <summary>Changes the drive letter and the attributes of partitions.</summary>
[Verb(
    "Set-Partition", "Changes the drive letter and the attributes of partitions.",
    DefaultSet = "ByNumberAttributes", ChangesState = true, IsIdempotent = true, ReturnsNothing = true)]
public sealed record SetPartitionRequest : StorageRequest<PartitionInfo>
{
    [VerbParameter(
        "Specifies the number of the disk.",
        Sets = "ByNumberAttributes,ByNumberAccessPath,ByNumber", Required = true, Position = 0, Pipeline = PipelineBinding.ByPropertyName)]
    public uint? DiskNumber { get; init; }

    [VerbParameter(
        "Specifies the drive letter, A to Z.",
        Sets = "ByDriveLetterAttributes,ByDriveLetterAccessPath,ByDriveLetter", Required = true, Pipeline = PipelineBinding.ByPropertyName)]
    public string? DriveLetter { get; init; }

    [VerbParameter(
        "Specifies the identifier of the disk: its UniqueId, its ObjectId or its Path.",
        Sets = "ByIdAttributes,ByIdAccessPath,ById", Required = true, Pipeline = PipelineBinding.ByPropertyName)]
    public string? DiskId { get; init; }

    [VerbParameter(
        "Specifies the number of the partition.",
        Sets = "ByNumberAttributes,ByNumberAccessPath,ByNumber", Required = true, Position = 1, Aliases = "Number")]
    public uint? PartitionNumber { get; init; }

    [VerbParameter(
        "Specifies the offset of the partition on its disk, in bytes.",
        Sets = "ByIdAttributes,ByIdAccessPath,ById", Required = true, Pipeline = PipelineBinding.ByPropertyName, Kind = ParameterKind.Size)]
    public ulong? Offset { get; init; }

    [VerbParameter(
        "Specifies the objects themselves.",
        Sets = "ByObjectAccessPath,ByObject,ByObjectAttributes", Required = true, Pipeline = PipelineBinding.ByValue,
        ObjectClass = "MSFT_Partition")]
    public string[]? InputObject { get; init; }

    [VerbParameter(
        "Specifies the type of the partition in a GPT, a GUID.",
        Sets = "ByNumberAttributes,ByObjectAttributes,ByDriveLetterAttributes,ByIdAttributes")]
    public string? GptType { get; init; }

    [VerbParameter(
        "Specifies whether the partition of an MBR is active.",
        Sets = "ByNumberAttributes,ByObjectAttributes,ByDriveLetterAttributes,ByIdAttributes")]
    public bool? IsActive { get; init; }

    [VerbParameter(
        "Indicates whether files are mapped directly.",
        Sets = "ByNumberAttributes,ByObjectAttributes,ByDriveLetterAttributes,ByIdAttributes",
        Refused = "Virtual disks are no memory; direct mapping has no counterpart.")]
    public bool? IsDAX { get; init; }

    [VerbParameter(
        "Specifies whether the partition is hidden: it has no access paths.",
        Sets = "ByNumberAttributes,ByObjectAttributes,ByDriveLetterAttributes,ByIdAttributes")]
    public bool? IsHidden { get; init; }

    [VerbParameter(
        "Specifies whether the volume is offline: it is unmounted, and its access paths are kept for when it is online again.",
        Sets = "ByObject,ById,ByDriveLetter,ByNumber")]
    public bool? IsOffline { get; init; }

    [VerbParameter("Specifies whether it is read-only.", Sets = "ByNumberAttributes,ByObjectAttributes,ByDriveLetterAttributes,ByIdAttributes")]
    public bool? IsReadOnly { get; init; }

    [VerbParameter(
        "Specifies whether a GPT marks the partition as a shadow copy.",
        Sets = "ByNumberAttributes,ByObjectAttributes,ByDriveLetterAttributes,ByIdAttributes")]
    public bool? IsShadowCopy { get; init; }

    [VerbParameter(
        "Specifies the number of the type in an MBR, 1 to 255.",
        Sets = "ByNumberAttributes,ByObjectAttributes,ByDriveLetterAttributes,ByIdAttributes")]
    public ushort? MbrType { get; init; }

    [VerbParameter(
        "Specifies the new drive letter, A to Z. The volume is unmounted from the old one.",
        Sets = "ByObjectAccessPath,ByIdAccessPath,ByDriveLetterAccessPath,ByNumberAccessPath")]
    public string? NewDriveLetter { get; init; }

    [VerbParameter(
        "Specifies whether the partition gets no access path by itself when it is formatted with a label.",
        Sets = "ByNumberAttributes,ByObjectAttributes,ByDriveLetterAttributes,ByIdAttributes")]
    public bool? NoDefaultDriveLetter { get; init; }
}
