using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.VirtualDisks;

// Metadata records of the spaces of a virtual disk, and their commits.

/// <summary>Commits spaces and their rows.</summary>
internal static class SpaceRecords
{
    /// <summary>The spaces of a part, and the rows of its log.</summary>
    internal static IEnumerable<MetadataRecord> RecordsOf(VirtualDiskId owner, TierDescription part, List<RowMapping> log)
    {
        yield return new SpaceCreated(new SpaceDescription(part.DataSpace, owner, SpaceKind.Data, part.NumberOfColumns, part.NumberOfDataCopies));
        if (part.LogSpace != SpaceId.None)
        {
            ushort copies = (ushort)log[0].Sources.Length;
            yield return new SpaceCreated(new SpaceDescription(part.LogSpace, owner, SpaceKind.IntegrityLog, 1, copies));
            yield return new RowsMapped(part.LogSpace, 0, copies, [.. log]);
        }
    }

    internal static async LaneTask<CommitResult> MapRows(Pool pool, SpaceId space, int first, List<RowMapping> rows)
    {
        for (int at = 0; at < rows.Count;)
        {
            int positions = rows[at].Sources.Length;
            int count = Math.Min(rows.Count - at, Pool.MaxCommitBytes / 2 / (8 + (positions * 6)));
            CommitResult result = await pool.Commit(new RowsMapped(space, first + at, positions, [.. rows.GetRange(at, count)]));
            if (!result.Succeeded)
            {
                return result;
            }

            at += count;
        }

        return CommitResult.Committed;
    }

    /// <summary>Whether the outcome of a commit is known. A commit that returned NoSpace may still be applied, until a later one is durable.</summary>
    internal static async LaneTask<bool> IsDecided(Pool pool, CommitResult result) =>
        result.Status != CommitStatus.NoSpace || (await pool.Commit(new PoolChanged(pool.State.Pool!))).Succeeded;

    /// <summary>Takes spaces away that belong to a disk and that it does not name: a crash left them while a tier was being added.</summary>
    internal static async LaneTask<CommitResult> RemoveUnnamedSpaces(Pool pool, VirtualDiskId id)
    {
        HashSet<SpaceId> named = [.. pool.State.VirtualDisk(id)!.Spaces];
        SpaceState[] unnamed = [.. pool.State.Spaces.Values.Where(space => space.Description.Owner == id && !named.Contains(space.Description.Id))];
        if (unnamed.Length == 0)
        {
            return CommitResult.Committed;
        }

        SlabRef[] freed = [.. unnamed.SelectMany(static space => space.EnumerateRows().SelectMany(static row => row.Row.Mapping.Sources.ToArray()))];
        pool.Allocator.Hold(freed);
        CommitResult result = await pool.Commit([.. unnamed.Select(static space => new SpaceRemoved(space.Description.Id))]);
        if (result.Succeeded)
        {
            await PoolSpaceHost.Punch(pool, freed);
            foreach (SpaceState space in unnamed)
            {
                await pool.Environment.State.ReleaseMemory(VirtualDiskStack.JournalName(pool.Id, space.Description.Id));
            }
        }

        pool.Allocator.LetGo(freed);
        return result;
    }
}
