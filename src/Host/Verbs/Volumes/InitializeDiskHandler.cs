using TierSpaces.Contracts;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Volumes;

namespace TierSpaces.Host.Verbs.Volumes;

/// <summary>Initialize-Disk: makes partition tables on blank disks.</summary>
internal sealed class InitializeDiskHandler(HostServices services) : VerbHandler<InitializeDiskRequest, DiskInfo>, ILongVerb
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(InitializeDiskRequest request, ReplyBuilder<DiskInfo> reply, CancellationToken cancellation)
    {
        PartitionStyle style = request.PartitionStyle is PartitionStyle.MBR ? PartitionStyle.MBR : PartitionStyle.GPT;
        VolumeSelection selection = await VolumeSelection.ReadAsync(services, reply.Fail).ConfigureAwait(false);
        List<VolumeDisk> disks = request.VirtualDisk is { } virtualDisk
            ? [selection.OfVirtualDisk(virtualDisk)]
            : selection.Disks(request.Number, request.UniqueId, request.FriendlyName, request.Path, request.InputObject);
        foreach (VolumeDisk disk in disks)
        {
            await reply.TryDoAsync(
                $"Make a {style} partition table on disk {disk.Number} ('{disk.FriendlyName}')",
                async () =>
                {
                    VolumeDisk made = await services.Volumes.ChangeAsync(disk, Verb.Name, now => services.Volumes.Partitions.InitializeAsync(now,
                        style)).ConfigureAwait(false);
                    reply.Add(request.PassThru ? [made.ToInfo()] : []);
                },
                async () => services.Volumes.Partitions.CheckInitialize(await selection.Catalogue.ReadAsync(disk).ConfigureAwait(false),
                    style)).ConfigureAwait(false);
        }
    }
}
