using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;

namespace TierSpaces.Host.Verbs.StorageTiers;

/// <summary>Get-StorageTierSupportedSize: smallest and largest size of a tier, and the unit between them.</summary>
internal sealed class GetStorageTierSupportedSizeHandler(HostServices services)
    : VerbHandler<GetStorageTierSupportedSizeRequest, StorageTierSupportedSizeInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        GetStorageTierSupportedSizeRequest request, ReplyBuilder<StorageTierSupportedSizeInfo> reply, CancellationToken cancellation)
    {
        Catalogue all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        foreach (StorageTierStatus tier in all.Tiers.Select(request.FriendlyName, request.UniqueId, null, request.InputObject, reply.Fail))
        {
            await reply.TryAsync(() =>
            {
                SupportedSize size = all.Now.SupportedTierSize(tier.UniqueId, request.ResiliencySettingName);
                reply.Add(new StorageTierSupportedSizeInfo
                {
                    TierSizeMin = (ulong)size.Min, TierSizeMax = (ulong)size.Max, TierSizeDivisor = (ulong)size.Divisor,
                });
                return Task.CompletedTask;
            }).ConfigureAwait(false);
        }
    }
}
