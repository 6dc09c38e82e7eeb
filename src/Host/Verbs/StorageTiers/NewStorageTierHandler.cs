using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Verbs.StorageTiers;

/// <summary>New-StorageTier: makes a template of tiers in pools.</summary>
internal sealed class NewStorageTierHandler(HostServices services) : VerbHandler<NewStorageTierRequest, StorageTierInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        NewStorageTierRequest request, ReplyBuilder<StorageTierInfo> reply, CancellationToken cancellation)
    {
        TierTemplateRequest meant = TierTemplateParameters.Read(request, request.FriendlyName);
        Catalogue all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        foreach (StoragePoolTarget pool in all.Pools.Select(
            request.StoragePoolFriendlyName, request.StoragePoolUniqueId, request.StoragePoolName, request.InputObject, reply.Fail))
        {
            await reply.TryAsync(async () =>
            {
                Guid target = pool.Concrete.UniqueId;
                await reply.DoAsync(
                    $"Create storage tier '{request.FriendlyName}' in storage pool '{pool.FriendlyName}'",
                    async () => reply.Add((await services.Subsystem.Tiers.CreateTemplateAsync(target, meant).ConfigureAwait(false)).ToInfo()),
                    () => services.Subsystem.Tiers.CheckCreateTemplateAsync(target, meant)).ConfigureAwait(false);
            }).ConfigureAwait(false);
        }
    }
}
