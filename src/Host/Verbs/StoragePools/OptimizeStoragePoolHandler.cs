using TierSpaces.Contracts;
using TierSpaces.Engine.Jobs;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;
using TierSpaces.Host.Verbs.VirtualDisks;

namespace TierSpaces.Host.Verbs.StoragePools;

/// <summary>Optimize-StoragePool: optimizes pools side by side and answers when the last job has ended.</summary>
internal sealed class OptimizeStoragePoolHandler(HostServices services) : VerbHandler<OptimizeStoragePoolRequest, StoragePoolInfo>, ILongVerb
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        OptimizeStoragePoolRequest request, ReplyBuilder<StoragePoolInfo> reply, CancellationToken cancellation)
    {
        Selector<StoragePoolTarget> pools = (await Catalogue.ReadAsync(services).ConfigureAwait(false)).Pools;
        List<StoragePoolTarget> meantPools = pools.Select(request.FriendlyName, request.UniqueId, request.Name, request.InputObject, reply.Fail);
        if (reply.IsWhatIf)
        {
            foreach (StoragePoolTarget pool in meantPools)
            {
                await reply.TryAsync(async () => reply.Tell(
                    [Step(pool), .. SlabMoveText.OfMoves(await services.Subsystem.Rebalance.PlanAsync(pool.Concrete.UniqueId).ConfigureAwait(false))]))
                    .ConfigureAwait(false);
            }

            return;
        }

        reply.Tell(meantPools.Select(Step));

        (StoragePoolTarget pool, Task<JobStatus> job)[] jobs = meantPools
            .Select(pool => (pool, job: OptimizeAsync(pool))).ToArray();
        foreach ((StoragePoolTarget? pool, Task<JobStatus>? job) in jobs)
        {
            await reply.TryAsync(async () => Judge(pool.FriendlyName, await job.ConfigureAwait(false))).ConfigureAwait(false);
        }

        if (request.PassThru)
        {
            Selector<StoragePoolTarget> after = (await Catalogue.ReadAsync(services).ConfigureAwait(false)).Pools;
            HashSet<Guid> meant = jobs.Select(pair => pair.pool.Id).ToHashSet();
            reply.Add(after.All.Where(pool => !pool.IsPrimordial && meant.Contains(pool.Id)).Select(pool => pool.Concrete.ToInfo()));
        }
    }

    private static string Step(StoragePoolTarget pool) => $"Spread what storage pool '{pool.FriendlyName}' holds evenly over its disks";

    private async Task<JobStatus> OptimizeAsync(StoragePoolTarget pool) =>
        await services.Subsystem.Rebalance.OptimizeAsync(pool.Concrete.UniqueId).ConfigureAwait(false);

    private static void Judge(string name, JobStatus job)
    {
        if (job.State != JobState.Completed)
        {
            throw new StorageException(
                StorageErrors.Failed,
                job.State switch
                {
                    JobState.Terminated => $"Optimizing storage pool '{name}' was stopped.",
                    JobState.Suspended => $"The host stops; optimizing storage pool '{name}' goes on when it runs again.",
                    _ => $"Optimizing storage pool '{name}' could not go on: {job.ErrorDescription}.",
                },
                target: name);
        }
    }
}
