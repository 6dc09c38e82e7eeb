namespace TierSpaces.Contracts;

/// <summary>Lists the disks that connected virtual disks are.</summary>
[Verb("Get-Disk", "Lists the disks that connected virtual disks are.", DefaultSet = "ByNumber")]
public sealed record GetDiskRequest : StorageRequest<DiskInfo>
{
    [VerbParameter("Specifies the number of the disk.", Sets = "ByNumber", Position = 0, Aliases = "DeviceId", Pipeline = PipelineBinding.ByPropertyName)]
    public uint[]? Number { get; init; }

    [VerbParameter("Specifies the unique identifier; wildcards are accepted.", Sets = "ByUniqueId", Aliases = "Id", NamedClass = "MSFT_Disk")]
    public string[]? UniqueId { get; init; }

    [VerbParameter(
        "Specifies the friendly name of the disk, which is that of its virtual disk; wildcards are accepted.",
        Sets = "ByName", NamedClass = "MSFT_Disk")]
    public string[]? FriendlyName { get; init; }

    [VerbParameter("Specifies the serial number of the disk; wildcards are accepted.", Sets = "ByName")]
    public string[]? SerialNumber { get; init; }

    [VerbParameter(
        "Specifies the block device of the disk, or the stable link to it.",
        Sets = "ByPath", Pipeline = PipelineBinding.ByPropertyName, Kind = ParameterKind.Path)]
    public string[]? Path { get; init; }

    [VerbParameter("Specifies the partition.", Sets = "ByPartition", Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_Partition")]
    public string? Partition { get; init; }

    [VerbParameter(
        "Specifies the virtual disk, by unique identifier or friendly name. It must be connected.",
        Sets = "ByVirtualDisk", Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_VirtualDisk")]
    public string? VirtualDisk { get; init; }

    [VerbParameter(
        "Specifies the storage job whose virtual disk is meant.",
        Sets = "ByStorageJob", Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_StorageJob")]
    public string? StorageJob { get; init; }

    [VerbParameter(
        "Specifies the storage node: this machine.",
        Sets = "ByStorageNode", Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_StorageNode")]
    public string? StorageNode { get; init; }

    [VerbParameter(
        "Specifies the storage subsystem, by friendly name or unique identifier.",
        Sets = "ByStorageSubSystem", Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_StorageSubSystem")]
    public string? StorageSubSystem { get; init; }

    [VerbParameter(
        "Only disks of this iSCSI connection.",
        Sets = "ByiSCSIConnection", Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_iSCSIConnection",
        Refused = "iSCSI connections have no counterpart.")]
    public string? iSCSIConnection { get; init; }

    [VerbParameter(
        "Only disks of this iSCSI session.",
        Sets = "ByiSCSISession", Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_iSCSISession",
        Refused = "iSCSI sessions have no counterpart.")]
    public string? iSCSISession { get; init; }
}
