using TierSpaces.Contracts;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;
using TierSpaces.Host.Verbs.StoragePools;

namespace TierSpaces.Host.Verbs.StorageTiers;

/// <summary>New-StorageTier: makes a template of tiers in pools.</summary>
internal sealed class NewStorageTierHandler(HostServices services) : VerbHandler<NewStorageTierRequest, StorageTierInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        NewStorageTierRequest request, ReplyBuilder<StorageTierInfo> reply, CancellationToken cancellation)
    {
        TierTemplateRequest meant = Translate(request);
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

    private static TierTemplateRequest Translate(NewStorageTierRequest request) => new()
    {
        FriendlyName = request.FriendlyName!,
        MediaType = request.MediaType?.ToEngine(),
        ResiliencySettingName = request.ResiliencySettingName,
        NumberOfDataCopies = request.NumberOfDataCopies,
        PhysicalDiskRedundancy = request.PhysicalDiskRedundancy,
        NumberOfColumns = request.NumberOfColumns,
        Interleave = request.Interleave is { } strip ? Amount.Bytes(strip, nameof(request.Interleave), StorageErrors.InterleaveRange) : null,
        ProvisioningType = PoolSettings.Provisioning(request.ProvisioningType, nameof(request.ProvisioningType)),
        Description = request.Description,
        FaultDomainAwareness = (FaultDomainLevel?)request.FaultDomainAwareness,
        ColumnIsolation = (FaultDomainLevel?)request.ColumnIsolation,
    };
}
