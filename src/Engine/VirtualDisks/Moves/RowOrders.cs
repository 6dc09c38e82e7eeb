using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.VirtualDisks;

/// <summary>Slabs that were found for a row.</summary>
/// <param name="Slabs">One slab per position; empty: the pool has no room.</param>
/// <param name="IsOwned">Whether the row owns them already; else they are reserved.</param>
internal readonly record struct FoundRow(SlabRef[] Slabs, bool IsOwned);

/// <summary>Orders of a space about its rows, as they run on the pool's lane.</summary>
internal static class RowOrders
{
    private const int FreeTries = 60;
    private const long RetryNs = 1_000_000_000;

    /// <summary>Reserves slabs for a row, or returns those that it owns.</summary>
    internal static FoundRow Reserve(Pool pool, VirtualDiskId owner, TierDescription part, int row)
    {
        if (pool.State.Space(part.DataSpace)?.Row(row) is { } owned)
        {
            return new FoundRow(owned.Mapping.Sources.ToArray(), IsOwned: true);   // a fixed disk's row before its first write
        }

        if (pool.State.VirtualDisk(owner) is not { } disk)
        {
            return new FoundRow([], IsOwned: false);
        }

        AllocationPreferences preferences = AllocationPreferences.For(disk, part);
        bool isFound = pool.Allocator.TryReserveRow(part.NumberOfColumns, part.NumberOfDataCopies, preferences, out SlabRef[] slabs, out string _)
            || pool.Allocator.TryReserveDegradedRow(part.NumberOfColumns, part.NumberOfDataCopies, preferences, out slabs);
        return new FoundRow(isFound ? slabs : [], IsOwned: false);
    }

    /// <summary>Commits slabs to the map of a space as one of its rows.</summary>
    /// <returns>TryAgain: a disk of these slabs is not in the pool any more.</returns>
    internal static async LaneTask<IoError> Map(Pool pool, SpaceId space, int row, SlabRef[] slabs, bool isInitialized)
    {
        CommitResult result = await pool.Commit(new RowsMapped(space, row, slabs.Length, [new RowMapping(slabs, isInitialized: isInitialized)]));
        bool isDiskRemoved = result.Status == CommitStatus.Refused && Array.Exists(slabs, slab => pool.State.Disk(slab.Disk) is null);
        return isDiskRemoved ? IoError.TryAgain : PoolMemberHost.ErrorOf(result);   // an empty disk may be removed while a row is being made on it
    }

    /// <summary>Takes a row out of the map, punches its slabs and only then lets others have them.</summary>
    internal static async LaneTask<IoError> Free(Pool pool, SpaceId space, int row)
    {
        if (pool.State.Space(space)?.Row(row) is not { } owned)
        {
            return IoError.Io;
        }

        SlabRef[] slabs = owned.Mapping.Sources.ToArray();
        pool.Allocator.Hold(slabs);
        CommitResult result = await pool.Commit(new RowsFreed(space, row, 1));
        for (int tries = 0; tries < FreeTries && result.Status == CommitStatus.NoSpace; tries++)
        {
            await pool.Environment.Lane.Delay(RetryNs);   // the first commit may still be applied: until that is known the slabs stay held
            result = pool.State.Space(space)?.Row(row) is null ? CommitResult.Committed : await pool.Commit(new RowsFreed(space, row, 1));
        }

        result = pool.State.Space(space)?.Row(row) is null ? CommitResult.Committed : result;
        if (result.Succeeded)
        {
            await PoolMemberHost.Punch(pool, slabs);
        }

        pool.Allocator.LetGo(slabs);
        return PoolMemberHost.ErrorOf(result);
    }
}
