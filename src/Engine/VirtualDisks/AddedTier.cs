using System.Collections.Immutable;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Tiering;

namespace TierSpaces.Engine.VirtualDisks;

// One more tier for a disk that is in use, in crash order:
//  1. Slabs of its log, and of a fixed disk all its rows, are reserved: what does not fit changes nothing.
//  2. Its spaces are committed with the rows of the log, then the rows of data. No disk names them yet; spaces of a disk that it does not name
//     are removed when it is opened.
//  3. Its log is formatted, durably.
//  4. One commit names the tier: from then on the disk has it, and is longer by its size.
//  5. Slices go there.

/// <summary>Adds a tier to an open virtual disk.</summary>
public static class AddedTier
{
    /// <summary>Gives an open disk with tiers one more, of a medium that it has no tier of; the disk grows by its size.</summary>
    /// <param name="pool">The pool.</param>
    /// <param name="open">The disk.</param>
    /// <param name="spec">The tier.</param>
    /// <param name="disks">Disks that it may lie on, for a virtual disk that is not allowed on all of them.</param>
    public static async LaneTask<CommitResult> AddTier(Pool pool, OpenVirtualDisk open, TierDescription spec, ImmutableArray<DiskNumber> disks)
    {
        TierDescription tier = NewDescriptions.DescribeAdded(pool, open.Description, spec);
        VirtualDiskDescription after = NewDescriptions.WithTier(open.Description, tier, disks);
        NewRows rows = new();
        if (!rows.TryReserveTier(pool, after, after.RankOf(tier.Number), out string reason))
        {
            rows.Release(pool);
            return new CommitResult(CommitStatus.NoSpace, reason);
        }

        CommitResult result = await CommitSpaces(pool, after, tier, rows);
        if (!result.Succeeded && !await SpaceRecords.IsDecided(pool, result))
        {
            return result;   // the commit may still be applied: its reserved slabs are not given out before the next opening
        }

        OpenPart? part = null;
        if (result.Succeeded)
        {
            (part, result) = await open.Call(() => TryOpen(open.Pool, after, tier));
        }

        result = part is null || !result.Succeeded ? result : await Name(pool, open, tier, disks);
        if (result.Succeeded)
        {
            await Attach(pool, open, part!);
        }
        else if (await open.Call(async () => open.Fault == IoError.None && (part is null || await part.Space.Close() is var _)))
        {
            rows.Release(pool);
            await SpaceRecords.RemoveUnnamedSpaces(pool, open.Description.Id);
        }

        return result;
    }

    private static async LaneTask<(OpenPart? Part, CommitResult Result)> TryOpen(PoolLink pool, VirtualDiskDescription after, TierDescription tier)
    {
        try
        {
            OpenPart part = await VirtualDiskStack.OpenSpace(pool, after, tier, isNew: true);
            return (part, part.Space.Fault == IoError.None ? CommitResult.Committed : new CommitResult(CommitStatus.NoQuorum, part.Space.FaultReason));
        }
        catch (IOException problem)
        {
            return (null, new CommitResult(CommitStatus.Refused, problem.Message));
        }
    }

    private static async LaneTask<CommitResult> CommitSpaces(Pool pool, VirtualDiskDescription after, TierDescription tier, NewRows rows)
    {
        NewPartRows part = rows.Part(after.RankOf(tier.Number));
        CommitResult result = await pool.Commit([.. SpaceRecords.RecordsOf(after.Id, tier, part.Log)]);
        return result.Succeeded ? await SpaceRecords.MapRows(pool, tier.DataSpace, 0, part.Data) : result;
    }

    private static async LaneTask<CommitResult> Name(Pool pool, OpenVirtualDisk open, TierDescription tier, ImmutableArray<DiskNumber> disks)
    {
        VirtualDiskId id = open.Description.Id;
        CommitResult result = await pool.Commit(new VirtualDiskChanged(NewDescriptions.WithTier(pool.State.VirtualDisk(id)!, tier, disks)));
        if (!await SpaceRecords.IsDecided(pool, result))
        {
            await open.Call(() =>
            {
                open.Backing.FailFront(IoError.NoSpace, "it is not known whether a tier was added");
                return LaneTask.FromResult(default(Nothing));
            });
        }

        return pool.State.VirtualDisk(id)?.Part(tier.Number) is not null ? CommitResult.Committed : result;
    }

    private static LaneTask<Nothing> Attach(Pool pool, OpenVirtualDisk open, OpenPart part)
    {
        VirtualDiskDescription disk = pool.State.VirtualDisk(open.Description.Id)!;
        open.Redescribe(disk);
        return open.Call(() => LaneTask.FromResult(Attach(disk, open, part)));
    }

    private static Nothing Attach(VirtualDiskDescription disk, OpenVirtualDisk open, OpenPart part)
    {
        TierDescription tier = disk.Part(part.Number)!;
        open.Add(part);
        open.Tiers!.AddTier(
            new StorageTierStore(part.Space, tier.SizeBytes, (int)disk.SliceSize, disk.ProvisioningType == ProvisioningType.Thin), disk.RankOf(tier.Number));
        open.Disk.Grow(disk.SizeBytes);
        open.Tiering!.LoadPins();
        return default;
    }
}
