using System.Globalization;
using TierSpaces.Engine.Caching;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

public sealed partial class StorageSubsystem
{
    private const int LostRangesMax = 256;
    private const string WhatToDoAboutLostCache =
        "Bring back a physical disk of the write cache and connect it again; or give up what it held with Connect-VirtualDisk -Force, which says what that is.";

    private const string WhatToDoAboutAbsentCache =
        "Register the disks of that storage pool, or run Update-StoragePool to open it without those that are missing: the virtual disk is attached by itself then. "
        + "Or give up what the write cache holds with Connect-VirtualDisk -Force.";

    /// <summary>Gives a virtual disk a write cache of another size, or none, while it is in use: what it holds goes home first.</summary>
    /// <exception cref="RefusedException">There is no room for that size, or the cache could not be emptied; nothing was changed.</exception>
    public Task<VirtualDiskStatus> ResizeWriteCacheAsync(Guid id, long sizeBytes) => Change(async LaneTask<VirtualDiskStatus> () =>
    {
        List<string> remarks = [];
        (ManagedPool managed, ManagedVirtualDisk disk, ManagedPool at, long size) = TakeForResize(id, sizeBytes, remarks);
        string name = disk.Open.Description.FriendlyName;
        bool isAsItWas = size == disk.Open.Description.WriteCacheSize && disk.Open.Cache is not { State: WriteCacheState.WriteThrough };
        CommitResult result = isAsItWas
            ? CommitResult.Committed : await CacheExchange.ResizeCache(managed.Pool!, disk.Open, size, at.Pool!);
        if (result.Status == CommitStatus.NoSpace)
        {
            throw new RefusedException(Refusal.WriteCacheSizeRange, $"-WriteCacheSize {sizeBytes} of virtual disk '{name}': {result.Reason}", "Give a smaller size.");
        }

        Require(result, name);
        return StatusOf(managed, disk.Open.Description.Id) with { Remarks = remarks };
    });

    /// <summary>Refuses what <see cref="ResizeWriteCacheAsync"/> would refuse, but for a cache that turns out not to empty itself.</summary>
    public Task<bool> CheckResizeWriteCacheAsync(Guid id, long sizeBytes) => Check(() => TakeForResize(id, sizeBytes, []));

    private (ManagedPool Pool, ManagedVirtualDisk Disk, ManagedPool At, long Size) TakeForResize(Guid id, long sizeBytes, List<string> remarks)
    {
        (ManagedPool managed, ManagedVirtualDisk disk) = TakeUsable(id);
        RequireWritable(managed);
        VirtualDiskDescription description = disk.Open.Description;
        ManagedPool at = CachePoolOf(managed, description, remarks.Add);
        long size = at == managed ? WriteCachePlan.Resized(managed.Pool!, description, sizeBytes, remarks.Add)
            : new LentCachePlan(at.Pool!, remarks.Add).Resized(description, sizeBytes);
        return (managed, disk, at, size);
    }

    private static string WhatToDoAbout(OpenVirtualDisk disk) => disk.Cache switch
    {
        { State: WriteCacheState.Lost } => WhatToDoAboutLostCache,
        { State: WriteCacheState.Absent } => WhatToDoAboutAbsentCache,
        _ => "",
    };

    /// <summary>Opens a virtual disk again whose write cache was lost: a disk of it may be back, or what it held is given up.</summary>
    private async LaneTask<IReadOnlyList<string>> BringBackLostCache(Guid id, bool force)
    {
        (ManagedPool managed, ManagedVirtualDisk disk) = OpenDisk(id);
        if (disk.Open.Cache is { IsGone: true } && LostCaches.HasCacheCopy(managed.Pool!, disk.Open.Description) && MayReopen(managed, disk))
        {
            disk = await Reopen(managed, disk);
        }

        if (!force || disk.Open.Cache is not { IsGone: true } lost)
        {
            return [];
        }

        RequireWritable(managed);
        string loss = TextOf(await lost.Survey());
        Require(await LostCaches.GiveUpCache(managed.Pool!, disk.Open), disk.Open.Description.FriendlyName);
        _options.Notice($"Write cache of virtual disk {disk.Open.Description.FriendlyName} was given up: {loss}");
        disk = await Reopen(managed, disk);
        await RemoveGivenUpCache(managed, disk);
        await GiveBackUnnamed();
        return [$"The write cache of virtual disk '{disk.Open.Description.FriendlyName}' was given up: {loss} The virtual disk has no write cache until it is given one."];
    }

    /// <summary>Opens the virtual disks again whose write cache was out of reach and has a disk again.</summary>
    private async LaneTask<Nothing> BringBackReturnedCaches(ManagedPool managed)
    {
        foreach (ManagedVirtualDisk disk in managed.VirtualDisks.Values.ToArray())
        {
            if (disk.Open.Cache is { AwaitsDisks: true } && LostCaches.HasCacheCopy(managed.Pool!, disk.Open.Description) && MayReopen(managed, disk))
            {
                ManagedVirtualDisk again = await Reopen(managed, disk);
                _options.Notice($"A disk of the write cache of virtual disk {again.Open.Description.FriendlyName} is back; the cache is {again.Open.Cache?.State}.");
                AttachOpened(again);
            }
        }

        return default;
    }

    private async LaneTask<ManagedVirtualDisk> Reopen(ManagedPool managed, ManagedVirtualDisk disk)
    {
        await StopExport(disk);
        await EndJobsOf(managed, disk.Open.Description.Id.Value);
        GatherReliability();
        ManagedVirtualDisk again = new(await VirtualDiskStack.Reopen(managed.Pool!, disk.Open));
        managed.VirtualDisks[again.Open.Description.Id] = again;
        return again;
    }

    /// <summary>Rings that were given up keep no slabs.</summary>
    private async LaneTask<Nothing> RemoveGivenUpCaches(ManagedPool managed)
    {
        foreach (ManagedVirtualDisk disk in managed.VirtualDisks.Values.ToArray())
        {
            await RemoveGivenUpCache(managed, disk);
        }

        return default;
    }

    private async LaneTask<Nothing> RemoveGivenUpCache(ManagedPool managed, ManagedVirtualDisk disk)
    {
        bool isGivenUp = disk.Open.Cache is { State: WriteCacheState.WriteThrough } && disk.Open.Description.CacheSpace != SpaceId.None;
        if (isGivenUp && (await LostCaches.RemoveGivenUpCache(managed.Pool!, disk.Open)).Succeeded)
        {
            _options.Notice($"The slabs of the write cache of virtual disk {disk.Open.Description.FriendlyName}, which was given up, are free.");
        }

        return default;
    }

    private static string TextOf(CacheLoss loss)
    {
        (IReadOnlyList<(long Offset, long Length)> ranges, long unit) = loss.Coarsened(LostRangesMax);
        string list = string.Join(", ", ranges.Select(range => string.Create(CultureInfo.InvariantCulture, $"{range.Offset}+{range.Length}")));
        string known = ranges.Count == 0 ? "" : $"What was written last to these ranges may be lost (offset+length, in units of {unit} bytes): {list}. ";
        return loss.IsComplete ? ranges.Count == 0 ? "It held nothing." : known.TrimEnd()
            : known + (ranges.Count == 0 ? "What it held cannot be known: any range may lack its last writes." : "Other ranges may lack their last writes too.");
    }
}
