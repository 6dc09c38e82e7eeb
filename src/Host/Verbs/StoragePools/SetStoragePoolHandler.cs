using TierSpaces.Contracts;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;

namespace TierSpaces.Host.Verbs.StoragePools;

/// <summary>Set-StoragePool: changes name, attributes or defaults of pools.</summary>
internal sealed class SetStoragePoolHandler(HostServices services) : VerbHandler<SetStoragePoolRequest, StoragePoolInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        SetStoragePoolRequest request, ReplyBuilder<StoragePoolInfo> reply, CancellationToken cancellation)
    {
        TimeSpan? scrubInterval = ScrubInterval(request.ScrubIntervalDays);
        Selector<StoragePoolTarget> pools = (await Catalogue.ReadAsync(services).ConfigureAwait(false)).Pools;
        List<StoragePoolTarget> selected = pools.Select(request.FriendlyName, request.UniqueId, request.Name, request.InputObject, reply.Fail);
        Confirmation.Require(
            request, [.. selected.Select(static pool => pool.FriendlyName)], (nameof(request.FriendlyName), Texts(request.FriendlyName)),
            (nameof(request.UniqueId), Texts(request.UniqueId)), (nameof(request.Name), Texts(request.Name)),
            (nameof(request.InputObject), request.InputObject));
        foreach (StoragePoolTarget pool in selected)
        {
            await reply.TryAsync(async () =>
            {
                StoragePoolStatus current = pool.Concrete;
                _ = Change(current.Description, request);   // refuses before anything is asked of the engine
                await reply.DoAsync($"Set {request.Changes()} of storage pool '{pool.FriendlyName}'", async () =>
                {
                    await services.Subsystem.Pools.SetAsync(current.UniqueId, settings => Change(settings, request)).ConfigureAwait(false);
                    if (scrubInterval is { } interval)
                    {
                        await services.Subsystem.Scrubs.SetIntervalAsync(current.UniqueId, interval).ConfigureAwait(false);
                    }
                }, () => services.Subsystem.Pools.CheckSetAsync(current.UniqueId, settings => Change(settings, request))).ConfigureAwait(false);
                if (request.IsPowerProtected == true && !current.Description.IsPowerProtected && !reply.IsWhatIf)
                {
                    reply.Warn($"Storage pool '{pool.FriendlyName}' now takes a completed write for a durable one: where that is not true, "
                        + "a power cut loses data.");
                }
            }).ConfigureAwait(false);
        }
    }

    private static string[]? Texts(string? text) => text is null ? null : [text];

    private static TimeSpan? ScrubInterval(uint? days) => days switch
    {
        null => null,
        <= 3650 => TimeSpan.FromDays(days.Value),
        _ => throw new StorageException(
            StorageErrors.InvalidParameter, $"-ScrubIntervalDays {days}: out of range. Valid: 0 to 3650.", "Give 0 to end the schedule.", "ScrubIntervalDays"),
    };

    private static PoolDescription Change(PoolDescription before, SetStoragePoolRequest request) => Attributes(
        PoolSettings.WithWriteCache(
            FaultDomainParameters.WithDefaults(before, request.FaultDomainAwarenessDefault, request.EnclosureAwareDefault), request.WriteCacheSizeDefault,
            request.AutoWriteCacheSize), request);

    private static PoolDescription Attributes(PoolDescription settings, SetStoragePoolRequest request) => settings with
    {
        FriendlyName = request.NewFriendlyName ?? settings.FriendlyName,
        IsReadOnly = request.IsReadOnly ?? settings.IsReadOnly,
        IsPowerProtected = request.IsPowerProtected ?? settings.IsPowerProtected,
        ProvisioningTypeDefault = PoolSettings.Provisioning(request.ProvisioningTypeDefault) ?? settings.ProvisioningTypeDefault,
        ResiliencySettingNameDefault =
            PoolSettings.Resiliency(settings, request.ResiliencySettingNameDefault) ?? settings.ResiliencySettingNameDefault,
        ThinProvisioningAlertThreshold =
            PoolSettings.Threshold(request.ThinProvisioningAlertThresholds) ?? settings.ThinProvisioningAlertThreshold,
        RetireMissingPhysicalDisks = (Engine.Formats.RetireMissingPhysicalDisks?)request.RetireMissingPhysicalDisks
            ?? settings.RetireMissingPhysicalDisks,
        RepairsInTurn = request.RepairPolicy is { } policy ? policy == RepairPolicy.Sequential : settings.RepairsInTurn,
        LentWriteCacheSizeMax = request.LentWriteCacheSizeMax ?? settings.LentWriteCacheSizeMax,
    };
}
