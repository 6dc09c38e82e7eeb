using TierSpaces.Contracts;
using TierSpaces.Engine.Devices;
using TierSpaces.Host.Attaching;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs;
using TierSpaces.Host.Verbs.Mapping;
using TierSpaces.Host.Volumes.FileSystems;

namespace TierSpaces.Host.Volumes;

/// <summary>
/// Disks, partitions and volumes of a host: the services that verbs share. A verb reads the catalogue, takes the gate of a disk, reads the disk again and
/// calls a service.
/// </summary>
internal sealed class VolumeServices
{
    private static readonly TimeSpan s_attachPatience = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan s_mountPatience = TimeSpan.FromSeconds(5);
    private readonly AttachManager _attachments;
    private volatile Task _restoring = Task.CompletedTask;   // the last that was begun beside the verbs

    /// <summary>Makes the services.</summary>
    /// <param name="paths">Paths of the host.</param>
    /// <param name="state">Its state.</param>
    /// <param name="attachments">Its attached devices.</param>
    /// <param name="root">Folder of drive letters and labels.</param>
    /// <param name="fileSystem">Local file system that is made in place of those of Windows; empty for the defaults.</param>
    public VolumeServices(HostPaths paths, IHostState state, AttachManager attachments, string root, string fileSystem)
    {
        _attachments = attachments;
        Store = new VolumeStore(state);
        Tools = new VolumeTools(Tool.Find);
        Reader = new DiskReader(Tools);
        Mounts = new MountService(Store, Tools, root);
        Checks = new VolumeDiskChecks(attachments);
        Kernel = new PartitionKernel(Tools);
        Partitions = new PartitionService(Tools, Checks, Kernel, Mounts, Store, Reader);
        FileSystems = new FileSystemChoice(Tools, fileSystem);
        Formats = new FormatService(Tools, Checks, Mounts, Store, Partitions);
        Settings = new VolumeSettings(Tools, Checks, Partitions, Mounts, Store);
        Resizes = new ResizeService(Tools, Checks, Partitions, Mounts, Path.Combine(paths.Home, "mnt"));
        Repairs = new VolumeRepair(Tools, Checks, Mounts);
        Release = new DeviceRelease(Tools);
    }

    /// <summary>Records.</summary>
    public VolumeStore Store { get; }

    /// <summary>Programs.</summary>
    public VolumeTools Tools { get; }

    /// <summary>Reads devices.</summary>
    public DiskReader Reader { get; }

    /// <summary>Mounts.</summary>
    public MountService Mounts { get; }

    /// <summary>Checks before changes.</summary>
    public VolumeDiskChecks Checks { get; }

    /// <summary>Partitions in the kernel.</summary>
    public PartitionKernel Kernel { get; }

    /// <summary>Partitions.</summary>
    public PartitionService Partitions { get; }

    /// <summary>Choice of a file system.</summary>
    public FileSystemChoice FileSystems { get; }

    /// <summary>File systems.</summary>
    public FormatService Formats { get; }

    /// <summary>Settings of disks and partitions.</summary>
    public VolumeSettings Settings { get; }

    /// <summary>Sizes of partitions.</summary>
    public ResizeService Resizes { get; }

    /// <summary>Checks, repairs, labels.</summary>
    public VolumeRepair Repairs { get; }

    /// <summary>Frees devices from their users.</summary>
    public DeviceRelease Release { get; }

    /// <summary>Space of mounted volumes.</summary>
    public FileSystemSpace Space { get; } = new();

    /// <summary>One change of a disk at a time.</summary>
    public VolumeGates Gates { get; } = new();

    /// <summary>
    /// Lists the disks, for verbs; reads none of them. A host that has just started takes the devices of the one before first, and mounts that are being
    /// brought back are waited for: 5 s at most for each.
    /// </summary>
    public async Task<DiskCatalogue> CatalogueAsync(HostServices services)
    {
        DiskCatalogue catalogue = await ReadCatalogueAsync(services).ConfigureAwait(false);
        if (!_restoring.IsCompleted)
        {
            await Task.WhenAny(_restoring, Task.Delay(s_mountPatience)).ConfigureAwait(false);
        }

        return catalogue;
    }

    /// <summary>The same, for services: mounts are not waited for.</summary>
    public async Task<DiskCatalogue> ReadCatalogueAsync(HostServices services)
    {
        if (!services.Startup.First.IsCompleted)
        {
            await Task.WhenAny(services.Startup.First, Task.Delay(s_attachPatience)).ConfigureAwait(false);
        }

        return Of(await Catalogue.ReadAsync(services).ConfigureAwait(false));
    }

    /// <summary>The same, of a catalogue that was read already.</summary>
    public DiskCatalogue Of(Catalogue all) => DiskCatalogue.Of(all, _attachments, Store, Reader);

    /// <summary>Says which recorded mounts wait for a storage pool that is not open, and which disks are missing; null: none waits.</summary>
    public string? RemarkOnWaitingMounts(Catalogue all)
    {
        HashSet<Guid> open = [.. all.Pools.All.Where(static pool => pool.Status is { IsOpen: true }).Select(static pool => pool.Id)];
        HashSet<string> known = [.. all.VirtualDisks.All.Where(disk => open.Contains(disk.PoolId))
            .Select(static disk => Identifiers.OfVirtualDisk(disk.Description.Id.Value))];
        string[] places = [.. Store.Read().Mounts.Where(mount => !known.Contains(mount.VirtualDisk))
            .Select(static mount => mount.Letter.Length > 0 ? $"{mount.Letter}:" : mount.Path)];
        string[] missing = [.. all.Disks.All.Where(static disk => disk.OperationalStatus == DisplayName.Of(OperationalStatus.LostCommunication))
            .Select(static disk => disk.Uri.Length > 0 ? $"{disk.FriendlyName} ({DiskUri.Parse(disk.Uri).Path})" : disk.FriendlyName)];
        return places.Length == 0 ? null
            : $"Volumes at {string.Join(", ", places)} are not mounted: the storage pool of their virtual disk is not open. "
                + (missing.Length > 0 ? $"Missing physical disks: {string.Join(", ", missing)}. Make them available again, then the volumes are mounted."
                    : "Look at Get-StoragePool and Get-PhysicalDisk for the reason.");
    }

    /// <summary>Takes the gate of a disk, reads the disk again and carries out work on it.</summary>
    /// <param name="disk">The disk.</param>
    /// <param name="verb">Name of the work, for the error of others.</param>
    /// <param name="work">The work; takes the disk as it is now.</param>
    public async Task<T> ChangeAsync<T>(VolumeDisk disk, string verb, Func<VolumeDisk, Task<T>> work)
    {
        using IDisposable gate = await Gates.EnterAsync(disk.UniqueId, verb).ConfigureAwait(false);
        return await work(await Partitions.ReadAsync(disk).ConfigureAwait(false)).ConfigureAwait(false);
    }

    /// <summary>The same for a volume or a partition.</summary>
    /// <exception cref="StorageException">It is not there any more.</exception>
    public Task<T> ChangeAsync<T>(VolumeTarget target, string verb, Func<VolumeTarget, Task<T>> work) =>
        ChangeAsync(target.Disk, verb, disk => work(Find(disk, target)));

    /// <summary>Reads the partition table of a disk again, and makes the partitions that the kernel shows those of the table.</summary>
    public async Task<VolumeDisk> RescanAsync(VolumeDisk disk)
    {
        Checks.RequireOurs(disk);
        await Kernel.SyncAsync(disk.Device, disk.Contents.Partitions).ConfigureAwait(false);
        return await Partitions.ReadAsync(disk).ConfigureAwait(false);
    }

    /// <summary>
    /// Carries out work on a virtual disk while none of its volumes is mounted; the caller holds the gate of the disk. Access paths are kept: if a volume is
    /// in use, or the work fails, what was unmounted is mounted again.
    /// </summary>
    /// <exception cref="StorageException">A volume is in use, or mounted by others.</exception>
    public async Task<T> WhileUnmountedAsync<T>(HostServices services, string virtualDisk, Func<Task<T>> work)
    {
        if (!Store.Read().Mounts.Any(mount => mount.VirtualDisk == virtualDisk))
        {
            return await work().ConfigureAwait(false);
        }

        try
        {
            DiskCatalogue catalogue = await ReadCatalogueAsync(services).ConfigureAwait(false);
            foreach (VolumeDisk disk in await catalogue.ReadAsync(catalogue.Disks.Where(disk => disk.UniqueId == virtualDisk)).ConfigureAwait(false))
            {
                foreach (VolumeTarget target in disk.Volumes)
                {
                    await Mounts.UnmountAllAsync(target).ConfigureAwait(false);
                }
            }

            return await work().ConfigureAwait(false);
        }
        catch (Exception)
        {
            RestoreLater(services, virtualDisk);
            throw;
        }
    }

    private static VolumeTarget Find(VolumeDisk disk, VolumeTarget target) =>
        target.Partition is null
            ? new VolumeTarget(disk, null)
            : disk.Contents.Partitions.FirstOrDefault(partition => partition.Key == target.Key) is { } now
                ? new VolumeTarget(disk, now)
                : throw StorageException.NotFound("MSFT_Partition", "UniqueId", target.UniqueId);

    /// <summary>
    /// Brings the mounts of disks back, in the order in which they were made: after a start of the host or the machine, and when a disk is connected. A
    /// mount that hangs or fails is logged, shows as a fault of its volume, and holds up no other.
    /// </summary>
    /// <param name="services">The host.</param>
    /// <param name="virtualDisk">Unique identifier of one disk; null for all.</param>
    public async Task RestoreAsync(HostServices services, string? virtualDisk = null)
    {
        await services.VolumeMaker.TakeRemainsAwayAsync(virtualDisk).ConfigureAwait(false);
        MountEntry[] entries = [.. Store.Read().Mounts.Where(mount => virtualDisk is null || mount.VirtualDisk == virtualDisk)];
        DiskCatalogue catalogue = await ReadCatalogueAsync(services).ConfigureAwait(false);
        VolumeDisk[] disks = await catalogue.ReadAsync(catalogue.Disks.Where(disk => virtualDisk is null
            || disk.UniqueId == virtualDisk)).ConfigureAwait(false);
        foreach (VolumeDisk disk in disks)
        {
            await PrepareAsync(disk).ConfigureAwait(false);
        }

        foreach (MountEntry entry in entries)
        {
            Task mounting = RestoreAsync(disks, entry);
            await Task.WhenAny(mounting, Task.Delay(s_mountPatience)).ConfigureAwait(false);
        }
    }

    /// <summary>The same beside the caller; a failure is logged.</summary>
    public void RestoreLater(HostServices services, string? virtualDisk = null) => _restoring = Task.Run(async () =>
    {
        try
        {
            await RestoreAsync(services, virtualDisk).ConfigureAwait(false);
        }
        catch (Exception e)
        {
            HostLog.Write($"mounts do not come back: {e}");
        }
    });

    /// <summary>The partitions that the kernel shows, and the read-only mark, are those of the disk.</summary>
    private async Task PrepareAsync(VolumeDisk disk)
    {
        try
        {
            await Kernel.SyncAsync(disk.Device, disk.Contents.Partitions).ConfigureAwait(false);
            if (disk.Entry.IsReadOnly)
            {
                await Tools.RunAsync("blockdev", VolumeTools.Short, CancellationToken.None, "--setro", disk.Device).ConfigureAwait(false);
            }
        }
        catch (StorageException e)
        {
            HostLog.Write($"disk {disk.Number} ({disk.Device}): {e.Error.OneLine}");
        }
    }

    private async Task RestoreAsync(VolumeDisk[] disks, MountEntry entry)
    {
        try
        {
            if (disks.FirstOrDefault(disk => disk.UniqueId == entry.VirtualDisk) is not { } disk)
            {
                return;   // not connected yet
            }

            using IDisposable gate = await Gates.EnterAsync(disk.UniqueId, "Mounting").ConfigureAwait(false);
            if (!Store.Read().Mounts.Contains(entry))
            {
                return;   // a verb has removed it meanwhile
            }

            VolumeDisk now = await Partitions.ReadAsync(disk).ConfigureAwait(false);
            VolumeTarget? target = now.Volumes.FirstOrDefault(volume => volume.Key == entry.Partition);
            if (target is null)
            {
                HostLog.Write($"disk {disk.Number} has no volume for the mount at {entry.Path}: {now.Contents.Fault ?? "its partition is gone."}");
                return;
            }

            await Mounts.MountAsync(target, entry).ConfigureAwait(false);
        }
        catch (StorageException e)
        {
            HostLog.Write($"the mount at {entry.Path} does not come back: {e.Error.OneLine}");
        }
    }
}
