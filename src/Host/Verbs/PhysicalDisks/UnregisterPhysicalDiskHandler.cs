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
        if (request.Path is { } paths)
        {
            foreach (string path in paths.Select(Path.GetFullPath).Distinct())
            {
                await ForgetAsync(disks, path, reply).ConfigureAwait(false);
            }

            return;
        }

        foreach (PhysicalDiskStatus disk in disks.Select(request.FriendlyName, request.UniqueId, null, request.InputObject, reply.Fail))
        {
            await ForgetAsync(disk, reply).ConfigureAwait(false);
        }
    }

    private async Task ForgetAsync(Selector<PhysicalDiskStatus> disks, string path, ReplyBuilder<PhysicalDiskInfo> reply)
    {
        if (disks.All.FirstOrDefault(disk => disk.Uris.Any(uri => DiskUri.Parse(uri).Path == path)) is not { } found)
        {
            reply.Fail(StorageException.NotFound("MSFT_PhysicalDisk", "Path", path).Error);
        }
        else if (found.Uris.Count == 1)
        {
            await ForgetAsync(found, reply).ConfigureAwait(false);
        }
        else
        {
            await reply.TryDoAsync(
                $"Forget path {path} of physical disk '{found.FriendlyName}', which stays registered by its other paths",
                () => services.Subsystem.PhysicalDisks.UnregisterPathAsync(found.UniqueId, path),
                () => services.Subsystem.PhysicalDisks.CheckUnregisterPathAsync(found.UniqueId, path)).ConfigureAwait(false);
        }
    }

    private Task ForgetAsync(PhysicalDiskStatus disk, ReplyBuilder<PhysicalDiskInfo> reply) => reply.TryDoAsync(
        $"Forget physical disk '{disk.FriendlyName}'; its contents stay",
        () => services.Subsystem.PhysicalDisks.UnregisterAsync(disk.UniqueId),
        () => services.Subsystem.PhysicalDisks.CheckUnregisterAsync(disk.UniqueId));
}
