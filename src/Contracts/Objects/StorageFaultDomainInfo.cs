namespace TierSpaces.Contracts;

/// <summary>
/// A fault domain: what Get-StorageFaultDomain returns. A shell shows a disk or an enclosure as the object that it is, and the others under the class of their
/// type.
/// </summary>
[WindowsClass("MSFT_StorageFaultDomain", "Type", "FriendlyName", "PhysicalLocation", "HealthStatus", "OperationalStatus")]
public sealed record StorageFaultDomainInfo
{
    /// <summary>Ours. Type of the domain.</summary>
    public string Type { get; init; } = "";

    public string FriendlyName { get; init; } = "";

    /// <summary>Identifier of the object everywhere.</summary>
    public string UniqueId { get; init; } = "";

    /// <summary>Identifier of the object on this machine.</summary>
    public string ObjectId { get; init; } = "";

    public string? Description { get; init; }

    public string HealthStatus { get; init; } = "";

    public string[] OperationalStatus { get; init; } = [];

    public string[]? OperationalDetails { get; init; }

    public string? PhysicalLocation { get; init; }

    public string? Manufacturer { get; init; }

    public string? Model { get; init; }

    public string SerialNumber { get; init; } = "";

    public string? PassThroughIds { get; init; }

    public string? PassThroughServer { get; init; }

    public string? PassThroughNamespace { get; init; }

    public string? PassThroughClass { get; init; }

    /// <summary>Ours. The disk, where the domain is one.</summary>
    public PhysicalDiskInfo? PhysicalDisk { get; init; }

    /// <summary>Ours. The enclosure, where the domain is one.</summary>
    public StorageEnclosureInfo? StorageEnclosure { get; init; }
}
