using TierSpaces.Contracts;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Volumes;

namespace TierSpaces.Host.Verbs.Volumes;

/// <summary>Clear-Disk: erases the partitions of disks.</summary>
internal sealed class ClearDiskHandler(HostServices services) : VerbHandler<ClearDiskRequest, DiskInfo>, ILongVerb
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(ClearDiskRequest request, ReplyBuilder<DiskInfo> reply, CancellationToken cancellation)
    {
        VolumeSelection selection = await VolumeSelection.ReadAsync(services, reply.Fail).ConfigureAwait(false);
        List<VolumeDisk> disks = selection.Disks(request.Number, request.UniqueId, request.FriendlyName, request.Path, request.InputObject);
        Confirmation.Require(
            request, [.. disks.Select(static disk => disk.FriendlyName)], (nameof(request.Number),
                request.Number?.Select(static number => $"{number}").ToArray()),
            (nameof(request.FriendlyName), request.FriendlyName), (nameof(request.UniqueId), request.UniqueId), (nameof(request.Path), request.Path),
            (nameof(request.InputObject), request.InputObject));
        foreach (VolumeDisk disk in disks)
        {
            await reply.TryDoAsync(
                $"Erase everything on disk {disk.Number} ('{disk.FriendlyName}')",
                async () =>
                {
                    VolumeDisk blank = await services.Volumes.ChangeAsync(
                        disk, Verb.Name, now => services.Volumes.Partitions.ClearAsync(now, request.RemoveData, request.RemoveOEM)).ConfigureAwait(false);
                    reply.Add(request.PassThru ? [blank.ToInfo()] : []);
                },
                async () => services.Volumes.Partitions.CheckClear(
                    await selection.Catalogue.ReadAsync(disk).ConfigureAwait(false), request.RemoveData, request.RemoveOEM)).ConfigureAwait(false);
        }
    }
}
