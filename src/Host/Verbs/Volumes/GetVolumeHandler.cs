using TierSpaces.Contracts;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.StorageFaultDomains;
using TierSpaces.Host.Verbs.Subsystems;
using TierSpaces.Host.Volumes;

namespace TierSpaces.Host.Verbs.Volumes;

/// <summary>Get-Volume: lists volumes: partitions for file systems, and file systems of disks without a partition table.</summary>
internal sealed class GetVolumeHandler(HostServices services) : VerbHandler<GetVolumeRequest, VolumeInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(GetVolumeRequest request, ReplyBuilder<VolumeInfo> reply, CancellationToken cancellation)
    {
        VolumeSelection selection = await VolumeSelection.ReadAsync(services, reply.Fail).ConfigureAwait(false);
        foreach (VolumeTarget target in await ChosenAsync(selection, request).ConfigureAwait(false))
        {
            reply.Add(await services.Volumes.ToVolumeInfoAsync(target).ConfigureAwait(false));
        }

        await selection.WarnOfUnreadAsync("Volumes", reply.Warn).ConfigureAwait(false);
        if (services.Volumes.RemarkOnWaitingMounts(selection.Catalogue.All) is { } waiting)
        {
            reply.Warn(waiting);
        }
    }

    private static async Task<List<VolumeTarget>> ChosenAsync(VolumeSelection selection, GetVolumeRequest request)
    {
        if (request.StorageSubSystem is { } subsystem)
        {
            LocalSubsystem.Selector.One(subsystem);
        }

        if (request.StorageNode is { } node)
        {
            LocalNode.Selector.One(node);
        }

        List<VolumeTarget> all = await selection.AllVolumesAsync().ConfigureAwait(false);
        return request.FilePath is { } path ? [await selection.OfPathAsync(all, path, nameof(request.FilePath)).ConfigureAwait(false)]
            : request.UniqueId is { } ids ? selection.ById(all, ids, "MSFT_Volume")
            : request.StoragePool is { } pool ? InPool(all, selection.Catalogue.All.Pools.One(pool))
            : request.StorageJob is { } job ? OnDisks(all, selection.OfJob(job))
            : await selection.VolumesAsync(request.DriveLetter, request.ObjectId, request.Path, request.FileSystemLabel, null,
                request.Partition).ConfigureAwait(false);
    }

    private static List<VolumeTarget> InPool(List<VolumeTarget> all, StoragePoolTarget pool) =>
        [.. all.Where(target => pool.IsPrimordial || target.Disk.Status.PoolId == pool.Id)];

    private static List<VolumeTarget> OnDisks(List<VolumeTarget> all, List<VolumeDisk> disks) =>
        [.. all.Where(target => disks.Any(disk => disk.UniqueId == target.Disk.UniqueId))];
}
