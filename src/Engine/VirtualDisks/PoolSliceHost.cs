using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tiering;

namespace TierSpaces.Engine.VirtualDisks;

/// <summary>Services of a pool to a tiered store: its map is part of the pool's metadata, changed by one commit.</summary>
internal sealed class PoolSliceHost(PoolLink pool, VirtualDiskId owner) : ISliceHost
{
    public SliceMapState Map => pool.State.SliceMap(owner);

    public int WindowSlices
    {
        get
        {
            foreach (DiskNumber disk in pool.View.MetadataDisks)
            {
                if (pool.State.Disks.TryGetValue(disk, out DiskState? member) && member.Description.Media() == MediaType.HDD)
                {
                    return pool.FirstWriteWindow;
                }
            }

            return 1;
        }
    }

    public async LaneTask<SliceCommit> Commit(IReadOnlyList<SliceChange> changes)
    {
        CommitResult result = await pool.Commit([.. RecordsOf(changes)]);
        return result.Status switch
        {
            CommitStatus.Committed => SliceCommit.Committed,
            CommitStatus.NoSpace => SliceCommit.NoRoom,
            _ => SliceCommit.Unknown,
        };
    }

    // Neighbours share a record. It names the slot that is left before the slot that is taken: a slot may go from one slice to another.
    private IEnumerable<MetadataRecord> RecordsOf(IReadOnlyList<SliceChange> changes)
    {
        SliceChange[] sorted = [.. changes.OrderBy(static change => change.Entry.IsMapped).ThenBy(static change => change.Slice)];
        for (int at = 0; at < sorted.Length;)
        {
            int end = at + 1;
            while (end < sorted.Length && sorted[end].Slice == sorted[end - 1].Slice + 1)
            {
                end++;
            }

            yield return new SlicesMapped(owner, sorted[at].Slice, Array.ConvertAll(sorted[at..end], static change => change.Entry));
            at = end;
        }
    }
}
