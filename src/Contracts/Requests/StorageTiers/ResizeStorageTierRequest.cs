namespace TierSpaces.Contracts;

/// <summary>Makes tiers of virtual disks larger.</summary>
[Verb("Resize-StorageTier", "Makes tiers of virtual disks larger, and the virtual disks with them.", DefaultSet = "ByFriendlyName", ChangesState = true)]
public sealed record ResizeStorageTierRequest : StorageRequest<StorageTierInfo>
{
    [VerbParameter(
        "Friendly name; wildcards are accepted.", Sets = "ByFriendlyName", Required = true, Position = 0,
        Pipeline = PipelineBinding.ByPropertyName)]
    public string[]? FriendlyName { get; init; }

    [VerbParameter(
        "Unique identifier; wildcards are accepted.", Sets = "ByUniqueId", Required = true,
        Pipeline = PipelineBinding.ByPropertyName, Aliases = "Id")]
    public string[]? UniqueId { get; init; }

    [VerbParameter(
        "The objects themselves, named by unique identifier or friendly name.", Sets = "InputObject (cdxml)",
        Required = true, Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_StorageTier")]
    public string[]? InputObject { get; init; }

    [VerbParameter("New size in bytes; KB, MB, GB, TB and PB are accepted. Rounded up to whole slices.", Kind = ParameterKind.Size)]
    public ulong? Size { get; init; }

    [VerbParameter("Returns the object.")]
    public bool PassThru { get; init; }
}
