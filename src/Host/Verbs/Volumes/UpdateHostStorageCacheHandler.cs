using TierSpaces.Contracts;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Volumes;

namespace TierSpaces.Host.Verbs.Volumes;

/// <summary>Update-HostStorageCache: reads the partition tables of all disks again and tells the kernel.</summary>
internal sealed class UpdateHostStorageCacheHandler(HostServices services) : VerbHandler<UpdateHostStorageCacheRequest, DiskInfo>, ILongVerb
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(UpdateHostStorageCacheRequest request, ReplyBuilder<DiskInfo> reply, CancellationToken cancellation)
    {
        VolumeSelection selection = await VolumeSelection.ReadAsync(services, reply.Fail).ConfigureAwait(false);
        foreach (VolumeDisk disk in selection.Catalogue.Disks)
        {
            await reply.TryDoAsync(
                $"Read the partition table of disk {disk.Number} ('{disk.FriendlyName}') again",
                () => services.Volumes.ChangeAsync(disk, Verb.Name, services.Volumes.RescanAsync)).ConfigureAwait(false);
        }
    }
}
