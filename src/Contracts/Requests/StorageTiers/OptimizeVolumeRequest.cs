namespace TierSpaces.Contracts;

/// <summary>Optimizes volumes: the tiers of the virtual disks that they are on, and their unused space.</summary>
[Verb(
    "Optimize-Volume", "Optimizes the tiers of the virtual disks that volumes are on, or gives their unused space back.", DefaultSet = "ByDriveLetter",
    ChangesState = true, IsIdempotent = true, ReturnsNothing = true, JobName = "Storage Tiers Optimization")]
public sealed record OptimizeVolumeRequest : StorageRequest<StorageTierOptimizationInfo>
{
    [VerbParameter(
        "Specifies the drive letter, A to Z.", Sets = "ByDriveLetter", Required = true, Position = 0, Pipeline = PipelineBinding.ByPropertyName)]
    public string[]? DriveLetter { get; init; }

    [VerbParameter(
        "Specifies the identifier, the ObjectId of the volume or of its virtual disk; wildcards are accepted.", Sets = "ById", Required = true,
        Pipeline = PipelineBinding.ByPropertyName, Aliases = "Id")]
    public string[]? ObjectId { get; init; }

    [VerbParameter(
        "Specifies the mount point of the volume, any path on it, or its block device.", Sets = "ByPaths", Required = true,
        Pipeline = PipelineBinding.ByPropertyName, Kind = ParameterKind.Path)]
    public string[]? Path { get; init; }

    [VerbParameter(
        "Specifies the label, or the friendly name of the virtual disk; wildcards are accepted.", Sets = "ByLabel", Required = true,
        Pipeline = PipelineBinding.ByPropertyName)]
    public string[]? FileSystemLabel { get; init; }

    [VerbParameter(
        "The volume.", Sets = "InputObject (cdxml)", Required = true, Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_Volume")]
    public string[]? InputObject { get; init; }

    [VerbParameter("Indicates that this cmdlet optimizes storage tiers. This is the default for virtual disks with tiers.")]
    public bool TierOptimize { get; init; }

    [VerbParameter(
        "Indicates that this cmdlet gives unused space of mounted volumes back to their virtual disks. This is the default for virtual disks without tiers.")]
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
