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
                if (resized.Description.SizeBytes != disk.Description.SizeBytes && !await TryRenewDeviceAsync(resized, reply.Warn).ConfigureAwait(false))
                {
                    reply.Warn($"{services.ToInfo(all, resized).DevicePath} is in use and keeps its old size until virtual disk "
                        + $"'{resized.Description.FriendlyName}' is disconnected and connected again; new NBD clients see the new size at once.");
                }

                reply.Add(request.PassThru ? [services.ToInfo(all, resized)] : []);
            }).ConfigureAwait(false);
        }
    }

    /// <summary>
    /// Gives the block device of a virtual disk, if it has one, the size that the disk has now; false if it would have to be made again and is in use.
    /// </summary>
    private async Task<bool> TryRenewDeviceAsync(VirtualDiskStatus disk, Action<string> warn)
    {
        string id = Identifiers.OfVirtualDisk(disk.Description.Id.Value);
        if (services.Attachments.OutcomeOf(id) is not { DevicePath: not null, Method: var method })
        {
            return true;
        }

        using IDisposable gate = await services.Volumes.Gates.EnterAsync(id, "Resize-VirtualDisk").ConfigureAwait(false);
        if (services.Attachments.TryResize(id))
        {
            return true;
        }

        try
        {
            services.Attachments.Detach(id);
        }
        catch (StorageException)
        {
            return false;
        }

        services.Attach(disk, Enum.Parse<AttachMethod>(method));
        if (services.Attachments.OutcomeOf(id)is { DevicePath: null, Reason: { } reason })
        {
            warn($"{reason} Connect-VirtualDisk tries again.");
        }

        return true;
    }
}
