using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

/// <summary>
/// Lets copies be read that are marked stale, where no copy of the same data is there that is not: old data in place of none. Only for a pool on overlays.
/// That holds for data and for the integrity log. Data with parity stays as it is: what a stale block rebuilds is neither old nor new.
/// </summary>
internal static class StaleCopies
{
    /// <summary>Takes the stale marks of such copies of a virtual disk away.</summary>
    internal static async LaneTask<Nothing> Use(Pool pool, VirtualDiskDescription disk)
    {
        foreach (TierDescription part in disk.Parts)
        {
            await Use(pool, part.LogSpace, part.RingCopies, disk.FriendlyName);
            if (part.Parities == 0)
            {
                await Use(pool, part.DataSpace, part.NumberOfDataCopies, disk.FriendlyName);
            }
        }

        return default;
    }

    private static async LaneTask<Nothing> Use(Pool pool, SpaceId space, int copies, string name)
    {
        StaleEntry[] entries = [.. pool.State.Space(space)?.EnumerateRows().SelectMany(row => OfRow(pool, row.Index, row.Row, copies)) ?? []];
        if (entries.Length > 0)
        {
            Commits.Require(await pool.Commit(new StaleCleared(space, entries)), name);
        }

        return default;
    }

    private static IEnumerable<StaleEntry> OfRow(Pool pool, int index, RowState row, int copies)
    {
        int positions = row.Mapping.Sources.Length;
        for (int first = 0; row.HasStale && first < positions; first += copies)
        {
            int[] there =
                [.. Enumerable.Range(first, Math.Min(copies, positions - first)).Where(position => pool.IsUsable(row.Mapping.Sources[position].Disk))];
            ushort stale = there.Aggregate((ushort)0xFFFF, (common, position) => (ushort)(common & row.Stale(position)));
            foreach (int position in stale == 0 ? [] : there)
            {
                yield return new StaleEntry(index, (ushort)position, stale);
            }
        }
    }
}
