using TierSpaces.Contracts;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Volumes;

namespace TierSpaces.Host.Verbs.Volumes;

/// <summary>Write-VolumeCache: writes what is cached of volumes to the virtual disk and flushes that.</summary>
internal sealed class WriteVolumeCacheHandler(HostServices services) : VerbHandler<WriteVolumeCacheRequest, VolumeInfo>, ILongVerb
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(WriteVolumeCacheRequest request, ReplyBuilder<VolumeInfo> reply, CancellationToken cancellation)
    {
        VolumeSelection selection = await VolumeSelection.ReadAsync(services, reply.Fail).ConfigureAwait(false);
        List<VolumeTarget> targets = await selection.VolumesAsync(
            request.DriveLetter, request.ObjectId, request.Path, request.FileSystemLabel, request.InputObject).ConfigureAwait(false);
        foreach (VolumeTarget target in targets)
        {
            await reply.TryDoAsync($"Write the cache of {target.Name} ('{target.Disk.FriendlyName}')", async () =>
            {
                await services.Volumes.Repairs.FlushAsync(target, cancellation).ConfigureAwait(false);
                reply.Add(request.PassThru ? [await services.Volumes.ToVolumeInfoAsync(target).ConfigureAwait(false)] : []);
            }).ConfigureAwait(false);
        }
    }
}
