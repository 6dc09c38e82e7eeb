using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;

namespace TierSpaces.Host.Verbs.VirtualDisks;

/// <summary>Disconnect-VirtualDisk: takes block devices away and stops serving.</summary>
internal sealed class DisconnectVirtualDiskHandler(HostServices services)
    : VerbHandler<DisconnectVirtualDiskRequest, VirtualDiskInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        DisconnectVirtualDiskRequest request, ReplyBuilder<VirtualDiskInfo> reply, CancellationToken cancellation)
    {
        Catalogue all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        foreach (VirtualDiskStatus disk in all.VirtualDisks.Select(
            request.FriendlyName, request.UniqueId, request.Name, request.InputObject, reply.Fail))
        {
            await reply.TryDoAsync($"Detach virtual disk '{disk.Description.FriendlyName}' and serve it no longer", async () =>
            {
                string id = services.ToInfo(all, disk).UniqueId;
                using IDisposable gate = await services.Volumes.Gates.EnterAsync(id, "Disconnect-VirtualDisk").ConfigureAwait(false);
                VirtualDiskStatus detached = await services.Volumes.WhileUnmountedAsync(services, id, () => DisconnectAsync(disk, id)).ConfigureAwait(false);
                detached.Remarks.ToList().ForEach(reply.Warn);
                reply.Add(request.PassThru ? [services.ToInfo(all, detached)] : []);
            }).ConfigureAwait(false);
        }
    }

    /// <summary>A virtual disk that stays connected gets its block device back.</summary>
    private async Task<VirtualDiskStatus> DisconnectAsync(VirtualDiskStatus disk, string id)
    {
        services.Detach(id);
        try
        {
            return await services.Subsystem.VirtualDisks.DisconnectAsync(disk.Description.Id.Value).ConfigureAwait(false);
        }
        catch (ManagementException) when (disk.SocketPath.Length > 0)
        {
            services.Attach(disk);
            throw;
        }
    }
}
