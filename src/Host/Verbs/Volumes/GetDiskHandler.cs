using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;
using TierSpaces.Host.Verbs.StorageFaultDomains;
using TierSpaces.Host.Verbs.Subsystems;
using TierSpaces.Host.Volumes;

namespace TierSpaces.Host.Verbs.Volumes;

/// <summary>Get-Disk: lists connected virtual disks with a block device, and warns of those that have none.</summary>
internal sealed class GetDiskHandler(HostServices services) : VerbHandler<GetDiskRequest, DiskInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(GetDiskRequest request, ReplyBuilder<DiskInfo> reply, CancellationToken cancellation)
    {
        VolumeSelection selection = await VolumeSelection.ReadAsync(services, reply.Fail).ConfigureAwait(false);
        foreach (VolumeDisk disk in await selection.Catalogue.ReadAsync(await ChosenAsync(selection, request).ConfigureAwait(false)).ConfigureAwait(false))
        {
            reply.Add(disk.ToInfo());
        }

        if (request is { Number: null, UniqueId: null, FriendlyName: null, SerialNumber: null, Path: null, Partition: null, VirtualDisk: null })
        {
            foreach ((VirtualDiskStatus disk, string reason) in selection.Catalogue.WithoutDevice)
            {
                string name = disk.Description.FriendlyName;
                reply.Warn($"Virtual disk '{name}' is connected and is no disk: {reason} It is served at {VirtualDiskMapping.NbdUri(name, disk.SocketPath)}");
            }
        }
    }

    private static async Task<List<VolumeDisk>> ChosenAsync(VolumeSelection selection, GetDiskRequest request)
    {
        if (request.StorageSubSystem is { } subsystem)
        {
            LocalSubsystem.Selector.One(subsystem);
        }

        if (request.StorageNode is { } node)
        {
            LocalNode.Selector.One(node);
        }

        if (request.Partition is { } partition)
        {
            return [.. selection.ById(await selection.AllPartitionsAsync().ConfigureAwait(false), [partition],
                "MSFT_Partition").Select(static target => target.Disk)];
        }

        return request.VirtualDisk is { } virtualDisk ? [selection.OfVirtualDisk(virtualDisk)]
            : request.StorageJob is { } job ? selection.OfJob(job)
            : selection.BySerialNumber(selection.Disks(request.Number, request.UniqueId, request.FriendlyName, request.Path, null), request.SerialNumber);
    }
}
