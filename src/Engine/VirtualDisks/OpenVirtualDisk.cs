using TierSpaces.Engine.Caching;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Tiering;

namespace TierSpaces.Engine.VirtualDisks;

// Invariants
//  1. Everything of it is used on its lane, but for Call, Lane, Description, OnSlowDisks, and Remote while no verb changes its write cache.
//  2. Redescribe is called on the lane of the pool.

/// <summary>A virtual disk that is open on its pool: description, layers, and the subscription to disks that leave.</summary>
public sealed class OpenVirtualDisk : IMemberFollower, IClientLoad
{
    private readonly PoolLink _pool;
    private readonly IBackingStore _backing;
    private VirtualDiskDescription _description = null!;
    private volatile bool _isOnFlash;   // all of it, by what was asked for
    
    internal OpenVirtualDisk(PoolLink pool, VirtualDiskDescription description, VirtualDisk disk, IBackingStore backing, IReadOnlyList<OpenPart> parts,
        DiskTiering? tiering, RemoteCache? remote)
    {
        Tiering = tiering;
        _pool = pool;
        _backing = backing;
        Parts = parts;
        Remote = remote;
        Redescribe(description);
        Disk = disk;
        pool.Load.Add(this);
        pool.Follow(this);   // parts are not notified before they are open, and other parts may have gone on without a disk
    }

    /// <summary>Whether it is closed, or about to be.</summary>
    internal bool IsClosed { get; private set; }

    /// <summary>Its lane.</summary>
    public ILane Lane => _pool.Lane;

    /// <summary>The disk as its pool remembers it.</summary>
    public VirtualDiskDescription Description => _description;

    /// <summary>Its pool.</summary>
    internal PoolLink Pool => _pool;

    /// <summary>The top layer.</summary>
    public VirtualDisk Disk { get; }

    /// <summary>Its spaces: one per tier, by its number, or one.</summary>
    public IReadOnlyList<OpenPart> Parts { get; private set; }

    /// <summary>Its remote write cache's part in the cache pool; null unless its write cache is remote.</summary>
    public RemoteCache? Remote { get; private set; }

    /// <summary>Its tiers as one store; null for a disk without tiers.</summary>
    public TieredStore? Tiers => _backing as TieredStore;

    /// <summary>On the lane of the pools: the other pool that its write cache is in, while both are open; else null.</summary>
    internal Pool? RemotePool(Pool pool) =>
        Remote is { } remote && pool.Environment.FindPool(remote.Pool.Id) is { } at && remote.Pool.IsOf(at) ? at : null;

    /// <summary>Decides where its slices belong; null for a disk without tiers.</summary>
    public DiskTiering? Tiering { get; }

    /// <summary>The only space of a disk without tiers; else that of the first tier that it had.</summary>
    public Space Space => Parts[0].Space;

    /// <summary>Error because of which the disk takes no more requests; <see cref="IoError.None"/> while it serves.</summary>
    public IoError Fault => _backing.Fault;

    /// <summary>Reason of the fault, in words.</summary>
    public string FaultReason => _backing.FaultReason;

    /// <summary>Number of a disk whose host file system is full, so that writes wait; −1: none.</summary>
    public int FullDisk => Parts.Select(static part => part.Space.FullDisk).FirstOrDefault(static disk => disk >= 0, -1);

    /// <summary>Bytes that a resync would look at now.</summary>
    public long BytesToResync => Parts.Sum(static part => part.Space.BytesToResync) + (Remote?.Rings.BytesToResync ?? 0);

    /// <summary>Bytes of copies of its rings that a resync would look at now.</summary>
    internal long RingBytesToResync => Parts.Sum(static part => part.Space.RingBytesToResync) + (Remote?.Rings.BytesToResync ?? 0);

    /// <summary>Counters of its spaces since it was opened.</summary>
    public SpaceCounters SpaceCounters
    {
        get
        {
            SpaceCounters sum = new();
            foreach (OpenPart part in Parts)
            {
                sum.Add(part.Space.Counters);
            }

            return sum;
        }
    }

    /// <summary>The pool remembers the disk in another way from now on.</summary>
    internal void Redescribe(VirtualDiskDescription description)
    {
        _description = description;
        _isOnFlash = description.Parts.All(static part => part.Media() is MediaType.SSD or MediaType.SCM);
    }

    /// <summary>The store below the cache.</summary>
    internal IBackingStore Backing => _backing;

    /// <summary>Whether another live disk also holds everything that a disk of a pool holds of it.</summary>
    internal bool SurvivesWithout(PoolId pool, int disk) =>
        (pool != _pool.Id || Parts.All(part => part.Space.SurvivesWithout(disk))) && (pool != Remote?.Pool.Id || Remote.Rings.SurvivesWithout(disk));

    /// <summary>Its write cache, or null.</summary>
    public WriteCache? Cache => Disk.Cache;

    /// <summary>Whether no copy of an integrity log takes part: what can be read is read, nothing is written.</summary>
    internal bool LacksLog => Parts.Any(static part => part.Space.LacksLog);

    /// <summary>Whether such a log is back on a disk of the pool: the virtual disk takes writes once it is reopened.</summary>
    internal bool HasReturnedLog => Parts.Any(static part => part.Space.HasReturnedLog);

    /// <summary>Returns the findings on disks of a pool, by number, since the last call.</summary>
    internal IEnumerable<KeyValuePair<(int Disk, DiskFinding Finding), long>> TakeFindings(PoolId pool)
    {
        IEnumerable<PoolMemberHost> hosts = pool == _pool.Id ? Parts.Select(static part => part.Host) : pool == Remote?.Pool.Id ? [Remote.Host] : [];
        return hosts.SelectMany(static host => host.TakeFindings());
    }

    /// <summary>Returns the part of its remote cache in a cache pool; called when its cache is made there.</summary>
    internal RemoteCache UseCachePool(PoolLink cachePool) => Remote = Remote?.Pool == cachePool ? Remote : new RemoteCache(cachePool, _backing);

    /// <summary>A tier has been added to it, which holds nothing yet: a disk that left while it was made has missed nothing of it.</summary>
    internal void Add(OpenPart part) => Parts = [.. Parts, part];

    /// <summary>Stops it; a clean stop leaves nothing to do at the next opening.</summary>
    public async LaneTask<IoError> Close()
    {
        if (IsClosed)
        {
            return IoError.None;
        }

        IsClosed = true;
        IoError cached = Disk.Cache is { } cache ? await cache.Close() : IoError.None;
        _ = Tiering is { } tiering ? await tiering.Close() : default;
        _ = Tiers is { } tiers ? await tiers.Close() : default;
        _ = Remote is { } remote ? await remote.Close() : default;
        IoError error = cached;
        foreach (OpenPart part in Parts)
        {
            IoError closed = await part.Space.Close();
            error = error == IoError.None ? closed : error;
        }

        _pool.Load.Remove(this);
        _pool.Unfollow(this);
        foreach (OpenPart part in Parts)
        {
            if (error == IoError.None && part.Space is { DirtyRegions: 0, UnresolvedRegions: 0 })
            {
                await _pool.Ask(pool => pool.Environment.State.ReleaseMemory(part.JournalName));   // everything is logged and settled: no record is needed
            }
            else
            {
                _pool.Tell(pool => pool.Environment.State.ReturnMemory(part.JournalName));   // the next opening judges the records
            }
        }

        return error;
    }

    /// <inheritdoc/>
    public (long Completed, int UnderWay) OnSlowDisks => Disk.Cache is { } cache ? (cache.SlowRequests, 0)
        : _isOnFlash ? default
        : (Disk.Counters.Operations, Disk.Counters.Queue);

    /// <summary>Lets disks of its pool that are not there count as lost with what they hold, until they are there again.</summary>
    internal void GiveUp(IReadOnlyCollection<DiskNumber> disks)
    {
        foreach (OpenPart part in Parts)
        {
            part.Space.GiveUp(disks.Select(static disk => (int)disk.Value));
        }
    }

    /// <summary>Called on the lane of its pool: runs an action on its lane and returns its result on the pool's lane.</summary>
    public LaneTask<T> Call<T>(Func<LaneTask<T>> action) => _pool.Call(action);

    async LaneTask<IoError> IMemberFollower.OnDiskLost(DiskNumber disk)
    {
        IoError error = IoError.None;
        foreach (LaneTask<IoError> part in Parts.Select(part => part.Space.OnDiskLost(disk.Value)).ToArray())
        {
            IoError recorded = await part;
            error = recorded == IoError.None ? error : recorded;
        }

        return error;
    }

    void IMemberFollower.OnDiskMarkedStale(DiskNumber disk)
    {
        foreach (OpenPart part in Parts)
        {
            part.Space.OnDiskMarkedStale(disk.Value);
        }
    }

    void IMemberFollower.OnDiskJoined()
    {
        foreach (OpenPart part in Parts)
        {
            part.Space.OnDiskJoined();
        }
    }

    void IMemberFollower.OnPoolLost(string reason)
    {
        _backing.FailFront(IoError.Io, reason);
        foreach (OpenPart part in Parts)
        {
            part.Space.FailFront(IoError.Io, reason);
        }
    }
}
