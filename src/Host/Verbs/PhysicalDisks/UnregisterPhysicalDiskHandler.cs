using TierSpaces.Contracts;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;

namespace TierSpaces.Host.Verbs.PhysicalDisks;

/// <summary>Unregister-PhysicalDisk: forgets disks; their contents stay.</summary>
internal sealed class UnregisterPhysicalDiskHandler(HostServices services)
    : VerbHandler<UnregisterPhysicalDiskRequest, PhysicalDiskInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        UnregisterPhysicalDiskRequest request, ReplyBuilder<PhysicalDiskInfo> reply, CancellationToken cancellation)
    {
        Selector<PhysicalDiskStatus> disks = (await Catalogue.ReadAsync(services).ConfigureAwait(false)).Disks;
        List<PhysicalDiskStatus> selected = request.Path is { } paths
            ? disks.By("Path", PathOf, paths.Select(Path.GetFullPath), reply.Fail)
            : disks.Select(request.FriendlyName, request.UniqueId, null, request.InputObject, reply.Fail);
        foreach (PhysicalDiskStatus disk in selected)
        {
            await reply.TryDoAsync(
                $"Forget physical disk '{disk.FriendlyName}'; its contents stay",
                () => services.Subsystem.PhysicalDisks.UnregisterAsync(disk.UniqueId),
                () => services.Subsystem.PhysicalDisks.CheckUnregisterAsync(disk.UniqueId)).ConfigureAwait(false);
        }
    }

    private static string PathOf(PhysicalDiskStatus disk) => disk.Uri.Length > 0 ? DiskUri.Parse(disk.Uri).Path : "";
}
