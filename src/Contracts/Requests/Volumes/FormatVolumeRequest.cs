namespace TierSpaces.Contracts;

/// <summary>Makes file systems, which erases what was there before.</summary>
[Verb(
    "Format-Volume", "Makes file systems, which erases what was there before.", DefaultSet = "ByDriveLetter", ChangesState = true, Destroys = true,
    WhenInterrupted = "the host ends a format that is not complete, which leaves the volume without a file system. Get-Volume shows it.")]
public sealed record FormatVolumeRequest : StorageRequest<VolumeInfo>
{
    [VerbParameter(
        "Specifies the identifier: the ObjectId or the UniqueId of the volume; wildcards are accepted.",
        Sets = "ById", Required = true, Aliases = "Id", Pipeline = PipelineBinding.ByPropertyName)]
    public string[]? ObjectId { get; init; }

    [VerbParameter("Specifies the drive letter, A to Z.", Sets = "ByDriveLetter", Required = true, Position = 0, Pipeline = PipelineBinding.ByPropertyName)]
    public string[]? DriveLetter { get; init; }

    [VerbParameter("Specifies the label; wildcards are accepted.", Sets = "ByLabel", Required = true, Pipeline = PipelineBinding.ByPropertyName)]
    public string[]? FileSystemLabel { get; init; }

    [VerbParameter(
        "Specifies a path that the volume is mounted at, any path on it, or its block device.",
        Sets = "ByPaths", Required = true, Pipeline = PipelineBinding.ByPropertyName, Kind = ParameterKind.Path)]
    public string[]? Path { get; init; }

    [VerbParameter("Specifies the partition.", Sets = "ByPartition", Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_Partition")]
    public string? Partition { get; init; }

    [VerbParameter(
        "Specifies the objects themselves.",
        Sets = "InputObject (cdxml)", Required = true, Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_Volume")]
    public string[]? InputObject { get; init; }

    [VerbParameter(
        "Specifies the bytes of an allocation unit; Get-SupportedClusterSizes returns the sizes. The default value is 4096. A size of NTFS or ReFS that the "
        + "file system made in place of them, or without -FileSystem, does not have has no effect, and a warning says so.",
        Aliases = "ClusterSize")]
    public uint? AllocationUnitSize { get; init; }

    [VerbParameter("Compresses files.", Refused = "The file systems that are made here compress nothing by themselves.")]
    public bool Compress { get; init; }

    [VerbParameter("Makes a Dev Drive.", Default = "False", Refused = "Dev Drives have no counterpart.")]
    public bool DevDrive { get; init; }

    [VerbParameter("Switches heat off.", WithoutEffect = "heat is that of a virtual disk and is recorded below its file systems.")]
    public bool DisableHeatGathering { get; init; }

    [VerbParameter(
        "Specifies the file system: ext4, xfs or btrfs; NTFS where ntfs-3g is installed. ReFS, CSVFS_NTFS, CSVFS_ReFS, and NTFS elsewhere, are "
        + "made as a local file system, and a warning says so. The default value is ext4.",
        Suggestions = "ext4,xfs,btrfs,NTFS,ReFS,CSVFS_NTFS,CSVFS_ReFS")]
    public string? FileSystem { get; init; }

    [VerbParameter("Indicates that a volume with a file system is formatted without a warning.")]
    public bool Force { get; init; }

    [VerbParameter("Indicates that all of the volume is zeroed before. By default the volume is trimmed.")]
    public bool Full { get; init; }

    [VerbParameter("Indicates whether files are mapped directly.", Refused = "Virtual disks are no memory; direct mapping has no counterpart.")]
    public bool? IsDAX { get; init; }

    [VerbParameter(
        "Specifies the label: up to 16 bytes on ext4, 12 on xfs, 255 on btrfs, 128 characters on NTFS. A volume without an access path is "
        + "mounted at the folder of that name below the volume root.")]
    public string? NewFileSystemLabel { get; init; }

    [VerbParameter("Keeps checksums of files.", WithoutEffect = "every block of a virtual disk has a checksum: New-VirtualDisk -Checksum.")]
    public bool? SetIntegrityStreams { get; init; }

    [VerbParameter("Gives files short names.", Refused = "The file systems that are made here have no short names.")]
    public bool? ShortFileNameSupport { get; init; }

    [VerbParameter("Makes large file records.", Refused = "The file systems that are made here have no file records of NTFS.")]
    public bool UseLargeFRS { get; init; }

    [VerbParameter("Indicates that the volume is not trimmed before.", IsUndocumented = true)]
    public bool NoTrim { get; init; }
}
