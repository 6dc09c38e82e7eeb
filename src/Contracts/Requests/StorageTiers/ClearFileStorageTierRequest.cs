namespace TierSpaces.Contracts;

/// <summary>Takes pins of a file, or of a range of virtual disks, away.</summary>
/// <remarks>There is no default set: a shell would try it first, and take the empty path of a pinned range for a file's.</remarks>
[Verb(
    "Clear-FileStorageTier", "Takes the pin of a file, or the pins of a range of a virtual disk, away; all stays where it is until heat says otherwise.",
    ChangesState = true)]
public sealed record ClearFileStorageTierRequest : StorageRequest<FileStorageTierInfo>
{
    private const string DiskSets = "ByVirtualDiskFriendlyName, ByVirtualDiskUniqueId, ByVirtualDisk";

    [VerbParameter(
        "The file; it need not be there any more.", Sets = "ByFilePath", Required = true, Pipeline = PipelineBinding.ByPropertyName,
        Kind = ParameterKind.Path)]
    public string? FilePath { get; init; }

    [VerbParameter(
        "The pins themselves, of files and of ranges.", Sets = "InputObject (cdxml)", Required = true, Pipeline = PipelineBinding.ByValue,
        ObjectClass = "MSFT_FileStorageTier", IsOurs = true)]
    public string[]? InputObject { get; init; }

    [VerbParameter("Friendly name of the virtual disk; wildcards are accepted.", Sets = "ByVirtualDiskFriendlyName", Required = true, IsOurs = true)]
    public string[]? VirtualDiskFriendlyName { get; init; }

    [VerbParameter("Unique identifier of the virtual disk; wildcards are accepted.", Sets = "ByVirtualDiskUniqueId", Required = true, IsOurs = true)]
    public string[]? VirtualDiskUniqueId { get; init; }

    [VerbParameter(
        "The virtual disks themselves, named by unique identifier or friendly name.", Sets = "ByVirtualDisk", Required = true,
        Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_VirtualDisk", IsOurs = true)]
    public string[]? VirtualDisk { get; init; }

    [VerbParameter(
        "First byte of the range whose pins are taken away; KB, MB, GB, TB and PB are accepted. Rounded down to a whole slice.", Sets = DiskSets,
        Required = true, Kind = ParameterKind.Size, IsOurs = true)]
    public ulong? Offset { get; init; }

    [VerbParameter(
        "Bytes of the range, 1 or more; KB, MB, GB, TB and PB are accepted. Its end is rounded up to a whole slice.", Sets = DiskSets,
        Required = true, Kind = ParameterKind.Size, IsOurs = true)]
    public ulong? Length { get; init; }
}
