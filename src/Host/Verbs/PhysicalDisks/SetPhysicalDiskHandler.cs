using TierSpaces.Contracts;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Verbs.PhysicalDisks;

/// <summary>Set-PhysicalDisk: changes name, description, medium or usage.</summary>
internal sealed class SetPhysicalDiskHandler(HostServices services) : VerbHandler<SetPhysicalDiskRequest, PhysicalDiskInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        SetPhysicalDiskRequest request, ReplyBuilder<PhysicalDiskInfo> reply, CancellationToken cancellation)
    {
        Selector<PhysicalDiskStatus> disks = (await Catalogue.ReadAsync(services).ConfigureAwait(false)).Disks;
        foreach (PhysicalDiskStatus disk in disks.Select(request.FriendlyName, request.UniqueId, null, request.InputObject, reply.Fail))
        {
            await reply.TryDoAsync(
                $"Set {request.Changes()} of physical disk '{disk.FriendlyName}'",
                () => services.Subsystem.PhysicalDisks.SetAsync(
                    disk.UniqueId, request.NewFriendlyName, request.Description, request.MediaType?.ToEngine(), (DiskUsage?)request.Usage),
                () => services.Subsystem.PhysicalDisks.CheckSetAsync(disk.UniqueId, request.NewFriendlyName, (DiskUsage?)request.Usage)).ConfigureAwait(false);
        }
    }
}
