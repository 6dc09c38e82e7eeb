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
        Catalogue all = await Catalogue.ReadAsync(services, withReliability: true).ConfigureAwait(false);
        reply.Add(all.Disks.Select([request.PhysicalDisk!], reply.Fail).Select(disk => all.Now.Reliability(disk.UniqueId).ToInfo(disk)));
    }
}
