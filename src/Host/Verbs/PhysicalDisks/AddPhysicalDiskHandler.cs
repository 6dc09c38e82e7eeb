using TierSpaces.Contracts;
using TierSpaces.Engine.Formats;
using TierSpaces.Host.Serving;

namespace TierSpaces.Host.Verbs.PhysicalDisks;

/// <summary>Add-PhysicalDisk: adds disks to a pool.</summary>
internal sealed class AddPhysicalDiskHandler(HostServices services) : VerbHandler<AddPhysicalDiskRequest, PhysicalDiskInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        AddPhysicalDiskRequest request, ReplyBuilder<PhysicalDiskInfo> reply, CancellationToken cancellation)
    {
        Catalogue all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        StoragePoolTarget pool = all.Pools.SelectOne(
            request.StoragePoolFriendlyName, request.StoragePoolUniqueId, request.StoragePoolName, request.StoragePool);
        (Guid added, PhysicalDiskUsage usage) = (pool.Concrete.UniqueId, request.Usage ?? PhysicalDiskUsage.AutoSelect);
        Guid[] disks = PoolMembers.Read(all, request.PhysicalDisks!);
        await reply.DoAsync(
            $"Add {PoolMembers.Names(all, disks)} to storage pool '{pool.FriendlyName}', for {DisplayName.Of(usage)}",
            () => services.Subsystem.Pools.AddDisksAsync(added, disks, (DiskUsage)usage),
            () => services.Subsystem.Pools.CheckAddDisksAsync(added, disks)).ConfigureAwait(false);
    }
}
