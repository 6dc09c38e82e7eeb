using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Verbs.StorageTiers;

/// <summary>Get-StorageTier: lists templates and tiers, by name or by what they belong to.</summary>
internal sealed class GetStorageTierHandler(HostServices services) : VerbHandler<GetStorageTierRequest, StorageTierInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        GetStorageTierRequest request, ReplyBuilder<StorageTierInfo> reply, CancellationToken cancellation)
    {
        Catalogue all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        string[]? media = request.MediaType is { } types ? DisplayName.Of(types) : null;
        reply.Add(Select(all, request, reply.Fail).Select(tier => tier.ToInfo()).Where(info => media?.Contains(info.MediaType) != false));
    }

    private static IEnumerable<StorageTierStatus> Select(Catalogue all, GetStorageTierRequest request, Action<StorageErrorInfo> fail)
    {
        if (request.VirtualDisk is { } disk)
        {
            Guid target = all.VirtualDisks.One(disk).Description.Id.Value;
            return all.Tiers.All.Where(tier => tier.VirtualDisk == target);
        }

        if (request.StoragePool is { } named)
        {
            StoragePoolTarget pool = all.Pools.One(named);
            return all.Tiers.All.Where(tier => tier.PoolId == pool.Id && tier.IsTemplate);
        }

        return all.Tiers.Select(request.FriendlyName, request.UniqueId, null, null, fail);
    }
}
