namespace TierSpaces.Contracts;

/// <summary>Takes disks offline or online, makes them read-only, and changes their partition table.</summary>
[Verb(
    "Set-Disk", "Takes disks offline or online, makes them read-only, and changes their partition table.",
    DefaultSet = "ByNumberAttributes", ChangesState = true, IsIdempotent = true, ReturnsNothing = true)]
public sealed record SetDiskRequest : StorageRequest<DiskInfo>
{
    [VerbParameter(
        "Specifies the number of the disk.",
        Sets = "ByNumberAttributes,ByNumberConvertStyle,ByNumber", Required = true, Position = 0, Pipeline = PipelineBinding.ByPropertyName)]
    public uint? Number { get; init; }

    [VerbParameter(
        "Specifies the unique identifier; wildcards are accepted.",
        Sets = "ByIdConvertStyle,ByIdAttributes,ById", Required = true, Pipeline = PipelineBinding.ByPropertyName, NamedClass = "MSFT_Disk")]
    public string? UniqueId { get; init; }

    [VerbParameter(
        "Specifies the block device of the disk, or the stable link to it.",
        Sets = "ByPathConvertStyle,ByPathAttributes,ByPath", Required = true, Pipeline = PipelineBinding.ByPropertyName, Kind = ParameterKind.Path)]
    public string? Path { get; init; }

    [VerbParameter(
        "Specifies the objects themselves.",
        Sets = "ByObjectAttributes,ByObject,ByObjectConvertStyle", Required = true, Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_Disk")]
    public string[]? InputObject { get; init; }

    [VerbParameter("Specifies the identifier of the GPT, a GUID.", Sets = "ByNumberAttributes,ByObjectAttributes,ByIdAttributes,ByPathAttributes")]
    public string? Guid { get; init; }

    [VerbParameter("Specifies whether it is offline.", Sets = "ByObject,ById,ByPath,ByNumber")]
    public bool? IsOffline { get; init; }

    [VerbParameter("Specifies whether it is read-only.", Sets = "ByNumberAttributes,ByObjectAttributes,ByIdAttributes,ByPathAttributes")]
    public bool? IsReadOnly { get; init; }

    [VerbParameter(
        "Specifies the kind of the partition table. A disk with partitions is refused; MBR is refused above 2 TB.",
        Sets = "ByObjectConvertStyle,ByNumberConvertStyle,ByPathConvertStyle,ByIdConvertStyle")]
    public PartitionStyle? PartitionStyle { get; init; }

    [VerbParameter("Specifies the signature of the MBR.", Sets = "ByNumberAttributes,ByObjectAttributes,ByIdAttributes,ByPathAttributes")]
    public uint? Signature { get; init; }
}
