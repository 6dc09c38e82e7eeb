using TierSpaces.Contracts;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Volumes;

namespace TierSpaces.Host.Verbs.Subsystems;

/// <summary>Get-StorageSubSystem: describes this machine, whichever of its objects was given.</summary>
internal sealed class GetStorageSubSystemHandler(HostServices services)
    : VerbHandler<GetStorageSubSystemRequest, StorageSubSystemInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        GetStorageSubSystemRequest request, ReplyBuilder<StorageSubSystemInfo> reply, CancellationToken cancellation)
    {
        Catalogue all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        bool isMeant = request.StorageFaultDomain is { } domain ? all.FaultDomains.One(domain) is not null
            : request.StoragePool is { } pool ? all.Pools.One(pool) is not null
            : request.Volume is { } volume ? await VolumeSelection.OneVolumeAsync(services, all, volume).ConfigureAwait(false) is not null
            : request.Partition is { } partition ? await VolumeSelection.OneVolumeAsync(services, all, partition).ConfigureAwait(false) is not null
            : (request.Disk ?? request.VirtualDisk) is { } virtualDisk ? all.VirtualDisks.One(virtualDisk) is not null
            : LocalSubsystem.Selector.Select(request.FriendlyName, request.UniqueId, request.Name, null, reply.Fail).Count > 0;
        StorageSubSystemInfo info = LocalSubsystem.Describe(DisplayName.Of(HealthOf(all)), services.Subsystem.Repairs.QueueDepth);
        reply.Add(isMeant && Passes(info, request) ? [info] : []);
    }

    private static HealthStatus HealthOf(Catalogue all) =>
        all.Pools.All.Select(pool => (HealthStatus)(pool.Status?.Health ?? 0)).Max();

    private static bool Passes(StorageSubSystemInfo info, GetStorageSubSystemRequest request) =>
        (request.HealthStatus is null || DisplayName.Of(request.HealthStatus).Contains(info.HealthStatus))
        && Fits(request.Manufacturer, info.Manufacturer!) && Fits(request.Model, info.Model!);

    private static bool Fits(string[]? patterns, string text) =>
        patterns is null || patterns.Any(pattern => new WildcardPattern(pattern).Fits(text));
}
