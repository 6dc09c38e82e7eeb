using TierSpaces.Contracts;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Verbs.StoragePools;

/// <summary>
/// Update-StoragePool: pools always have the newest metadata version; what is left to do is to look at the disks again and open
/// pools that can be opened now, also without their missing disks.
/// </summary>
internal sealed class UpdateStoragePoolHandler(HostServices services) : VerbHandler<UpdateStoragePoolRequest, StoragePoolInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        UpdateStoragePoolRequest request, ReplyBuilder<StoragePoolInfo> reply, CancellationToken cancellation)
    {
        await services.Subsystem.UpdatePoolsAsync().ConfigureAwait(false);
        await services.AttachConnectedAsync().ConfigureAwait(false);
        var pools = (await Catalogue.ReadAsync(services).ConfigureAwait(false)).Pools;
        foreach (var pool in pools.Select(request.FriendlyName, request.UniqueId, request.Name, request.InputObject, reply.Fail))
        {
            await reply.TryAsync(() =>
            {
                reply.Add(request.PassThru ? [pool.Concrete.ToInfo()] : []);
                return Task.CompletedTask;
            }).ConfigureAwait(false);
        }
    }
}
