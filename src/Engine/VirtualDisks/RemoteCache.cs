using TierSpaces.Engine.Caching;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.VirtualDisks;

/// <summary>The room that another pool lends for the write cache of a virtual disk, while both are open.</summary>
public sealed class RemoteCache
{
    internal RemoteCache(Pool pool, IBackingStore backing)
    {
        Pool = pool;
        Host = new RemoteRingHost(pool);
        Rings = Host.Rings = new RemoteRings(Host, backing, (int)pool.Slabs.DataBytes);
        pool.MembershipChanged += OnMembershipChanged;
    }

    /// <summary>The pool that lends.</summary>
    public Pool Pool { get; }

    /// <summary>The ring as that pool's disks hold it.</summary>
    public RemoteRings Rings { get; }

    /// <summary>What it sees of the pool.</summary>
    internal RemoteRingHost Host { get; }

    /// <summary>Ends what makes copies whole or moves them, and follows the pool no more.</summary>
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

/// <summary>What a lent ring sees of the pool that lends.</summary>
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
