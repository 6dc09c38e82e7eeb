namespace TierSpaces.Contracts;

/// <summary>Changes attributes of virtual disks.</summary>
[Verb("Set-VirtualDisk", "Changes attributes of virtual disks.", DefaultSet = "ByUniqueId", ChangesState = true)]
public sealed record SetVirtualDiskRequest : StorageRequest<VirtualDiskInfo>
{
    [VerbParameter(
        "Unique identifier; wildcards are accepted.", Sets = "ByUniqueId, ByUniqueIdAttributes, ByUniqueIdProperties",
        Required = true, Pipeline = PipelineBinding.ByPropertyName, Aliases = "Id")]
    public string? UniqueId { get; init; }

    [VerbParameter(
        "The objects themselves, named by unique identifier or friendly name.",
        Sets = "ByObjectAttributes, ByObject, ByObjectProperties", Required = true, Position = 0,
        Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_VirtualDisk")]
    public string[]? InputObject { get; init; }

    [VerbParameter(
        "Name; wildcards are accepted.", Sets = "ByName, ByNameAttributes, ByNameProperties", Required = true,
        Pipeline = PipelineBinding.ByPropertyName)]
    public string? Name { get; init; }

    [VerbParameter(
        "Friendly name; wildcards are accepted.",
        Sets = "ByFriendlyName, ByFriendlyNameAttributes, ByFriendlyNameProperties", Required = true, Position = 0,
        Pipeline = PipelineBinding.ByPropertyName)]
    public string? FriendlyName { get; init; }

    [VerbParameter("The new friendly name.", Sets = "ByUniqueId, ByObject, ByName, ByFriendlyName")]
    public string? NewFriendlyName { get; init; }

    [VerbParameter("Specifies the usage of the object.", Sets = "ByUniqueId, ByObject, ByName, ByFriendlyName", Except = "Unknown")]
    public VirtualDiskUsage? Usage { get; init; }

    [VerbParameter("Describes the usage when it is Other.", Sets = "ByUniqueId, ByObject, ByName, ByFriendlyName")]
    public string? OtherUsageDescription { get; init; }

    [VerbParameter(
        "Indicates whether the virtual disk stays detached until it is connected by hand.",
        Sets = "ByObjectAttributes, ByUniqueIdAttributes, ByFriendlyNameAttributes, ByNameAttributes")]
    public bool? IsManualAttach { get; init; }

    [VerbParameter(
        "Name of the node.", Sets = "ByObjectAttributes, ByUniqueIdAttributes, ByFriendlyNameAttributes, ByNameAttributes",
        WithoutEffect = "there is one node, this machine.")]
    public string? StorageNodeName { get; init; }

    [VerbParameter(
        "Specifies the access of clients to the virtual disk.",
        Sets = "ByObjectAttributes, ByUniqueIdAttributes, ByFriendlyNameAttributes, ByNameAttributes")]
    public Access? Access { get; init; }

    [VerbParameter(
        "Specifies the size of each copy of the write cache in bytes, rounded up to whole slabs; 0 for none. The cached data is destaged first.",
        Sets = "ByUniqueId, ByObject, ByName, ByFriendlyName", Kind = ParameterKind.Size, IsOurs = true)]
    public ulong? WriteCacheSize { get; init; }

    [VerbParameter(
        "Specifies the fill of the write cache at which destaging starts, in percent: 1 to 95 (default 25).",
        Sets = "ByUniqueId, ByObject, ByName, ByFriendlyName",
        IsOurs = true)]
    public ushort? DestageStart { get; init; }

    [VerbParameter(
        "Specifies the fill of the write cache at which destaging stops, in percent: 0 to DestageStart - 1 (default 10).",
        Sets = "ByUniqueId, ByObject, ByName, ByFriendlyName", IsOurs = true)]
    public ushort? DestageStop { get; init; }

    [VerbParameter(
        "Seconds without a write after which everything is destaged: 0 to 86400 (default 2).",
        Sets = "ByUniqueId, ByObject, ByName, ByFriendlyName", IsOurs = true)]
    public uint? DestageIdle { get; init; }

    [VerbParameter(
        "Most bytes destaged in a second; 0 for no limit (the default).", Sets = "ByUniqueId, ByObject, ByName, ByFriendlyName",
        Kind = ParameterKind.Size, IsOurs = true)]
    public ulong? DestageBytesPerSecond { get; init; }

    [VerbParameter(
        "Indicates whether writes are kept in the write cache until it is 80 % full or the time of DestageHoldUntil comes.",
        Sets = "ByUniqueId, ByObject, ByName, ByFriendlyName", IsOurs = true)]
    public bool? DestageHold { get; init; }

    [VerbParameter(
        "Time of day, HH:mm in local time, at which what is kept is destaged; None for none.",
        Sets = "ByUniqueId, ByObject, ByName, ByFriendlyName", Suggestions = "None, 01:00", IsOurs = true)]
    public string? DestageHoldUntil { get; init; }

    [VerbParameter(
        "Heat that a slice must have to be brought to a faster tier, in requests: 0 to 1000000000 (default 0: what is hottest comes).",
        Sets = "ByUniqueId, ByObject, ByName, ByFriendlyName", IsOurs = true)]
    public uint? MinimumHeat { get; init; }

    [VerbParameter(
        "Hours without a request after which a slice goes to the slowest tier: 1 to 8760; 0 for never (the default).",
        Sets = "ByUniqueId, ByObject, ByName, ByFriendlyName", IsOurs = true)]
    public uint? DemoteColdAfter { get; init; }

    [VerbParameter(
        "Hours after which a request counts half as heat of its slice: 1 to 8760 (default 24).", Sets = "ByUniqueId, ByObject, ByName, ByFriendlyName",
        IsOurs = true)]
    public uint? HeatHalfLife { get; init; }

    [VerbParameter(
        "Ceiling for bytes per second.",
        Sets = "ByObjectProperties, ByUniqueIdProperties, ByFriendlyNameProperties, ByNameProperties",
        Kind = ParameterKind.Size, Refused = "Quality of service is not available.", IsUndocumented = true)]
    public ulong? MaxIoBandwidth { get; init; }

    [VerbParameter(
        "Ceiling for operations per second.",
        Sets = "ByObjectProperties, ByUniqueIdProperties, ByFriendlyNameProperties, ByNameProperties",
        Refused = "Quality of service is not available.", IsUndocumented = true)]
    public ulong? MaxIops { get; init; }

    [VerbParameter(
        "Copies of the data: 1, 2 or 3.",
        Sets = "ByObjectProperties, ByUniqueIdProperties, ByFriendlyNameProperties, ByNameProperties",
        Refused = "The layout of a virtual disk cannot be changed.", IsUndocumented = true)]
    public ushort? NumberOfDataCopies { get; init; }

    [VerbParameter(
        "Disks that may fail without loss of data: 0, 1 or 2.",
        Sets = "ByObjectProperties, ByUniqueIdProperties, ByFriendlyNameProperties, ByNameProperties",
        Aliases = "FaultDomainRedundancy", Refused = "The layout of a virtual disk cannot be changed.",
        IsUndocumented = true)]
    public ushort? PhysicalDiskRedundancy { get; init; }

    [VerbParameter(
        "Fixed (all slabs at creation) or Thin (slabs on first write).",
        Sets = "ByObjectProperties, ByUniqueIdProperties, ByFriendlyNameProperties, ByNameProperties", Except = "Unknown",
        Refused = "The provisioning of a virtual disk cannot be changed.", IsUndocumented = true)]
    public ProvisioningType? ProvisioningType { get; init; }
}
