namespace TierSpaces.Contracts;

/// <summary>Makes a partition table on blank disks.</summary>
[Verb("Initialize-Disk", "Makes a partition table on blank disks.", DefaultSet = "ByNumber", ChangesState = true)]
public sealed record InitializeDiskRequest : StorageRequest<DiskInfo>
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
        "Specifies the virtual disk, by unique identifier or friendly name. It must be connected.",
        Sets = "ByVirtualDisk", Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_VirtualDisk")]
    public string? VirtualDisk { get; init; }

    [VerbParameter(
        "Specifies the objects themselves.",
        Sets = "InputObject (cdxml)", Required = true, Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_Disk")]
    public string[]? InputObject { get; init; }

    [VerbParameter("Specifies the kind of the partition table. The default value is GPT. MBR is refused above 2 TB.")]
    public PartitionStyle? PartitionStyle { get; init; }

    [VerbParameter("Indicates that this cmdlet returns the object. By default it returns nothing.")]
    public bool PassThru { get; init; }
}
