using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Verbs.StorageJobs;

/// <summary>Stop-StorageJob: stops jobs for good.</summary>
internal sealed class StopStorageJobHandler(HostServices services) : VerbHandler<StopStorageJobRequest, StorageJobInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(StopStorageJobRequest request, ReplyBuilder<StorageJobInfo> reply, CancellationToken cancellation)
    {
        Selector<JobStatus> jobs = (await Catalogue.ReadAsync(services).ConfigureAwait(false)).Jobs;
        foreach (JobStatus job in Select(jobs, request, reply.Fail))
        {
            await reply.TryDoAsync($"Stop storage job '{job.Name}' ({job.Description})", async () =>
            {
                JobStatus stopped = await services.Subsystem.Jobs.StopAsync(job.UniqueId).ConfigureAwait(false);
                reply.Add(request.PassThru ? [stopped.ToInfo()] : []);
            }, () => services.Subsystem.Jobs.CheckStopAsync(job.UniqueId)).ConfigureAwait(false);
        }
    }

    /// <summary>Returns the jobs that are meant: of several that one name means those that have not ended, or the last one if all have.</summary>
    private static IEnumerable<JobStatus> Select(Selector<JobStatus> jobs, StopStorageJobRequest request, Action<StorageErrorInfo> fail) =>
        request.UniqueId is not null ? jobs.ByUniqueId(request.UniqueId, fail)
        : request.Name is not null ? request.Name.SelectMany(name => AtWork(jobs.By("Name", static job => job.Name, [name], fail))).Distinct()
        : (request.InputObject ?? []).SelectMany(reference => AtWork(jobs.ByReference([reference], fail))).Distinct();

    private static IEnumerable<JobStatus> AtWork(List<JobStatus> named) =>
        named.Exists(static job => !job.HasEnded) ? named.Where(static job => !job.HasEnded)
        : named.OrderBy(static job => job.TimeOfLastStateChange).TakeLast(1);
}
