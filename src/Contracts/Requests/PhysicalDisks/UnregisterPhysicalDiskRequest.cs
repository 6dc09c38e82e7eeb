namespace TierSpaces.Contracts;

/// <summary>Forgets image files or block devices; their contents stay.</summary>
[Verb(
    "Unregister-PhysicalDisk", "Forgets image files or block devices; their contents stay.",
    DefaultSet = "ByFriendlyName", ChangesState = true, IsOurs = true)]
public sealed record UnregisterPhysicalDiskRequest : StorageRequest<PhysicalDiskInfo>
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
        Required = true, Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_PhysicalDisk")]
    public string[]? InputObject { get; init; }

    [VerbParameter("Image files or block devices.", Sets = "ByPath", Required = true, Kind = ParameterKind.Path)]
    public string[]? Path { get; init; }
}
