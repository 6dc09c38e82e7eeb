using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;

namespace TierSpaces.Host.Verbs.StorageTiers;

/// <summary>Set-StorageTier: changes name, description or layout of templates.</summary>
internal sealed class SetStorageTierHandler(HostServices services) : VerbHandler<SetStorageTierRequest, StorageTierInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        SetStorageTierRequest request, ReplyBuilder<StorageTierInfo> reply, CancellationToken cancellation)
    {
        TierTemplateRequest meant = TierTemplateParameters.Read(request, request.NewFriendlyName);
        Catalogue all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        foreach (StorageTierStatus tier in all.Tiers.Select(request.FriendlyName, request.UniqueId, null, request.InputObject, reply.Fail))
        {
            await reply.TryDoAsync(
                $"Set {request.Changes()} of storage tier '{tier.FriendlyName}'",
                () => services.Subsystem.Tiers.SetAsync(tier.UniqueId, meant),
                () => services.Subsystem.Tiers.CheckSetAsync(tier.UniqueId, meant)).ConfigureAwait(false);
        }
    }
}
