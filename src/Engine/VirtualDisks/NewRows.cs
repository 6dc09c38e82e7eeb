using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.VirtualDisks;

/// <summary>The rows that a virtual disk is to get, with their reservations.</summary>
internal sealed class NewRows
{
    private readonly List<SlabRef> _reserved = [];

    /// <summary>Rows of the integrity log; every copy of it keeps to one disk.</summary>
    internal List<RowMapping> Log { get; } = [];

    /// <summary>Rows of the write cache; the same.</summary>
    internal List<RowMapping> Cache { get; } = [];

    /// <summary>Rows of data, none of them written yet.</summary>
    internal List<RowMapping> Data { get; } = [];

    /// <summary>Everything that a new disk needs; false: what was reserved is to be released.</summary>
    internal bool TryReserve(Pool pool, VirtualDiskDescription disk, out string reason)
    {
        int count = disk.ProvisioningType == ProvisioningType.Fixed ? (int)(disk.SizeBytes / VirtualDiskBuilder.ShapeOf(pool, disk).RowSize) : 0;
        return TryReserveLogAndCache(pool, disk, out reason) && TryReserveData(pool, disk, count, out reason);
    }

    // In this order: the log is small and the disk cannot be without it, and what the cache takes is what data does not get.
    internal bool TryReserveLogAndCache(Pool pool, VirtualDiskDescription disk, out string reason)
    {
        reason = "";
        return (disk.LogSpace == SpaceId.None || TryReserveLog(pool, disk.NumberOfDataCopies, out reason))
            && TryReserveCache(pool, disk.NumberOfDataCopies, disk.WriteCacheSize, out reason);
    }

    /// <summary>The log of a disk with so many copies of its data.</summary>
    internal bool TryReserveLog(Pool pool, int copies, out string reason)
    {
        int present = pool.State.Disks.Keys.Count(number => pool.Disk(number) is not null);
        return TryReserveRun(
            pool, AllocationPurpose.Log, VirtualDiskBuilder.LogCopies(copies, present), VirtualDiskBuilder.LogRows(pool.Slabs), Log, out reason);
    }

    /// <summary>A write cache of so many bytes a copy, whole slabs.</summary>
    internal bool TryReserveCache(Pool pool, int copies, long bytes, out string reason)
    {
        reason = "";
        int count = (int)(bytes / pool.Slabs.DataBytes);
        return count == 0 || TryReserveRun(pool, AllocationPurpose.Cache, copies, count, Cache, out reason);
    }

    internal bool TryReserveData(Pool pool, VirtualDiskDescription disk, int count, out string reason)
    {
        reason = "";
        AllocationPreferences preferences = AllocationPreferences.For(disk);
        for (int row = 0; row < count; row++)
        {
            if (!pool.Allocator.TryReserveRow(disk.NumberOfColumns, disk.NumberOfDataCopies, preferences, out SlabRef[] slabs, out reason))
            {
                return false;
            }

            _reserved.AddRange(slabs);
            Data.Add(new RowMapping(slabs, isInitialized: false));
        }

        return true;
    }

    /// <summary>Gives the reservations back; the rows stay, as a plan.</summary>
    internal void Release(Pool pool) => pool.Allocator.Release(_reserved.ToArray());

    private bool TryReserveRun(Pool pool, AllocationPurpose purpose, int copies, int count, List<RowMapping> rows, out string reason)
    {
        bool fits = pool.Allocator.TryReserveRun(copies, count, new AllocationPreferences { Purpose = purpose }, out SlabRef[][] slabs, out reason);
        _reserved.AddRange(slabs.SelectMany(row => row));
        rows.AddRange(slabs.Select(row => new RowMapping(row)));
        return fits;
    }
}
