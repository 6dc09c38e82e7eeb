using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;

namespace TierSpaces.Host.Verbs.StorageTiers;

/// <summary>Set-StorageTierSchedule: changes the schedules of pools; what is not given stays.</summary>
internal sealed class SetStorageTierScheduleHandler(HostServices services) : VerbHandler<SetStorageTierScheduleRequest, StorageTierScheduleInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        SetStorageTierScheduleRequest request, ReplyBuilder<StorageTierScheduleInfo> reply, CancellationToken cancellation)
    {
        if (request is { Time: null, Enabled: null, Continuous: null, FreeReservePercent: null, MaximumBytes: null, LatencyTarget: null })
        {
            throw new StorageException(
                StorageErrors.InvalidParameter, "There is nothing to set.",
                "Give -Time, -Enabled, -Continuous, -FreeReservePercent, -MaximumBytes or -LatencyTarget.", "Time");
        }

        int[]? times = request.Time is { } texts ? [.. texts.Select(Minute)] : null;
        Selector<StoragePoolTarget> pools = (await Catalogue.ReadAsync(services).ConfigureAwait(false)).Pools;
        foreach (StoragePoolTarget pool in pools.Select(request.StoragePoolFriendlyName, request.StoragePoolUniqueId, null, request.InputObject, reply.Fail))
        {
            await reply.TryDoAsync(
                $"Set {request.Changes()} of the tier schedule of storage pool '{pool.FriendlyName}'",
                async () =>
                {
                    TierSchedule after = await services.Subsystem.TierSchedules.SetAsync(pool.Concrete.UniqueId, Change).ConfigureAwait(false);
                    reply.Add(request.PassThru ? [GetStorageTierScheduleHandler.Describe(pool, after)] : []);
                },
                () => services.Subsystem.TierSchedules.CheckSetAsync(pool.Concrete.UniqueId, Change)).ConfigureAwait(false);
        }

        TierSchedule Change(TierSchedule before) => new TierSchedule(
            request.Enabled ?? before.IsEnabled, times ?? before.Times, request.Continuous ?? before.IsContinuous,
            request.FreeReservePercent ?? before.FreeReservePercent) { Limits = TierLimitParameters.Apply(before.Limits, request) };
    }

    private static int Minute(string text) => TimeOfDay.Read(text) ?? throw new StorageException(
        StorageErrors.InvalidParameter, $"-Time '{text}' is no time of day; 00:00 to 23:59 are possible.", "Give times as HH:mm.", "Time");
}
