using TierSpaces.Contracts;
using TierSpaces.Engine.Formats;
using TierSpaces.Host.Serving;

namespace TierSpaces.Host.Verbs.PhysicalDisks;

/// <summary>Add-PhysicalDisk: adds disks to a pool.</summary>
internal sealed class AddPhysicalDiskHandler(HostServices services) : VerbHandler<AddPhysicalDiskRequest, PhysicalDiskInfo>
{
    private const int SmallSector = 512;

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
        bool hasSmallSectors = pool.Concrete.Description.LogicalSectorSizeDefault == SmallSector
            || all.VirtualDisks.All.Any(disk => disk.PoolId == added && disk.Description.LogicalSectorSize == SmallSector);
        DiskRemarks.OfPooling(all.Disks.All.Where(disk => disks.Contains(disk.UniqueId)), hasSmallSectors).ToList().ForEach(reply.Warn);
    }
}
