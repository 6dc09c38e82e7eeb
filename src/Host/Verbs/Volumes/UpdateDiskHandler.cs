using TierSpaces.Contracts;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Volumes;

namespace TierSpaces.Host.Verbs.Volumes;

/// <summary>Update-Disk: reads the partition tables of disks again and tells the kernel.</summary>
internal sealed class UpdateDiskHandler(HostServices services) : VerbHandler<UpdateDiskRequest, DiskInfo>, ILongVerb
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(UpdateDiskRequest request, ReplyBuilder<DiskInfo> reply, CancellationToken cancellation)
    {
        VolumeSelection selection = await VolumeSelection.ReadAsync(services, reply.Fail).ConfigureAwait(false);
        foreach (VolumeDisk disk in selection.Disks(request.Number, request.UniqueId, request.FriendlyName, request.Path, request.InputObject))
        {
            await reply.TryDoAsync($"Read the partition table of disk {disk.Number} ('{disk.FriendlyName}') again", async () =>
            {
                VolumeDisk read = await services.Volumes.ChangeAsync(disk, Verb.Name, services.Volumes.RescanAsync).ConfigureAwait(false);
                reply.Add(request.PassThru ? [read.ToInfo()] : []);
            }).ConfigureAwait(false);
        }
    }
}
