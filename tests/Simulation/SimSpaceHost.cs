using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Simulation;

/// <summary>What the pool's metadata would hold of one space: durable as soon as it is set, copied with the world.</summary>
public sealed class SimSpaceMap
{
    /// <summary>Rows in the map, by index.</summary>
    public Dictionary<int, SpaceRowMap> Rows { get; } = [];

    /// <summary>Disks out of the view.</summary>
    public HashSet<int> Evicted { get; } = [];

    /// <summary>Slabs in use: (disk, slab).</summary>
    public HashSet<(int Disk, int Slab)> Used { get; } = [];

    /// <summary>An independent copy.</summary>
    public SimSpaceMap Clone()
    {
        SimSpaceMap copy = new();
        foreach ((int index, SpaceRowMap row) in Rows)
        {
            copy.Rows[index] = row with { Stale = (ushort[])row.Stale.Clone() };
        }

        copy.Evicted.UnionWith(Evicted);
        copy.Used.UnionWith(Used);
        return copy;
    }
}

/// <summary>A pool reduced to what one space sees of it: slabs, a map that is durable at once, a view.</summary>
public sealed class SimSpaceHost(SimLane lane, SpaceShape shape, SimDisk[] disks, SimSpaceMap map) : ISpaceHost
{
    private readonly Dictionary<int, (SlabPlace[] Places, List<(int, int)> Slabs)> _reserved = [];

    /// <summary>The space that evictions are reported to.</summary>
    public Space? Space { get; set; }

    /// <inheritdoc/>
    public ILane Lane => lane;

    /// <summary>Slabs of one disk.</summary>
    public int SlabsPerDisk => (int)(disks[0].Media.Length / Stride(shape));

    /// <summary>Bytes of a slab with its checksum pages.</summary>
    public static long Stride(SpaceShape shape) => shape.SlabSize + (shape.PagesPerSlab * 4096L);

    /// <summary>Where a slab is.</summary>
    public static SlabPlace Place(SpaceShape shape, int disk, int slab) =>
        new(disk, slab * Stride(shape), (slab * Stride(shape)) + (shape.PagesPerSlab * 4096L));

    /// <inheritdoc/>
    public IDisk? Disk(int number) => map.Evicted.Contains(number) ? null : disks[number];

    /// <inheritdoc/>
    public async LaneTask<RowGrant> ReserveRow(uint space, int row)
    {
        await lane.Delay(1000 + lane.Next(100_000));
        List<int> order = [.. Enumerable.Range(0, disks.Length).Where(disk => !map.Evicted.Contains(disk))];
        order.Sort((a, b) => Free(b).CompareTo(Free(a)));
        if (order.Count < shape.Positions || Free(order[shape.Positions - 1]) == 0)
        {
            return new RowGrant(IoError.NoSpace, []);
        }

        List<(int, int)> slabs = [];
        for (int position = 0; position < shape.Positions; position++)
        {
            int disk = order[position];
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
        _reserved.Remove(row, out (SlabPlace[] Places, List<(int, int)> Slabs) reserved);
        map.Rows[row] = new SpaceRowMap(row, reserved.Places, true, new ushort[shape.Positions]);
        return IoError.None;
    }

    /// <inheritdoc/>
    public void AbandonRow(uint space, int row)
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
            if (Disk(place.Disk) is { } disk)
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
        map.Rows[row].Stale[position] |= regions;
        return IoError.None;
    }

    /// <inheritdoc/>
    public async LaneTask<IoError> Evict(int disk, string reason)
    {
        if (map.Evicted.Add(disk))
        {
            await lane.Delay(1000 + lane.Next(100_000));
            if (Space is not null)
            {
                return await Space.OnDiskLost(disk);
            }
        }

        return IoError.None;
    }

    private int Free(int disk) => SlabsPerDisk - map.Used.Count(slab => slab.Disk == disk);
}
