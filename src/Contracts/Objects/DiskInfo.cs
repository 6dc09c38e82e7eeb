namespace TierSpaces.Contracts;

/// <summary>A disk: a connected virtual disk with a block device, what Get-Disk returns.</summary>
[WindowsClass(
    "MSFT_Disk", "Number", "Friendly Name=FriendlyName", "Serial Number=SerialNumber", "HealthStatus", "OperationalStatus", "Total Size=Size:bytes",
    "Partition Style=PartitionStyle", Aliases = "DiskNumber=Number, DiskId=UniqueId")]
public sealed record DiskInfo
{
    /// <summary>Number, from 1; kept over restarts of the host while the virtual disk is connected.</summary>
    public uint Number { get; init; }

    public string FriendlyName { get; init; } = "";

    /// <summary>Identifier of the object everywhere: that of the virtual disk.</summary>
    public string UniqueId { get; init; } = "";

    public string? UniqueIdFormat { get; init; }

    /// <summary>Identifier of the object on this machine.</summary>
    public string ObjectId { get; init; } = "";

    /// <summary>Stable link to the block device.</summary>
    public string Path { get; init; } = "";

    /// <summary>Block device.</summary>
    public string Location { get; init; } = "";

    public string? SerialNumber { get; init; }

    public string? FirmwareVersion { get; init; }

    public string? Manufacturer { get; init; }

    public string? Model { get; init; }

    /// <summary>In bytes.</summary>
    public ulong Size { get; init; }

    /// <summary>In bytes: what partitions take.</summary>
    public ulong AllocatedSize { get; init; }

    /// <summary>In bytes.</summary>
    public uint LogicalSectorSize { get; init; }

    /// <summary>In bytes.</summary>
    public uint PhysicalSectorSize { get; init; }

    /// <summary>In bytes: the largest partition that can be made.</summary>
    public ulong LargestFreeExtent { get; init; }

    public uint NumberOfPartitions { get; init; }

    public string ProvisioningType { get; init; } = "";

    public string[] OperationalStatus { get; init; } = [];

    public string HealthStatus { get; init; } = "";

    public string BusType { get; init; } = "";

    /// <summary>RAW, MBR or GPT.</summary>
    public string PartitionStyle { get; init; } = "";

    /// <summary>Signature of an MBR; null without.</summary>
    public uint? Signature { get; init; }

    /// <summary>Identifier of a GPT; null without.</summary>
    public string? Guid { get; init; }

    public bool IsOffline { get; init; }

    public string? OfflineReason { get; init; }

    public bool IsReadOnly { get; init; }

    public bool IsSystem { get; init; }

    public bool IsClustered { get; init; }

    public bool IsBoot { get; init; }

    public bool BootFromDisk { get; init; }

    public string? AdapterSerialNumber { get; init; }

    public bool IsHighlyAvailable { get; init; }

    public bool IsScaleOut { get; init; }

    public string? PassThroughIds { get; init; }

    public string? PassThroughServer { get; init; }

    public string? PassThroughNamespace { get; init; }

    public string? PassThroughClass { get; init; }

    /// <summary>Ours. The problem, or the content of a disk without a partition table; null for neither.</summary>
    public string? OtherOperationalStatusDescription { get; init; }
}
