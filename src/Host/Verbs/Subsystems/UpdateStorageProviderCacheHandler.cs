using TierSpaces.Contracts;
using TierSpaces.Host.Serving;

namespace TierSpaces.Host.Verbs.Subsystems;

/// <summary>
/// Update-StorageProviderCache: objects are never out of date here, so what is left to do is to look at the registered physical disks again, and to open the
/// storage pools that can be opened now.
/// </summary>
internal sealed class UpdateStorageProviderCacheHandler(HostServices services) : VerbHandler<UpdateStorageProviderCacheRequest, StorageSubSystemInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        UpdateStorageProviderCacheRequest request, ReplyBuilder<StorageSubSystemInfo> reply, CancellationToken cancellation)
    {
        if (request.StorageSubSystem is { } subsystem)
        {
            LocalSubsystem.Selector.One(subsystem);
        }

        bool isMeant = LocalProvider.Selector.Select(null, request.UniqueId, request.Name, null, reply.Fail).Count > 0
            && request.Manufacturer?.Any(static pattern => new WildcardPattern(pattern).Fits(LocalProvider.Manufacturer)) != false;
        if (isMeant && (request.DiscoveryLevel ?? DiscoveryLevel.Full) >= DiscoveryLevel.Level3)
        {
            await reply.DoAsync(
                "Look at every registered physical disk again and open the storage pools that can be opened now", services.Startup.LookAgainAsync).ConfigureAwait(false);
        }
    }
}
