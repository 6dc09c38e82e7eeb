using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

/// <summary>Decisions and validation errors of verbs of virtual disks, before anything is changed.</summary>
internal sealed class VirtualDiskDecisions(SubsystemCore core, RemoteCaches remote)
{
    /// <summary>Decides the specification of a new virtual disk.</summary>
    internal (ManagedPool Pool, VirtualDiskDescription Spec, IReadOnlyList<string> Remarks) Decide(Guid pool, VirtualDiskRequest request)
    {
        (ManagedPool managed, Pool? cachePool) = PoolsFor(pool, request);
        VirtualDiskPlan plan = new(managed.Pool!, request, cachePool);
        return (managed, plan.Decide(), plan.Remarks);
    }

    /// <summary>The pool of a new virtual disk, and the other pool that its write cache is to be in; null: its own.</summary>
    internal (ManagedPool Pool, Pool? CachePool) PoolsFor(Guid pool, VirtualDiskRequest request)
    {
        ManagedPool managed = core.Pools.TakeOpen(pool);
        managed.RequireWritable();
        return (managed, remote.CachePoolFor(managed, request));
    }

    /// <summary>Decides the description of a virtual disk after a change.</summary>
    internal (ManagedPool Pool, ManagedVirtualDisk Disk, VirtualDiskDescription Description) Changed(
        Guid id, Func<VirtualDiskDescription, VirtualDiskDescription> change)
    {
        (ManagedPool managed, ManagedVirtualDisk disk) = core.Pools.TakeDisk(id);
        VirtualDiskDescription changed = change(disk.Description);
        FriendlyNames.Require(changed.FriendlyName, "NewFriendlyName");
        if (managed.State!.VirtualDisks.Values.Any(
            other => other.Id != changed.Id && string.Equals(other.FriendlyName, changed.FriendlyName, StringComparison.OrdinalIgnoreCase)))
        {
            throw new ManagementException(
                ManagementError.NameTaken,
                $"-NewFriendlyName '{changed.FriendlyName}' is the name of another virtual disk of storage pool '{managed.State.Pool!.FriendlyName}'.",
                "Choose another name.");
        }

        if (disk.IsExported && changed.FriendlyName != disk.Description.FriendlyName)
        {
            DiskExports.RequireOnlyOfItsName(core, disk, changed.FriendlyName);
        }

        return (managed, disk, changed);
    }

    /// <summary>The size that a virtual disk is to grow to, in whole rows.</summary>
    internal static long NewSize(IPoolReader pool, VirtualDiskDescription description, long sizeBytes)
    {
        if (description.IsTiered)
        {
            throw new ManagementException(
                ManagementError.NotSupported, $"-Size {ByteText.Exact(sizeBytes)}: virtual disk '{description.FriendlyName}' has tiers, whose sizes are its size.",
                "Make a tier larger with Resize-StorageTier.");
        }

        long row = VirtualDiskLayout.ShapeOf(pool, description).RowSize;
        long size = VirtualDiskPlan.RoundUp(sizeBytes, row, "Size");
        if (size < description.SizeBytes)
        {
            throw new ManagementException(
                ManagementError.SizeNotSupported,
                $"-Size {ByteText.Exact(sizeBytes)} is smaller than virtual disk '{description.FriendlyName}' ({ByteText.Exact(description.SizeBytes)}).",
                "A virtual disk is not made smaller.");
        }

        if (size / row > SpaceDescription.MaxRows)
        {
            throw new ManagementException(
                ManagementError.SizeNotSupported,
                $"-Size {ByteText.Exact(sizeBytes)} of virtual disk '{description.FriendlyName}' is more than {ByteText.Exact(SpaceDescription.MaxRows * row)}, the largest with this slab and these columns.");
        }

        return size;
    }
}
