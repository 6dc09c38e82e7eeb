using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;

namespace TierSpaces.Host.Verbs.PhysicalDisks;

/// <summary>Reset-PhysicalDisk: erases what an unpooled disk holds of a pool.</summary>
internal sealed class ResetPhysicalDiskHandler(HostServices services) : VerbHandler<ResetPhysicalDiskRequest, PhysicalDiskInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        ResetPhysicalDiskRequest request, ReplyBuilder<PhysicalDiskInfo> reply, CancellationToken cancellation)
    {
        Selector<PhysicalDiskStatus> disks = (await Catalogue.ReadAsync(services).ConfigureAwait(false)).Disks;
        List<PhysicalDiskStatus> selected = disks.Select(request.FriendlyName, request.UniqueId, null, request.InputObject, reply.Fail);
        Confirmation.Require(
            request, [.. selected.Select(disk => disk.FriendlyName)], (nameof(request.FriendlyName), ListOf(request.FriendlyName)),
            (nameof(request.UniqueId), ListOf(request.UniqueId)), (nameof(request.InputObject), request.InputObject));
        foreach (PhysicalDiskStatus disk in selected)
        {
            await reply.TryDoAsync(
                $"Erase what a storage pool wrote on physical disk '{disk.FriendlyName}'",
                () => services.Subsystem.PhysicalDisks.ResetAsync(disk.UniqueId),
                () => services.Subsystem.PhysicalDisks.CheckResetAsync(disk.UniqueId)).ConfigureAwait(false);
        }
    }

    private static string[]? ListOf(string? text) => text is null ? null : [text];
}
