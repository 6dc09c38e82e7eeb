using TierSpaces.Contracts;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Verbs.VirtualDisks;

/// <summary>Get-VirtualDiskWriteCache: what the write caches of virtual disks hold and did.</summary>
internal sealed class GetVirtualDiskWriteCacheHandler(HostServices services) : VerbHandler<GetVirtualDiskWriteCacheRequest, VirtualDiskWriteCacheInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        GetVirtualDiskWriteCacheRequest request, ReplyBuilder<VirtualDiskWriteCacheInfo> reply, CancellationToken cancellation)
    {
        Catalogue all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        reply.Add(all.VirtualDisks.Select(request.FriendlyName, request.UniqueId, null, request.InputObject, reply.Fail)
            .Select(disk => disk.ToWriteCacheInfo()));
    }
}
