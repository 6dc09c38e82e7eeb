using TierSpaces.Engine.Caching;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.VirtualDisks;

/// <summary>The part of a remote write cache in its cache pool, while both pools are open.</summary>
public sealed class RemoteCache
{
    internal RemoteCache(Pool pool, IBackingStore backing)
    {
        Pool = pool;
        Host = new RemoteRingHost(pool);
        Rings = Host.Rings = new RemoteRings(Host, backing, (int)pool.Slabs.DataBytes);
        pool.MembershipChanged += OnMembershipChanged;
    }

    /// <summary>The cache pool.</summary>
    public Pool Pool { get; }

    /// <summary>The ring on the disks of the cache pool.</summary>
    public RemoteRings Rings { get; }

    /// <summary>Services of the cache pool to the ring.</summary>
    internal RemoteRingHost Host { get; }

    /// <summary>Ends repairs and moves of the ring's copies, and stops following the pool.</summary>
    internal async LaneTask<Nothing> Close()
    {
        await Rings.Close();
        Pool.MembershipChanged -= OnMembershipChanged;
        return default;
    }

    private void OnMembershipChanged(MembershipChange change)
    {
        if (change.Kind == MembershipChangeKind.Left)
        {
            Rings.OnDiskLost(change.Disk.Value);
        }
        else if (change.Kind == MembershipChangeKind.Joined)
        {
            Rings.OnDiskJoined();
        }
    }
}

/// <summary>Services of a cache pool to the ring of a remote write cache.</summary>
internal sealed class RemoteRingHost(Pool pool) : PoolMemberHost(pool)
{
    /// <summary>The rings, once they are there.</summary>
    internal RemoteRings? Rings { get; set; }

    private protected override IoError Fault => Rings?.Fault ?? IoError.None;

    private protected override LaneTask<IoError> OnDiskLost(int disk)
    {
        Rings?.OnDiskLost(disk);
        return LaneTask.FromResult(IoError.None);
    }
}
