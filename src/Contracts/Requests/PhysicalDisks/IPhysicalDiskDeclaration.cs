namespace TierSpaces.Contracts;

/// <summary>Properties of disks that New-PhysicalDisk and Register-PhysicalDisk declare; null leaves a property to the system.</summary>
public interface IPhysicalDiskDeclaration
{
    /// <summary>Absolute paths.</summary>
    string[]? Path { get; }

    /// <summary>Friendly name; for a single path only.</summary>
    string? FriendlyName { get; }

    /// <summary>Kind of medium.</summary>
    MediaType? MediaType { get; }

    /// <summary>Bus.</summary>
    BusType? BusType { get; }

    /// <summary>Whether a RAID below the disk is accepted.</summary>
    bool Force { get; }

    /// <summary>Revolutions per minute.</summary>
    uint? SpindleSpeed { get; }

    /// <summary>512 or 4096 bytes.</summary>
    ulong? LogicalSectorSize { get; }

    /// <summary>512 or 4096 bytes.</summary>
    ulong? PhysicalSectorSize { get; }

    /// <summary>Whether completed writes may be volatile.</summary>
    bool? IsWriteCacheEnabled { get; }

    /// <summary>Profile of emulated latency.</summary>
    string? LatencyProfile { get; }

    /// <summary>Number of the enclosure.</summary>
    ushort? EnclosureNumber { get; }

    /// <summary>Slot in the enclosure.</summary>
    ushort? SlotNumber { get; }

    /// <summary>Name of the scale unit.</summary>
    string? StorageScaleUnitId { get; }

    /// <summary>Name of the chassis.</summary>
    string? StorageChassisId { get; }

    /// <summary>Name of the rack.</summary>
    string? StorageRackId { get; }
}
