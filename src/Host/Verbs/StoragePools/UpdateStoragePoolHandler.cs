using TierSpaces.Contracts;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Verbs.StoragePools;

/// <summary>
/// Update-StoragePool: looks at the disks again, opens pools that can be opened now, also without their missing disks, and raises those of an older
/// version of the format.
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
            await reply.TryAsync(async () =>
            {
                StoragePoolStatus updated = await RaiseAsync(pool.Concrete, reply).ConfigureAwait(false);
                reply.Add(request.PassThru && !reply.IsWhatIf ? [updated.ToInfo()] : []);
                if (!reply.IsWhatIf && !updated.IsOpen)
                {
                    throw new StorageException(
                        StorageErrors.PoolStateForbids, $"Storage pool '{pool.FriendlyName}' is not open: {updated.StatusReason}.",
                        "Make its missing physical disks available, or register them: it opens by itself then.", pool.FriendlyName);
                }
            }).ConfigureAwait(false);
        }
    }

    private async Task<StoragePoolStatus> RaiseAsync(StoragePoolStatus pool, ReplyBuilder<StoragePoolInfo> reply)
    {
        if (!pool.IsOpen || pool.Description.FormatVersion == PoolDescription.NewestFormat)
        {
            return pool;
        }

        StoragePoolStatus raised = pool;
        await reply.DoAsync(
            $"Raise storage pool '{pool.Description.FriendlyName}' from format version {pool.Description.FormatVersion} to {PoolDescription.NewestFormat}: "
                + "every member disk gets a vote. Older releases cannot open it afterwards",
            async () => raised = await services.Subsystem.Pools.RaiseAsync(pool.UniqueId).ConfigureAwait(false),
            () => services.Subsystem.Pools.CheckRaiseAsync(pool.UniqueId)).ConfigureAwait(false);
        return raised;
    }
}
