namespace TierSpaces.Contracts;

/// <summary>Optimizes the tiers of the virtual disk that a volume is on: the spelling that Windows has for it.</summary>
[Verb(
    "Optimize-Volume", "Optimizes the tiers of the virtual disks that volumes are on.", DefaultSet = "ByDriveLetter",
    ChangesState = true, IsIdempotent = true, ReturnsNothing = true, JobName = "Storage Tiers Optimization")]
public sealed record OptimizeVolumeRequest : StorageRequest<StorageTierOptimizationInfo>
{
    [VerbParameter(
        "The volume, by drive letter.", Sets = "ByDriveLetter", Required = true, Position = 0, Pipeline = PipelineBinding.ByPropertyName,
        Refused = "Drive letters do not exist here; -Path takes a mount point.")]
    public string[]? DriveLetter { get; init; }

    [VerbParameter(
        "Identifier of the virtual disk, its ObjectId; wildcards are accepted.", Sets = "ById", Required = true,
        Pipeline = PipelineBinding.ByPropertyName, Aliases = "Id")]
    public string[]? ObjectId { get; init; }

    [VerbParameter(
        "Where the volume is mounted, any path on it, or its block device.", Sets = "ByPaths", Required = true,
        Pipeline = PipelineBinding.ByPropertyName, Kind = ParameterKind.Path)]
    public string[]? Path { get; init; }

    [VerbParameter(
        "Friendly name of the virtual disk that the volume is on; wildcards are accepted.", Sets = "ByLabel", Required = true,
        Pipeline = PipelineBinding.ByPropertyName)]
    public string[]? FileSystemLabel { get; init; }

    [VerbParameter(
        "The volume.", Sets = "InputObject (cdxml)", Required = true, Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_Volume",
        Refused = "Volume objects do not exist here.")]
    public string[]? InputObject { get; init; }

    [VerbParameter("Indicates that this cmdlet optimizes storage tiers. This is the default.")]
    public bool TierOptimize { get; init; }

    [VerbParameter(
        "Gives unused space back.", Refused = "Space is given back when a file system discards it; fstrim makes it do so.")]
    public bool ReTrim { get; init; }

    [VerbParameter("Analyzes fragmentation.", Refused = "Files are laid out by their file system, with tools of its own.")]
    public bool Analyze { get; init; }

    [VerbParameter("Defragments.", Refused = "Files are laid out by their file system, with tools of its own.")]
    public bool Defrag { get; init; }

    [VerbParameter("Consolidates slabs.", Refused = "Slabs of thin virtual disks are not consolidated; Optimize-StoragePool spreads them.")]
    public bool SlabConsolidate { get; init; }

    [VerbParameter("Runs at normal instead of low priority.", WithoutEffect = "storage jobs take what clients leave, and all of it while there are none.")]
    public bool NormalPriority { get; init; }
}
