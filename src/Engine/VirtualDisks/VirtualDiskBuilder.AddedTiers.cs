using System.Collections.Immutable;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tiering;

namespace TierSpaces.Engine.VirtualDisks;

// One more tier for a disk that is in use, in crash order:
//  1. Slabs of its log, and of a fixed disk all its rows, are reserved: what does not fit changes nothing.
//  2. Its spaces are committed with the rows of the log, then the rows of data. No disk names them yet; spaces of a disk that it does not name
//     are removed when it is opened.
//  3. Its log is formatted, durably.
//  4. One commit names the tier: from then on the disk has it, and is longer by its size.
//  5. Slices go there.

public static partial class VirtualDiskBuilder
{
    /// <summary>Gives an open disk with tiers one more, of a medium that it has no tier of; the disk grows by its size.</summary>
    /// <param name="pool">The pool.</param>
    /// <param name="open">The disk.</param>
    /// <param name="spec">The tier.</param>
    /// <param name="disks">Disks that it may lie on, for a virtual disk that is not allowed on all of them.</param>
    public static async LaneTask<CommitResult> AddTier(Pool pool, OpenVirtualDisk open, NewTierSpec spec, ImmutableArray<DiskNumber> disks)
    {
        TierDescription tier = DescribeAdded(pool, open.Description, spec);
        VirtualDiskDescription after = WithTier(open.Description, tier, disks);
        NewRows rows = new();
        if (!rows.TryReserveTier(pool, after, after.RankOf(tier.Number), out string reason))
        {
            rows.Release(pool);
            return new CommitResult(CommitStatus.NoSpace, reason);
        }

        CommitResult result = await CommitSpaces(pool, after, tier, rows);
        if (!result.Succeeded && !await IsDecided(pool, result))
        {
            return result;   // the spaces may still come to be: what was reserved for them is nobody's until the next opening
        }

        OpenPart? part = result.Succeeded ? await OpenSpace(pool, after, tier, isNew: true) : null;
        result = part is null ? result
            : part.Space.Fault != IoError.None ? new CommitResult(CommitStatus.NoQuorum, part.Space.FaultReason) : await Name(pool, open, tier, disks);
        if (result.Succeeded)
        {
            Attach(pool, open, part!);
        }
        else if (open.Fault == IoError.None)
        {
            _ = part is null ? IoError.None : await part.Space.Close();
            rows.Release(pool);
            await RemoveUnnamedSpaces(pool, open.Description.Id);
        }

        return result;
    }

    /// <summary>The tier that <see cref="AddTier"/> would add now, its rows and the disk with it, or why there is no room. Reserves nothing.</summary>
    internal static bool TryPlanTier(
        Pool pool, VirtualDiskDescription disk, NewTierSpec spec, ImmutableArray<DiskNumber> disks,
        out VirtualDiskDescription after, out TierDescription tier, out NewPartRows rows, out string reason)
    {
        tier = DescribeAdded(pool, disk, spec);
        after = WithTier(disk, tier, disks);
        NewRows reserved = new();
        bool fits = reserved.TryReserveTier(pool, after, after.RankOf(tier.Number), out reason);
        reserved.Release(pool);
        rows = reserved.Part(after.RankOf(tier.Number));
        return fits;
    }

    /// <summary>The largest size that a tier to be added can have, in bytes; 0: there is no room for a slice. Exact.</summary>
    internal static long LargestAddedTierSize(Pool pool, VirtualDiskDescription disk, NewTierSpec spec, ImmutableArray<DiskNumber> disks)
    {
        TierDescription tier = DescribeAdded(pool, disk, spec with { SizeBytes = disk.SliceSize });
        VirtualDiskDescription after = WithTier(disk, tier, disks);
        int rank = after.RankOf(tier.Number);
        NewRows log = new();
        bool hasLog = tier.LogSpace == SpaceId.None || log.TryReserveLog(pool, rank, tier.NumberOfDataCopies, out _);
        long rows = !hasLog ? -1 : disk.ProvisioningType == ProvisioningType.Fixed ? RowsFor(pool, after, rank) : long.MaxValue;
        log.Release(pool);
        return LargestSize(pool, after, rank, rows, hasHeat: true);
    }

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
            Array.ForEach(unnamed, space => pool.Environment.HostState.ReleaseMemory(NotesName(pool, space.Description.Id)));
        }

        pool.Allocator.LetGo(freed);
        return result;
    }

    private static TierDescription DescribeAdded(Pool pool, VirtualDiskDescription disk, NewTierSpec spec)
    {
        SpaceId next = pool.State.NextSpace;
        long rowSize = spec.NumberOfColumns * pool.Slabs.DataBytes;
        return DescribeNew(pool, spec, TierSpaceBytes(rowSize, (int)disk.SliceSize, spec.SizeBytes, disk.SizeBytes + spec.SizeBytes)) with
        {
            Number = disk.Tiers.Length,
            DataSpace = next,
            LogSpace = HasLog(disk.Checksum, spec.NumberOfDataCopies) ? new SpaceId(next.Value + 1) : SpaceId.None,
        };
    }

    // What tiers agree on is said of the disk too.
    private static VirtualDiskDescription WithTier(VirtualDiskDescription disk, TierDescription tier, ImmutableArray<DiskNumber> disks)
    {
        ImmutableArray<TierDescription> tiers = [.. disk.Tiers.Append(tier).OrderByDescending(static one => one.MediaTypeCode)];
        ushort copies = tiers.Max(static one => one.NumberOfDataCopies);
        return disk with
        {
            Tiers = tiers,
            SizeBytes = disk.SizeBytes + tier.SizeBytes,
            AllowedDisks = disk.AllowedDisks.IsEmpty ? [] : [.. disk.AllowedDisks.Union(disks)],
            ResiliencySettingName = tiers.All(one => one.ResiliencySettingName == tier.ResiliencySettingName) ? tier.ResiliencySettingName : "",
            NumberOfColumns = tiers.All(one => one.NumberOfColumns == tier.NumberOfColumns) ? tier.NumberOfColumns : (ushort)0,
            Interleave = tiers.All(one => one.Interleave == tier.Interleave) ? tier.Interleave : 0,
            NumberOfDataCopies = copies,
            PhysicalDiskRedundancy = (ushort)(copies - 1),
        };
    }

    private static async LaneTask<CommitResult> CommitSpaces(Pool pool, VirtualDiskDescription after, TierDescription tier, NewRows rows)
    {
        NewPartRows part = rows.Part(after.RankOf(tier.Number));
        CommitResult result = await pool.Commit([.. RecordsOf(after.Id, tier, part.Log)]);
        return result.Succeeded ? await MapRows(pool, tier.DataSpace, 0, part.Data) : result;
    }

    /// <summary>Whether it is known what became of a commit: one that found no room may still come about, until a later one is durable.</summary>
    private static async LaneTask<bool> IsDecided(Pool pool, CommitResult result) =>
        result.Status != CommitStatus.NoSpace || (await pool.Commit(new PoolChanged(pool.State.Pool!))).Succeeded;

    private static async LaneTask<CommitResult> Name(Pool pool, OpenVirtualDisk open, TierDescription tier, ImmutableArray<DiskNumber> disks)
    {
        VirtualDiskId id = open.Description.Id;
        CommitResult result = await pool.Commit(new VirtualDiskChanged(WithTier(pool.State.VirtualDisk(id)!, tier, disks)));
        if (!await IsDecided(pool, result))
        {
            open.Home.FailFront(IoError.NoSpace, "it is not known whether a tier was added");
        }

        return pool.State.VirtualDisk(id)?.Part(tier.Number) is not null ? CommitResult.Committed : result;
    }

    private static void Attach(Pool pool, OpenVirtualDisk open, OpenPart part)
    {
        VirtualDiskDescription disk = pool.State.VirtualDisk(open.Description.Id)!;
        TierDescription tier = disk.Part(part.Number)!;
        open.Description = disk;
        open.Add(part);
        open.Tiers!.AddTier(
            new StorageTierStore(part.Space, tier.SizeBytes, (int)disk.SliceSize, disk.ProvisioningType == ProvisioningType.Thin), disk.RankOf(tier.Number));
        open.Disk.Grow(disk.SizeBytes);
        open.Tiering!.LoadPins();
    }
}
