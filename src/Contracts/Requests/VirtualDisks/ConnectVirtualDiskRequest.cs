namespace TierSpaces.Contracts;

/// <summary>Serves virtual disks and attaches them as block devices where the machine allows it.</summary>
[Verb(
    "Connect-VirtualDisk", "Serves virtual disks and attaches them as block devices where the machine allows it.",
    DefaultSet = "ByFriendlyName", ChangesState = true)]
public sealed record ConnectVirtualDiskRequest : StorageRequest<VirtualDiskInfo>
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

    [VerbParameter("Gives up what a write cache held that is lost, and says which ranges that may be.", IsOurs = true)]
    public bool Force { get; init; }

    [VerbParameter(
        "Specifies the data lane that serves the virtual disk, 1 to the number of lanes of the host. The virtual disk stays there until it is opened again. "
        + "The default value is the lane that it is on.", IsOurs = true)]
    public ushort? Lane { get; init; }

    [VerbParameter(
        "Specifies the only way to make a block device of the virtual disk. The default value is the first that works here: KernelNbd, then Fuse, then NbdFuse. "
        + "NbdUri makes none. It holds until the virtual disk is disconnected.", IsOurs = true)]
    public AttachMethod? AttachMethod { get; init; }

    [VerbParameter(
        "Specifies the TCP address at which NBD clients find the virtual disk as well: an IP address of this machine, with a port or without (10809). The "
        + "virtual disk has it, also after a restart, until it is disconnected. An address that other machines reach needs -TlsCertificatePath.",
        IsOurs = true)]
    public string? ListenAddress { get; init; }

    [VerbParameter(
        "Specifies the folder of the certificates for -ListenAddress: server-cert.pem and server-key.pem; with ca-cert.pem clients have to show a "
        + "certificate that it has signed. Clients without TLS are refused.", IsOurs = true, Kind = ParameterKind.Path)]
    public string? TlsCertificatePath { get; init; }

    [VerbParameter("Returns the object.")]
    public bool PassThru { get; init; }
}
