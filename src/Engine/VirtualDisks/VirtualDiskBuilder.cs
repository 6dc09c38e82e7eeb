using TierSpaces.Engine.Caching;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Resiliency.Layouts;
using TierSpaces.Engine.Tiering;

namespace TierSpaces.Engine.VirtualDisks;

/// <summary>A virtual disk with its storeys, or why there is none.</summary>
/// <param name="Disk">The open disk, or null.</param>
/// <param name="Status">What stopped it.</param>
/// <param name="Reason">Why, for people; empty on success.</param>
public readonly record struct VirtualDiskResult(OpenVirtualDisk? Disk, CommitStatus Status, string Reason);

// Stacks the storeys of a virtual disk over a pool and takes them down again.
//
// Creation, in crash order:
//  1. Slabs of the log, of the write cache, and of a fixed disk all rows, are reserved: what does not fit changes nothing. A cache in another
//     pool is lent by that one first.
//  2. Disk (marked as being created), spaces and log rows are committed; then the rows of cache and data, in as many commits as they need.
//  3. The integrity log is formatted, durably.
//  4. The mark is taken off. A disk found with the mark at open is removed again.

/// <summary>Makes, opens, grows and removes virtual disks.</summary>
public static partial class VirtualDiskBuilder
{
    private const long LogBytes = 4 << 20;
    private const int LogBlocksMax = 4096;

    /// <summary>Slabs on each log copy that a disk with this slab size needs.</summary>
    public static int LogRows(SlabGeometry slabs) => (int)Math.Max(1, LogBytes / slabs.DataBytes);

    /// <summary>Copies of the integrity log: as the space has, and at least two where the pool has two disks.</summary>
    public static int LogCopies(int copies, int disks) => Math.Max(copies, Math.Min(2, disks));

    /// <summary>The layout of a virtual disk without tiers.</summary>
    public static SpaceShape ShapeOf(Pool pool, VirtualDiskDescription disk) => ShapeOf(pool, disk, disk.Parts[0]);

    /// <summary>The layout of a part of a virtual disk.</summary>
    public static SpaceShape ShapeOf(Pool pool, VirtualDiskDescription disk, TierDescription part) => new(
        part.NumberOfColumns, part.NumberOfDataCopies, (int)part.Interleave, (int)pool.Slabs.DataBytes, disk.Checksum == ChecksumKind.CRC32C);

    /// <summary>The rows that <see cref="Create"/> would reserve now, or why there is no room. Reserves nothing.</summary>
    internal static bool TryPlan(Pool pool, NewVirtualDiskSpec spec, out VirtualDiskDescription disk, out NewRows rows, out string reason)
    {
        disk = Describe(pool, spec);
        rows = new NewRows();
        bool fits = rows.TryReserve(pool, disk, out reason);
        rows.Release(pool);
        return fits;
    }

    /// <summary>
    /// Rows of data that would fit a new disk now, once its log and its cache have their slabs; −1 where these have no room themselves. So many
    /// can be created, and one more cannot: the slabs or the pages of the metadata area do not suffice.
    /// </summary>
    internal static long LargestRowCount(Pool pool, NewVirtualDiskSpec spec)
    {
        VirtualDiskDescription disk = Describe(pool, spec);
        NewRows rows = new();
        long count = rows.TryReserveLogsAndCache(pool, disk, out _)
            ? pool.Allocator.LargestRowCount(disk.NumberOfColumns, disk.NumberOfDataCopies, AllocationPreferences.For(disk)) : -1;
        rows.Release(pool);
        return count <= 0 ? count : LargestRowCountOfMetadata(pool, spec, count);
    }

    /// <summary>Rows of data of a new disk that the metadata has pages for, at most <paramref name="most"/>.</summary>
    internal static long LargestRowCountOfMetadata(Pool pool, NewVirtualDiskSpec spec, long most)
    {
        VirtualDiskDescription disk = Describe(pool, spec);
        long rowSize = disk.NumberOfColumns * pool.Slabs.DataBytes;
        return new MetadataRoom(pool).Largest(most, rows => disk with { SizeBytes = rows * rowSize });
    }

    /// <summary>The rows that <see cref="Grow"/> would add now, or why there is no room. Reserves nothing.</summary>
    internal static bool TryPlanGrowth(Pool pool, VirtualDiskDescription disk, long sizeBytes, out List<RowMapping> rows, out string reason)
    {
        NewRows more = new();
        long rowSize = ShapeOf(pool, disk).RowSize;
        bool fits = HasPages(pool, disk with { SizeBytes = sizeBytes }, out reason)
            && (disk.ProvisioningType != ProvisioningType.Fixed || more.TryReserveData(pool, disk, 0, (int)((sizeBytes - disk.SizeBytes) / rowSize), out reason));
        more.Release(pool);
        rows = more.Part(0).Data;
        return fits;
    }

    /// <summary>Makes a virtual disk and opens it.</summary>
    public static async LaneTask<VirtualDiskResult> Create(Pool pool, NewVirtualDiskSpec spec)
    {
        VirtualDiskDescription disk = Describe(pool, spec);
        NewRows rows = new();
        NewRows lent = new();
        Pool? lender = disk.IsCacheElsewhere ? CachePoolOf(pool, disk) : null;
        if (!rows.TryReserve(pool, disk, out string reason) || (lender is not null && !lent.TryReserveCache(lender, disk.CacheCopies, disk.WriteCacheSize, out reason)))
        {
            rows.Release(pool);
            lent.Release(lender ?? pool);
            return new VirtualDiskResult(null, CommitStatus.NoSpace, reason);
        }

        CommitResult result = lender is null ? CommitResult.Committed : await Lend(lender, pool.Id, disk, lent);
        result = result.Succeeded ? await CommitNew(pool, disk, rows) : result;
        result = result.Succeeded ? await MapRows(pool, disk.CacheSpace, 0, rows.Cache) : result;
        for (int part = 0; part < disk.Parts.Length && result.Succeeded; part++)
        {
            result = await MapRows(pool, disk.Parts[part].DataSpace, 0, rows.Part(part).Data);
        }

        if (!result.Succeeded)
        {
            rows.Release(pool);
            await Unmake(pool, disk);
            return new VirtualDiskResult(null, result.Status, result.Reason);
        }

        OpenVirtualDisk open = await Stack(pool, disk, isNew: true);
        if (open.Fault == IoError.None && open.Cache is not { IsGone: true })
        {
            result = await pool.Commit(new VirtualDiskChanged(disk with { IsBeingCreated = false }));
            if (result.Succeeded)
            {
                open.Description = pool.State.VirtualDisk(disk.Id)!;
                return new VirtualDiskResult(open, CommitStatus.Committed, "");
            }
        }

        string fault = result.Succeeded ? open.FaultReason + open.Cache?.StateReason : result.Reason;
        await open.Close();
        await Unmake(pool, disk);
        return new VirtualDiskResult(null, result.Succeeded ? CommitStatus.NoQuorum : result.Status, fault);
    }

    /// <summary>Opens a virtual disk of the pool; its space says in Fault whether it can be used.</summary>
    public static async LaneTask<OpenVirtualDisk> Open(Pool pool, VirtualDiskId id)
    {
        if (!pool.State.Pool!.IsReadOnly)
        {
            await RemoveUnnamedSpaces(pool, id);   // where that is not possible now, the next opening does it
        }

        return await Stack(pool, pool.State.VirtualDisk(id)!, isNew: false);
    }

    /// <summary>Takes a virtual disk out of the metadata, punches its slabs and gives them back. It is not open any more.</summary>
    public static async LaneTask<CommitResult> Remove(Pool pool, VirtualDiskId id)
    {
        if (pool.State.VirtualDisk(id) is not { } disk)
        {
            return CommitResult.Committed;
        }

        List<SlabRef> slabs = [];
        List<MetadataRecord> records = [];
        foreach (SpaceState space in pool.State.Spaces.Values.Where(space => space.Description.Owner == id))
        {
            slabs.AddRange(space.EnumerateRows().SelectMany(row => row.Row.Mapping.Sources.ToArray()));
            records.Add(new SpaceRemoved(space.Description.Id));
        }

        records.Add(new VirtualDiskRemoved(id));
        SlabRef[] freed = [.. slabs];
        pool.Allocator.Hold(freed);
        CommitResult result = await pool.Commit([.. records]);
        if (result.Succeeded)
        {
            await PoolSpaceHost.Punch(pool, freed);
            await ForgetRemoved(pool, disk);
        }

        pool.Allocator.LetGo(freed);
        return result;
    }

    /// <summary>The removal of a virtual disk is committed: what it had outside of its pool is given back.</summary>
    internal static async LaneTask<Nothing> ForgetRemoved(Pool pool, VirtualDiskDescription disk)
    {
        await GiveBackLent(pool, disk);
        foreach (TierDescription part in disk.Parts)
        {
            pool.Environment.HostState.ReleaseMemory(NotesName(pool, part.DataSpace));
        }

        return default;
    }

    /// <summary>Makes an open disk without tiers longer: a fixed one gets its rows first.</summary>
    public static LaneTask<CommitResult> Grow(Pool pool, OpenVirtualDisk open, long sizeBytes) =>
        GrowPart(pool, open, 0, open.Description with { SizeBytes = sizeBytes });

    // The description as it will be names the new length of the part. 1. Its rows are reserved and mapped. 2. The description is committed. 3. The
    // space knows them. A crash in between leaves rows beyond the end, which growing again replaces.
    private static async LaneTask<CommitResult> GrowPart(Pool pool, OpenVirtualDisk open, int index, VirtualDiskDescription after)
    {
        VirtualDiskDescription before = open.Description;
        TierDescription part = after.Parts[index];
        OpenPart opened = open.Parts[part.Number];
        long rowSize = ShapeOf(pool, after, part).RowSize;
        int from = (int)((before.Parts[index].SpaceBytes + rowSize - 1) / rowSize);
        int count = (int)((part.SpaceBytes + rowSize - 1) / rowSize) - from;
        NewRows rows = new();
        if (!HasPages(pool, after, out string reason)
            || (before.ProvisioningType == ProvisioningType.Fixed && !rows.TryReserveData(pool, before, index, count, out reason)))
        {
            rows.Release(pool);
            return new CommitResult(CommitStatus.NoSpace, reason);
        }

        List<RowMapping> data = rows.Part(index).Data;
        CommitResult result = await MapRows(pool, part.DataSpace, from, data);
        result = result.Succeeded ? await pool.Commit(new VirtualDiskChanged(after)) : result;
        if (!result.Succeeded)
        {
            rows.Release(pool);
            return result;
        }

        open.Description = pool.State.VirtualDisk(after.Id)!;
        opened.Space.Grow(part.SpaceBytes);
        for (int i = 0; i < data.Count; i++)
        {
            opened.Space.AddOwnedRow(RowOf(pool, from + i, pool.State.Space(part.DataSpace)!.Row(from + i)!));
        }

        open.Tiers?.GrowTier(part.Number, part.SizeBytes);
        open.Disk.Grow(after.SizeBytes);
        return result;
    }

    /// <summary>Whether the metadata can describe a disk as it would be, or why not.</summary>
    internal static bool HasPages(Pool pool, VirtualDiskDescription after, out string reason)
    {
        reason = new MetadataRoom(pool).WhyNot(after);
        return reason.Length == 0;
    }

    private static VirtualDiskDescription Describe(Pool pool, NewVirtualDiskSpec spec)
    {
        uint next = pool.State.NextSpace.Value;
        VirtualDiskDescription disk = new()
        {
            Id = new VirtualDiskId(pool.Environment.Lane.NewGuid()),
            FriendlyName = spec.FriendlyName,
            ResiliencySettingName = spec.ResiliencySettingName,
            SizeBytes = spec.SizeBytes,
            NumberOfColumns = (ushort)spec.NumberOfColumns,
            NumberOfDataCopies = (ushort)spec.NumberOfDataCopies,
            PhysicalDiskRedundancy = (ushort)(spec.NumberOfDataCopies - 1),
            Interleave = (uint)spec.Interleave,
            LogicalSectorSize = (ushort)spec.LogicalSectorSize,
            PhysicalSectorSize = (ushort)spec.PhysicalSectorSize,
            ProvisioningType = spec.ProvisioningType,
            Checksum = spec.Checksum,
            MediaTypeCode = spec.MediaTypeCode,
            FaultDomainAwareness = spec.FaultDomainAwareness,
            AllowedDisks = spec.AllowedDisks,
            WriteCacheSize = spec.WriteCacheSize,
            Destage = spec.Destage,
            IsManualAttach = spec.IsManualAttach,
            Usage = spec.Usage,
            OtherUsageDescription = spec.OtherUsageDescription,
            IsBeingCreated = true,
            CreatedUtcTicks = pool.Environment.Lane.UtcNow.UtcTicks,
            SliceSize = (uint)spec.SliceSize,
        };
        disk = spec.Tiers.IsDefaultOrEmpty ? disk with { DataSpace = NewSpace(true), LogSpace = NewSpace(HasLog(spec.Checksum, spec.NumberOfDataCopies)) }
            : disk with { SizeBytes = spec.Tiers.Sum(static tier => tier.SizeBytes), Tiers = [.. spec.Tiers.Select(DescribeTier)] };
        disk = disk with { CachePool = spec.CachePool };
        return !disk.IsCacheElsewhere ? disk with { CacheSpace = NewSpace(spec.WriteCacheSize > 0) }
            : disk with { CacheSpace = spec.WriteCacheSize > 0 && CachePoolOf(pool, disk) is { } lender ? lender.State.NextSpace : SpaceId.None };

        SpaceId NewSpace(bool isWanted) => isWanted ? new SpaceId(next++) : SpaceId.None;

        TierDescription DescribeTier(NewTierSpec tier, int index) => DescribeNew(pool, spec, index) with
        {
            Number = index,
            DataSpace = NewSpace(true),
            LogSpace = NewSpace(HasLog(spec.Checksum, tier.NumberOfDataCopies)),
        };
    }

    private static bool HasLog(ChecksumKind checksum, int copies) => checksum == ChecksumKind.CRC32C || copies > 1;

    private static async LaneTask<CommitResult> CommitNew(Pool pool, VirtualDiskDescription disk, NewRows rows)
    {
        List<MetadataRecord> records = [new VirtualDiskCreated(disk)];
        for (int i = 0; i < disk.Parts.Length; i++)
        {
            records.AddRange(RecordsOf(disk.Id, disk.Parts[i], rows.Part(i).Log));
        }

        if (disk.CacheSpace != SpaceId.None && !disk.IsCacheElsewhere)
        {
            records.Add(new SpaceCreated(new SpaceDescription(disk.CacheSpace, disk.Id, SpaceKind.WriteCache, 1, disk.CacheCopies)));
        }

        return await pool.Commit([.. records]);
    }

    /// <summary>The spaces of a part, and the rows of its log.</summary>
    private static IEnumerable<MetadataRecord> RecordsOf(VirtualDiskId owner, TierDescription part, List<RowMapping> log)
    {
        yield return new SpaceCreated(new SpaceDescription(part.DataSpace, owner, SpaceKind.Data, part.NumberOfColumns, part.NumberOfDataCopies));
        if (part.LogSpace != SpaceId.None)
        {
            ushort copies = (ushort)log[0].Sources.Length;
            yield return new SpaceCreated(new SpaceDescription(part.LogSpace, owner, SpaceKind.IntegrityLog, 1, copies));
            yield return new RowsMapped(part.LogSpace, 0, copies, [.. log]);
        }
    }

    private static async LaneTask<CommitResult> MapRows(Pool pool, SpaceId space, int first, List<RowMapping> rows)
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

    private static async LaneTask<OpenVirtualDisk> Stack(Pool pool, VirtualDiskDescription disk, bool isNew)
    {
        List<OpenPart> parts = [];
        foreach (TierDescription part in disk.Parts.OrderBy(static part => part.Number))
        {
            parts.Add(await OpenSpace(pool, disk, part, isNew));
        }

        IHomeStore home = disk.IsTiered ? TiersOf(pool, disk, parts) : parts[0].Space;
        (WriteCache? cache, LentCache? lent) = await StackCache(pool, disk, home, parts[0].Host, isNew);
        VirtualDisk top = new(pool.Environment.Lane, home, cache, disk.SizeBytes, disk.LogicalSectorSize, disk.IsReadOnly);
        DiskTiering? tiering = home is TieredStore tiers ? await DiskTiering.Open(pool, disk, tiers, isNew) : null;
        top.Heat = tiering?.Heat;
        if (!pool.State.Pool!.IsReadOnly)
        {
            tiering?.Store.GiveLeftoversBack();
        }

        return new OpenVirtualDisk(pool, disk, top, home, parts, tiering) { Lent = lent };
    }

    private static async LaneTask<OpenPart> OpenSpace(Pool pool, VirtualDiskDescription disk, TierDescription part, bool isNew)
    {
        SpaceShape shape = ShapeOf(pool, disk, part);
        PoolSpaceHost host = new(pool, disk.Id, part);
        SpaceOptions options = new()
        {
            Space = part.DataSpace.Value,
            PoolTag = BitConverter.ToUInt64(pool.Id.Value.ToByteArray()),
            Shape = shape,
            Length = part.SpaceBytes,
            IsThin = disk.ProvisioningType == ProvisioningType.Thin,
            Rows = [.. pool.State.Space(part.DataSpace)!.EnumerateRows().Select(row => RowOf(pool, row.Index, row.Row))],
            LogCopies = shape.HasLog ? CopiesOf(pool, pool.State.Space(part.LogSpace)!) : [],
            StaleLogCopies = shape.HasLog ? StaleCopiesOf(pool.State.Space(part.LogSpace)!) : 0,
            LogOwner = OwnerOf(pool, part.LogSpace),
            LogBlocksMax = LogBlocksMax,
            HedgeAfterNs = (pool.Environment.Deadlines ?? IoDeadlines.Default).HedgeNs,
            CrashNotes = shape.Checksums ? pool.Environment.HostState.MapMemory(NotesName(pool, part.DataSpace), pool.Environment.CrashNotesBytes) : null,
        };
        host.Space = isNew ? await Space.Create(host, options) : await Space.Open(host, options);
        return new OpenPart(part.Number, host.Space, host, NotesName(pool, part.DataSpace));
    }

    private static SpaceRowMap RowOf(Pool pool, int index, RowState row)
    {
        SlabRef[] slabs = row.Mapping.Sources.ToArray();
        ushort[] stale = new ushort[slabs.Length];
        for (int position = 0; position < stale.Length; position++)
        {
            stale[position] = row.Stale(position);
        }

        return new SpaceRowMap(index, Array.ConvertAll(slabs, slab => PoolSpaceHost.PlaceOf(pool, slab)), row.Mapping.IsInitialized, stale);
    }

    /// <summary>The copies of a ring: slabs that follow each other.</summary>
    private static List<IReadOnlyList<SlabPlace>> CopiesOf(Pool pool, SpaceState ring)
    {
        List<IReadOnlyList<SlabPlace>> copies = [];
        for (int copy = 0; copy < ring.Description.Copies; copy++)
        {
            int position = copy;
            copies.Add([.. ring.EnumerateRows().Select(row => PoolSpaceHost.PlaceOf(pool, row.Row.Mapping.Sources[position]))]);
        }

        return copies;
    }

    private static int StaleCopiesOf(SpaceState ring)
    {
        int stale = 0;
        foreach ((int _, RowState row) in ring.EnumerateRows())
        {
            for (int copy = 0; copy < ring.Description.Copies; copy++)
            {
                stale |= row.Stale(copy) != 0 ? 1 << copy : 0;
            }
        }

        return stale;
    }

    private static Guid OwnerOf(Pool pool, SpaceId ring)
    {
        byte[] owner = pool.Id.Value.ToByteArray();
        BitConverter.TryWriteBytes(owner.AsSpan(12), BitConverter.ToUInt32(owner, 12) ^ ring.Value);
        return new Guid(owner);
    }

    private static string NotesName(Pool pool, SpaceId data) => $"notes-{pool.Id.Value:N}-{data.Value}";
}
