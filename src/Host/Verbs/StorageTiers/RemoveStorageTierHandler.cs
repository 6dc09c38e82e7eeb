using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Verbs.StorageTiers;

/// <summary>Remove-StorageTier: deletes templates.</summary>
internal sealed class RemoveStorageTierHandler(HostServices services) : VerbHandler<RemoveStorageTierRequest, StorageTierInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        RemoveStorageTierRequest request, ReplyBuilder<StorageTierInfo> reply, CancellationToken cancellation)
    {
        Catalogue all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        foreach (StorageTierStatus tier in all.Tiers.Select(request.FriendlyName, request.UniqueId, null, request.InputObject, reply.Fail))
        {
            await reply.TryDoAsync(
                $"Remove storage tier '{tier.FriendlyName}'",
                async () =>
                {
                    await services.Subsystem.Tiers.RemoveTemplateAsync(tier.UniqueId).ConfigureAwait(false);
                    reply.Add(request.PassThru ? [tier.ToInfo()] : []);
                },
                () => services.Subsystem.Tiers.CheckRemoveTemplateAsync(tier.UniqueId)).ConfigureAwait(false);
        }
    }
}
