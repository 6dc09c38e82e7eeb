using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.VirtualDisks;

/// <summary>The rows that one part of a virtual disk is to get.</summary>
internal sealed class NewPartRows
{
    /// <summary>Rows of its integrity log; every copy of it keeps to one disk.</summary>
    internal List<RowMapping> Log { get; } = [];

    /// <summary>Rows of data, none of them written yet.</summary>
    internal List<RowMapping> Data { get; } = [];
}

/// <summary>The rows that a virtual disk is to get, with their reservations.</summary>
internal sealed class NewRows
{
    private readonly List<SlabRef> _reserved = [];

    /// <summary>Rows of its parts, as far as they were reserved.</summary>
    internal List<NewPartRows> Parts { get; } = [];

    /// <summary>Rows of the write cache; every copy of it keeps to one disk.</summary>
    internal List<RowMapping> Cache { get; } = [];

    /// <summary>Everything that a new disk needs in its own pool; false: what was reserved is to be released.</summary>
    internal bool TryReserve(IPoolReader pool, VirtualDiskDescription disk, out string reason)
    {
        bool fits = RoomPlans.HasPages(pool, disk, out reason) && TryReserveLogsAndCache(pool, disk, out reason);
        for (int i = 0; i < disk.Parts.Length && fits; i++)
        {
            TierDescription part = disk.Parts[i];
            fits = TryReserveData(pool, disk, i, RowsAtOnce(pool, disk, part), out reason);
            reason = fits || !disk.IsTiered ? reason : $"Tier '{part.FriendlyName}': {reason}";
        }

        return fits;
    }

    /// <summary>Everything that a tier of an existing disk needs.</summary>
    internal bool TryReserveTier(IPoolReader pool, VirtualDiskDescription disk, int index, out string reason)
    {
        TierDescription tier = disk.Tiers[index];
        return RoomPlans.HasPages(pool, disk, out reason)
            && (tier.LogSpace == SpaceId.None || TryReserveLog(pool, index, tier, out reason))
            && TryReserveData(pool, disk, index, RowsAtOnce(pool, disk, tier), out reason);
    }

    // In this order: logs are small and the disk cannot be without them, and what the cache takes is what data does not get.
    internal bool TryReserveLogsAndCache(IPoolReader pool, VirtualDiskDescription disk, out string reason)
    {
        reason = "";
        for (int i = 0; i < disk.Parts.Length; i++)
        {
            TierDescription part = disk.Parts[i];
            if (part.LogSpace != SpaceId.None && !TryReserveLog(pool, i, part, out reason))
            {
                return false;
            }
        }

        return disk.IsCacheElsewhere || TryReserveCache(pool, disk, disk.WriteCacheSize, out reason);
    }

    /// <summary>The log of a part of a virtual disk.</summary>
    internal bool TryReserveLog(IPoolReader pool, int index, TierDescription part, out string reason)
    {
        int present = pool.State.Disks.Keys.Count(number => pool.IsUsable(number));
        return TryReserveRun(
            pool, AllocationPreferences.ForLog(part), VirtualDiskLayout.LogCopies(part.RingCopies, present), VirtualDiskLayout.LogRows(pool.Slabs, part),
            Part(index).Log, out reason);
    }

    /// <summary>A write cache of so many bytes a copy, whole slabs.</summary>
    internal bool TryReserveCache(IPoolReader pool, VirtualDiskDescription disk, long bytes, out string reason)
    {
        reason = "";
        int count = (int)(bytes / pool.Slabs.DataBytes);
        return count == 0 || TryReserveRun(pool, AllocationPreferences.ForCache(disk), disk.CacheCopies, count, Cache, out reason);
    }

    /// <summary>Rows of data of a part.</summary>
    internal bool TryReserveData(IPoolReader pool, VirtualDiskDescription disk, int index, int count, out string reason)
    {
        TierDescription part = disk.Parts[index];
        List<SlabRef[]> rows = [];
        bool fits = pool.Allocator.TryReserveRows(
            part.NumberOfColumns, part.NumberOfDataCopies, count, AllocationPreferences.For(disk, part), rows, out reason);
        foreach (SlabRef[] slabs in rows)
        {
            _reserved.AddRange(slabs);
            Part(index).Data.Add(new RowMapping(slabs, isInitialized: false));
        }

        return fits;
    }

    /// <summary>The rows of a part.</summary>
    internal NewPartRows Part(int index)
    {
        while (Parts.Count <= index)
        {
            Parts.Add(new NewPartRows());
        }

        return Parts[index];
    }

    /// <summary>Gives the reservations back; the rows stay, as a plan.</summary>
    internal void Release(IPoolReader pool)
    {
        pool.Allocator.Release(_reserved.ToArray());
        _reserved.Clear();
    }

    /// <summary>The reservations are not to be given back: the rows are mapped, or may be.</summary>
    internal void Keep() => _reserved.Clear();

    private static int RowsAtOnce(IPoolReader pool, VirtualDiskDescription disk, TierDescription part) =>
        disk.ProvisioningType == ProvisioningType.Fixed ? (int)(part.SpaceBytes / VirtualDiskLayout.ShapeOf(pool, disk, part).RowSize) : 0;

    private bool TryReserveRun(IPoolReader pool, AllocationPreferences preferences, int copies, int count, List<RowMapping> rows, out string reason)
    {
        bool fits = pool.Allocator.TryReserveRun(copies, count, preferences, out SlabRef[][] slabs, out reason);
        _reserved.AddRange(slabs.SelectMany(row => row));
        rows.AddRange(slabs.Select(row => new RowMapping(row)));
        return fits;
    }
}
