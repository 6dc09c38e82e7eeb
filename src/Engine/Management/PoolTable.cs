using System.Diagnostics.CodeAnalysis;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

// The pools that the host knows, and what is looked up in them. A lookup named Take refuses what it does not find.
//
// Invariants
//  1. A pool is listed from the first time one of its members is seen, or it is made, until it is removed.

/// <summary>The pools that the host knows, by identity, and the lookups of pools, members and virtual disks.</summary>
internal sealed class PoolTable
{
    private readonly Dictionary<PoolId, ManagedPool> _pools = [];

    /// <summary>Every pool, in the order in which they became known.</summary>
    internal IReadOnlyCollection<ManagedPool> All => _pools.Values;

    /// <summary>Returns a pool, or null for one that is not known.</summary>
    internal ManagedPool? Find(PoolId id) => _pools.GetValueOrDefault(id);

    /// <summary>Returns whether a pool is known, and the pool.</summary>
    internal bool TryGet(PoolId id, [NotNullWhen(true)] out ManagedPool? managed) => _pools.TryGetValue(id, out managed);

    /// <summary>Returns a pool; one that is not known is listed from now on.</summary>
    internal ManagedPool GetOrAdd(PoolId id)
    {
        if (!_pools.TryGetValue(id, out ManagedPool? managed))
        {
            _pools[id] = managed = new ManagedPool(id);
        }

        return managed;
    }

    /// <summary>Forgets a pool that was removed.</summary>
    internal void Remove(PoolId id) => _pools.Remove(id);

    /// <summary>Takes snapshots of the open pools, at one moment.</summary>
    internal Dictionary<PoolId, PoolSnapshot> Snapshot()
    {
        Dictionary<PoolId, PoolSnapshot> snapshots = [];
        foreach (ManagedPool managed in _pools.Values)
        {
            if (managed.Pool is { } pool)
            {
                snapshots[managed.Id] = pool.Snapshot(snapshots.GetValueOrDefault);
            }
        }

        return snapshots;
    }

    /// <summary>Returns a pool while it is open.</summary>
    internal Pool? FindOpen(PoolId id) => Find(id)?.Pool;

    /// <summary>Returns the name of a pool, or its identity where no name is known.</summary>
    internal string NameOf(PoolId id) => Find(id)?.State?.Pool?.FriendlyName ?? id.ToString();

    /// <summary>Returns the name of a member, or its number where no name is known.</summary>
    internal string NameOf(PoolId pool, DiskNumber member) => Find(pool)?.State?.Disk(member)?.Description.FriendlyName ?? $"disk {member}";

    /// <summary>Returns the other pool that the write cache of an open virtual disk is in, while that is open.</summary>
    internal Pool? RemotePoolOf(ManagedVirtualDisk disk) => disk.Status.RemotePool is { } id ? FindOpen(id) : null;

    /// <summary>Returns an open pool.</summary>
    /// <exception cref="ManagementException">It is not known, or not open.</exception>
    internal ManagedPool TakeOpen(Guid id)
    {
        if (!TryGet(new PoolId(id), out ManagedPool? managed))
        {
            throw Unavailable.UnknownPool(id);
        }

        return managed.Pool is not null ? managed : throw Unavailable.ClosedPool(managed.State, managed.Reason);
    }

    /// <summary>Returns the open virtual disks that have slabs in a pool: its own, and those of other pools whose remote cache is in it.</summary>
    internal IEnumerable<(ManagedPool OwnerPool, ManagedVirtualDisk Disk)> UsersOf(ManagedPool managed) => _pools.Values.SelectMany(owner =>
        owner.VirtualDisks.Values.Where(disk => owner == managed || (managed.Pool is not null && disk.Status.RemotePool == managed.Id))
            .Select(disk => (owner, disk)));

    /// <summary>Names the remote caches in a pool by virtual disk and owner pool.</summary>
    internal IEnumerable<string> Dependents(PoolState cachePool) => Dependents(cachePool, id => Find(id)?.State, NameOf, null);

    /// <summary>Names the remote caches in a pool by virtual disk and owner pool.</summary>
    /// <param name="cachePool">The pool.</param>
    /// <param name="stateOf">Finds the state of another pool.</param>
    /// <param name="nameOf">Finds the name of another pool.</param>
    /// <param name="which">Chooses the caches; null: all.</param>
    internal static IEnumerable<string> Dependents(
        PoolState cachePool, Func<PoolId, PoolState?> stateOf, Func<PoolId, string> nameOf, Func<SpaceState, bool>? which) => cachePool.Spaces.Values
        .Where(space => space.Description.IsRemote && which?.Invoke(space) != false)
        .Select(space => space.Description)
        .Select(ring =>
        {
            string disk = stateOf(ring.OwnerPool)?.VirtualDisk(ring.Owner)?.FriendlyName ?? ring.Owner.ToString();
            return $"the write cache of virtual disk '{disk}' of storage pool '{nameOf(ring.OwnerPool)}'";
        }).Order(StringComparer.Ordinal);

    /// <summary>Returns a member of an open pool by its identity.</summary>
    internal (ManagedPool Pool, DiskDescription Disk)? FindMember(Guid id)
    {
        foreach (ManagedPool managed in _pools.Values)
        {
            if (managed.Pool?.State.Disks.Values.FirstOrDefault(disk => disk.Description.Id.Value == id) is { } found)
            {
                return (managed, found.Description);
            }
        }

        return null;
    }

    /// <summary>Returns a member of a pool that is known, open or not, by its identity.</summary>
    internal DiskDescription? FindKnownMember(Guid id) => _pools.Values.SelectMany(static managed => managed.State?.Disks.Values ?? [])
        .FirstOrDefault(disk => disk.Description.Id.Value == id)?.Description;

    /// <summary>Returns a member of a pool.</summary>
    /// <exception cref="ManagementException">It is no member of that pool.</exception>
    internal DiskDescription TakeMember(ManagedPool managed, Guid id) =>
        FindMember(id) is var (pool, member) && pool == managed ? member : throw new ManagementException(
            ManagementError.ObjectNotFound, $"Physical disk {id} is not in storage pool '{managed.State!.Pool!.FriendlyName}'.");

    /// <summary>Returns an open virtual disk; it may take no requests.</summary>
    /// <exception cref="ManagementException">It is not known, could not be opened, or its pool is not open.</exception>
    internal (ManagedPool Pool, ManagedVirtualDisk Disk) TakeDisk(Guid id)
    {
        foreach (ManagedPool managed in _pools.Values)
        {
            if (managed.VirtualDisks.TryGetValue(new VirtualDiskId(id), out ManagedVirtualDisk? disk))
            {
                return (managed, disk);
            }

            if (managed.Unopened.TryGetValue(new VirtualDiskId(id), out string? problem) && managed.State?.VirtualDisk(new VirtualDiskId(id)) is { } unopened)
            {
                throw Unavailable.UnopenedDisk(unopened, problem);
            }

            if (managed.State?.VirtualDisk(new VirtualDiskId(id)) is { } closed)
            {
                throw Unavailable.DiskOfClosedPool(closed, managed.Reason);
            }
        }

        throw Unavailable.UnknownDisk(id);
    }

    /// <summary>Returns an open virtual disk, or null.</summary>
    internal ManagedVirtualDisk? FindOpen(Guid id) =>
        _pools.Values.Select(pool => pool.VirtualDisks.GetValueOrDefault(new VirtualDiskId(id))).FirstOrDefault(static disk => disk is not null);

    /// <summary>Returns a virtual disk that takes requests.</summary>
    /// <exception cref="ManagementException">It is not open, or takes no requests.</exception>
    internal (ManagedPool Pool, ManagedVirtualDisk Disk) TakeUsable(Guid id)
    {
        (ManagedPool managed, ManagedVirtualDisk disk) = TakeDisk(id);
        OpenDiskStatus status = disk.Status;
        return status.Fault == IoError.None ? (managed, disk)
            : throw Unavailable.FailedDisk(disk.Description, status.FaultReason, status.CacheState);
    }

    /// <summary>Returns a virtual disk that takes requests and has tiers.</summary>
    /// <exception cref="ManagementException">It is not open, takes no requests, or has no tiers.</exception>
    internal (ManagedPool Pool, ManagedVirtualDisk Disk) TakeTiered(Guid id)
    {
        (ManagedPool managed, ManagedVirtualDisk disk) = TakeUsable(id);
        return disk.Status.IsTiered ? (managed, disk) : throw Unavailable.Untiered(disk.Description);
    }

    /// <summary>Returns a virtual disk of an open pool that could not be opened.</summary>
    internal (ManagedPool Pool, VirtualDiskDescription Description)? FindUnopened(VirtualDiskId disk) =>
        _pools.Values.FirstOrDefault(pool => pool.Pool is not null && pool.Unopened.ContainsKey(disk)) is { } managed
        && managed.State!.VirtualDisk(disk) is { } description ? (managed, description) : null;
}
