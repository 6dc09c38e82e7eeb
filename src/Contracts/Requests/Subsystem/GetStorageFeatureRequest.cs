namespace TierSpaces.Contracts;

/// <summary>Lists features of Windows storage: which of them are here, what differs, and what to use instead.</summary>
[Verb("Get-StorageFeature", "Lists features of Windows storage: which of them are here, what differs, and what to use instead.", IsOurs = true)]
public sealed record GetStorageFeatureRequest : StorageRequest<StorageFeatureInfo>
{
    [VerbParameter("Name of the feature; wildcards are accepted.", Position = 0, Pipeline = PipelineBinding.ByPropertyName)]
    public string[]? Name { get; init; }
}
