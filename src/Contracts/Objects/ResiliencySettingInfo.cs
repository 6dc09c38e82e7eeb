namespace TierSpaces.Contracts;

/// <summary>A resiliency setting of a pool: what Get-ResiliencySetting returns.</summary>
[WindowsClass(
    "MSFT_ResiliencySetting", "Name", "NumberOfDataCopies=NumberOfDataCopiesDefault",
    "FaultDomainRedundancy=PhysicalDiskRedundancyDefault", "NumberOfColumns=NumberOfColumnsDefault:auto",
    "Interleave=InterleaveDefault", "NumberOfGroups=NumberOfGroupsDefault")]
public sealed record ResiliencySettingInfo
{
    public string Name { get; init; } = "";

    /// <summary>Identifier of the object everywhere.</summary>
    public string UniqueId { get; init; } = "";

    /// <summary>Identifier of the object on this machine.</summary>
    public string ObjectId { get; init; } = "";

    public string? Description { get; init; }

    public ushort? NumberOfDataCopiesMin { get; init; }

    public ushort? NumberOfDataCopiesMax { get; init; }

    public ushort? NumberOfDataCopiesDefault { get; init; }

    public ushort? PhysicalDiskRedundancyMin { get; init; }

    public ushort? PhysicalDiskRedundancyMax { get; init; }

    public ushort? PhysicalDiskRedundancyDefault { get; init; }

    public ushort? NumberOfColumnsMin { get; init; }

    public ushort? NumberOfColumnsMax { get; init; }

    public ushort? NumberOfColumnsDefault { get; init; }

    public ulong? InterleaveMin { get; init; }

    public ulong? InterleaveMax { get; init; }

    public ulong? InterleaveDefault { get; init; }

    public string? ParityLayout { get; init; }

    public bool? RequestNoSinglePointOfFailure { get; init; }

    public ushort? NumberOfGroupsDefault { get; init; }

    public ushort? NumberOfGroupsMax { get; init; }

    public ushort? NumberOfGroupsMin { get; init; }

    public string? PassThroughIds { get; init; }

    public string? PassThroughServer { get; init; }

    public string? PassThroughNamespace { get; init; }

    public string? PassThroughClass { get; init; }
}
