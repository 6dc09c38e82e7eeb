using TierSpaces.Contracts;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;
using TierSpaces.Host.Verbs.StoragePools;

namespace TierSpaces.Host.Verbs.StorageTiers;

/// <summary>Set-StorageTier: changes name, description or layout of templates.</summary>
internal sealed class SetStorageTierHandler(HostServices services) : VerbHandler<SetStorageTierRequest, StorageTierInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        SetStorageTierRequest request, ReplyBuilder<StorageTierInfo> reply, CancellationToken cancellation)
    {
        TierTemplateRequest meant = Translate(request);
        Catalogue all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        foreach (StorageTierStatus tier in all.Tiers.Select(request.FriendlyName, request.UniqueId, null, request.InputObject, reply.Fail))
        {
            await reply.TryDoAsync(
                $"Set {request.Changes()} of storage tier '{tier.FriendlyName}'",
                () => services.Subsystem.Tiers.SetAsync(tier.UniqueId, meant),
                () => services.Subsystem.Tiers.CheckSetAsync(tier.UniqueId, meant)).ConfigureAwait(false);
        }
    }

    private static TierTemplateRequest Translate(SetStorageTierRequest request) => new()
    {
        FriendlyName = request.NewFriendlyName,
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
