using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.VirtualDisks;

// Growing a part of an open virtual disk, in crash order; the description as it will be names the new length of the part:
//  1. Its rows are reserved and mapped.
//  2. The description is committed.
//  3. The space knows the rows.
// A crash before 2 leaves rows beyond the end, which growing again replaces.

/// <summary>Makes open virtual disks and their tiers larger.</summary>
public static class VirtualDiskGrowth
{
    /// <summary>Makes an open disk without tiers longer: a fixed one gets its rows first.</summary>
    public static LaneTask<CommitResult> Grow(Pool pool, OpenVirtualDisk open, long sizeBytes) =>
        GrowPart(pool, open, 0, open.Description with { SizeBytes = sizeBytes });

    /// <summary>Makes a tier of an open disk larger, and the disk with it.</summary>
    public static LaneTask<CommitResult> GrowTier(Pool pool, OpenVirtualDisk open, int index, long sizeBytes) =>
        GrowPart(pool, open, index, NewDescriptions.WithTierSize(pool, open.Description, index, sizeBytes));

    private static async LaneTask<CommitResult> GrowPart(Pool pool, OpenVirtualDisk open, int index, VirtualDiskDescription after)
    {
        VirtualDiskDescription before = open.Description;
        TierDescription part = after.Parts[index];
        long rowSize = VirtualDiskLayout.ShapeOf(pool, after, part).RowSize;
        int from = (int)((before.Parts[index].SpaceBytes + rowSize - 1) / rowSize);
        int count = (int)((part.SpaceBytes + rowSize - 1) / rowSize) - from;
        NewRows rows = new();
        if (!RoomPlans.HasPages(pool, after, out string reason)
            || (before.ProvisioningType == ProvisioningType.Fixed && !rows.TryReserveData(pool, before, index, count, out reason)))
        {
            rows.Release(pool);
            return new CommitResult(CommitStatus.NoSpace, reason);
        }

        List<RowMapping> data = rows.Part(index).Data;
        CommitResult result = await SpaceRecords.MapRows(pool, part.DataSpace, from, data);
        result = result.Succeeded ? await pool.Commit(new VirtualDiskChanged(after)) : result;
        if (!result.Succeeded)
        {
            rows.Release(pool);
            return result;
        }

        open.Redescribe(pool.State.VirtualDisk(after.Id)!);
        SpaceState space = pool.State.Space(part.DataSpace)!;
        PoolState state = pool.State;
        SpaceRowMap[] rowMaps = [.. Enumerable.Range(from, data.Count).Select(row => VirtualDiskStack.RowOf(state, row, space.Row(row)!))];
        await open.Call(() => LaneTask.FromResult(Lengthen(open, part, rowMaps, after.SizeBytes)));
        return result;
    }

    private static Nothing Lengthen(OpenVirtualDisk open, TierDescription part, SpaceRowMap[] rows, long sizeBytes)
    {
        Space space = open.Parts[part.Number].Space;
        space.Grow(part.SpaceBytes);
        foreach (SpaceRowMap row in rows)
        {
            space.AddOwnedRow(row);
        }

        open.Tiers?.GrowTier(part.Number, part.SizeBytes);
        open.Disk.Grow(sizeBytes);
        return default;
    }
}
