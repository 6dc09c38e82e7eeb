using System.Globalization;
using TierSpaces.Contracts;
using TierSpaces.Host.Serving;

namespace TierSpaces.Host.Verbs.Subsystems;

/// <summary>Set-StorageSubSystem: changes how much of the disks repairs have while clients use them.</summary>
internal sealed class SetStorageSubSystemHandler(HostServices services) : VerbHandler<SetStorageSubSystemRequest, StorageSubSystemInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        SetStorageSubSystemRequest request, ReplyBuilder<StorageSubSystemInfo> reply, CancellationToken cancellation)
    {
        if (request.VirtualDiskRepairQueueDepth is not { } depth)
        {
            throw new StorageException(
                StorageErrors.InvalidParameter, "There is nothing to set.", "Give -VirtualDiskRepairQueueDepth.", nameof(request.VirtualDiskRepairQueueDepth));
        }

        // Several of its names may be meant: it is one subsystem.
        if (LocalSubsystem.Selector.Select(request.FriendlyName, request.UniqueId, request.Name, request.InputObject, reply.Fail).Count > 0)
        {
            await reply.TryDoAsync(
                string.Create(CultureInfo.InvariantCulture, $"Set the queue depth of repairs of this machine to {(int)depth} ({depth})"),
                () =>
                {
                    services.Subsystem.Repairs.QueueDepth = (int)depth;
                    return Task.CompletedTask;
                }).ConfigureAwait(false);
        }
    }
}
