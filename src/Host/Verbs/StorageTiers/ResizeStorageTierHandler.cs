using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;
using TierSpaces.Host.Verbs.VirtualDisks;

namespace TierSpaces.Host.Verbs.StorageTiers;

/// <summary>Resize-StorageTier: makes tiers of virtual disks larger.</summary>
internal sealed class ResizeStorageTierHandler(HostServices services) : VerbHandler<ResizeStorageTierRequest, StorageTierInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        ResizeStorageTierRequest request, ReplyBuilder<StorageTierInfo> reply, CancellationToken cancellation)
    {
        long size = Amount.Bytes(
            request.Size ?? throw new StorageException(StorageErrors.InvalidParameter, "-Size must be given."), nameof(request.Size));
        Catalogue all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        foreach (StorageTierStatus tier in all.Tiers.Select(request.FriendlyName, request.UniqueId, null, request.InputObject, reply.Fail))
        {
            await reply.TryAsync(async () =>
            {
                VirtualDiskPlacement plan = await services.Subsystem.Tiers.PlanResizeAsync(tier.UniqueId, size).ConfigureAwait(false);
                reply.Tell(PlacementText.OfGrowth(plan, all, plan.Disk.Tiers.First(part => part.Id == tier.UniqueId)));
                if (!reply.IsWhatIf)
                {
                    StorageTierStatus resized = await services.Subsystem.Tiers.ResizeAsync(tier.UniqueId, size).ConfigureAwait(false);
                    await GrownDevice.FollowAsync(services, all, plan.Disk.Id.Value, "Resize-StorageTier", reply.Warn).ConfigureAwait(false);
                    reply.Add(request.PassThru ? [resized.ToInfo()] : []);
                }
            }).ConfigureAwait(false);
        }
    }
}
