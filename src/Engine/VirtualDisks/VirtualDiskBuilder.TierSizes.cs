using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.VirtualDisks;

// How large tiers can be. Tiers of one disk are of different media, so their data takes no room from each other; logs and the cache do.

public static partial class VirtualDiskBuilder
{
    /// <summary>
    /// The largest size of a tier of a new disk whose other tiers are as the specification says, in bytes; 0: there is no room for a slice. Exact. A thin
    /// tier may be larger than what its disks have room for now: the metadata bounds it.
    /// </summary>
    internal static long LargestTierSize(Pool pool, NewVirtualDiskSpec spec, int index)
    {
        VirtualDiskDescription disk = Describe(pool, spec);
        NewRows rows = new();
        long count = rows.TryReserveLogsAndCache(pool, disk, out _)
            ? disk.ProvisioningType == ProvisioningType.Thin ? SpaceDescription.MaxRows : RowsFor(pool, disk, index)
            : -1;
        rows.Release(pool);
        return LargestSize(pool, disk, index, count, hasHeat: index == 0, isNew: true);
    }

    /// <summary>The size that a tier of an open disk can grow to, in bytes; its present one where there is no room. Exact.</summary>
    internal static long LargestTierSize(Pool pool, VirtualDiskDescription disk, int index)
    {
        long rowSize = ShapeOf(pool, disk, disk.Tiers[index]).RowSize;
        long rows = (disk.Tiers[index].SpaceBytes / rowSize) + RowsFor(pool, disk, index);
        return Math.Max(LargestSize(pool, disk, index, rows, hasHeat: index == 0), disk.Tiers[index].SizeBytes);   // the heat of a disk that grew elsewhere takes nothing from it
    }

    /// <summary>Whether the tiers of a new disk have room: 1; not all of them: 0; not even its logs and its cache: −1.</summary>
    internal static long TiersFit(Pool pool, NewVirtualDiskSpec spec)
    {
        VirtualDiskDescription disk = Describe(pool, spec);
        NewRows rows = new();
        bool hasLogs = rows.TryReserveLogsAndCache(pool, disk, out _);
        bool fits = hasLogs && Enumerable.Range(0, disk.Tiers.Length).All(i =>
            RowsFor(pool, disk, i) * ShapeOf(pool, disk, disk.Tiers[i]).RowSize >= (disk.ProvisioningType == ProvisioningType.Fixed ? disk.Tiers[i].SpaceBytes : 1));
        rows.Release(pool);
        return fits ? 1 : hasLogs ? 0 : -1;
    }

    /// <summary>The rows that <see cref="GrowTier"/> would add now, and the disk as it would be, or why there is no room. Reserves nothing.</summary>
    internal static bool TryPlanTierGrowth(
        Pool pool, VirtualDiskDescription disk, int index, long sizeBytes, out VirtualDiskDescription after, out List<RowMapping> rows, out string reason)
    {
        after = WithTierSize(pool, disk, index, sizeBytes);
        NewRows more = new();
        long rowSize = ShapeOf(pool, disk, disk.Tiers[index]).RowSize;
        bool fits = HasPages(pool, after, out reason) && (disk.ProvisioningType != ProvisioningType.Fixed
            || more.TryReserveData(pool, disk, index, (int)((after.Tiers[index].SpaceBytes - disk.Tiers[index].SpaceBytes) / rowSize), out reason));
        more.Release(pool);
        rows = more.Part(index).Data;
        return fits;
    }

    private static long RowsFor(Pool pool, VirtualDiskDescription disk, int index)
    {
        TierDescription tier = disk.Tiers[index];
        return pool.Allocator.LargestRowCount(tier.NumberOfColumns, tier.NumberOfDataCopies, AllocationPreferences.For(disk, tier));
    }

    // Of the sizes whose space has at most so many rows the largest; the space grows with the size. The first tier holds the heat of the whole disk: in a
    // new disk it grows with every tier, in an open one with its own size alone. An added tier
    // holds it as well.
    private static long LargestSize(Pool pool, VirtualDiskDescription disk, int index, long rows, bool hasHeat, bool isNew = false)
    {
        long slice = disk.SliceSize;
        long others = disk.SizeBytes - disk.Tiers[index].SizeBytes;
        long room = Math.Min(rows, SpaceDescription.MaxRows) * ShapeOf(pool, disk, disk.Tiers[index]).RowSize;
        long low = 0;
        long high = Math.Max(0, Math.Min(room / slice, (SlicesMapped.SlicesMax / 2) - 1 - (others / slice)));
        while (low < high)
        {
            long middle = low + ((high - low + 1) / 2);
            long space = TierSpaceBytes(ShapeOf(pool, disk, disk.Tiers[index]).RowSize, (int)slice, middle * slice, hasHeat ? others + (middle * slice) : 0);
            (low, high) = space <= room ? (middle, high) : (low, middle - 1);
        }

        return new MetadataRoom(pool).Largest(low, slices => Sized(slices * slice)) * slice;

        VirtualDiskDescription Sized(long size)
        {
            long space = TierSpaceBytes(ShapeOf(pool, disk, disk.Tiers[index]).RowSize, (int)slice, size, hasHeat ? others + size : 0);
            var tiers = disk.Tiers.SetItem(index, disk.Tiers[index] with { SizeBytes = size, SpaceBytes = space });
            if (isNew && !hasHeat)
            {
                long first = TierSpaceBytes(ShapeOf(pool, disk, tiers[0]).RowSize, (int)slice, tiers[0].SizeBytes, others + size);
                tiers = tiers.SetItem(0, tiers[0] with { SpaceBytes = first });
            }

            return disk with { SizeBytes = others + size, Tiers = tiers };
        }
    }
}
