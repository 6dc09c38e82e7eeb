namespace TierSpaces.Engine.Formats;

/// <summary>Purposes for which a pool may use a disk, numbered as in Windows.</summary>
public enum DiskUsage : byte
{
    /// <summary>Data and journals, as the allocator sees fit.</summary>
    AutoSelect = 1,

    /// <summary>Only where a caller names the disk.</summary>
    ManualSelect = 2,

    /// <summary>Nothing until it replaces another disk.</summary>
    HotSpare = 3,

    /// <summary>No new slabs; the slabs in use move away.</summary>
    Retired = 4,

    /// <summary>Journals and logs only.</summary>
    Journal = 5,
}

/// <summary>Time at which rows get their slabs, numbered as in Windows.</summary>
public enum ProvisioningType : byte
{
    /// <summary>On first write.</summary>
    Thin = 1,

    /// <summary>At creation.</summary>
    Fixed = 2,
}

/// <summary>Action of a pool for a missing disk, numbered as in Windows.</summary>
public enum RetireMissingPhysicalDisks : byte
{
    /// <summary>Retire it when its contents have to be written again.</summary>
    Auto = 1,

    /// <summary>Retire it at once.</summary>
    Always = 2,

    /// <summary>Wait for it.</summary>
    Never = 3,
}

/// <summary>Method by which blocks are verified.</summary>
public enum ChecksumKind : byte
{
    /// <summary>Not at all.</summary>
    None = 0,

    /// <summary>CRC-32C and a generation per 4 KiB block.</summary>
    CRC32C = 1,
}

/// <summary>Content of a space.</summary>
public enum SpaceKind : byte
{
    /// <summary>A virtual disk's data.</summary>
    Data = 1,

    /// <summary>The integrity log of a space.</summary>
    IntegrityLog = 2,

    /// <summary>A virtual disk's write cache.</summary>
    WriteCache = 3,
}

/// <summary>Level of the fault domains that hold the copies of a row, numbered as Windows' FaultDomainAwareness.</summary>
public enum FaultDomainLevel : byte
{
    /// <summary>On distinct disks.</summary>
    PhysicalDisk = 1,

    /// <summary>In distinct enclosures.</summary>
    StorageEnclosure = 2,

    /// <summary>In distinct nodes.</summary>
    StorageScaleUnit = 3,

    /// <summary>In distinct chassis.</summary>
    StorageChassis = 4,

    /// <summary>In distinct racks.</summary>
    StorageRack = 5,
}
