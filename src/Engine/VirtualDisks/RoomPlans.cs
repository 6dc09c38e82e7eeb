using System.Collections.Immutable;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.VirtualDisks;

// Largest sizes of new or growing virtual disks. Slabs are reserved and given back at once, so a size is exact at the time of the question.
//
// Tiers of one disk are of different media, so their data takes no room from each other; logs and the cache do.

/// <summary>Finds the room for virtual disks and tiers without taking it.</summary>
internal static class RoomPlans
{
    /// <summary>The rows that <see cref="VirtualDiskBuilder.Create"/> would reserve now, or why there is no room. Reserves nothing.</summary>
    internal static bool TryPlan(IPoolReader pool, VirtualDiskDescription decided, out VirtualDiskDescription disk, out NewRows rows, out string reason)
    {
        disk = NewDescriptions.Describe(pool, decided);
        rows = new NewRows();
        bool fits = rows.TryReserve(pool, disk, out reason);
        rows.Release(pool);
        return fits;
    }

    /// <summary>
    /// Rows of data that would fit a new disk now, once its log and its cache have their slabs; −1 where these have no room themselves. So many
    /// can be created, and one more cannot: the slabs or the pages of the metadata area do not suffice.
    /// </summary>
    internal static long LargestRowCount(IPoolReader pool, VirtualDiskDescription decided)
    {
        VirtualDiskDescription disk = NewDescriptions.Describe(pool, decided);
        NewRows rows = new();
        long count = rows.TryReserveLogsAndCache(pool, disk, out _)
            ? pool.Allocator.LargestRowCount(disk.NumberOfColumns, disk.NumberOfDataCopies, AllocationPreferences.For(disk)) : -1;
        rows.Release(pool);
        return count <= 0 ? count : LargestRowCountOfMetadata(pool, decided, count);
    }

    /// <summary>Rows of data of a new disk that the metadata has pages for, at most <paramref name="most"/>.</summary>
    internal static long LargestRowCountOfMetadata(IPoolReader pool, VirtualDiskDescription decided, long most)
    {
        VirtualDiskDescription disk = NewDescriptions.Describe(pool, decided);
        long rowSize = VirtualDiskLayout.ShapeOf(pool, disk).RowSize;
        return new MetadataRoom(pool).Largest(most, rows => disk with { SizeBytes = rows * rowSize });
    }

    /// <summary>The rows that <see cref="VirtualDiskGrowth.Grow"/> would add now, or why there is no room. Reserves nothing.</summary>
    internal static bool TryPlanGrowth(IPoolReader pool, VirtualDiskDescription disk, long sizeBytes, out List<RowMapping> rows, out string reason)
    {
        NewRows more = new();
        long rowSize = VirtualDiskLayout.ShapeOf(pool, disk).RowSize;
        bool fits = HasPages(pool, disk with { SizeBytes = sizeBytes }, out reason)
            && (disk.ProvisioningType != ProvisioningType.Fixed
                || more.TryReserveData(pool, disk, 0, (int)((sizeBytes - disk.SizeBytes) / rowSize), out reason));
        more.Release(pool);
        rows = more.Part(0).Data;
        return fits;
    }

    /// <summary>Whether the metadata can describe a disk as it would be, or why not.</summary>
    internal static bool HasPages(IPoolReader pool, VirtualDiskDescription after, out string reason)
    {
        reason = new MetadataRoom(pool).WhyNot(after);
        return reason.Length == 0;
    }

    /// <summary>
    /// The largest size of a tier of a new disk whose other tiers are as the specification says, in bytes; 0: there is no room for a slice. Exact. A thin
    /// tier may be larger than what its disks have room for now: the metadata bounds it.
    /// </summary>
    internal static long LargestNewTierSize(IPoolReader pool, VirtualDiskDescription decided, int index)
    {
        VirtualDiskDescription disk = NewDescriptions.Describe(pool, decided);
        NewRows rows = new();
        long count = rows.TryReserveLogsAndCache(pool, disk, out _)
            ? disk.ProvisioningType == ProvisioningType.Thin ? SpaceDescription.MaxRows : RowsFor(pool, disk, index)
            : -1;
        rows.Release(pool);
        return LargestSize(pool, disk, index, count, hasHeat: index == 0, isNew: true);
    }

    /// <summary>The size that a tier of an open disk can grow to, in bytes; its present one where there is no room. Exact.</summary>
    internal static long LargestTierSize(IPoolReader pool, VirtualDiskDescription disk, int index)
    {
        long rowSize = VirtualDiskLayout.ShapeOf(pool, disk, disk.Tiers[index]).RowSize;
        long rows = (disk.Tiers[index].SpaceBytes / rowSize) + RowsFor(pool, disk, index);
        // The heat of a disk that grew elsewhere takes nothing from it.
        return Math.Max(LargestSize(pool, disk, index, rows, hasHeat: index == 0), disk.Tiers[index].SizeBytes);
    }

    /// <summary>Whether the tiers of a new disk have room: 1; not all of them: 0; not even its logs and its cache: −1.</summary>
    internal static long TiersFit(IPoolReader pool, VirtualDiskDescription decided)
    {
        VirtualDiskDescription disk = NewDescriptions.Describe(pool, decided);
        NewRows rows = new();
        bool hasLogs = rows.TryReserveLogsAndCache(pool, disk, out _);
        bool fits = hasLogs && Enumerable.Range(0, disk.Tiers.Length).All(i =>
            RowsFor(pool, disk, i) * VirtualDiskLayout.ShapeOf(
                pool, disk, disk.Tiers[i]).RowSize >= (disk.ProvisioningType == ProvisioningType.Fixed ? disk.Tiers[i].SpaceBytes : 1));
        rows.Release(pool);
        return fits ? 1 : hasLogs ? 0 : -1;
    }

    /// <summary>
    /// The rows that <see cref="VirtualDiskGrowth.GrowTier"/> would add now, and the disk as it would be, or why there is no room. Reserves nothing.
    /// </summary>
    internal static bool TryPlanTierGrowth(
        IPoolReader pool, VirtualDiskDescription disk, int index, long sizeBytes, out VirtualDiskDescription after, out List<RowMapping> rows,
        out string reason)
    {
        after = NewDescriptions.WithTierSize(pool, disk, index, sizeBytes);
        NewRows more = new();
        long rowSize = VirtualDiskLayout.ShapeOf(pool, disk, disk.Tiers[index]).RowSize;
        bool fits = HasPages(pool, after, out reason) && (disk.ProvisioningType != ProvisioningType.Fixed
            || more.TryReserveData(pool, disk, index, (int)((after.Tiers[index].SpaceBytes - disk.Tiers[index].SpaceBytes) / rowSize), out reason));
        more.Release(pool);
        rows = more.Part(index).Data;
        return fits;
    }

    /// <summary>
    /// The tier that <see cref="AddedTier.AddTier"/> would add now, its rows and the disk with it, or why there is no room. Reserves nothing.
    /// </summary>
    internal static bool TryPlanTier(
        IPoolReader pool, VirtualDiskDescription disk, TierDescription decided, ImmutableArray<DiskNumber> disks,
        out VirtualDiskDescription after, out TierDescription tier, out NewPartRows rows, out string reason)
    {
        tier = NewDescriptions.DescribeAdded(pool, disk, decided);
        after = NewDescriptions.WithTier(disk, tier, disks);
        NewRows reserved = new();
        bool fits = reserved.TryReserveTier(pool, after, after.RankOf(tier.Number), out reason);
        reserved.Release(pool);
        rows = reserved.Part(after.RankOf(tier.Number));
        return fits;
    }

    /// <summary>The largest size that a tier to be added can have, in bytes; 0: there is no room for a slice. Exact.</summary>
    internal static long LargestAddedTierSize(IPoolReader pool, VirtualDiskDescription disk, TierDescription decided, ImmutableArray<DiskNumber> disks)
    {
        TierDescription tier = NewDescriptions.DescribeAdded(pool, disk, decided with { SizeBytes = disk.SliceSize });
        VirtualDiskDescription after = NewDescriptions.WithTier(disk, tier, disks);
        int rank = after.RankOf(tier.Number);
        NewRows log = new();
        bool hasLog = tier.LogSpace == SpaceId.None || log.TryReserveLog(pool, rank, tier, out _);
        long rows = !hasLog ? -1 : disk.ProvisioningType == ProvisioningType.Fixed ? RowsFor(pool, after, rank) : long.MaxValue;
        log.Release(pool);
        return LargestSize(pool, after, rank, rows, hasHeat: true);
    }

    private static long RowsFor(IPoolReader pool, VirtualDiskDescription disk, int index)
    {
        TierDescription tier = disk.Tiers[index];
        return pool.Allocator.LargestRowCount(tier.NumberOfColumns, tier.NumberOfDataCopies, AllocationPreferences.For(disk, tier));
    }

    // Of the sizes whose space has at most so many rows the largest; the space grows with the size. The first tier holds the heat of the whole disk: in a
    // new disk it grows with every tier, in an open one with its own size alone. An added tier holds it as well.
    private static long LargestSize(IPoolReader pool, VirtualDiskDescription disk, int index, long rows, bool hasHeat, bool isNew = false)
    {
        long slice = disk.SliceSize;
        long others = disk.SizeBytes - disk.Tiers[index].SizeBytes;
        long room = Math.Min(rows, SpaceDescription.MaxRows) * VirtualDiskLayout.ShapeOf(pool, disk, disk.Tiers[index]).RowSize;
        long low = 0;
        long high = Math.Max(0, Math.Min(room / slice, (SlicesMapped.SlicesMax / 2) - 1 - (others / slice)));
        while (low < high)
        {
            long middle = low + ((high - low + 1) / 2);
            long space = VirtualDiskLayout.TierSpaceBytes(
                VirtualDiskLayout.ShapeOf(pool, disk, disk.Tiers[index]).RowSize, (int)slice, middle * slice, hasHeat ? others + (middle * slice) : 0);
            (low, high) = space <= room ? (middle, high) : (low, middle - 1);
        }

        return new MetadataRoom(pool).Largest(low, slices => Sized(slices * slice)) * slice;

        VirtualDiskDescription Sized(long size)
        {
            long space = VirtualDiskLayout.TierSpaceBytes(
                VirtualDiskLayout.ShapeOf(pool, disk, disk.Tiers[index]).RowSize, (int)slice, size, hasHeat ? others + size : 0);
            ImmutableArray<TierDescription> tiers = disk.Tiers.SetItem(index, disk.Tiers[index] with { SizeBytes = size, SpaceBytes = space });
            if (isNew && !hasHeat)
            {
                long first = VirtualDiskLayout.TierSpaceBytes(
                    VirtualDiskLayout.ShapeOf(pool, disk, tiers[0]).RowSize, (int)slice, tiers[0].SizeBytes, others + size);
                tiers = tiers.SetItem(0, tiers[0] with { SpaceBytes = first });
            }

            return disk with { SizeBytes = others + size, Tiers = tiers };
        }
    }
}
