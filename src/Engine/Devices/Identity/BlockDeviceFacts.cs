namespace TierSpaces.Engine.Devices.Identity;

/// <summary>Properties of a block device, as the system reports them.</summary>
/// <param name="Name">Kernel name, such as <c>sdb</c>.</param>
/// <param name="LogicalSectorSize">Smallest addressable unit in bytes.</param>
/// <param name="PhysicalSectorSize">Unit the device writes, in bytes.</param>
/// <param name="MediaType">Kind of medium.</param>
/// <param name="BusType">Bus that connects it.</param>
/// <param name="SpindleSpeed">Revolutions per minute; 0 for none, <see cref="UnknownSpindleSpeed"/> for unknown.</param>
/// <param name="IsWriteCacheEnabled">Whether completed writes may be volatile.</param>
/// <param name="SerialNumber">Serial number, or empty.</param>
/// <param name="Model">Model, or empty.</param>
/// <param name="Manufacturer">Manufacturer, or empty.</param>
/// <param name="FirmwareVersion">Firmware, or empty.</param>
/// <param name="CannotPoolReason">Reason why it may not be pooled, or empty.</param>
internal sealed record BlockDeviceFacts(
    string Name,
    int LogicalSectorSize,
    int PhysicalSectorSize,
    MediaType MediaType,
    BusType BusType,
    uint SpindleSpeed,
    bool IsWriteCacheEnabled,
    string SerialNumber,
    string Model,
    string Manufacturer,
    string FirmwareVersion,
    string CannotPoolReason)
{
    /// <summary>Names the hardware of the disk; empty where nothing is known. See <see cref="Identity.Hardware"/>.</summary>
    internal string Hardware { get; init; } = "";

    /// <summary>The part of the disk that a partition is; empty for a whole disk.</summary>
    internal string Range { get; init; } = "";

    /// <summary>The slot that it is in, or null.</summary>
    internal EnclosureSlot? Slot { get; init; }

    /// <summary>Kind of <see cref="CannotPoolReason"/>.</summary>
    internal CannotPoolKind CannotPoolKind { get; init; } = CannotPoolKind.Other;

    /// <summary>Reason that is left if the user accepts a RAID below the disk; null if that changes nothing.</summary>
    internal PoolingObstacle? IfForced { get; init; }

    /// <summary>SpindleSpeed of a disk that rotates at an unreported rate, as in Windows.</summary>
    internal const uint UnknownSpindleSpeed = uint.MaxValue;
}
