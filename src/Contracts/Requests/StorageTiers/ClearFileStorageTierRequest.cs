namespace TierSpaces.Contracts;

/// <summary>Takes the pin of a file away.</summary>
[Verb("Clear-FileStorageTier", "Takes the pin of a file away; the file stays where it is until heat says otherwise.", ChangesState = true)]
public sealed record ClearFileStorageTierRequest : StorageRequest<FileStorageTierInfo>
{
    [VerbParameter("The file; it need not be there any more.", Required = true, Pipeline = PipelineBinding.ByPropertyName, Kind = ParameterKind.Path)]
    public string? FilePath { get; init; }
}
