using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
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
        Catalogue all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        ILookup<Guid?, PhysicalDiskStatus> members = all.Disks.All.ToLookup(disk => disk.PoolId);
        List<StoragePoolTarget> selected = all.Pools.Select(request.FriendlyName, request.UniqueId, request.Name, request.InputObject, reply.Fail);
        Confirmation.Require(
            request, [.. selected.Select(pool => pool.FriendlyName)], (nameof(request.FriendlyName), request.FriendlyName),
            (nameof(request.UniqueId), request.UniqueId), (nameof(request.Name), request.Name), (nameof(request.InputObject), request.InputObject));
        foreach (StoragePoolTarget pool in selected)
        {
            await reply.TryAsync(async () =>
            {
                StoragePoolStatus removed = pool.Concrete;
                await services.Subsystem.Pools.CheckRemoveAsync(removed.UniqueId).ConfigureAwait(false);
                await reply.DoAsync(
                    $"Remove storage pool '{pool.FriendlyName}'", () => services.Subsystem.Pools.RemoveAsync(removed.UniqueId)).ConfigureAwait(false);
                reply.Tell(members[pool.Id].Select(disk => $"Give back physical disk '{disk.FriendlyName}' ({SizeText.Exact(disk.SizeBytes)})"));
                reply.Add(request.PassThru && !reply.IsWhatIf ? [removed.ToInfo()] : []);
            }).ConfigureAwait(false);
        }
    }
}
