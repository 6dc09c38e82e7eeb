using System.Collections.Concurrent;
using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Volumes;

/// <summary>A volume to make on a disk without partitions.</summary>
/// <param name="Format">Its file system.</param>
/// <param name="Letter">Drive letter; null for a path.</param>
/// <param name="Path">Folder that it is mounted at; null for a letter.</param>
internal sealed record NewVolumePlan(FormatRequest Format, string? Letter, string? Path);

/// <summary>
/// Makes volumes in one step, from a pool or a disk to a mounted path: all or nothing.
/// <list type="number">
/// <item>A record of the volume is durable before the first step and removed after the last one. Until then every failure, and the next start of a host that
/// was killed, takes away what was made.</item>
/// <item>Remains that could not be removed, because a program still runs or a device is busy, are tried again until they are gone.</item>
/// <item>A virtual disk is taken away by the identifier that it was to be given, never by its name; of a disk that was there before, only partitions are
/// removed, and it had none.</item>
/// </list>
/// </summary>
internal sealed class VolumeMaker(HostServices services)
{
    private static readonly TimeSpan s_firstRetry = TimeSpan.FromSeconds(0.5);
    private static readonly TimeSpan s_lastRetry = TimeSpan.FromMinutes(1);
    private readonly ConcurrentDictionary<string, bool> _underWay = new();   // by virtual disk: records that are no remains
    private readonly ConcurrentDictionary<string, bool> _retries = new();    // by virtual disk: remains that are tried again
    private readonly ConcurrentDictionary<string, string> _said = new();     // by virtual disk: what was last logged of its remains

    private VolumeServices Volumes => services.Volumes;

    /// <summary>Makes a virtual disk in a pool and a volume on it.</summary>
    public async Task<VolumeTarget> MakeInPoolAsync(Guid pool, VirtualDiskRequest disk, NewVolumePlan plan, Action<string> warn, CancellationToken cancellation)
    {
        Guid id = Guid.NewGuid();
        string uniqueId = Identifiers.OfVirtualDisk(id);
        return await MakeAsync(new CreationEntry(uniqueId, id, pool, WasRaw: true), async () =>
        {
            VirtualDiskStatus made = await services.ChangeAsync(() => ConnectNewAsync(pool, disk with { Id = id })).ConfigureAwait(false);
            made.Remarks.ToList().ForEach(warn);
            DiskCatalogue catalogue = await Volumes.ReadCatalogueAsync(services).ConfigureAwait(false);
            return await Volumes.ChangeAsync(catalogue.Of(made), "New-Volume", now => MakeOnAsync(now, plan, warn, cancellation)).ConfigureAwait(false);
        }).ConfigureAwait(false);
    }

    /// <summary>Makes a volume on a disk without partitions, over all of it.</summary>
    /// <exception cref="StorageException">The disk has partitions or another file system; nothing was changed.</exception>
    public Task<VolumeTarget> MakeOnDiskAsync(VolumeDisk disk, NewVolumePlan plan, Action<string> warn, CancellationToken cancellation) =>
        Volumes.ChangeAsync(disk, "New-Volume", async now =>
        {
            CheckDisk(now, plan);
            CreationEntry entry = new CreationEntry(now.UniqueId, null, Guid.Empty, now.Contents.Style == PartitionStyle.Unknown);
            return await MakeAsync(entry, () => MakeOnAsync(now, plan, warn, cancellation), now).ConfigureAwait(false);
        });

    /// <summary>Checks what <see cref="MakeOnDiskAsync"/> would refuse; changes nothing.</summary>
    public void CheckDisk(VolumeDisk disk, NewVolumePlan plan)
    {
        Volumes.Checks.RequireWritable(disk);
        if (disk.Contents.Partitions.Count > 0)
        {
            throw new StorageException(
                StorageErrors.DiskNotBlank, $"Disk {disk.Number} has {disk.Contents.Partitions.Count} partitions; New-Volume makes one over the whole disk.",
                $"Use the room that is left: New-Partition -DiskNumber {disk.Number}, Format-Volume. Or erase the disk: Clear-Disk {disk.Number} -RemoveData.",
                disk.FriendlyName);
        }

        if (disk.Contents.Style == PartitionStyle.Unknown)
        {
            Volumes.Partitions.CheckInitialize(disk, PartitionStyle.GPT);
        }

        plan.Format.Kind.CheckSize(disk.Size);
        if (plan.Format.ClusterSize is { } size)
        {
            plan.Format.Kind.CheckClusterSize(size, disk.SectorSize);
        }
    }

    /// <summary>Takes away what a host that was killed has left of volumes. One whose pool or disk is not there yet keeps its record.</summary>
    /// <param name="virtualDisk">
    /// Unique identifier of a disk that was there before; null for all. Null waits for changes of virtual disks, which a verb that is one itself must not do.
    /// </param>
    public async Task TakeRemainsAwayAsync(string? virtualDisk)
    {
        CreationEntry[] remains = [.. Volumes.Store.Read().Creations.Where(entry =>
            (virtualDisk is null || (entry.VirtualDisk == virtualDisk && entry.Id is null)) && !_underWay.ContainsKey(entry.VirtualDisk))];
        foreach (CreationEntry entry in remains)
        {
            if (!await TryUndoAsync(entry).ConfigureAwait(false))
            {
                RetryLater(entry);
            }
        }
    }

    private async Task<VolumeTarget> MakeAsync(CreationEntry entry, Func<Task<VolumeTarget>> make, VolumeDisk? held = null)
    {
        _underWay[entry.VirtualDisk] = true;
        try
        {
            Volumes.Store.SetCreation(entry.VirtualDisk, entry);
            VolumeTarget made = await make().ConfigureAwait(false);
            Volumes.Store.SetCreation(entry.VirtualDisk, null);
            return made;
        }
        catch (Exception)
        {
            bool isDone = await TryUndoAsync(entry, held).ConfigureAwait(false);
            _underWay.TryRemove(entry.VirtualDisk, out _);
            if (!isDone)
            {
                RetryLater(entry);
            }

            throw;
        }
        finally
        {
            _underWay.TryRemove(entry.VirtualDisk, out _);
        }
    }

    private async Task<VirtualDiskStatus> ConnectNewAsync(Guid pool, VirtualDiskRequest disk)
    {
        VirtualDiskStatus made = await services.Subsystem.VirtualDisks.CreateAsync(pool, disk).ConfigureAwait(false);
        VirtualDiskStatus connected = await services.Connections.ConnectAsync(made.Description.Id.Value).ConfigureAwait(false);
        return connected with { Remarks = made.Remarks };
    }

    private async Task<VolumeTarget> MakeOnAsync(VolumeDisk disk, NewVolumePlan plan, Action<string> warn, CancellationToken cancellation)
    {
        VolumeDisk initialized = disk.Contents.Style == PartitionStyle.Unknown
            ? await Volumes.Partitions.InitializeAsync(disk, PartitionStyle.GPT).ConfigureAwait(false) : disk;
        VolumeTarget partition = await Volumes.Partitions.CreateAsync(initialized, new PartitionRequest()).ConfigureAwait(false);
        await Volumes.Mounts.AddAsync(partition, plan.Letter, plan.Path).ConfigureAwait(false);
        VolumeTarget made = await Volumes.Formats.FormatAsync(partition, plan.Format, warn, cancellation).ConfigureAwait(false);
        return Volumes.Mounts.FaultsOf(made, MountTable.Read()) is [var fault, ..]
            ? throw new StorageException(StorageErrors.MountFailed, fault, "Nothing was made. Remove the cause, then try again.", made.Name)
            : made;
    }

    /// <summary>Takes away what a record names. False if that failed, or its pool or disk is not there: it may succeed later.</summary>
    private async Task<bool> TryUndoAsync(CreationEntry entry, VolumeDisk? held = null)
    {
        try
        {
            bool isGone = await UndoAsync(entry, held).ConfigureAwait(false);
            Say(entry, isGone ? "was taken away" : "stays until its pool and disk are there");
            return isGone;
        }
        catch (Exception e) when (e is StorageException or ManagementException or IOException)
        {
            Say(entry, $"stays for now: {e.Message}");
            return false;
        }
    }

    /// <summary>Logs what has become of the remains of a volume, once, however often it is tried.</summary>
    private void Say(CreationEntry entry, string text)
    {
        if (_said.GetValueOrDefault(entry.VirtualDisk) != text)
        {
            _said[entry.VirtualDisk] = text;
            HostLog.Write($"what was left of a volume that was being made on virtual disk {entry.VirtualDisk} {text}");
        }
    }

    /// <summary>Takes the remains of a volume away beside the caller, again and again until they are gone or the host stops.</summary>
    private void RetryLater(CreationEntry entry)
    {
        if (_retries.TryAdd(entry.VirtualDisk, true))
        {
            _ = Task.Run(() => RetryAsync(entry));
        }
    }

    private async Task RetryAsync(CreationEntry entry)
    {
        try
        {
            for (TimeSpan wait = s_firstRetry; ; wait = wait * 2 < s_lastRetry ? wait * 2 : s_lastRetry)
            {
                await Task.WhenAny(services.StopRequested, Task.Delay(wait)).ConfigureAwait(false);
                if (services.StopRequested.IsCompleted || !IsLeft(entry) || await TryUndoAsync(entry).ConfigureAwait(false))
                {
                    return;
                }
            }
        }
        finally
        {
            _retries.TryRemove(entry.VirtualDisk, out _);
        }
    }

    /// <summary>Whether a record is that of a volume which is not being made now.</summary>
    private bool IsLeft(CreationEntry entry) => !_underWay.ContainsKey(entry.VirtualDisk) && Volumes.Store.Read().Creations.Contains(entry);

    /// <summary>Takes away what a record names. False where its pool or disk is not there: then the record is kept.</summary>
    /// <param name="entry">Its record.</param>
    /// <param name="held">The disk, if its gate is held.</param>
    private async Task<bool> UndoAsync(CreationEntry entry, VolumeDisk? held)
    {
        if (entry.Id is { } id)
        {
            return await services.ChangeAsync(() => RemoveVirtualDiskAsync(entry, id)).ConfigureAwait(false);
        }

        DiskCatalogue catalogue = await Volumes.ReadCatalogueAsync(services).ConfigureAwait(false);
        VolumeDisk? disk = held ?? catalogue.Disks.FirstOrDefault(one => one.UniqueId == entry.VirtualDisk);
        if (disk is null)
        {
            return false;   // its connection looks again
        }

        if (held is not null)
        {
            await ClearAsync(await Volumes.Partitions.ReadAsync(held).ConfigureAwait(false), entry).ConfigureAwait(false);
        }
        else
        {
            await Volumes.ChangeAsync(disk, "New-Volume", now => IsLeft(entry) ? ClearAsync(now, entry) : Task.FromResult(now)).ConfigureAwait(false);
        }

        return true;
    }

    private async Task<VolumeDisk> ClearAsync(VolumeDisk disk, CreationEntry entry)
    {
        foreach (VolumePartition partition in disk.Contents.Partitions)
        {
            await Volumes.Partitions.RemoveAsync(new VolumeTarget(disk, partition)).ConfigureAwait(false);
        }

        VolumeDisk empty = await Volumes.Partitions.ReadAsync(disk).ConfigureAwait(false);
        if (entry.WasRaw && !empty.Contents.IsBlank)
        {
            empty = await Volumes.Partitions.ClearAsync(empty, removeData: true, removeOem: true).ConfigureAwait(false);
        }

        Volumes.Store.SetCreation(entry.VirtualDisk, null);
        return empty;
    }

    /// <summary>Removes the virtual disk of a record, and the record. False where its pool is not there and may have it: then the record is kept.</summary>
    private async Task<bool> RemoveVirtualDiskAsync(CreationEntry entry, Guid id)
    {
        DiskCatalogue catalogue = await Volumes.ReadCatalogueAsync(services).ConfigureAwait(false);
        if (catalogue.All.VirtualDisks.All.FirstOrDefault(disk => disk.Description.Id.Value == id) is { } disk)
        {
            if (catalogue.Disks.FirstOrDefault(one => one.UniqueId == entry.VirtualDisk) is { } attached)
            {
                await UnmountAsync(await catalogue.ReadAsync(attached).ConfigureAwait(false)).ConfigureAwait(false);
            }

            services.Connections.Detach(entry.VirtualDisk);
            await services.Subsystem.VirtualDisks.RemoveAsync(id).ConfigureAwait(false);
        }
        else if (!catalogue.All.Pools.All.Any(pool => pool.Id == entry.Pool && pool.Status is { Health: Engine.Pools.HealthStatus.Healthy }))
        {
            return false;
        }

        Volumes.Store.Forget(entry.VirtualDisk);
        Volumes.Store.SetCreation(entry.VirtualDisk, null);
        return true;
    }

    private async Task UnmountAsync(VolumeDisk disk)
    {
        foreach (VolumeTarget target in disk.Volumes)
        {
            foreach (MountEntry mount in Volumes.Mounts.EntriesOf(target))
            {
                await Volumes.Mounts.RemoveAsync(target, mount).ConfigureAwait(false);
            }
        }
    }
}
