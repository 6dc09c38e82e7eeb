namespace TierSpaces.Engine.Management;

/// <summary>Error of a verb; the host maps each to its documented code. Names follow the table of return codes.</summary>
public enum ManagementError
{
    /// <summary>Not supported here.</summary>
    NotSupported,

    /// <summary>It failed below.</summary>
    Failed,

    /// <summary>A file system or device did not answer in time.</summary>
    Timeout,

    /// <summary>A parameter is outside its range.</summary>
    InvalidParameter,

    /// <summary>The object is in use.</summary>
    InUse,

    /// <summary>The object is not there.</summary>
    ObjectNotFound,

    /// <summary>The size is not supported.</summary>
    SizeNotSupported,

    /// <summary>The pool has not enough free space.</summary>
    NotEnoughCapacity,

    /// <summary>The caller may not.</summary>
    AccessDenied,

    /// <summary>More disks are needed.</summary>
    NotEnoughPhysicalDisks,

    /// <summary>The pool is not in a state for this.</summary>
    PoolStateForbids,

    /// <summary>The pool is read-only.</summary>
    PoolReadOnly,

    /// <summary>The pool still has virtual disks.</summary>
    PoolHasVirtualDisks,

    /// <summary>No such resiliency setting in the pool.</summary>
    NoSuchResiliencySetting,

    /// <summary>PhysicalDiskRedundancy is outside its range.</summary>
    RedundancyRange,

    /// <summary>NumberOfDataCopies is outside its range.</summary>
    CopiesRange,

    /// <summary>Interleave is outside its range.</summary>
    InterleaveRange,

    /// <summary>NumberOfColumns is outside its range.</summary>
    ColumnsRange,

    /// <summary>WriteCacheSize is outside its range.</summary>
    WriteCacheSizeRange,

    /// <summary>Too many disks are missing.</summary>
    TooManyDisksFailed,

    /// <summary>The virtual disk is not in a state for this.</summary>
    VirtualDiskStateForbids,

    /// <summary>The disk is not suitable.</summary>
    PhysicalDiskNotSupported,

    /// <summary>Fewer disks than the pool needs.</summary>
    TooFewPhysicalDisks,

    /// <summary>The disk is in a pool.</summary>
    PhysicalDiskInUse,

    /// <summary>The sector size is not supported.</summary>
    SectorSizeNotSupported,

    /// <summary>The disk still holds data of virtual disks.</summary>
    PhysicalDiskStillInUse,

    /// <summary>The name is taken.</summary>
    NameTaken,

    /// <summary>A disk is named twice.</summary>
    DuplicateDisk,

    /// <summary>Two devices carry one identity.</summary>
    CloneDisk,

    /// <summary>The disk holds data of other software.</summary>
    ForeignSignature,

    /// <summary>A member is damaged.</summary>
    DamagedMember,

    /// <summary>The disk is managed by another system (md, iSCSI, a RAID controller).</summary>
    SystemManagedDisk,

    /// <summary>The file exists.</summary>
    FileExists,

    /// <summary>The file or device does not exist.</summary>
    FileNotFound,

    /// <summary>The host's file system is full.</summary>
    FileSystemFull,

    /// <summary>The socket's path is taken.</summary>
    SocketTaken,

    /// <summary>The virtual disk is not connected.</summary>
    NotConnected,
}

/// <summary>A verb failed and nothing was changed.</summary>
/// <param name="error">Kind.</param>
/// <param name="message">Parameter, value, valid range and the object concerned.</param>
/// <param name="action">Action for the user.</param>
public sealed class ManagementException(ManagementError error, string message, string action = "") : Exception(message)
{
    /// <summary>Kind.</summary>
    public ManagementError Error { get; } = error;

    /// <summary>Action that the user should take.</summary>
    public string Action { get; } = action;
}
