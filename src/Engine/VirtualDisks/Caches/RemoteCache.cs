using TierSpaces.Engine.Caching;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.VirtualDisks;

/// <summary>The part of a remote write cache in its cache pool, while both pools are open.</summary>
public sealed class RemoteCache : IMemberFollower
{
    private readonly IBackingStore _backing;

    internal RemoteCache(PoolLink pool, IBackingStore backing)
    {
        Pool = pool;
        _backing = backing;
        Host = new RemoteRingHost(pool, backing);
        pool.Follow(this);
    }

    /// <summary>The cache pool.</summary>
    internal PoolLink Pool { get; }

    /// <summary>The ring on the disks of the cache pool.</summary>
    public RemoteRings Rings => Host.Rings;

    /// <summary>Services of the cache pool to the ring.</summary>
    internal RemoteRingHost Host { get; }

    /// <summary>Ends repairs and moves of the ring's copies, and stops following the pool.</summary>
    internal async LaneTask<Nothing> Close()
    {
        await Rings.Close();
        Pool.Unfollow(this);
        return default;
    }

    LaneTask<IoError> IMemberFollower.OnDiskLost(DiskNumber disk)
    {
        Rings.OnDiskLost(disk.Value);   // a copy of a ring that lacks something is marked before the write that it lacks is acknowledged
        return LaneTask.FromResult(IoError.None);
    }

    void IMemberFollower.OnDiskMarkedStale(DiskNumber disk)
    {
        // Copies of rings take no part since their disk left.
    }

    void IMemberFollower.OnDiskJoined() => Rings.OnDiskJoined();

    void IMemberFollower.OnPoolLost(string reason) => _backing.FailFront(IoError.Io, reason);
}

/// <summary>Services of a cache pool to the ring of a remote write cache.</summary>
internal sealed class RemoteRingHost : PoolMemberHost
{
    internal RemoteRingHost(PoolLink pool, IBackingStore backing)
        : base(pool) => Rings = new RemoteRings(this, backing, (int)pool.Slabs.DataBytes);

    /// <summary>The rings that it serves.</summary>
    internal RemoteRings Rings { get; }

    private protected override IoError Fault => Rings.Fault;

    private protected override LaneTask<IoError> OnDiskLost(int disk)
    {
        Rings.OnDiskLost(disk);
        return LaneTask.FromResult(IoError.None);
    }
}
