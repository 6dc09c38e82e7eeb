namespace TierSpaces.Contracts;

/// <summary>Looks at the registered physical disks again.</summary>
[Verb(
    "Update-StorageProviderCache", "Looks at the registered physical disks again.", DefaultSet = "ByName", ChangesState = true, IsIdempotent = true,
    ReturnsNothing = true)]
public sealed record UpdateStorageProviderCacheRequest : StorageRequest<StorageSubSystemInfo>
{
    private const string NoProvider = "There are no storage providers beside this one.";

    [VerbParameter(
        "Specifies the name of the storage provider, Storage Spaces Management Provider; wildcards are accepted.", Sets = "ByName", Position = 0,
        Pipeline = PipelineBinding.ByPropertyName)]
    public string[]? Name { get; init; }

    [VerbParameter(
        "Specifies the manufacturer of the storage provider, TierSpaces; wildcards are accepted.", Sets = "ByName,ByURI",
        Pipeline = PipelineBinding.ByPropertyName)]
    public string[]? Manufacturer { get; init; }

    [VerbParameter(
        "Specifies the unique identifier of the storage provider, which is that of the storage subsystem; wildcards are accepted.", Sets = "ByUniqueId",
        Pipeline = PipelineBinding.ByPropertyName, Aliases = "Id")]
    public string[]? UniqueId { get; init; }

    [VerbParameter(
        "Specifies the address of a storage provider.", Sets = "ByURI", Pipeline = PipelineBinding.ByPropertyName,
        Refused = "The storage provider of this machine has no address.")]
    public string[]? URI { get; init; }

    [VerbParameter(
        "Specifies the storage subsystem of the storage provider.", Sets = "ByStorageSubSystem", Pipeline = PipelineBinding.ByValue,
        ObjectClass = "MSFT_StorageSubSystem")]
    public string? StorageSubSystem { get; init; }

    [VerbParameter(
        "Specifies the storage providers.", Sets = "InputObject (cdxml)", Required = true, Pipeline = PipelineBinding.ByValue,
        ObjectClass = "MSFT_StorageProvider", Refused = NoProvider)]
    public string[]? InputObject { get; init; }

    [VerbParameter(
        "Specifies what is looked at again: the physical disks with Level3 and Full, nothing with Level0 to Level2, as nothing else is kept in a cache. The "
        + "default value is Full.")]
    public DiscoveryLevel? DiscoveryLevel { get; init; }

    [VerbParameter("Specifies an object to start at.", Refused = NoProvider)]
    public string? RootObject { get; init; }

    [VerbParameter("Returns the storage provider.", WithoutEffect = "there is no object of the storage provider.")]
    public bool PassThru { get; init; }
}
