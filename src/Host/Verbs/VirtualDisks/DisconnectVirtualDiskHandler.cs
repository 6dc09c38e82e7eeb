using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Attaching;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Hosts;

namespace TierSpaces.Host.Verbs.VirtualDisks;

/// <summary>
/// Disconnect-VirtualDisk: takes block devices away and stops serving. With -Force it does so also while a device is in use, and removes devices whose virtual
/// disk is gone.
/// </summary>
internal sealed class DisconnectVirtualDiskHandler(HostServices services)
    : VerbHandler<DisconnectVirtualDiskRequest, VirtualDiskInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        DisconnectVirtualDiskRequest request, ReplyBuilder<VirtualDiskInfo> reply, CancellationToken cancellation)
    {
        Catalogue all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        List<StorageErrorInfo> unknown = [];
        List<VirtualDiskStatus> disks = all.VirtualDisks.Select(request.FriendlyName, request.UniqueId, request.Name, request.InputObject, unknown.Add);
        List<AttachRecord> remains = request.Force ? RemainsOf(all, request, unknown) : [];
        unknown.ForEach(reply.Fail);
        foreach (VirtualDiskStatus disk in disks)
        {
            await reply.TryDoAsync($"Detach virtual disk '{disk.Description.FriendlyName}' and serve it no longer", async () =>
            {
                string id = services.ToInfo(all, disk).UniqueId;
                using IDisposable gate = await services.Volumes.Gates.EnterAsync(id, "Disconnect-VirtualDisk").ConfigureAwait(false);
                string[] clients = await DiskUsers.ClientsOfAsync(services, disk.Description.Id.Value).ConfigureAwait(false);
                VirtualDiskStatus detached = request.Force ? await DisconnectInUseAsync(disk, id, reply).ConfigureAwait(false)
                    : await services.Volumes.WhileUnmountedAsync(services, id, () => DisconnectAsync(disk, id)).ConfigureAwait(false);
                detached.Remarks.ToList().ForEach(reply.Warn);
                if (clients.Length > 0)
                {
                    reply.Warn($"Virtual disk '{disk.Description.FriendlyName}': NBD clients lost the connection: {string.Join(", ", clients)}.");
                }

                reply.Add(request.PassThru ? [services.ToInfo(all, detached)] : []);
            }).ConfigureAwait(false);
        }

        foreach (AttachRecord record in remains)
        {
            await reply.TryDoAsync($"Remove {record.Device}, the device of virtual disk '{record.FriendlyName}', which is gone", async () =>
            {
                foreach (string remark in await services.Connections.TakeAwayAsync(record.UniqueId, isServed: false).ConfigureAwait(false))
                {
                    reply.Warn(remark);
                }

                await services.Connections.ForgetAsync(record.UniqueId).ConfigureAwait(false);
            }).ConfigureAwait(false);
        }
    }

    /// <summary>
    /// Returns the records of devices that a request selects and whose virtual disk is gone. Takes the texts that fit one of them out of
    /// <paramref name="unknown"/>.
    /// </summary>
    private List<AttachRecord> RemainsOf(Catalogue all, DisconnectVirtualDiskRequest request, List<StorageErrorInfo> unknown)
    {
        HashSet<string> known = [.. all.VirtualDisks.All.Select(all.VirtualDisks.IdOf)];
        Selector<AttachRecord> remains = new Selector<AttachRecord>(
            "MSFT_VirtualDisk", [.. services.Attachments.Records().Where(record => !known.Contains(record.UniqueId))], static record => record.UniqueId,
            static record => record.FriendlyName);
        List<StorageErrorInfo> unfit = [];
        List<AttachRecord> selected = remains.Select(request.FriendlyName, request.UniqueId, request.Name, request.InputObject, unfit.Add);
        unknown.RemoveAll(error => unfit.All(other => other.ExtendedInformation != error.ExtendedInformation));
        return selected;
    }

    /// <summary>One that is not open stays connected in its pool: there is no export to end.</summary>
    private async Task<VirtualDiskStatus> DisconnectInUseAsync(VirtualDiskStatus disk, string id, ReplyBuilder<VirtualDiskInfo> reply)
    {
        bool isServed = disk.SocketPath.Length > 0;
        foreach (string remark in await services.Connections.TakeAwayAsync(id, isServed).ConfigureAwait(false))
        {
            reply.Warn(remark);
        }

        services.Volumes.Store.Release(id);
        try
        {
            return await EndAsync(disk, id).ConfigureAwait(false);
        }
        catch (ManagementException problem) when (!isServed)
        {
            reply.Warn($"Virtual disk '{disk.Description.FriendlyName}' has no device any more and is connected again when it can be opened: {problem.Message}");
            return disk;
        }
        catch (ManagementException)
        {
            services.Volumes.RestoreLater(services, id);
            throw;
        }
    }

    private Task<VirtualDiskStatus> DisconnectAsync(VirtualDiskStatus disk, string id)
    {
        services.Connections.Detach(id);
        return EndAsync(disk, id);
    }

    /// <summary>Ends the export of a virtual disk that has no device any more. One that stays connected gets its device back.</summary>
    private async Task<VirtualDiskStatus> EndAsync(VirtualDiskStatus disk, string id)
    {
        try
        {
            VirtualDiskStatus ended = await services.Subsystem.VirtualDisks.DisconnectAsync(disk.Description.Id.Value).ConfigureAwait(false);
            await services.Connections.ForgetAsync(id).ConfigureAwait(false);
            return ended;
        }
        catch (ManagementException) when (disk.SocketPath.Length > 0)
        {
            services.Connections.Attach(disk);
            throw;
        }
    }
}
