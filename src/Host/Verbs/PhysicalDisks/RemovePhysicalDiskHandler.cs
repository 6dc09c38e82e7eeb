using TierSpaces.Contracts;
using TierSpaces.Host.Serving;

namespace TierSpaces.Host.Verbs.PhysicalDisks;

/// <summary>Remove-PhysicalDisk: removes disks that hold no data from their pool.</summary>
internal sealed class RemovePhysicalDiskHandler(HostServices services) : VerbHandler<RemovePhysicalDiskRequest, PhysicalDiskInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        RemovePhysicalDiskRequest request, ReplyBuilder<PhysicalDiskInfo> reply, CancellationToken cancellation)
    {
        Catalogue all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        StoragePoolTarget pool = all.Pools.SelectOne(
            request.StoragePoolFriendlyName, request.StoragePoolUniqueId, request.StoragePoolName, request.StoragePool);
        (Guid from, Guid[]? disks) = (pool.Concrete.UniqueId, PoolMembers.Read(all, request.PhysicalDisks!));
        Confirmation.Require(
            request, [.. all.Disks.All.Where(disk => disks.Contains(disk.UniqueId)).Select(disk => disk.FriendlyName)],
            (nameof(request.PhysicalDisks), request.PhysicalDisks));
        await reply.DoAsync(
            $"Remove {PoolMembers.Names(all, disks)} from storage pool '{pool.FriendlyName}'",
            () => services.Subsystem.Pools.RemoveDisksAsync(from, disks),
            () => services.Subsystem.Pools.CheckRemoveDisksAsync(from, disks)).ConfigureAwait(false);
    }
}
