using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Verbs.StoragePools;

/// <summary>Get-ResiliencySetting: lists the layouts of pools with their defaults.</summary>
internal sealed class GetResiliencySettingHandler(HostServices services)
    : VerbHandler<GetResiliencySettingRequest, ResiliencySettingInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        GetResiliencySettingRequest request, ReplyBuilder<ResiliencySettingInfo> reply, CancellationToken cancellation)
    {
        Catalogue all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        StoragePoolStatus? pool = request.StoragePool is { } named ? all.Pools.One(named).Concrete : null;
        reply.Add(all.Settings.Select(null, request.UniqueId, request.Name, null, reply.Fail)
            .Where(target => pool is null || target.Pool.UniqueId == pool.UniqueId)
            .Select(target => target.ToInfo()));
    }
}
