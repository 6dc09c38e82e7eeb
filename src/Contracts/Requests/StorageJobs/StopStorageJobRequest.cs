namespace TierSpaces.Contracts;

/// <summary>Stops storage jobs.</summary>
[Verb("Stop-StorageJob", "Stops storage jobs for good. Work that is done stays done.", DefaultSet = "ByFriendlyName", ChangesState = true)]
public sealed record StopStorageJobRequest : StorageRequest<StorageJobInfo>
{
    [VerbParameter(
        "Unique identifier; wildcards are accepted.", Sets = "ByUniqueId", Required = true,
        Pipeline = PipelineBinding.ByPropertyName, Aliases = "Id")]
    public string[]? UniqueId { get; init; }

    [VerbParameter(
        "Name, for example Repair; wildcards are accepted.", Sets = "ByName", Required = true,
        Pipeline = PipelineBinding.ByPropertyName, Suggestions = "Repair, Scrub, Optimize")]
    public string[]? Name { get; init; }

    [VerbParameter(
        "The objects themselves, named by unique identifier or name.", Sets = "InputObject (cdxml)", Required = true,
        Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_StorageJob")]
    public string[]? InputObject { get; init; }

    [VerbParameter("Returns the object.", Sets = "ByUniqueId, ByName, InputObject (cdxml)")]
    public bool PassThru { get; init; }
}
