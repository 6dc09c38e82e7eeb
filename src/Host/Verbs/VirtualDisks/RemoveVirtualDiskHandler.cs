using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Hosts;

namespace TierSpaces.Host.Verbs.VirtualDisks;

/// <summary>Remove-VirtualDisk: detaches virtual disks and deletes them with their data.</summary>
internal sealed class RemoveVirtualDiskHandler(HostServices services) : VerbHandler<RemoveVirtualDiskRequest, VirtualDiskInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        RemoveVirtualDiskRequest request, ReplyBuilder<VirtualDiskInfo> reply, CancellationToken cancellation)
    {
        Catalogue all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        List<VirtualDiskStatus> selected = all.VirtualDisks.Select(request.FriendlyName, request.UniqueId, request.Name, request.InputObject, reply.Fail);
        Confirmation.Require(
            request, [.. selected.Select(disk => disk.Description.FriendlyName)], (nameof(request.FriendlyName), request.FriendlyName),
            (nameof(request.UniqueId), request.UniqueId), (nameof(request.Name), request.Name), (nameof(request.InputObject), request.InputObject));
        foreach (VirtualDiskStatus disk in selected)
        {
            await reply.TryAsync(async () =>
            {
                VirtualDiskInfo info = services.ToInfo(all, disk);
                await RequireNoClientsAsync(disk).ConfigureAwait(false);
                VirtualDiskPlacement placement = await services.Subsystem.Placements.GetAsync(disk.Description.Id.Value).ConfigureAwait(false);
                if (!reply.IsWhatIf)
                {
                    using IDisposable gate = await services.Volumes.Gates.EnterAsync(info.UniqueId, "Remove-VirtualDisk").ConfigureAwait(false);
                    await services.Volumes.WhileUnmountedAsync(services, info.UniqueId, () => RemoveAsync(disk, info.UniqueId)).ConfigureAwait(false);
                    await services.Volumes.Mounts.ForgetAsync(info.UniqueId).ConfigureAwait(false);
                    services.Volumes.Store.Forget(info.UniqueId);
                    reply.Add(request.PassThru ? [info] : []);
                }

                reply.Tell(PlacementText.OfRemoval(placement, all));
            }).ConfigureAwait(false);
        }
    }

    private async Task RequireNoClientsAsync(VirtualDiskStatus disk)
    {
        string name = disk.Description.FriendlyName;
        if (await DiskUsers.ClientsOfAsync(services, disk.Description.Id.Value).ConfigureAwait(false) is { Length: > 0 } clients)
        {
            throw new StorageException(
                StorageErrors.InUse, $"Virtual disk '{name}' has NBD clients: {string.Join(", ", clients)}.",
                $"End them, or take it away from them: Disconnect-VirtualDisk '{name}'.", name);
        }
    }

    /// <summary>A virtual disk that is not removed gets its block device back.</summary>
    private async Task<bool> RemoveAsync(VirtualDiskStatus disk, string id)
    {
        services.Connections.Detach(id);
        try
        {
            bool removed = await services.Subsystem.VirtualDisks.RemoveAsync(disk.Description.Id.Value).ConfigureAwait(false);
            await services.Connections.ForgetAsync(id).ConfigureAwait(false);
            return removed;
        }
        catch (ManagementException) when (disk.SocketPath.Length > 0)
        {
            services.Connections.Attach(disk);
            throw;
        }
    }
}
