using TierSpaces.Contracts;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Subsystems;
using TierSpaces.Host.Verbs.Volumes;

namespace TierSpaces.Host.Verbs.StorageFaultDomains;

/// <summary>Get-StorageNode: describes this machine, whichever of its objects was given.</summary>
internal sealed class GetStorageNodeHandler(HostServices services) : VerbHandler<GetStorageNodeRequest, StorageNodeInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(GetStorageNodeRequest request, ReplyBuilder<StorageNodeInfo> reply, CancellationToken cancellation)
    {
        Catalogue all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        bool isMeant = request.Volume is { } volume ? await VolumeSelection.OneVolumeAsync(services, all, volume).ConfigureAwait(false) is not null
            : (request.Disk ?? request.VirtualDisk) is { } virtualDisk ? all.VirtualDisks.One(virtualDisk) is not null
            : request.PhysicalDisk is { } disk ? all.Disks.One(disk) is not null
            : request.StoragePool is { } pool ? all.Pools.One(pool) is not null
            : request.StorageEnclosure is { } enclosure ? all.Enclosures.One(enclosure) is not null
            : request.StorageSubSystem is { } subsystem ? LocalSubsystem.Selector.One(subsystem) is not null
            : LocalNode.Selector.Select(
                null, request.UniqueId ?? request.ObjectId?.Select(static id => id.Split('=')[^1]).ToArray(), request.Name, null, reply.Fail).Count > 0;
        StorageNodeInfo info = LocalNode.Describe();
        bool passes = request.OperationalStatus is null || DisplayName.Of(request.OperationalStatus).Contains(info.OperationalStatus);
        reply.Add(isMeant && passes ? [info] : []);
    }
}
