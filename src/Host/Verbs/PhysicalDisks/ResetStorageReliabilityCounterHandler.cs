using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Verbs.PhysicalDisks;

/// <summary>Reset-StorageReliabilityCounter: sets the reliability counters of physical disks to zero.</summary>
internal sealed class ResetStorageReliabilityCounterHandler(HostServices services)
    : VerbHandler<ResetStorageReliabilityCounterRequest, StorageReliabilityCounterInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        ResetStorageReliabilityCounterRequest request, ReplyBuilder<StorageReliabilityCounterInfo> reply, CancellationToken cancellation)
    {
        Catalogue all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        foreach (PhysicalDiskStatus disk in all.Disks.Select(request.InputObject ?? [request.PhysicalDisk!], reply.Fail))
        {
            await reply.TryDoAsync($"Set the reliability counters of physical disk '{disk.FriendlyName}' to zero", async () =>
            {
                DiskReliability counted = await services.Subsystem.Reliability.ResetAsync(disk.UniqueId).ConfigureAwait(false);
                reply.Add(request.PassThru ? [counted.ToInfo(disk)] : []);
            }).ConfigureAwait(false);
        }
    }
}
