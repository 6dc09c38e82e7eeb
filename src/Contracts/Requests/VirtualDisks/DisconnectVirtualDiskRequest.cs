namespace TierSpaces.Contracts;

/// <summary>Detaches virtual disks and stops serving them.</summary>
[Verb(
    "Disconnect-VirtualDisk", "Detaches virtual disks and stops serving them.",
    DefaultSet = "ByFriendlyName", ChangesState = true)]
public sealed record DisconnectVirtualDiskRequest : StorageRequest<VirtualDiskInfo>
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
        Required = true, Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_VirtualDisk")]
    public string[]? InputObject { get; init; }

    [VerbParameter("Name of the node.", WithoutEffect = "there is one node, this machine.")]
    public string? StorageNodeName { get; init; }

    [VerbParameter(
        "Indicates that virtual disks are disconnected also while they are in use: file systems are flushed and unmounted, and requests of programs with open "
        + "files fail from then on. Devices whose virtual disk is gone are removed.", IsOurs = true)]
    public bool Force { get; init; }

    [VerbParameter("Returns the object.")]
    public bool PassThru { get; init; }
}
