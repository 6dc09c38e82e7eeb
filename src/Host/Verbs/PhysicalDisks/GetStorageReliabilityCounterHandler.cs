using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Verbs.PhysicalDisks;

/// <summary>Get-StorageReliabilityCounter: the reliability counters of physical disks.</summary>
internal sealed class GetStorageReliabilityCounterHandler(HostServices services)
    : VerbHandler<GetStorageReliabilityCounterRequest, StorageReliabilityCounterInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        GetStorageReliabilityCounterRequest request, ReplyBuilder<StorageReliabilityCounterInfo> reply, CancellationToken cancellation)
    {
        Catalogue all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        foreach (PhysicalDiskStatus disk in all.Disks.Select([request.PhysicalDisk!], reply.Fail))
        {
            DiskReliability counted = await services.Subsystem.Reliability.GetAsync(disk.UniqueId).ConfigureAwait(false);
            reply.Add(counted.ToInfo(disk));
        }
    }
}
