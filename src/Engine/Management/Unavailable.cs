using TierSpaces.Engine.Caching;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;

namespace TierSpaces.Engine.Management;

/// <summary>Validation errors of verbs that name an object which is not known, not open, or cannot be used: the same on the lane and for a snapshot.</summary>
internal static class Unavailable
{
    private const string WhatToDoAboutLostCache =
        "Bring back a physical disk of the write cache and connect it again; or give up what it held with Connect-VirtualDisk -Force, which says what that is.";

    private const string WhatToDoAboutAbsentCache =
        "Register the disks of that storage pool, or run Update-StoragePool to open it without those that are missing: the virtual disk is attached by itself then. "
        + "Or give up what the write cache holds with Connect-VirtualDisk -Force.";

    /// <summary>A pool that is not known.</summary>
    internal static ManagementException UnknownPool(Guid id) =>
        new(ManagementError.ObjectNotFound, $"There is no storage pool {id}.", "Look at Get-StoragePool.");

    /// <summary>A pool that is not open.</summary>
    internal static ManagementException ClosedPool(PoolState? state, string reason) => new(
        ManagementError.PoolStateForbids, $"Storage pool '{state?.Pool?.FriendlyName}' is not open: {reason.TrimEnd('.')}.", "Make its missing disks available, or register them.");

    /// <summary>A pool that is being opened for so long that a verb does not wait for it.</summary>
    internal static ManagementException OpeningPool(string name, string reason) => new(
        ManagementError.Timeout, $"Storage pool '{name}' is not open yet: {reason}. Nothing was changed.",
        "Repeat the command when Get-StoragePool does not show the pool as In Service any more, or make the physical disks answer that it waits for.");

    /// <summary>A virtual disk that is not known.</summary>
    internal static ManagementException UnknownDisk(Guid id) =>
        new(ManagementError.ObjectNotFound, $"There is no virtual disk {id}.", "Look at Get-VirtualDisk.");

    /// <summary>A virtual disk of an open pool that could not be opened.</summary>
    internal static ManagementException UnopenedDisk(VirtualDiskDescription disk, string problem) => new(
        ManagementError.VirtualDiskStateForbids, $"Virtual disk '{disk.FriendlyName}' could not be opened: {problem}",
        "Remove the cause, then run Connect-VirtualDisk, which opens it again.");

    /// <summary>A virtual disk of a pool that is not open.</summary>
    internal static ManagementException DiskOfClosedPool(VirtualDiskDescription disk, string reason) => new(
        ManagementError.PoolStateForbids, $"The storage pool of virtual disk '{disk.FriendlyName}' is not open: {reason.TrimEnd('.')}.", "Make its missing disks available, or register them.");

    /// <summary>A virtual disk that takes no requests.</summary>
    internal static ManagementException FailedDisk(VirtualDiskDescription disk, string reason, WriteCacheState? cache) => new(
        ManagementError.VirtualDiskStateForbids, $"Virtual disk '{disk.FriendlyName}' cannot be used: {reason}.",
        cache switch
        {
            WriteCacheState.Lost => WhatToDoAboutLostCache,
            WriteCacheState.Absent => WhatToDoAboutAbsentCache,
            _ => "",
        });

    /// <summary>A tier that no virtual disk has.</summary>
    internal static ManagementException UnknownTier(Guid id) => new(
        ManagementError.ObjectNotFound, $"Storage tier {id:B} is no tier of a virtual disk: it is not there.", "Look at Get-StorageTier -VirtualDisk.");

    /// <summary>A virtual disk without tiers.</summary>
    internal static ManagementException Untiered(VirtualDiskDescription disk) => new(
        ManagementError.NotSupported, $"Virtual disk '{disk.FriendlyName}' has no tiers.", "Only virtual disks made with -StorageTiers have tiers, heat and pins.");
}
