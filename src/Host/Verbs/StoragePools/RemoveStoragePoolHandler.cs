using TierSpaces.Contracts;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Verbs.StoragePools;

/// <summary>Remove-StoragePool: deletes pools without virtual disks.</summary>
internal sealed class RemoveStoragePoolHandler(HostServices services) : VerbHandler<RemoveStoragePoolRequest, StoragePoolInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        RemoveStoragePoolRequest request, ReplyBuilder<StoragePoolInfo> reply, CancellationToken cancellation)
    {
        var pools = (await Catalogue.ReadAsync(services).ConfigureAwait(false)).Pools;
        foreach (var pool in pools.Select(request.FriendlyName, request.UniqueId, request.Name, request.InputObject, reply.Fail))
        {
            await reply.TryAsync(async () =>
            {
                await services.Subsystem.RemovePoolAsync(pool.Concrete.UniqueId).ConfigureAwait(false);
                reply.Add(request.PassThru ? [pool.Concrete.ToInfo()] : []);
            }).ConfigureAwait(false);
        }
    }
}
