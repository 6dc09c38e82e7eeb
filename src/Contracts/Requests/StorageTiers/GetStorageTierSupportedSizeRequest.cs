namespace TierSpaces.Contracts;

/// <summary>Tells which sizes a storage tier may have.</summary>
[Verb("Get-StorageTierSupportedSize", "Tells which sizes a storage tier may have.", DefaultSet = "ByFriendlyName")]
public sealed record GetStorageTierSupportedSizeRequest : StorageRequest<StorageTierSupportedSizeInfo>
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

    [VerbParameter(
        "Simple, Mirror or Parity; the tier's own unless said.", Pipeline = PipelineBinding.ByPropertyName, Aliases = "Name",
        Suggestions = "Simple, Mirror, Parity")]
    public string? ResiliencySettingName { get; init; }
}
