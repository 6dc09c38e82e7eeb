using TierSpaces.Contracts;
using TierSpaces.Engine.Exports.Nbd;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Listening;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs;
using TierSpaces.Host.Verbs.Mapping;
using TierSpaces.Host.Volumes;

namespace TierSpaces.Host.Attaching;

/// <summary>Connects virtual disks and makes devices of them, and takes both away.</summary>
internal sealed class DiskConnections(
    HostPaths paths, StorageSubsystem subsystem, AttachManager attachments, DiskListeners listeners, VolumeServices volumes)
{
    /// <summary>
    /// Makes a device of a virtual disk that is served. It asks for the export by its identity, so that the disk can be renamed while it is attached. Disks are
    /// numbered in the order in which they are attached.
    /// </summary>
    /// <param name="disk">Virtual disk.</param>
    /// <param name="method">The only method to try; null: the first that works.</param>
    public void Attach(VirtualDiskStatus disk, AttachMethod? method = null)
    {
        string uniqueId = Identifiers.OfVirtualDisk(disk.Description.Id.Value);
        AttachOutcome outcome = attachments.Attach(new AttachTarget(
            uniqueId, disk.Description.FriendlyName, disk.SocketPath, NbdExport.IdentityOf(disk.Description.Id.Value), disk.Description.LogicalSectorSize,
            disk.Description.IsReadOnly), method);
        try
        {
            _ = outcome.DevicePath is null ? null : volumes.Store.EntryOf(uniqueId);
        }
        catch (IOException problem)
        {
            HostLog.Write($"virtual disk '{disk.Description.FriendlyName}' is attached; its disk gets a number when it is listed: {problem.Message}");
        }
    }

    /// <summary>
    /// Makes a new device of a virtual disk whose device is broken. Drive letters and access paths of its volumes are taken from the broken one, to be mounted
    /// again. Mounts that others made stay as they are and report errors, since writes of their users would go elsewhere without a word.
    /// </summary>
    /// <param name="disk">Virtual disk.</param>
    /// <param name="broken">Record of the broken device.</param>
    /// <param name="cause">The cause, for the log.</param>
    public async Task AttachAgainAsync(VirtualDiskStatus disk, AttachRecord broken, string cause)
    {
        string uniqueId = broken.UniqueId;
        HostLog.Write($"{broken.Device}, the device of virtual disk '{broken.FriendlyName}', is broken: {cause}. A new one is made.");
        using IDisposable gate = await volumes.Gates.EnterAsync(uniqueId, "The renewal of its device").ConfigureAwait(false);
        HashSet<string> ours = [.. volumes.Store.Read().Mounts.Where(mount => mount.VirtualDisk == uniqueId).Select(static mount => mount.Path)];
        foreach (string remark in await volumes.Release.UnmountAsync(broken.Device, ours.Contains).ConfigureAwait(false))
        {
            HostLog.Write(remark);
        }

        foreach (string place in LoopFile.IsOf(broken) ? BlockDevice.MountPoints(broken.Device) : [])   // else the kernel has given its name away
        {
            HostLog.Write($"{broken.Device}: {place} is still mounted on it and reports errors: umount {place}, then mount the new device there.");
        }

        Attach(disk);
    }

    /// <summary>Serves a virtual disk and makes a device of it where the machine allows it; mounts on it stay as they are.</summary>
    /// <param name="disk">Virtual disk.</param>
    /// <param name="force">Whether what a lost write cache of it held is given up; the remarks say what that was.</param>
    /// <param name="lane">Lane that it is put on; null: the one it is on.</param>
    /// <param name="method">The only way to make a device of it; null: the first that works.</param>
    /// <exception cref="StorageException">The path of its socket is too long; nothing was changed.</exception>
    /// <exception cref="ManagementException">It cannot be served; nothing was changed.</exception>
    public async Task<VirtualDiskStatus> ConnectAsync(Guid disk, bool force = false, int? lane = null, AttachMethod? method = null)
    {
        paths.CheckSocketPath(paths.SocketOf(disk));
        VirtualDiskStatus connected = await subsystem.VirtualDisks.ConnectAsync(disk, force, lane).ConfigureAwait(false);
        Attach(connected, method);
        return connected;
    }

    /// <summary>Refuses a method that a virtual disk cannot be attached by.</summary>
    /// <exception cref="StorageException">It cannot be; nothing was changed.</exception>
    public void RequireMethod(VirtualDiskStatus disk, AttachMethod? method)
    {
        if (method is { } asked)
        {
            attachments.RequireMethod(Identifiers.OfVirtualDisk(disk.Description.Id.Value), disk.Description.FriendlyName, asked);
        }
    }

    /// <summary>Detaches a virtual disk whose volumes are not mounted, and gives the number of its disk back.</summary>
    /// <exception cref="StorageException">It is in use; nothing was changed.</exception>
    public void Detach(string uniqueId)
    {
        attachments.Detach(uniqueId);
        volumes.Store.Release(uniqueId);
    }

    /// <summary>
    /// Takes the device of a virtual disk away from its users. Their writes are flushed and file systems are unmounted first, unless nothing serves the
    /// device: then the requests that wait for it fail first. The number of its disk stays.
    /// </summary>
    /// <param name="uniqueId">The virtual disk, which may be gone.</param>
    /// <param name="isServed">Whether this host serves the device; where it does not answer requests, it counts as not served.</param>
    /// <returns>Remarks on what could not be done in good order, for the user.</returns>
    public async Task<IReadOnlyList<string>> TakeAwayAsync(string uniqueId, bool isServed)
    {
        if (attachments.Records().FirstOrDefault(record => record.UniqueId == uniqueId) is not { } record)
        {
            return [];
        }

        isServed &= attachments.Answers(record);
        List<string> remarks = isServed ? [.. await volumes.Release.ReleaseAsync(record.Device).ConfigureAwait(false)] : [];
        try
        {
            attachments.Detach(uniqueId, force: true);
        }
        catch (Exception e) when (e is AttachException or IOException)
        {
            remarks.Add($"Virtual disk '{record.FriendlyName}': {record.Device} is not removed: {e.Message}");
        }

        remarks.AddRange(isServed ? [] : await volumes.Release.ReleaseAsync(record.Device).ConfigureAwait(false));
        return remarks;
    }

    /// <summary>Forgets what was asked for when a virtual disk was connected, now that it is not or is gone: its TCP address and its way.</summary>
    public async Task ForgetAsync(string uniqueId)
    {
        await listeners.ForgetAsync(uniqueId).ConfigureAwait(false);
        attachments.SetMethod(uniqueId, null);
    }
}
