using TierSpaces.Contracts;
using TierSpaces.Engine.Formats;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;
using TierSpaces.Host.Verbs.PhysicalDisks;
using TierSpaces.Host.Verbs.Subsystems;

namespace TierSpaces.Host.Verbs.StoragePools;

/// <summary>New-StoragePool: makes a pool of physical disks.</summary>
internal sealed class NewStoragePoolHandler(HostServices services) : VerbHandler<NewStoragePoolRequest, StoragePoolInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        NewStoragePoolRequest request, ReplyBuilder<StoragePoolInfo> reply, CancellationToken cancellation)
    {
        LocalSubsystem.Selector.Select(
            request.StorageSubSystemFriendlyName, request.StorageSubSystemUniqueId, request.StorageSubSystemName, request.InputObject,
            error => throw new StorageException(error));
        var all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        var disks = PoolMembers.Read(all, request.PhysicalDisks!);
        var pool = await services.Subsystem.NewPoolAsync(Settings(request), disks, DiskUsage.AutoSelect).ConfigureAwait(false);
        reply.Add(pool.ToInfo());
    }

    private static PoolDescription Settings(NewStoragePoolRequest request)
    {
        // The engine chooses the slab by the disks; what stands here is not looked at.
        var settings = new PoolDescription
        {
            FriendlyName = request.FriendlyName!, Slabs = new SlabGeometry(SlabGeometry.SmallestSlab),
        };
        return settings with
        {
            ProvisioningTypeDefault = PoolSettings.Provisioning(request.ProvisioningTypeDefault) ?? settings.ProvisioningTypeDefault,
            ResiliencySettingNameDefault =
                PoolSettings.Resiliency(settings, request.ResiliencySettingNameDefault) ?? settings.ResiliencySettingNameDefault,
            LogicalSectorSizeDefault =
                (ushort?)Amount.Sector(request.LogicalSectorSizeDefault, nameof(request.LogicalSectorSizeDefault))
                ?? PoolSettings.SectorByDisks,
        };
    }
}
