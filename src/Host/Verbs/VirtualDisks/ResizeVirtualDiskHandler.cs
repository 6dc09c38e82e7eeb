using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Verbs.VirtualDisks;

/// <summary>Resize-VirtualDisk: makes virtual disks larger.</summary>
internal sealed class ResizeVirtualDiskHandler(HostServices services) : VerbHandler<ResizeVirtualDiskRequest, VirtualDiskInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        ResizeVirtualDiskRequest request, ReplyBuilder<VirtualDiskInfo> reply, CancellationToken cancellation)
    {
        long size = Amount.Bytes(
            request.Size ?? throw new StorageException(StorageErrors.InvalidParameter, "-Size must be given."), nameof(request.Size));
        Catalogue all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        foreach (VirtualDiskStatus disk in all.VirtualDisks.Select(
            request.FriendlyName, request.UniqueId, request.Name, request.InputObject, reply.Fail))
        {
            await reply.TryAsync(async () =>
            {
                VirtualDiskPlacement plan = await services.Subsystem.Placements.PlanResizeAsync(disk.Description.Id.Value, size).ConfigureAwait(false);
                if (reply.IsWhatIf)
                {
                    reply.Tell(PlacementText.OfGrowth(plan, all));
                    return;
                }

                VirtualDiskStatus resized = await services.Subsystem.VirtualDisks.ResizeAsync(disk.Description.Id.Value, size).ConfigureAwait(false);
                reply.Tell(PlacementText.OfGrowth(plan, all));
                await GrownDevice.FollowAsync(services, all, disk.Description.Id.Value, "Resize-VirtualDisk", reply.Warn).ConfigureAwait(false);
                reply.Add(request.PassThru ? [services.ToInfo(all, resized)] : []);
            }).ConfigureAwait(false);
        }
    }
}
