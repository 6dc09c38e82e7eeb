using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Verbs.VirtualDisks;

/// <summary>Connect-VirtualDisk: serves virtual disks, and makes block devices of them where the machine allows it.</summary>
internal sealed class ConnectVirtualDiskHandler(HostServices services) : VerbHandler<ConnectVirtualDiskRequest, VirtualDiskInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        ConnectVirtualDiskRequest request, ReplyBuilder<VirtualDiskInfo> reply, CancellationToken cancellation)
    {
        Catalogue all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        foreach (VirtualDiskStatus disk in all.VirtualDisks.Select(
            request.FriendlyName, request.UniqueId, request.Name, request.InputObject, reply.Fail))
        {
            string socket = Path.Combine(services.Paths.Exports, disk.Description.Id.Value.ToString("N") + ".sock");
            string lane = request.Lane is { } number ? $" on lane {number}" : "";
            await reply.TryDoAsync($"Serve virtual disk '{disk.Description.FriendlyName}'{lane} and attach it where the machine allows it", async () =>
            {
                services.Paths.CheckSocketPath(socket);
                VirtualDiskStatus connected = await services.Subsystem.VirtualDisks.ConnectAsync(
                    disk.Description.Id.Value, request.Force, request.Lane).ConfigureAwait(false);
                foreach (string remark in connected.Remarks)
                {
                    reply.Warn(remark);
                }

                string id = Identifiers.OfVirtualDisk(connected.Description.Id.Value);
                bool isNew = services.Attachments.OutcomeOf(id) is null;
                services.Attach(connected);
                if (isNew)
                {
                    await services.Volumes.RestoreAsync(services, id).ConfigureAwait(false);
                }

                VirtualDiskInfo info = services.ToInfo(all, connected);
                if (info.AttachReason is { } reason)
                {
                    reply.Warn($"{reason} Virtual disk '{info.FriendlyName}' is served at {info.NbdUri}");
                }

                reply.Add(request.PassThru ? [info] : []);
            }, () =>
            {
                services.Paths.CheckSocketPath(socket);
                return services.Subsystem.VirtualDisks.CheckConnectAsync(disk.Description.Id.Value, request.Force, request.Lane);
            }).ConfigureAwait(false);
        }
    }
}
