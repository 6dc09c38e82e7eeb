namespace TierSpaces.Contracts;

/// <summary>Spreads what storage pools hold evenly over their disks.</summary>
[Verb(
    "Optimize-StoragePool",
    "Spreads what storage pools hold evenly over their disks, for example after disks were added.",
    DefaultSet = "ByFriendlyName", ChangesState = true, IsIdempotent = true, JobName = "Optimize")]
public sealed record OptimizeStoragePoolRequest : StorageRequest<StoragePoolInfo>
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
        "Name; wildcards are accepted.", Sets = "ByName", Required = true, Pipeline = PipelineBinding.ByPropertyName)]
    public string[]? Name { get; init; }

    [VerbParameter(
        "The objects themselves, named by unique identifier or friendly name.", Sets = "InputObject (cdxml)",
        Required = true, Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_StoragePool")]
    public string[]? InputObject { get; init; }

    [VerbParameter("Returns the object.")]
    public bool PassThru { get; init; }
}
