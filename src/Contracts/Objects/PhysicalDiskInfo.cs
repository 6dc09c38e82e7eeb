namespace TierSpaces.Contracts;

/// <summary>A physical disk: what Get-PhysicalDisk returns.</summary>
[WindowsClass(
    "MSFT_PhysicalDisk", "Number=DeviceId", "FriendlyName", "SerialNumber", "MediaType", "CanPool", "OperationalStatus",
    "HealthStatus", "Usage", "Size:bytes")]
public sealed record PhysicalDiskInfo
{
    public string FriendlyName { get; init; } = "";

    /// <summary>Identifier of the object everywhere.</summary>
    public string UniqueId { get; init; } = "";

    /// <summary>Identifier of the object on this machine.</summary>
    public string ObjectId { get; init; } = "";

    public string? UniqueIdFormat { get; init; }

    public string DeviceId { get; init; } = "";

    public string HealthStatus { get; init; } = "";

    public string[] OperationalStatus { get; init; } = [];

    public string[]? OperationalDetails { get; init; }

    public string? PhysicalLocation { get; init; }

    public ulong VirtualDiskFootprint { get; init; }

    public string Usage { get; init; } = "";

    public string[]? SupportedUsages { get; init; }

    public string? Description { get; init; }

    public string? PartNumber { get; init; }

    public string? FirmwareVersion { get; init; }

    public string? SoftwareVersion { get; init; }

    /// <summary>In bytes.</summary>
    public ulong Size { get; init; }

    /// <summary>In bytes.</summary>
    public ulong AllocatedSize { get; init; }

    public string BusType { get; init; } = "";

    public bool? IsWriteCacheEnabled { get; init; }

    public bool? IsPowerProtected { get; init; }

    /// <summary>In bytes.</summary>
    public ulong PhysicalSectorSize { get; init; }

    /// <summary>In bytes.</summary>
    public ulong LogicalSectorSize { get; init; }

    /// <summary>In revolutions per minute.</summary>
    public uint SpindleSpeed { get; init; }

    public bool? IsIndicationEnabled { get; init; }

    public ushort? EnclosureNumber { get; init; }

    public ushort? SlotNumber { get; init; }

    public bool CanPool { get; init; }

    public string[] CannotPoolReason { get; init; } = [];

    public string? OtherCannotPoolReasonDescription { get; init; }

    public bool IsPartial { get; init; }

    public string MediaType { get; init; } = "";

    public string? AdapterSerialNumber { get; init; }

    public string? FruId { get; init; }

    public string? StoragePoolUniqueId { get; init; }

    public string? Manufacturer { get; init; }

    public string? Model { get; init; }

    public string SerialNumber { get; init; } = "";

    public string? PassThroughIds { get; init; }

    public string? PassThroughServer { get; init; }

    public string? PassThroughNamespace { get; init; }

    public string? PassThroughClass { get; init; }

    /// <summary>Ours. Image file or block device.</summary>
    public string? Path { get; init; }

    /// <summary>Ours. Every path to the disk, the first one first.</summary>
    public string[]? Paths { get; init; }

    /// <summary>Ours. The paths that are in use or may be used.</summary>
    public string[]? WorkingPaths { get; init; }

    /// <summary>Ours. Emulated latency profile, or null.</summary>
    public string? LatencyProfile { get; init; }
}
