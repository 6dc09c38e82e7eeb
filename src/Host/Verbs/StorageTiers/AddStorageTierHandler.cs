using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;
using TierSpaces.Host.Verbs.VirtualDisks;

namespace TierSpaces.Host.Verbs.StorageTiers;

/// <summary>Add-StorageTier: gives virtual disks with tiers one more.</summary>
internal sealed class AddStorageTierHandler(HostServices services) : VerbHandler<AddStorageTierRequest, StorageTierInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        AddStorageTierRequest request, ReplyBuilder<StorageTierInfo> reply, CancellationToken cancellation)
    {
        long size = Amount.Bytes(request.Size!.Value, nameof(request.Size));
        Catalogue all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        foreach (VirtualDiskStatus disk in all.VirtualDisks.Select(
            request.VirtualDiskFriendlyName, request.VirtualDiskUniqueId, null, request.VirtualDisk, reply.Fail))
        {
            await reply.TryAsync(async () =>
            {
                StoragePoolTarget pool = all.Pools.All.First(pool => pool.Id == disk.PoolId);
                TierRequest tier = new TierRequest(
                    TierParameters.Template(all, pool.Concrete, request.StorageTier!, nameof(request.StorageTier)).UniqueId, size);
                AddedTierPlacement plan = await services.Subsystem.Tiers.PlanAddAsync(disk.Description.Id.Value, tier).ConfigureAwait(false);
                if (!reply.IsWhatIf)
                {
                    StorageTierStatus added = await services.Subsystem.Tiers.AddAsync(disk.Description.Id.Value, tier).ConfigureAwait(false);
                    await GrownDevice.FollowAsync(services, all, disk.Description.Id.Value, "Add-StorageTier", reply.Warn).ConfigureAwait(false);
                    reply.Add(request.PassThru ? [added.ToInfo()] : []);
                }

                reply.Tell(PlacementText.OfAddedTier(plan, all));
            }).ConfigureAwait(false);
        }
    }
}
