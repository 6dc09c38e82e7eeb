namespace TierSpaces.Contracts;

/// <summary>Pins a file, or a range of a virtual disk, to a tier.</summary>
[Verb(
    "Set-FileStorageTier", "Pins a file, or a range of a virtual disk, to a tier of the virtual disk that it is on.",
    DefaultSet = "ByDesiredStorageTierFriendlyName", ChangesState = true, IsIdempotent = true)]
public sealed record SetFileStorageTierRequest : StorageRequest<FileStorageTierInfo>
{
    // A range is given by one of three names of the virtual disk, with one of three names of the tier.
    private const string FileSets = "ByDesiredStorageTierFriendlyName, ByDesiredStorageTier, ByDesiredStorageTierUniqueId";
    private const string NameSets = "ByVirtualDiskFriendlyName, ByVirtualDiskFriendlyNameAndTier, ByVirtualDiskFriendlyNameAndTierUniqueId";
    private const string IdSets = "ByVirtualDiskUniqueId, ByVirtualDiskUniqueIdAndTier, ByVirtualDiskUniqueIdAndTierUniqueId";
    private const string ObjectSets = "ByVirtualDisk, ByVirtualDiskAndTier, ByVirtualDiskAndTierUniqueId";

    [VerbParameter("The file.", Sets = FileSets, Required = true, Pipeline = PipelineBinding.ByPropertyName, Kind = ParameterKind.Path)]
    public string? FilePath { get; init; }

    [VerbParameter("Friendly name of the virtual disk of which a range is pinned.", Sets = NameSets, Required = true, IsOurs = true)]
    public string? VirtualDiskFriendlyName { get; init; }

    [VerbParameter("Unique identifier of the virtual disk.", Sets = IdSets, Required = true, IsOurs = true)]
    public string? VirtualDiskUniqueId { get; init; }

    [VerbParameter(
        "The virtual disk itself, named by unique identifier or friendly name.", Sets = ObjectSets, Required = true,
        Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_VirtualDisk", IsOurs = true)]
    public string? VirtualDisk { get; init; }

    [VerbParameter(
        "First byte of the range; KB, MB, GB, TB and PB are accepted. Rounded down to a whole slice.",
        Sets = $"{NameSets}, {IdSets}, {ObjectSets}", Required = true, Kind = ParameterKind.Size, IsOurs = true)]
    public ulong? Offset { get; init; }

    [VerbParameter(
        "Bytes of the range, 1 or more; KB, MB, GB, TB and PB are accepted. Its end is rounded up to a whole slice.",
        Sets = $"{NameSets}, {IdSets}, {ObjectSets}", Required = true, Kind = ParameterKind.Size, IsOurs = true)]
    public ulong? Length { get; init; }

    [VerbParameter(
        "Friendly name of the tier.", Sets = "ByDesiredStorageTierFriendlyName, ByVirtualDiskFriendlyName, ByVirtualDiskUniqueId, ByVirtualDisk",
        Required = true, Pipeline = PipelineBinding.ByPropertyName)]
    public string? DesiredStorageTierFriendlyName { get; init; }

    [VerbParameter(
        "The tier, by friendly name or unique identifier.",
        Sets = "ByDesiredStorageTier, ByVirtualDiskFriendlyNameAndTier, ByVirtualDiskUniqueIdAndTier, ByVirtualDiskAndTier", Required = true,
        Pipeline = PipelineBinding.ByPropertyName, ObjectClass = "MSFT_StorageTier")]
    public string? DesiredStorageTier { get; init; }

    [VerbParameter(
        "Unique identifier of the tier.",
        Sets = "ByDesiredStorageTierUniqueId, ByVirtualDiskFriendlyNameAndTierUniqueId, ByVirtualDiskUniqueIdAndTierUniqueId, ByVirtualDiskAndTierUniqueId",
        Required = true, Pipeline = PipelineBinding.ByPropertyName)]
    public string? DesiredStorageTierUniqueId { get; init; }

    [VerbParameter("Moves what is pinned at once and waits for it, instead of leaving it to the next optimization.", IsOurs = true)]
    public bool Now { get; init; }
}
