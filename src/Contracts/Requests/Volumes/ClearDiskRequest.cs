namespace TierSpaces.Contracts;

/// <summary>Erases the partitions of disks with everything on them.</summary>
[Verb("Clear-Disk", "Erases the partitions of disks with everything on them.", DefaultSet = "ByNumber", ChangesState = true, Destroys = true)]
public sealed record ClearDiskRequest : StorageRequest<DiskInfo>
{
    [VerbParameter("Specifies the number of the disk.", Sets = "ByNumber", Required = true, Position = 0, Pipeline = PipelineBinding.ByPropertyName)]
    public uint[]? Number { get; init; }

    [VerbParameter(
        "Specifies the unique identifier; wildcards are accepted.",
        Sets = "ByUniqueId", Required = true, Aliases = "Id", Pipeline = PipelineBinding.ByPropertyName, NamedClass = "MSFT_Disk")]
    public string[]? UniqueId { get; init; }

    [VerbParameter(
        "Specifies the friendly name of the disk, which is that of its virtual disk; wildcards are accepted.",
        Sets = "ByName", Pipeline = PipelineBinding.ByPropertyName, NamedClass = "MSFT_Disk")]
    public string[]? FriendlyName { get; init; }

    [VerbParameter(
        "Specifies the block device of the disk, or the stable link to it.",
        Sets = "ByPath", Required = true, Pipeline = PipelineBinding.ByPropertyName, Kind = ParameterKind.Path)]
    public string[]? Path { get; init; }

    [VerbParameter(
        "Specifies the objects themselves.",
        Sets = "InputObject (cdxml)", Required = true, Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_Disk")]
    public string[]? InputObject { get; init; }

    [VerbParameter("Indicates that this cmdlet returns the object. By default it returns nothing.")]
    public bool PassThru { get; init; }

    [VerbParameter("Indicates that this cmdlet erases partitions of data, and what a disk without a partition table holds.")]
    public bool RemoveData { get; init; }

    [VerbParameter("Indicates that this cmdlet erases recovery partitions as well.")]
    public bool RemoveOEM { get; init; }

    [VerbParameter(
        "Erases every block.",
        Refused = "The blocks of a virtual disk are not erased one by one; Format-Volume -Full zeroes a volume.", IsUndocumented = true)]
    public bool Sanitize { get; init; }
}
