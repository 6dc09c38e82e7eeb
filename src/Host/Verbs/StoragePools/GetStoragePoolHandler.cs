using TierSpaces.Contracts;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;
using TierSpaces.Host.Verbs.Subsystems;
using TierSpaces.Host.Verbs.Volumes;

namespace TierSpaces.Host.Verbs.StoragePools;

/// <summary>Get-StoragePool: lists pools, the primordial one among them.</summary>
internal sealed class GetStoragePoolHandler(HostServices services) : VerbHandler<GetStoragePoolRequest, StoragePoolInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        GetStoragePoolRequest request, ReplyBuilder<StoragePoolInfo> reply, CancellationToken cancellation)
    {
        Catalogue all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        IEnumerable<StoragePoolTarget> pools = request.Volume is { } volume
            ? WithId(all, (await VolumeSelection.OneVolumeAsync(services, all, volume).ConfigureAwait(false)).Disk.Status.PoolId)
            : Select(all, request, reply.Fail);
        reply.Add(pools
            .Select(pool => pool.Status?.ToInfo() ?? StoragePoolMapping.Primordial(all.Disks.All))
            .Where(info => Passes(info, request)));
    }

    private static IEnumerable<StoragePoolTarget> Select(Catalogue all, GetStoragePoolRequest request, Action<StorageErrorInfo> fail)
    {
        if (request.StorageSubSystem is { } subsystem)
        {
            LocalSubsystem.Selector.One(subsystem);
            return all.Pools.All;
        }

        return request.VirtualDisk is { } disk ? WithId(all, all.VirtualDisks.One(disk).PoolId)
            : request.PhysicalDisk is { } physical ? WithDisk(all, all.Disks.One(physical).PoolId)
            : request.StorageTier is { } tier ? WithId(all, all.Tiers.One(tier).PoolId)
            : request.StorageJob is { } job ? WithId(all, all.Jobs.One(job).PoolId)
            : request.ResiliencySetting is { } setting ? WithId(all, all.Settings.One(setting).Pool.UniqueId)
            : all.Pools.Select(request.FriendlyName, request.UniqueId, request.Name, null, fail);
    }

    private static IEnumerable<StoragePoolTarget> WithId(Catalogue all, Guid id) => all.Pools.All.Where(pool => pool.Id == id);

    /// <summary>A disk is in the primordial pool whether or not it is in another.</summary>
    private static IEnumerable<StoragePoolTarget> WithDisk(Catalogue all, Guid? id) =>
        all.Pools.All.Where(pool => pool.IsPrimordial || pool.Id == id);

    private static bool Passes(StoragePoolInfo pool, GetStoragePoolRequest request) =>
        (request.IsPrimordial is null || request.IsPrimordial.Contains(pool.IsPrimordial))
        && (request.HealthStatus is null || DisplayName.Of(request.HealthStatus).Contains(pool.HealthStatus))
        && (request.Usage is null || DisplayName.Of(request.Usage).Contains(pool.Usage))
        && (request.OtherUsageDescription is null
            || request.OtherUsageDescription.Any(pattern => new WildcardPattern(pattern).Fits(pool.OtherUsageDescription ?? "")));
}
