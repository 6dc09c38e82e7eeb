namespace TierSpaces.Contracts;

/// <summary>Lists the slices of virtual disks with tiers: how hot each is, and where.</summary>
[Verb(
    "Get-StorageTierHeatMap", "Lists the slices of virtual disks with tiers: how hot each is, on which tier, since when and why.",
    DefaultSet = "ByFriendlyName", SelectedClass = "MSFT_VirtualDisk", IsOurs = true)]
public sealed record GetStorageTierHeatMapRequest : StorageRequest<StorageTierHeatInfo>
{
    [VerbParameter(
        "Friendly name of the virtual disk; wildcards are accepted.", Sets = "ByFriendlyName", Required = true, Position = 0,
        Pipeline = PipelineBinding.ByPropertyName)]
    public string[]? FriendlyName { get; init; }

    [VerbParameter(
        "Unique identifier of the virtual disk; wildcards are accepted.", Sets = "ByUniqueId", Required = true,
        Pipeline = PipelineBinding.ByPropertyName, Aliases = "Id")]
    public string[]? UniqueId { get; init; }

    [VerbParameter(
        "The virtual disks themselves, named by unique identifier or friendly name.", Sets = "InputObject (cdxml)",
        Required = true, Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_VirtualDisk")]
    public string[]? InputObject { get; init; }

    [VerbParameter("First byte of the range; the beginning unless said.", Kind = ParameterKind.Size)]
    public ulong? Offset { get; init; }

    [VerbParameter("Bytes of the range, 1 or more; to the end unless said.", Kind = ParameterKind.Size)]
    public ulong? Length { get; init; }

    [VerbParameter("Only so many slices of each virtual disk, the hottest first; 1 to 10000.")]
    public uint? Hottest { get; init; }
}
