namespace TierSpaces.Contracts;

/// <summary>Raises the metadata version of storage pools.</summary>
[Verb(
    "Update-StoragePool", "Raises the metadata version of storage pools.",
    DefaultSet = "ByFriendlyName", ChangesState = true)]
public sealed record UpdateStoragePoolRequest : StorageRequest<StoragePoolInfo>
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

    [VerbParameter(
        "Says that the host which holds the storage pool is off: it is opened here when that host has not renewed its lease for 33 s. If that host was only "
        + "paused, what it has written and not yet handed to the disks may still arrive. A pool whose host renews its lease is not opened.")]
    public bool Force { get; init; }

    [VerbParameter("Returns the object.")]
    public bool PassThru { get; init; }
}
