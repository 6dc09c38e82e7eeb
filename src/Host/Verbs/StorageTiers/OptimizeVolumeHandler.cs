using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Verbs.StorageTiers;

/// <summary>
/// Optimize-Volume: optimizes the virtual disks that volumes are on. A volume is named by a path on it, or as its virtual disk is: on Windows, who
/// makes both at once gives both one name. Like there it returns nothing, and tells its report with -Verbose.
/// </summary>
internal sealed class OptimizeVolumeHandler(HostServices services) : VerbHandler<OptimizeVolumeRequest, StorageTierOptimizationInfo>, ILongVerb
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        OptimizeVolumeRequest request, ReplyBuilder<StorageTierOptimizationInfo> reply, CancellationToken cancellation)
    {
        Selector<VirtualDiskStatus> disks = (await Catalogue.ReadAsync(services).ConfigureAwait(false)).VirtualDisks;
        List<VirtualDiskStatus> meant =
            request.Path is { } paths ? await OfPathsAsync(disks, paths, reply).ConfigureAwait(false)
            : request.ObjectId is { } ids ? disks.By("ObjectId", disk => Identifiers.ObjectId("MSFT_VirtualDisk", disks.IdOf(disk)), ids, reply.Fail)
            : disks.By("FileSystemLabel", disk => disk.Description.FriendlyName, request.FileSystemLabel!, reply.Fail);
        await new TierOptimizer(services, reply).RunAsync(meant, done => reply.Tell([done.Report])).ConfigureAwait(false);
    }

    private async Task<List<VirtualDiskStatus>> OfPathsAsync(
        Selector<VirtualDiskStatus> disks, string[] paths, ReplyBuilder<StorageTierOptimizationInfo> reply)
    {
        List<VirtualDiskStatus> found = [];
        foreach (string path in paths)
        {
            await reply.TryAsync(() =>
            {
                found.Add(disks.One(services.Files.FindVolume(path, nameof(OptimizeVolumeRequest.Path)).VirtualDisk));
                return Task.CompletedTask;
            }).ConfigureAwait(false);
        }

        return [.. found.Distinct()];
    }
}
