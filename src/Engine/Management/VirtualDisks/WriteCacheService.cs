using System.Globalization;
using TierSpaces.Engine.Caching;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

/// <summary>Place that a write cache of another size would have.</summary>
/// <param name="SizeBytes">Bytes of a copy; 0: there would be none.</param>
/// <param name="Placed">Its slabs; none where it has that size already.</param>
/// <param name="Freed">Slabs of the cache that there is now, which become free.</param>
public sealed record CachePlacement(long SizeBytes, PhysicalExtent[] Placed, PhysicalExtent[] Freed)
{
    /// <summary>Remarks on the size, for the user.</summary>
    public IReadOnlyList<string> Remarks { get; init; } = [];
}

/// <summary>Verbs of write caches, and what is done about those that are lost or have returned.</summary>
public sealed class WriteCacheService
{
    private const int LostRangesMax = 256;

    private readonly SubsystemCore _core;
    private readonly VirtualDiskOpener _disks;
    private readonly RemoteCaches _remote;
    private readonly Snapshots _snapshots;

    internal WriteCacheService(
        SubsystemCore core, VirtualDiskOpener disks, RemoteCaches remote, Snapshots snapshots) =>
        (_core, _disks, _remote, _snapshots) = (core, disks, remote, snapshots);

    /// <summary>Gives a virtual disk a write cache of another size, or none, while it is in use. The data of the old cache is destaged first.</summary>
    /// <exception cref="ManagementException">There is no room for that size, or the cache could not be emptied; nothing was changed.</exception>
    public Task<VirtualDiskStatus> ResizeAsync(Guid id, long sizeBytes) => _snapshots.Change(
        async LaneTask<(PoolId Pool, VirtualDiskId Disk, List<string> Remarks)> () =>
    {
        List<string> remarks = [];
        (ManagedPool managed, ManagedVirtualDisk disk, ManagedPool at, long size) = TakeForResize(id, sizeBytes, remarks);
        string name = disk.Description.FriendlyName;
        CommitResult result = IsAsItWas(disk, size)
            ? CommitResult.Committed : await CacheExchange.ResizeCache(managed.Pool!, disk.Opened, size, at.Pool!);
        await disk.TakeDescription();
        if (result.Status == CommitStatus.NoSpace)
        {
            throw NoRoom(disk.Description, sizeBytes, result.Reason);
        }

        Commits.Require(result, name);
        return (managed.Id, disk.Description.Id, remarks);
    }, static (resized, now) => now.VirtualDisk(resized.Pool, resized.Disk) with { Remarks = resized.Remarks });

    /// <summary>
    /// Refuses what <see cref="ResizeAsync"/> would refuse, but for a cache that turns out not to empty itself, and returns where the new cache would lie.
    /// </summary>
    public Task<CachePlacement> PlanResizeAsync(Guid id, long sizeBytes) => _core.Verbs.Plan(
        () =>
        {
            List<string> remarks = [];
            (ManagedPool _, ManagedVirtualDisk disk, ManagedPool at, long size) = TakeForResize(id, sizeBytes, remarks);
            return (Pool: _core.Pools.Snapshot()[at.Id], disk.Description, Size: size, IsKept: IsAsItWas(disk, size), Remarks: remarks);
        },
        static at =>
        {
            Extents extents = new(at.Pool);
            NewRows rows = new();
            if (!at.IsKept && !rows.TryReserveCache(at.Pool, at.Description, at.Size, out string reason))
            {
                throw NoRoom(at.Description, at.Size, reason);
            }

            PhysicalExtent[] freed = at.IsKept || at.Description.CacheSpace == SpaceId.None ? [] : [.. extents.Of(at.Description, at.Description.CacheSpace)];
            return new CachePlacement(at.Size, extents.PlaceRing(at.Description, rows.Cache), freed) { Remarks = at.Remarks };
        });

    private static bool IsAsItWas(ManagedVirtualDisk disk, long size) =>
        size == disk.Description.WriteCacheSize && disk.Status.CacheState != WriteCacheState.WriteThrough;

    private static ManagementException NoRoom(VirtualDiskDescription disk, long size, string reason) => new(
        ManagementError.WriteCacheSizeRange, $"-WriteCacheSize {ByteText.Exact(size)} of virtual disk '{disk.FriendlyName}': {reason}", "Give a smaller size.");

    private (ManagedPool Pool, ManagedVirtualDisk Disk, ManagedPool At, long Size) TakeForResize(Guid id, long sizeBytes, List<string> remarks)
    {
        (ManagedPool managed, ManagedVirtualDisk disk) = _core.Pools.TakeUsable(id);
        managed.RequireWritable();
        VirtualDiskDescription description = disk.Description;
        ManagedPool at = _remote.CachePoolOf(managed, description, remarks.Add);
        long size = at == managed ? WriteCachePlan.Resized(managed.Pool!, description, sizeBytes, remarks.Add)
            : new RemoteCachePlan(at.Pool!, remarks.Add).Resized(description, sizeBytes);
        return (managed, disk, at, size);
    }

    /// <summary>Opens a virtual disk again whose write cache was lost: a disk of it may be back, or what it held is given up.</summary>
    internal async LaneTask<IReadOnlyList<string>> BringBackLost(Guid id, bool force)
    {
        (ManagedPool managed, ManagedVirtualDisk disk) = _core.Pools.TakeDisk(id);
        if (disk.Status.IsCacheGone && LostCaches.HasCacheCopy(managed.Pool!, disk.Description) && _disks.MayReopen(managed, disk))
        {
            if (await _disks.TryReopen(managed, disk) is not { } again)
            {
                return [];
            }

            disk = again;
        }

        if (!force || !disk.Status.IsCacheGone)
        {
            return [];
        }

        managed.RequireWritable();
        string loss = TextOf(await disk.Call(static open => open.Cache!.Survey()));
        Commits.Require(await LostCaches.GiveUpCache(managed.Pool!, disk.Opened), disk.Description.FriendlyName);
        _core.Notice($"Write cache of virtual disk {disk.Description.FriendlyName} was given up: {loss}");
        if (await _disks.TryReopen(managed, disk) is { } without)
        {
            await RemoveGivenUp(managed, without);
        }

        await _remote.GiveBackUnnamed();
        return [$"The write cache of virtual disk '{disk.Description.FriendlyName}' was given up: {loss} The virtual disk has no write cache until it is given one."];
    }

    /// <summary>Opens the virtual disks again whose write cache was out of reach and has a disk again.</summary>
    internal async LaneTask<Nothing> BringBackReturned(ManagedPool managed)
    {
        foreach (ManagedVirtualDisk disk in managed.VirtualDisks.Values.ToArray())
        {
            if (disk.Status.AwaitsCacheDisks && LostCaches.HasCacheCopy(managed.Pool!, disk.Description) && _disks.MayReopen(managed, disk))
            {
                if (await _disks.TryReopen(managed, disk) is not { } again)
                {
                    continue;
                }

                _core.Notice($"A disk of the write cache of virtual disk {again.Description.FriendlyName} is back; the cache is {again.Status.CacheState}.");
                await _disks.AttachOpened(again);
            }
        }

        return default;
    }

    /// <summary>Rings that were given up keep no slabs.</summary>
    internal async LaneTask<Nothing> RemoveGivenUp(ManagedPool managed)
    {
        foreach (ManagedVirtualDisk disk in managed.VirtualDisks.Values.ToArray())
        {
            await RemoveGivenUp(managed, disk);
        }

        return default;
    }

    internal async LaneTask<Nothing> RemoveGivenUp(ManagedPool managed, ManagedVirtualDisk disk)
    {
        bool isGivenUp = disk.Status.CacheState == WriteCacheState.WriteThrough && disk.Description.CacheSpace != SpaceId.None;
        if (isGivenUp && (await LostCaches.RemoveGivenUpCache(managed.Pool!, disk.Opened)).Succeeded)
        {
            await disk.TakeDescription();
            _core.Notice($"The slabs of the write cache of virtual disk {disk.Description.FriendlyName}, which was given up, are free.");
        }

        return default;
    }

    private static string TextOf(CacheLoss loss)
    {
        (IReadOnlyList<(long Offset, long Length)> ranges, long unit) = loss.Coarsened(LostRangesMax);
        string list = string.Join(", ", ranges.Select(range => ByteText.Range(range.Offset, range.Length)));
        string known = ranges.Count == 0 ? "" : $"What was written last to these ranges may be lost (in units of {ByteText.Exact(unit)}): {list}. ";
        return loss.IsComplete ? ranges.Count == 0 ? "It held nothing." : known.TrimEnd()
            : known + (ranges.Count == 0 ? "What it held cannot be known: any range may lack its last writes."
            : "Other ranges may lack their last writes too.");
    }
}
