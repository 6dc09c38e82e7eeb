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
        var all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        PoolMembers.RefuseVirtualDisk(request.VirtualDisk ?? request.VirtualDiskFriendlyName ?? request.VirtualDiskName
            ?? request.VirtualDiskUniqueId);
        var pool = all.Pools.SelectOne(
            request.StoragePoolFriendlyName, request.StoragePoolUniqueId, request.StoragePoolName, request.StoragePool);
        var disks = PoolMembers.Read(all, request.PhysicalDisks!);
        await services.Subsystem.AddPhysicalDisksAsync(
            pool.Concrete.UniqueId, disks, (DiskUsage)(request.Usage ?? PhysicalDiskUsage.AutoSelect)).ConfigureAwait(false);
    }
}
