using System.Diagnostics;
using TierSpaces.Contracts;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Pools;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Verbs.StoragePools;

/// <summary>
/// Update-StoragePool: looks at the disks again, opens pools that can be opened now, also without their missing disks, and raises those of an older
/// version of the format.
/// </summary>
internal sealed class UpdateStoragePoolHandler(HostServices services) : VerbHandler<UpdateStoragePoolRequest, StoragePoolInfo>
{
    // Longer than the whole way to a lease; within the second time it is seen whether a host still renews.
    private static readonly TimeSpan s_leasePatience = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan s_forcePatience = TimeSpan.FromSeconds(8);

    /// <inheritdoc/>
    protected override async Task HandleAsync(
        UpdateStoragePoolRequest request, ReplyBuilder<StoragePoolInfo> reply, CancellationToken cancellation)
    {
        await reply.DoAsync(
            "Look at every registered physical disk again and open the storage pools that can be opened now", services.Startup.LookAgainAsync).ConfigureAwait(false);
        Selector<StoragePoolTarget> pools = (await Catalogue.ReadAsync(services).ConfigureAwait(false)).Pools;
        foreach (StoragePoolTarget pool in pools.Select(request.FriendlyName, request.UniqueId, request.Name, request.InputObject, reply.Fail))
        {
            await reply.TryAsync(async () =>
            {
                StoragePoolStatus known = await AwaitLeaseAsync(pool.Concrete, request.Force, reply, cancellation).ConfigureAwait(false);
                StoragePoolStatus updated = await RaiseAsync(known, reply).ConfigureAwait(false);
                reply.Add(request.PassThru && !reply.IsWhatIf ? [updated.ToInfo()] : []);
                if (!reply.IsWhatIf && (!updated.IsOpen || updated.OperationalStatus == PoolOperationalStatus.Incomplete))
                {
                    throw new StorageException(
                        StorageErrors.PoolStateForbids, $"Storage pool '{pool.FriendlyName}' is not open: {updated.StatusReason}.",
                        updated.AwaitsLease ? "It opens by itself when that host has closed it."
                            : "Make its missing physical disks available, or register them: it opens by itself then.", pool.FriendlyName);
                }
            }).ConfigureAwait(false);
        }
    }

    /// <summary>Waits for a pool that opens when its lease is taken.</summary>
    private async Task<StoragePoolStatus> AwaitLeaseAsync(
        StoragePoolStatus pool, bool force, ReplyBuilder<StoragePoolInfo> reply, CancellationToken cancellation)
    {
        StoragePoolStatus now = pool;
        if (force && !pool.IsOpen)
        {
            await reply.DoAsync(
                $"Open storage pool '{pool.Description.FriendlyName}' although another host has not closed it, once that host has not renewed its lease for 33 s",
                () => services.Subsystem.Pools.ForceAsync(pool.UniqueId)).ConfigureAwait(false);
        }

        for (Stopwatch watch = Stopwatch.StartNew(); !reply.IsWhatIf && !now.IsOpen && watch.Elapsed < s_leasePatience;)
        {
            if (now.OperationalStatus != PoolOperationalStatus.InService && (!force || watch.Elapsed > s_forcePatience))
            {
                break;
            }

            await Task.Delay(200, cancellation).ConfigureAwait(false);
            now = (await services.Subsystem.Pools.ListAsync().ConfigureAwait(false)).FirstOrDefault(one => one.UniqueId == pool.UniqueId) ?? now;
        }

        return now;
    }

    private async Task<StoragePoolStatus> RaiseAsync(StoragePoolStatus pool, ReplyBuilder<StoragePoolInfo> reply)
    {
        if (!pool.IsOpen || pool.Description.FormatVersion == PoolDescription.NewestFormat)
        {
            return pool;
        }

        StoragePoolStatus raised = pool;
        await reply.DoAsync(
            $"Raise storage pool '{pool.Description.FriendlyName}' from format version {pool.Description.FormatVersion} to {PoolDescription.NewestFormat}: "
                + $"{WhatChanges(pool.Description.FormatVersion)}. Older releases cannot open it afterwards",
            async () => raised = await services.Subsystem.Pools.RaiseAsync(pool.UniqueId).ConfigureAwait(false),
            () => services.Subsystem.Pools.CheckRaiseAsync(pool.UniqueId)).ConfigureAwait(false);
        return raised;
    }

    private static string WhatChanges(int from) =>
        (from < 2 ? "every member disk gets a vote, " : "") + (from < 3 ? "the host that serves it holds a lease on its disks, and " : "")
            + "write caches get summaries, which make them quick to open after a crash; those that are open now get them at their next opening";
}
