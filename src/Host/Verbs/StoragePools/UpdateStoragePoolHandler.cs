using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
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
        await reply.DoAsync(
            "Look at every registered physical disk again and open the storage pools that can be opened now", services.LookAgainAsync).ConfigureAwait(false);
        Selector<StoragePoolTarget> pools = (await Catalogue.ReadAsync(services).ConfigureAwait(false)).Pools;
        foreach (StoragePoolTarget pool in pools.Select(request.FriendlyName, request.UniqueId, request.Name, request.InputObject, reply.Fail))
        {
            await reply.TryAsync(() =>
            {
                StoragePoolStatus updated = pool.Concrete;
                reply.Add(request.PassThru && !reply.IsWhatIf ? [updated.ToInfo()] : []);
                return reply.IsWhatIf || updated.IsOpen ? Task.CompletedTask
                    : throw new StorageException(
                        StorageErrors.PoolStateForbids, $"Storage pool '{pool.FriendlyName}' is not open: {updated.StatusReason}.",
                        "Make its missing physical disks available, or register them: it opens by itself then.", pool.FriendlyName);
            }).ConfigureAwait(false);
        }
    }
}
