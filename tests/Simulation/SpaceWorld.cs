using TierSpaces.Engine.Caching;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Resiliency.Layouts;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Simulation;

/// <summary>
/// Disks, map and host memory of one space at one instant, and the engine opened on them. A fork copies the instant, so that a running
/// world can be cut at any point and recovered beside itself.
/// </summary>
public sealed class SpaceWorld : ISimWorld
{
    private const int LogBlocks = 56;   // its reserve takes three openings cut short one after another
    private const int ParityJournalBlocks = 64;

    private readonly SpaceScenario _scenario;
    private readonly SimMedia[] _media;
    private readonly SimSpaceMap _map;
    private readonly SimHostState _state;
    private readonly DiskWatch _watch;
    private readonly IDisk[] _members;   // the disks as the space uses them: with deadlines, and each reopened when it has come back

    private SpaceWorld(SpaceScenario scenario, ulong seed, SimMedia[] media, SimSpaceMap map, SimHostState state)
    {
        _scenario = scenario;
        _media = media;
        _map = map;
        _state = state;
        Lane = new SimLane(seed);
        Disks = Array.ConvertAll(media, medium => new SimDisk(Lane, medium));
        _watch = new DiskWatch(Lane);
        _members = Array.ConvertAll<SimDisk, IDisk>(Disks, disk => new MeteredDisk(Lane, disk, _watch));
        Host = new SimSpaceHost(Lane, scenario.Shape, _members, map);
    }

    /// <summary>Lane of this world.</summary>
    public SimLane Lane { get; }

    /// <summary>Disks.</summary>
    public SimDisk[] Disks { get; }

    /// <summary>The pool reduced.</summary>
    public SimSpaceHost Host { get; }

    /// <summary>The space, once opened.</summary>
    public Space Space { get; private set; } = null!;

    /// <inheritdoc/>
    public SpaceSet Spaces => new([Space]);

    /// <inheritdoc/>
    public string FaultReason => Space.FaultReason;

    /// <inheritdoc/>
    public IBlockStore Store => Cache is null ? Space : Cache;

    /// <summary>The write cache in front of it, or null.</summary>
    public WriteCache? Cache { get; private set; }

    /// <summary>Copies of the write cache that are recorded as stale, bit per copy.</summary>
    public int StaleCacheCopies => _map.StaleCacheCopies;

    /// <summary>Copies of the integrity log that are recorded as stale, bit per copy.</summary>
    public int StaleLogCopies => _map.StaleLogCopies;

    /// <summary>Fault: recording that a copy of the write cache is stale takes so many nanoseconds more.</summary>
    public Func<int, long>? MarkTakesLonger { get; set; }

    /// <summary>Empty disks that still hold another owner's bytes everywhere.</summary>
    public static SpaceWorld New(SpaceScenario scenario, ulong seed)
    {
        SimMedia[] media = new SimMedia[scenario.Disks];
        SimSpaceMap map = new();
        long stride = SimSpaceHost.Stride(scenario.Shape);
        for (int disk = 0; disk < media.Length; disk++)
        {
            media[disk] = new SimMedia($"disk{disk}", stride * (scenario.Rows + (scenario.CacheBlocks > 0 ? 3 : 2) + LogSlabs(scenario)), scenario.SectorSize);
            FillForeign(media[disk], (uint)disk);
        }

        map.Used.UnionWith(SlabsOfRings(scenario));
        return new SpaceWorld(scenario, seed, media, map, new SimHostState());
    }

    /// <inheritdoc/>
    public async LaneTask<IoError> Close()
    {
        IoError error = Cache is null ? IoError.None : await Cache.Close();
        return error == IoError.None ? await Space.Close() : error;
    }

    /// <inheritdoc/>
    public int MissingDisks => Enumerable.Range(0, Disks.Length).Count(disk => Disks[disk].Pulled || _map.Evicted.Contains(disk));

    /// <inheritdoc/>
    public void Remove(int disk)
    {
        Disks[disk].Pulled = true;
        _map.Evict(disk);   // a pool opens without it
    }

    /// <summary>Puts a disk back before the world is opened.</summary>
    public void BringBack(int disk)
    {
        Disks[disk].Pulled = false;
        _map.Return(disk);
    }

    /// <inheritdoc/>
    public bool CanReturn(int disk) => Disks[disk] is { InFlight: 0, Hung: false } && _map.Evicted.Contains(disk) && !Host.IsBeingEvicted(disk);

    /// <inheritdoc/>
    public LaneTask<string> Return(int disk)
    {
        Disks[disk].Pulled = false;
        Disks[disk].Media.LosePower((_, _) => Lane.Next(2) == 0);
        _members[disk] = new MeteredDisk(Lane, Disks[disk], _watch);   // what was abandoned takes nothing any more
        _map.Return(disk);
        Space.OnDiskJoined();
        return LaneTask.FromResult("");
    }

    /// <inheritdoc/>
    public LaneTask<RepairEnd> MoveSome(IWorkPacer pacer) => Host.MoveSome(pacer);

    /// <inheritdoc/>
    public ISimWorld Cut(ulong seed, Func<int, int, int, bool> keep, bool keepsMemory = false)
    {
        SimMedia[] media = new SimMedia[_media.Length];
        for (int disk = 0; disk < media.Length; disk++)
        {
            int number = disk;
            media[disk] = Disks[disk].SnapshotWithInFlight().Cut((write, sector) => keep(number, write, sector));
        }

        return new SpaceWorld(_scenario, seed, media, _map.Clone(), _state.Snapshot(keepsMemory));
    }

    /// <inheritdoc/>
    public ISimWorld Kill(ulong seed, Func<bool> arrived)
    {
        SimMedia[] media = new SimMedia[_media.Length];
        for (int disk = 0; disk < media.Length; disk++)
        {
            media[disk] = Disks[disk].Media.Snapshot();
            Disks[disk].ApplyInFlight(media[disk], arrived);
        }

        return new SpaceWorld(_scenario, seed, media, _map.Clone(), _state.Snapshot(withMemory: true));
    }

    /// <summary>
    /// The world as the same process finds it again after all disks had gone at once, and are back with what they held: nothing was recorded meanwhile, since a
    /// pool without its disks records nothing.
    /// </summary>
    public SpaceWorld LoseAllDisks(ulong seed)
    {
        SimSpaceMap map = _map.Clone();
        foreach (SimDisk disk in Disks)
        {
            disk.Pulled = true;
        }

        Lane.Run(Close());
        return new SpaceWorld(_scenario, seed, Array.ConvertAll(Disks, disk => disk.Media.Snapshot()), map, _state.Snapshot(withMemory: true));
    }

    /// <inheritdoc/>
    public ISimWorld Fork(ulong seed) => new SpaceWorld(
        _scenario, seed, Array.ConvertAll(Disks, disk => disk.Media.Snapshot()), _map.Clone(), _state.Snapshot(withMemory: true));

    /// <inheritdoc/>
    public int[] PendingWrites() => Array.ConvertAll(Disks, disk => disk.SnapshotWithInFlight().CachedWrites);

    /// <inheritdoc/>
    public void Release()
    {
        _state.Release();
        Lane.Buffers.Dispose();
        Array.ForEach(Disks, static disk => disk.Media.Release());   // free lists of the thread may still refer to a world that was cut
    }

    /// <summary>The log is on slab 0 of the first disks, with parity on slabs 0 and 1; the cache is on the next one.</summary>
    private static IEnumerable<(int Disk, int Slab)> SlabsOfRings(SpaceScenario scenario) =>
        Enumerable.Range(0, LogCopies(scenario)).SelectMany(copy => Enumerable.Range(0, LogSlabs(scenario)).Select(slab => (copy, slab)))
            .Concat(Enumerable.Range(0, scenario.CacheBlocks > 0 ? scenario.CacheCopies : 0).Select(copy => (copy, LogSlabs(scenario))));

    private static int LogSlabs(SpaceScenario scenario) => scenario.Parities > 0 ? 2 : 1;

    private static int LogCopies(SpaceScenario scenario) => scenario.Shape.HasLog ? Math.Max(2, scenario.Redundancy + 1) : 0;

    private static void FillForeign(SimMedia medium, uint disk)
    {
        byte[] chunk = new byte[64 << 10];
        for (int i = 0; i < chunk.Length; i += 4)
        {
            BitConverter.TryWriteBytes(chunk.AsSpan(i), 0xF0E10000 | disk);
        }

        for (long at = 0; at + chunk.Length <= medium.Length; at += chunk.Length)
        {
            medium.Write(at, chunk);
        }

        medium.Harden(medium.CachedWrites);
    }

    /// <inheritdoc/>
    public async LaneTask<string> Open(bool isNew)
    {
        _state.ReturnMemory("notes");   // the space before, if any, is closed
        SpaceShape shape = _scenario.Shape;
        _map.Used.Clear();   // what was reserved for a row or a move that never came into the map is free
        _map.Used.UnionWith(SlabsOfRings(_scenario));
        _map.Used.UnionWith(_map.Rows.Values.SelectMany(row => row.Places)
            .Select(place => (place.Disk, (int)(place.PagesOffset / SimSpaceHost.Stride(shape)))));
        SpaceOptions options = new()
        {
            Space = 7,
            PoolTag = 0x1122334455667788,
            Shape = shape,
            Resiliency = LayoutDescriptor.Of(shape),
            Length = _scenario.Length,
            IsThin = true,
            Rows = [.. _map.Rows.Values.Select(row => row with { Stale = (ushort[])row.Stale.Clone() })],
            LogCopies = [.. Enumerable.Range(0, LogCopies(_scenario))
                .Select(copy => (IReadOnlyList<SlabPlace>)[.. Enumerable.Range(0, LogSlabs(_scenario)).Select(slab => SimSpaceHost.Place(shape, copy, slab))])],
            StaleLogCopies = _map.StaleLogCopies,
            LogOwner = new Guid(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11),
            LogBlocksMax = LogBlocks,
            ParityJournalBlocks = shape.Parities > 0 ? ParityJournalBlocks : 0,
            RecordMemory = shape.Checksums ? _state.MapMemory("notes", Space.RecordMemorySizeFor(_scenario.JournalSlots)) : null,
            CachedPagesMax = _scenario.CachedPagesMax,
            RegionsPerMark = 1 << (int)(Lane.NextRandom() % 4),   // what a row has dirty is no part of a format: each opening may mark as it likes
            CleanAfterNs = 2_000_000_000,
        };
        Space = isNew ? await Space.Create(Host, options) : await Space.Open(Host, options);
        Host.Space = Space;
        if (_scenario.CacheBlocks > 0 && Space.Fault == IoError.None)
        {
            Cache = isNew ? await WriteCache.Create(Lane, Space, CacheOptions()) : await WriteCache.Open(Lane, Space, CacheOptions());
        }

        return Space.FaultReason;
    }

    /// <inheritdoc/>
    public bool UsedSummaries => Cache is { SummariesUsed: > 0 };

    /// <summary>A cache on the first disks; a row that lies on no other is as fast, and its writes pass by.</summary>
    private WriteCacheOptions CacheOptions() => new()
    {
        Owner = new Guid(11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1),
        Copies = [.. Enumerable.Range(0, _scenario.CacheCopies)
            .Select(copy => (IReadOnlyList<SlabPlace>)[SimSpaceHost.Place(_scenario.Shape, copy, LogSlabs(_scenario))])],
        StaleCopies = _map.StaleCacheCopies,
        Length = _scenario.CacheBlocks * 4096L,
        SummaryEveryBlocks = _scenario.SummaryBlocks,
        Destage = new DestageSettings { StartPercent = 40, StopPercent = 15, IdleNs = 20_000_000 },
        MarkStale = copy => MarkCache(copy, isStale: true),
        ClearStale = copy => MarkCache(copy, isStale: false),
        RankOf = disk => !_scenario.HasNoJournals && disk < _scenario.CacheCopies ? 1 : 0,
        MinuteOfDay = () => 0,
    };

    private async LaneTask<IoError> MarkCache(int copy, bool isStale)
    {
        await Lane.Delay(1000 + Lane.Next(100_000) + (isStale && MarkTakesLonger is { } longer ? longer(copy) : 0));
        _map.StaleCacheCopies = isStale ? _map.StaleCacheCopies | (1 << copy) : _map.StaleCacheCopies & ~(1 << copy);
        return IoError.None;
    }
}
