using TierSpaces.Contracts;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Verbs.Mapping;
using TierSpaces.Host.Verbs.StoragePools;

namespace TierSpaces.Host.Verbs.StorageTiers;

/// <summary>Settings of a template of tiers, as the engine takes them. The engine refuses values out of range.</summary>
internal static class TierTemplateParameters
{
    /// <summary>Returns the settings of a request.</summary>
    /// <param name="request">The request.</param>
    /// <param name="friendlyName">Name that the template gets; null: it keeps its name.</param>
    /// <exception cref="StorageException">A value is none that the engine has.</exception>
    public static TierTemplateRequest Read(ITierTemplateSettings request, string? friendlyName) => new()
    {
        FriendlyName = friendlyName,
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
