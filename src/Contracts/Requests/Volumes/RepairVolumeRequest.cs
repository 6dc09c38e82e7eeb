namespace TierSpaces.Contracts;

/// <summary>Checks and repairs file systems.</summary>
[Verb(
    "Repair-Volume", "Checks and repairs file systems.", DefaultSet = "ByDriveLetter", ChangesState = true, IsIdempotent = true,
    WhenInterrupted = "the host ends a check or a repair that is not complete. Repeat the command.")]
public sealed record RepairVolumeRequest : StorageRequest<VolumeRepairInfo>
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

    [VerbParameter(
        "Specifies the objects themselves.",
        Sets = "InputObject (cdxml)", Required = true, Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_Volume")]
    public string[]? InputObject { get; init; }

    [VerbParameter("Indicates that the volume is unmounted, checked as a whole, repaired and mounted again.")]
    public bool OfflineScanAndFix { get; init; }

    [VerbParameter(
        "Indicates that the volume is checked and not repaired. A mounted volume stays mounted: btrfs is scrubbed, of ext4 the errors that the "
        + "kernel has found are counted, xfs is refused. This is the default.")]
    public bool Scan { get; init; }

    [VerbParameter("Indicates that errors are repaired if the volume has any: a volume without errors is not unmounted for long.")]
    public bool SpotFix { get; init; }

    [VerbParameter("Detects leaks.", Refused = "Leak detection is a function of ReFS alone.", IsUndocumented = true)]
    public DetectLeakMode? DetectLeaks { get; init; }

    [VerbParameter("Directories to look at.", Refused = "Triage is a function of ReFS alone.", IsUndocumented = true)]
    public ulong[]? DirectoryIds { get; init; }

    [VerbParameter("Salvages files.", Refused = "Salvaging is a function of ReFS alone.", IsUndocumented = true)]
    public SalvageMode? Salvage { get; init; }

    [VerbParameter("Folder for salvaging.", Refused = "Salvaging is a function of ReFS alone.", IsUndocumented = true)]
    public string? ScratchDir { get; init; }

    [VerbParameter("File for salvaging.", Refused = "Salvaging is a function of ReFS alone.", IsUndocumented = true)]
    public string? ScratchFile { get; init; }

    [VerbParameter("Folder for salvaged files.", Refused = "Salvaging is a function of ReFS alone.", IsUndocumented = true)]
    public string? TargetDir { get; init; }

    [VerbParameter("File for salvaged files.", Refused = "Salvaging is a function of ReFS alone.", IsUndocumented = true)]
    public string? TargetFile { get; init; }

    [VerbParameter("Number of threads.", Refused = "The tools of the file systems choose their threads.", IsUndocumented = true)]
    public uint? Threads { get; init; }

    [VerbParameter("Looks at directories.", Refused = "Triage is a function of ReFS alone.", IsUndocumented = true)]
    public bool Triage { get; init; }
}
