using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Listening;
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
            await reply.TryAsync(() => reply.DoAsync(StepOf(disk, request), async () =>
            {
                services.Connections.RequireMethod(disk, request.AttachMethod);
                ListenRecord? address = services.Listeners.Check(disk, request.ListenAddress, request.TlsCertificatePath);
                string id = Identifiers.OfVirtualDisk(disk.Description.Id.Value);
                bool isNew = services.Attachments.OutcomeOf(id) is null;
                if (isNew || request.AttachMethod is not null)
                {
                    services.Attachments.SetMethod(id, request.AttachMethod);
                }

                VirtualDiskStatus connected = await services.Connections.ConnectAsync(
                    disk.Description.Id.Value, request.Force, request.Lane, request.AttachMethod).ConfigureAwait(false);
                connected.Remarks.ToList().ForEach(reply.Warn);
                await ListenAsync(connected, address, reply).ConfigureAwait(false);
                if (isNew)
                {
                    await services.Volumes.RestoreAsync(services, id).ConfigureAwait(false);
                }

                VirtualDiskInfo info = services.ToInfo(all, connected);
                if (info is { DevicePath: null, AttachReason: { } reason } && request.AttachMethod != AttachMethod.NbdUri)
                {
                    reply.Warn($"{reason} Virtual disk '{info.FriendlyName}' is served at {info.NbdUri}");
                }

                reply.Add(request.PassThru ? [info] : []);
            }, () =>
            {
                services.Paths.CheckSocketPath(services.Paths.SocketOf(disk.Description.Id.Value));
                services.Connections.RequireMethod(disk, request.AttachMethod);
                services.Listeners.Check(disk, request.ListenAddress, request.TlsCertificatePath);
                return services.Subsystem.VirtualDisks.CheckConnectAsync(disk.Description.Id.Value, request.Force, request.Lane);
            })).ConfigureAwait(false);
        }
    }

    private string StepOf(VirtualDiskStatus disk, ConnectVirtualDiskRequest request)
    {
        string name = disk.Description.FriendlyName, id = Identifiers.OfVirtualDisk(disk.Description.Id.Value);
        string lane = request.Lane is { } number ? $" on lane {number}" : "";
        string listen = request.ListenAddress is { } address && services.Listeners.UriOf(id, name) is null ? $", and serve it at {address} too" : "";
        return disk.SocketPath.Length == 0 ? $"Serve virtual disk '{name}'{lane} and attach it where the machine allows it{listen}"
            : services.Attachments.IsSettled(id, request.AttachMethod) ? $"Leave virtual disk '{name}' connected as it is{listen}"
            : $"Attach virtual disk '{name}', which is connected, where the machine allows it{listen}";
    }

    private async Task ListenAsync(VirtualDiskStatus disk, ListenRecord? address, ReplyBuilder<VirtualDiskInfo> reply)
    {
        if (address is null)
        {
            await services.Listeners.RestoreAsync(disk).ConfigureAwait(false);   // one that was taken at the start
            return;
        }

        await services.Listeners.ListenAsync(disk, address).ConfigureAwait(false);
        if (address.TlsCertificatePath is { } folder && !TlsCertificates.VerifiesClients(folder))
        {
            reply.Warn($"-TlsCertificatePath '{folder}' has no ca-cert.pem: every client that reaches {address.Address} can read and write virtual disk "
                + $"'{disk.Description.FriendlyName}'. With ca-cert.pem clients have to show a certificate.");
        }
    }
}
