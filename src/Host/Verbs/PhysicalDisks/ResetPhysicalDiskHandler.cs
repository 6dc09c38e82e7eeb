using TierSpaces.Contracts;
using TierSpaces.Host.Serving;

namespace TierSpaces.Host.Verbs.PhysicalDisks;

/// <summary>Reset-PhysicalDisk: erases what an unpooled disk holds of a pool.</summary>
internal sealed class ResetPhysicalDiskHandler(HostServices services) : VerbHandler<ResetPhysicalDiskRequest, PhysicalDiskInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        ResetPhysicalDiskRequest request, ReplyBuilder<PhysicalDiskInfo> reply, CancellationToken cancellation)
    {
        var disks = (await Catalogue.ReadAsync(services).ConfigureAwait(false)).Disks;
        foreach (var disk in disks.Select(request.FriendlyName, request.UniqueId, null, request.InputObject, reply.Fail))
        {
            await reply.TryDoAsync(
                $"Erase what a storage pool wrote on physical disk '{disk.FriendlyName}'",
                () => services.Subsystem.ResetPhysicalDiskAsync(disk.UniqueId),
                () => services.Subsystem.CheckResetPhysicalDiskAsync(disk.UniqueId)).ConfigureAwait(false);
        }
    }
}
