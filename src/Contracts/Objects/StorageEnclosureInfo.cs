namespace TierSpaces.Contracts;

/// <summary>An enclosure: what Get-StorageEnclosure returns.</summary>
[WindowsClass("MSFT_StorageEnclosure", "DeviceId", "FriendlyName", "SerialNumber", "HealthStatus", "OperationalStatus", "NumberOfSlots")]
public sealed record StorageEnclosureInfo
{
    public string FriendlyName { get; init; } = "";

    /// <summary>Identifier of the object everywhere.</summary>
    public string UniqueId { get; init; } = "";

    /// <summary>Identifier of the object on this machine.</summary>
    public string ObjectId { get; init; } = "";

    public string DeviceId { get; init; } = "";

    public string? Description { get; init; }

    public string HealthStatus { get; init; } = "";

    public string[] OperationalStatus { get; init; } = [];

    public string[]? OperationalDetails { get; init; }

    public string? PhysicalLocation { get; init; }

    public string? Manufacturer { get; init; }

    public string? Model { get; init; }

    public string SerialNumber { get; init; } = "";

    public string? FirmwareVersion { get; init; }

    public string BusType { get; init; } = "";

    /// <summary>Slots up to the last one that a disk is known to be in.</summary>
    public uint? NumberOfSlots { get; init; }

    public string[]? SlotOperationalStatus { get; init; }

    public string[]? PowerSupplyOperationalStatus { get; init; }

    public string[]? FanOperationalStatus { get; init; }

    public string[]? TemperatureSensorOperationalStatus { get; init; }

    public string[]? VoltageSensorOperationalStatus { get; init; }

    public string[]? CurrentSensorOperationalStatus { get; init; }

    public string[]? IOControllerOperationalStatus { get; init; }

    public string? PassThroughIds { get; init; }

    public string? PassThroughServer { get; init; }

    public string? PassThroughNamespace { get; init; }

    public string? PassThroughClass { get; init; }
}
