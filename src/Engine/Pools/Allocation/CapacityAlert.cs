using System.Globalization;
using TierSpaces.Engine.Formats;

namespace TierSpaces.Engine.Pools;

/// <summary>Room that a pool has left for its thin virtual disks.</summary>
public enum CapacityLevel
{
    /// <summary>Less is allocated than the alert threshold, or no virtual disk is thin.</summary>
    Enough,

    /// <summary>The alert threshold is reached.</summary>
    AlertReached,

    /// <summary>A thin virtual disk gets no more slabs: its first writes to a row fail with NoSpace.</summary>
    Full,
}

/// <summary>
/// Watches how full a pool with thin virtual disks is: they may promise more than there is, so the administrator gets a notice at the pool's
/// alert threshold and not when writes fail. Each level is reported once when it is reached from below; it counts as left when the pool holds so much less
/// than it held at the report that this is no matter of a few rows, which come and go all the time in a pool that is nearly full.
/// </summary>
internal sealed class CapacityAlert
{
    private const int NamesMax = 4;
    private const long LeavesPercent = 5;   // of the capacity, less than at the report

    private CapacityLevel _told;
    private long _toldPercent;   // allocated when that level was reported, or less since

    /// <summary>
    /// Returns what to tell after slabs were mapped or freed; empty: nothing new. Only a disk without free slabs makes it look at each virtual disk.
    /// </summary>
    internal string Look(PoolState state, SlabAllocator allocator)
    {
        CapacityLevel level = state.Disks.Keys.Any(disk => allocator.FreeSlabs(disk) == 0) ? LevelOf(state, allocator) : LevelByShare(state);
        long percent = AllocatedPercent(state);
        bool isNew = level > _told;
        if (isNew || percent <= _toldPercent - LeavesPercent)
        {
            (_told, _toldPercent) = (level, percent);
        }

        return isNew ? Describe(state, allocator) : "";
    }

    /// <summary>Returns how much room there is.</summary>
    internal static CapacityLevel LevelOf(PoolState state, SlabAllocator allocator) =>
        !IsThin(state) ? CapacityLevel.Enough
        : state.VirtualDisks.Values.Any(disk => LacksRoom(state, allocator, disk)) ? CapacityLevel.Full
        : LevelByShare(state);

    /// <summary>
    /// Whether the next first write of a thin virtual disk fails: a part of it has rows that are not mapped, and no part that has some gets
    /// the slabs of another one.
    /// </summary>
    internal static bool LacksRoom(PoolState state, SlabAllocator allocator, VirtualDiskDescription disk)
    {
        if (disk.ProvisioningType != ProvisioningType.Thin)
        {
            return false;
        }

        bool isWhole = true;
        foreach (TierDescription part in disk.Parts)
        {
            long rowBytes = part.DataColumns * state.Pool!.Slabs.DataBytes;
            long rows = (part.SpaceBytes + rowBytes - 1) / rowBytes;
            if (state.Space(part.DataSpace) is { } space && space.MappedRows < rows)
            {
                isWhole = false;
                if (allocator.HasRow(part.NumberOfColumns, part.NumberOfDataCopies, AllocationPreferences.For(disk, part)))
                {
                    return false;
                }
            }
        }

        return !isWhole;
    }

    /// <summary>Returns the problem, the functions that still work and the action to take; empty when there is enough room.</summary>
    internal static string Describe(PoolState state, SlabAllocator allocator) => LevelOf(state, allocator) switch
    {
        CapacityLevel.Full => string.Create(
            CultureInfo.InvariantCulture,
            $"Storage pool '{state.Pool!.FriendlyName}' is full: {AllocatedPercent(state)} % of its capacity is allocated, and {NamesWithoutRoom(state, allocator)} no more. "
            + $"Writes to ranges that were never written fail with 'no space'; reads, overwrites, flushes and unmapping go on. Add physical disks, or remove or unmap what is not needed."),
        CapacityLevel.AlertReached => string.Create(
            CultureInfo.InvariantCulture,
            $"{AllocatedPercent(state)} % of the capacity of storage pool '{state.Pool!.FriendlyName}' is allocated; the alert threshold is {Threshold(state)} %. Everything works. "
            + $"Add physical disks before thin virtual disks run out of space."),
        _ => "",
    };

    private static CapacityLevel LevelByShare(PoolState state) =>
        IsThin(state) && AllocatedPercent(state) >= Threshold(state) ? CapacityLevel.AlertReached : CapacityLevel.Enough;

    private static bool IsThin(PoolState state) => state.VirtualDisks.Values.Any(static disk => disk.ProvisioningType == ProvisioningType.Thin);

    private static int Threshold(PoolState state) => state.Pool?.ThinProvisioningAlertThreshold ?? 100;

    private static long AllocatedPercent(PoolState state)
    {
        long slabs = 0;
        long used = 0;
        foreach (DiskState disk in state.Disks.Values)
        {
            slabs += disk.Description.SlabCount;
            used += disk.UsedSlabs;
        }

        return slabs == 0 ? 0 : used * 100 / slabs;
    }

    private static string NamesWithoutRoom(PoolState state, SlabAllocator allocator)
    {
        string[] names = [.. state.VirtualDisks.Values.Where(disk => LacksRoom(state, allocator, disk)).Select(static disk => $"'{disk.FriendlyName}'")];
        string more = names.Length > NamesMax ? $" and {names.Length - NamesMax} more" : "";
        return $"thin virtual {(names.Length == 1 ? "disk" : "disks")} {string.Join(", ", names.Take(NamesMax))}{more} {(names.Length == 1 ? "gets" : "get")}";
    }
}
