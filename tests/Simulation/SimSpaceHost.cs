using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Simulation;

/// <summary>The pool's metadata of one space: durable as soon as it is set, copied with the world.</summary>
public sealed class SimSpaceMap
{
    private readonly HashSet<int> _evicted = [];

    /// <summary>Rows in the map, by index.</summary>
    public Dictionary<int, SpaceRowMap> Rows { get; } = [];

    /// <summary>Disks out of the view.</summary>
    public IReadOnlySet<int> Evicted => _evicted;

    /// <summary>Counts the changes of <see cref="Evicted"/>.</summary>
    public int Version { get; private set; }

    /// <summary>Copies of the integrity log that miss blocks, bit per copy.</summary>
    public int StaleLogCopies { get; set; }

    /// <summary>Copies of the write cache that miss records, bit per copy.</summary>
    public int StaleCacheCopies { get; set; }

    /// <summary>Slabs in use: (disk, slab).</summary>
    public HashSet<(int Disk, int Slab)> Used { get; } = [];

    /// <summary>Takes a disk out of the view; whether it was in it.</summary>
    public bool Evict(int disk)
    {
        Version++;
        return _evicted.Add(disk);
    }

    /// <summary>A disk is in the view again.</summary>
    public void Return(int disk)
    {
        Version++;
        _evicted.Remove(disk);
    }

    /// <summary>An independent copy.</summary>
    public SimSpaceMap Clone()
    {
        SimSpaceMap copy = new() { StaleLogCopies = StaleLogCopies, StaleCacheCopies = StaleCacheCopies };
        foreach ((int index, SpaceRowMap row) in Rows)
        {
            copy.Rows[index] = row with { Stale = (ushort[])row.Stale.Clone() };
        }

        copy._evicted.UnionWith(Evicted);
        copy.Used.UnionWith(Used);
        return copy;
    }
}

/// <summary>A pool reduced to what one space sees of it: slabs, a map that is durable at once, a view.</summary>
public sealed class SimSpaceHost(SimLane lane, SpaceShape shape, IDisk[] disks, SimSpaceMap map) : ISpaceHost
{
    private readonly Dictionary<int, (SlabPlace[] Places, List<(int, int)> Slabs)> _reserved = [];

    /// <summary>Reports of the space on the disks, by finding.</summary>
    public Dictionary<DiskFinding, int> Reports { get; } = [];

    /// <summary>Fault: clearing a stale mark returns ENOSPC and is applied all the same, as in a pool whose file system was full too long.</summary>
    public bool ClearsInDoubt { get; set; }

    /// <summary>Fault: stale marks are not recorded.</summary>
    public bool RefusesMarks { get; set; }

    private readonly HashSet<int> _leaving = [];   // not out of the view durably yet
    private readonly HashSet<int> _evicting = [];   // or what they miss is not marked yet

    private MemberTable? _table;
    private (int Map, int Leaving) _tableVersion;
    private int _leavingVersion;

    /// <summary>Whether its eviction, with the marks of what it misses, is not complete; a pool lets no disk return before.</summary>
    public bool IsBeingEvicted(int number) => _evicting.Contains(number);

    /// <summary>Whether a disk is in the view.</summary>
    public bool IsInView(int number) => !map.Evicted.Contains(number);

    /// <summary>The space that evictions are reported to.</summary>
    public Space? Space { get; set; }

    /// <inheritdoc/>
    public ILane Lane => lane;

    /// <summary>Slabs of one disk.</summary>
    public int SlabsPerDisk => (int)(disks[0].Geometry.Length / Stride(shape));

    /// <summary>Bytes of a slab with its checksum pages.</summary>
    public static long Stride(SpaceShape shape) => shape.SlabSize + (shape.PagesPerSlab * 4096L);

    /// <summary>Where a slab is.</summary>
    public static SlabPlace Place(SpaceShape shape, int disk, int slab) =>
        new(disk, slab * Stride(shape), (slab * Stride(shape)) + (shape.PagesPerSlab * 4096L));

    /// <inheritdoc/>
    public MemberTable Members
    {
        get
        {
            if (_table is null || _tableVersion != (map.Version, _leavingVersion))
            {
                _tableVersion = (map.Version, _leavingVersion);
                _table = new MemberTable([.. disks.Select((disk, i) => map.Evicted.Contains(i) ? null : disk)], [.. _leaving]);
            }

            return _table;
        }
    }

    /// <inheritdoc/>
    public async LaneTask<RowGrant> ReserveRow(uint space, int row)
    {
        await lane.Delay(1000 + lane.Next(100_000));
        if (map.Rows.TryGetValue(row, out SpaceRowMap? owned))
        {
            return new RowGrant(IoError.None, owned.Places);
        }

        List<int> order = [.. Enumerable.Range(0, disks.Length).Where(disk => Free(disk) > 0)];
        order.Sort((a, b) => (map.Evicted.Contains(a), -Free(a)).CompareTo((map.Evicted.Contains(b), -Free(b))));   // those that are away last
        if (order.Count < shape.Positions || map.Evicted.Contains(order[(shape.Parities > 0 ? shape.DataColumns : shape.Columns) - 1]))
        {
            return new RowGrant(IoError.NoSpace, []);
        }

        List<(int, int)> slabs = [];
        for (int position = 0; position < shape.Positions; position++)
        {
            int disk = order[(position % shape.Copies * shape.Columns) + (position / shape.Copies)];
            int slab = Enumerable.Range(0, SlabsPerDisk).First(s => !map.Used.Contains((disk, s)));
            map.Used.Add((disk, slab));
            slabs.Add((disk, slab));
        }

        SlabPlace[] places = [.. slabs.Select(s => Place(shape, s.Item1, s.Item2))];
        _reserved[row] = (places, slabs);
        return new RowGrant(IoError.None, places);
    }

    /// <inheritdoc/>
    public async LaneTask<IoError> CommitRow(uint space, int row)
    {
        await lane.Delay(1000 + lane.Next(100_000));
        map.Rows[row] = _reserved.Remove(row, out (SlabPlace[] Places, List<(int, int)> Slabs) reserved)
            ? new SpaceRowMap(row, reserved.Places, true, new ushort[shape.Positions])
            : map.Rows[row] with { Initialized = true };
        return IoError.None;
    }

    /// <inheritdoc/>
    public async LaneTask<IoError> OwnRow(uint space, int row)
    {
        await lane.Delay(1000 + lane.Next(100_000));
        _reserved.Remove(row, out (SlabPlace[] Places, List<(int, int)> Slabs) reserved);
        map.Rows[row] = new SpaceRowMap(row, reserved.Places, false, new ushort[shape.Positions]);
        return IoError.None;
    }

    /// <inheritdoc/>
    public void CancelRow(uint space, int row)
    {
        if (_reserved.Remove(row, out (SlabPlace[] Places, List<(int, int)> Slabs) reserved))
        {
            map.Used.ExceptWith(reserved.Slabs);
        }
    }

    /// <inheritdoc/>
    public async LaneTask<IoError> FreeRow(uint space, int row)
    {
        await lane.Delay(1000 + lane.Next(100_000));
        map.Rows.Remove(row, out SpaceRowMap? old);
        foreach (SlabPlace place in old!.Places)
        {
            if (Members.Disk(place.Disk) is { } disk)
            {
                await disk.WriteZeroes(place.PagesOffset, Stride(shape), WriteFlags.None);
            }

            map.Used.Remove((place.Disk, (int)(place.PagesOffset / Stride(shape))));
        }

        return IoError.None;
    }

    /// <inheritdoc/>
    public async LaneTask<IoError> MarkStale(uint space, int row, int position, ushort regions)
    {
        await lane.Delay(1000 + lane.Next(100_000));
        map.Rows[row].Stale[position] |= RefusesMarks ? (ushort)0 : regions;
        return RefusesMarks ? IoError.NoSpace : IoError.None;
    }

    /// <inheritdoc/>
    public async LaneTask<IoError> ClearStale(uint space, int row, int position, ushort regions)
    {
        await lane.Delay(1000 + lane.Next(100_000));
        map.Rows[row].Stale[position] &= (ushort)~regions;
        return ClearsInDoubt ? IoError.NoSpace : IoError.None;
    }

    /// <inheritdoc/>
    public async LaneTask<IoError> MarkLogStale(uint space, int copy)
    {
        await lane.Delay(1000 + lane.Next(100_000));
        map.StaleLogCopies |= 1 << copy;
        return IoError.None;
    }

    /// <inheritdoc/>
    public async LaneTask<IoError> ClearLogStale(uint space, int copy)
    {
        await lane.Delay(1000 + lane.Next(100_000));
        map.StaleLogCopies &= ~(1 << copy);
        return ClearsInDoubt ? IoError.NoSpace : IoError.None;
    }

    /// <inheritdoc/>
    public async LaneTask<IoError> Evict(int disk, string reason)
    {
        while (_evicting.Contains(disk))
        {
            await lane.Delay(1000);
        }

        if (map.Evict(disk))
        {
            _leaving.Add(disk);
            _leavingVersion++;
            _evicting.Add(disk);
            disks[disk].Disconnect();
            await lane.Delay(1000 + lane.Next(100_000));
            _leaving.Remove(disk);
            _leavingVersion++;
            IoError error = Space is null ? IoError.None : await Space.OnDiskLost(disk);
            _evicting.Remove(disk);
            return error;
        }

        return IoError.None;
    }

    /// <summary>A row as the map has it, or null.</summary>
    public SpaceRowMap? Row(int index) => map.Rows.GetValueOrDefault(index);

    /// <inheritdoc/>
    public void Report(int disk, DiskFinding finding, int count, long offset) => Reports[finding] = Reports.GetValueOrDefault(finding) + count;

    /// <summary>Moves a slab chosen at random to a disk that its row is not on, its own disk there or not.</summary>
    public async LaneTask<RepairEnd> MoveSome(IWorkPacer pacer)
    {
        int[] rows = [.. map.Rows.Keys];
        if (rows.Length == 0)
        {
            return RepairEnd.Incomplete;
        }

        int row = rows[lane.Next(rows.Length)];
        int position = lane.Next(shape.Positions);
        int to = Enumerable.Range(0, disks.Length).FirstOrDefault(
            disk => !map.Evicted.Contains(disk) && Free(disk) > 0 && !map.Rows[row].Places.Any(place => place.Disk == disk), -1);
        return to < 0 ? RepairEnd.Incomplete : await Move(row, position, to, pacer);
    }

    /// <summary>Moves a slab to another disk; <paramref name="whileCommitting"/> happens before the map with the new place is in force.</summary>
    public async LaneTask<RepairEnd> Move(int row, int position, int to, IWorkPacer pacer, Func<LaneTask>? whileCommitting = null)
    {
        SlabPlace old = map.Rows[row].Places[position];
        int slab = Enumerable.Range(0, SlabsPerDisk).First(s => !map.Used.Contains((to, s)));
        map.Used.Add((to, slab));
        SlabPlace target = Place(shape, to, slab);
        RepairEnd end = await Space!.Move(row, position, old, target, Commit, pacer);
        SlabPlace free = end == RepairEnd.Done ? old : target;
        if (end == RepairEnd.Done && Members.Disk(old.Disk) is { } disk)
        {
            await disk.WriteZeroes(old.PagesOffset, Stride(shape), WriteFlags.None);
        }

        map.Used.Remove((free.Disk, (int)(free.PagesOffset / Stride(shape))));
        return end;

        async LaneTask<IoError> Commit()
        {
            await lane.Delay(1000 + lane.Next(100_000));
            if (whileCommitting is not null)
            {
                await whileCommitting();
            }

            SpaceRowMap now = map.Rows[row];
            if (now.Places[position] != old || now.Places.Any(place => place.Disk == to))
            {
                return IoError.Io;   // another move of the row was faster: a pool's state refuses this one
            }

            SlabPlace[] places = (SlabPlace[])now.Places.Clone();
            ushort[] stale = (ushort[])now.Stale.Clone();
            places[position] = target;
            stale[position] = 0;
            map.Rows[row] = now with { Places = places, Stale = stale };
            return IoError.None;
        }
    }

    private int Free(int disk) => SlabsPerDisk - map.Used.Count(slab => slab.Disk == disk);
}
