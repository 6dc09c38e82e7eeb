using TierSpaces.Engine.Caching;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.VirtualDisks;

/// <summary>A virtual disk with its storeys, or why there is none.</summary>
/// <param name="Disk">The open disk, or null.</param>
/// <param name="Status">What stopped it.</param>
/// <param name="Reason">Why, for people; empty on success.</param>
public readonly record struct VirtualDiskResult(OpenVirtualDisk? Disk, CommitStatus Status, string Reason);

// Stacks the storeys of a virtual disk over a pool and takes them down again.
//
// Creation, in crash order:
//  1. Slabs of the log, of the write cache, and of a fixed disk all rows, are reserved: what does not fit changes nothing.
//  2. Disk (marked as being created), spaces and log rows are committed; then the rows of cache and data, in as many commits as they need.
//  3. The integrity log is formatted, durably.
//  4. The mark is taken off. A disk found with the mark at open is removed again.

/// <summary>Makes, opens, grows and removes virtual disks.</summary>
public static partial class VirtualDiskBuilder
{
    private const long LogBytes = 4 << 20;
    private const int LogBlocksMax = 4096;
    private const int CrashNotesBytes = 8 << 20;

    /// <summary>Slabs on each log copy that a disk with this slab size needs.</summary>
    public static int LogRows(SlabGeometry slabs) => (int)Math.Max(1, LogBytes / slabs.DataBytes);

    /// <summary>Copies of the integrity log: as the space has, and at least two where the pool has two disks.</summary>
    public static int LogCopies(int copies, int disks) => Math.Max(copies, Math.Min(2, disks));

    /// <summary>The layout of a virtual disk.</summary>
    public static SpaceShape ShapeOf(Pool pool, VirtualDiskDescription disk) => new(
        disk.NumberOfColumns, disk.NumberOfDataCopies, (int)disk.Interleave, (int)pool.Slabs.DataBytes, disk.Checksum == ChecksumKind.CRC32C);

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
    /// Rows of data that would fit a new disk now, once its log and its cache have their slabs; −1 where these have no room themselves. Exact:
    /// that many can be created, and one more cannot.
    /// </summary>
    internal static long LargestRowCount(Pool pool, NewVirtualDiskSpec spec)
    {
        VirtualDiskDescription disk = Describe(pool, spec);
        NewRows rows = new();
        long count = rows.TryReserveLogAndCache(pool, disk, out _)
            ? pool.Allocator.LargestRowCount(disk.NumberOfColumns, disk.NumberOfDataCopies, AllocationPreferences.For(disk)) : -1;
        rows.Release(pool);
        return count;
    }

    /// <summary>The rows that <see cref="Grow"/> would add now, or why there is no room. Reserves nothing.</summary>
    internal static bool TryPlanGrowth(Pool pool, VirtualDiskDescription disk, long sizeBytes, out List<RowMapping> rows, out string reason)
    {
        NewRows more = new();
        reason = "";
        long rowSize = ShapeOf(pool, disk).RowSize;
        bool fits = disk.ProvisioningType != ProvisioningType.Fixed || more.TryReserveData(pool, disk, (int)((sizeBytes - disk.SizeBytes) / rowSize), out reason);
        more.Release(pool);
        rows = more.Data;
        return fits;
    }

    /// <summary>Makes a virtual disk and opens it.</summary>
    public static async LaneTask<VirtualDiskResult> Create(Pool pool, NewVirtualDiskSpec spec)
    {
        VirtualDiskDescription disk = Describe(pool, spec);
        NewRows rows = new();
        if (!rows.TryReserve(pool, disk, out string reason))
        {
            rows.Release(pool);
            return new VirtualDiskResult(null, CommitStatus.NoSpace, reason);
        }

        CommitResult result = await CommitNew(pool, disk, rows.Log);
        result = result.Succeeded ? await MapRows(pool, disk.CacheSpace, 0, rows.Cache) : result;
        result = result.Succeeded ? await MapRows(pool, disk.DataSpace, 0, rows.Data) : result;
        if (!result.Succeeded)
        {
            rows.Release(pool);
            await Remove(pool, disk.Id);
            return new VirtualDiskResult(null, result.Status, result.Reason);
        }

        OpenVirtualDisk open = await Stack(pool, disk, isNew: true);
        if (open.Disk.Space.Fault == IoError.None && open.Cache is not { State: WriteCacheState.Lost })
        {
            result = await pool.Commit(new VirtualDiskChanged(disk with { IsBeingCreated = false }));
            if (result.Succeeded)
            {
                open.Description = pool.State.VirtualDisk(disk.Id)!;
                return new VirtualDiskResult(open, CommitStatus.Committed, "");
            }
        }

        string fault = result.Succeeded ? open.Disk.Space.FaultReason + open.Cache?.StateReason : result.Reason;
        await open.Close();
        await Remove(pool, disk.Id);
        return new VirtualDiskResult(null, result.Succeeded ? CommitStatus.NoQuorum : result.Status, fault);
    }

    /// <summary>Opens a virtual disk of the pool; its space says in Fault whether it can be used.</summary>
    public static LaneTask<OpenVirtualDisk> Open(Pool pool, VirtualDiskId id) => Stack(pool, pool.State.VirtualDisk(id)!, isNew: false);

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
            pool.Environment.HostState.ReleaseMemory(NotesName(pool, disk));
        }

        pool.Allocator.Release(freed);
        return result;
    }

    /// <summary>Makes an open disk longer: a fixed one gets its rows first.</summary>
    public static async LaneTask<CommitResult> Grow(Pool pool, OpenVirtualDisk open, long sizeBytes)
    {
        VirtualDiskDescription disk = open.Description;
        SpaceShape shape = ShapeOf(pool, disk);
        int from = (int)((disk.SizeBytes + shape.RowSize - 1) / shape.RowSize);
        int rowsNeeded = (int)((sizeBytes + shape.RowSize - 1) / shape.RowSize);
        NewRows rows = new();
        if (disk.ProvisioningType == ProvisioningType.Fixed && !rows.TryReserveData(pool, disk, rowsNeeded - from, out string reason))
        {
            rows.Release(pool);
            return new CommitResult(CommitStatus.NoSpace, reason);
        }

        CommitResult result = await MapRows(pool, disk.DataSpace, from, rows.Data);
        result = result.Succeeded ? await pool.Commit(new VirtualDiskChanged(disk with { SizeBytes = sizeBytes })) : result;
        if (!result.Succeeded)
        {
            rows.Release(pool);
            return result;
        }

        open.Description = pool.State.VirtualDisk(disk.Id)!;
        open.Disk.Grow(sizeBytes);
        for (int i = 0; i < rows.Data.Count; i++)
        {
            open.Disk.Space.AddOwnedRow(RowOf(pool, from + i, pool.State.Space(disk.DataSpace)!.Row(from + i)!));
        }

        return result;
    }

    private static VirtualDiskDescription Describe(Pool pool, NewVirtualDiskSpec spec)
    {
        bool hasLog = spec.Checksum == ChecksumKind.CRC32C || spec.NumberOfDataCopies > 1;
        SpaceId data = pool.State.NextSpace;
        SpaceId next = new(data.Value + 1);
        return new VirtualDiskDescription
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
            DataSpace = data,
            LogSpace = hasLog ? next : SpaceId.None,
            CacheSpace = spec.WriteCacheSize == 0 ? SpaceId.None : hasLog ? new SpaceId(next.Value + 1) : next,
        };
    }

    private static async LaneTask<CommitResult> CommitNew(Pool pool, VirtualDiskDescription disk, List<RowMapping> logRows)
    {
        List<MetadataRecord> records =
        [
            new VirtualDiskCreated(disk),
            new SpaceCreated(new SpaceDescription(disk.DataSpace, disk.Id, SpaceKind.Data, disk.NumberOfColumns, disk.NumberOfDataCopies)),
        ];
        if (disk.LogSpace != SpaceId.None)
        {
            ushort copies = (ushort)logRows[0].Sources.Length;
            records.Add(new SpaceCreated(new SpaceDescription(disk.LogSpace, disk.Id, SpaceKind.IntegrityLog, 1, copies)));
            records.Add(new RowsMapped(disk.LogSpace, 0, copies, [.. logRows]));
        }

        if (disk.CacheSpace != SpaceId.None)
        {
            records.Add(new SpaceCreated(new SpaceDescription(disk.CacheSpace, disk.Id, SpaceKind.WriteCache, 1, disk.NumberOfDataCopies)));
        }

        return await pool.Commit([.. records]);
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
        SpaceShape shape = ShapeOf(pool, disk);
        PoolSpaceHost host = new(pool, disk.Id);
        SpaceOptions options = new()
        {
            Space = disk.DataSpace.Value,
            PoolTag = BitConverter.ToUInt64(pool.Id.Value.ToByteArray()),
            Shape = shape,
            Length = disk.SizeBytes,
            IsThin = disk.ProvisioningType == ProvisioningType.Thin,
            Rows = [.. pool.State.Space(disk.DataSpace)!.EnumerateRows().Select(row => RowOf(pool, row.Index, row.Row))],
            LogCopies = shape.HasLog ? CopiesOf(pool, pool.State.Space(disk.LogSpace)!) : [],
            StaleLogCopies = shape.HasLog ? StaleCopiesOf(pool.State.Space(disk.LogSpace)!) : 0,
            LogOwner = OwnerOf(pool, disk.LogSpace),
            LogBlocksMax = LogBlocksMax,
            HedgeAfterNs = (pool.Environment.Deadlines ?? IoDeadlines.Default).HedgeNs,
            CrashNotes = shape.Checksums ? pool.Environment.HostState.MapMemory(NotesName(pool, disk), CrashNotesBytes) : null,
        };
        Space space = isNew ? await Space.Create(host, options) : await Space.Open(host, options);
        host.Space = space;
        WriteCache? cache = disk.CacheSpace == SpaceId.None || space.Fault != IoError.None ? null
            : isNew ? await WriteCache.Create(pool.Environment.Lane, space, CacheOptions(pool, host, disk))
            : await WriteCache.Open(pool.Environment.Lane, space, CacheOptions(pool, host, disk));
        VirtualDisk top = new(pool.Environment.Lane, space, cache, disk.SizeBytes, disk.LogicalSectorSize, disk.IsReadOnly);
        return new OpenVirtualDisk(pool, disk, top, host, NotesName(pool, disk));
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

    private static string NotesName(Pool pool, VirtualDiskDescription disk) => $"notes-{pool.Id.Value:N}-{disk.DataSpace.Value}";
}
