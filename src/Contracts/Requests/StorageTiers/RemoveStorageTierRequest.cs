namespace TierSpaces.Contracts;

/// <summary>Deletes templates of storage tiers.</summary>
[Verb(
    "Remove-StorageTier", "Deletes templates of storage tiers; virtual disks that were made of them stay.", DefaultSet = "ByFriendlyName",
    ChangesState = true)]
public sealed record RemoveStorageTierRequest : StorageRequest<StorageTierInfo>
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

    [VerbParameter("Returns the object.")]
    public bool PassThru { get; init; }
}
