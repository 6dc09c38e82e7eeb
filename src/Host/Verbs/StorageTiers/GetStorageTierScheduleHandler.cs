using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Verbs.StorageTiers;

/// <summary>Get-StorageTierSchedule: lists the schedules of pools.</summary>
internal sealed class GetStorageTierScheduleHandler(HostServices services) : VerbHandler<GetStorageTierScheduleRequest, StorageTierScheduleInfo>
{
    private const string TaskName = "Storage Tiers Optimization";

    /// <inheritdoc/>
    protected override async Task HandleAsync(
        GetStorageTierScheduleRequest request, ReplyBuilder<StorageTierScheduleInfo> reply, CancellationToken cancellation)
    {
        Catalogue all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        bool isEvery = request is { StoragePoolFriendlyName: null, StoragePoolUniqueId: null, InputObject: null };
        foreach (StoragePoolTarget? pool in all.Pools
            .Select(request.StoragePoolFriendlyName, request.StoragePoolUniqueId, null, request.InputObject, reply.Fail)
            .Where(pool => !isEvery || !pool.IsPrimordial))
        {
            await reply.TryAsync(() =>
            {
                reply.Add(Describe(pool, all.Now.TierSchedule(pool.Concrete.UniqueId)));
                return Task.CompletedTask;
            }).ConfigureAwait(false);
        }
    }

    /// <summary>Maps one.</summary>
    internal static StorageTierScheduleInfo Describe(StoragePoolTarget pool, TierSchedule schedule) => new()
    {
        StoragePoolFriendlyName = pool.FriendlyName,
        StoragePoolUniqueId = Identifiers.OfPoolOrDisk(pool.Id),
        TaskName = TaskName,
        Enabled = schedule.IsEnabled,
        Time = [.. schedule.Times.Select(TimeOfDay.Text)],
        Continuous = schedule.IsContinuous,
        FreeReservePercent = schedule.FreeReservePercent,
        MaximumBytes = TierLimitParameters.ShownBytes(schedule.Limits),
        LatencyTarget = TierLimitParameters.ShownLatency(schedule.Limits),
    };
}
