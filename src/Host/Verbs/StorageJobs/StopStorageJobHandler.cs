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
        foreach (JobStatus job in jobs.Select(null, request.UniqueId, request.Name, request.InputObject, reply.Fail))
        {
            await reply.TryDoAsync($"Stop storage job '{job.Name}' ({job.Description})", async () =>
            {
                JobStatus stopped = await services.Subsystem.Jobs.StopAsync(job.UniqueId).ConfigureAwait(false);
                reply.Add(request.PassThru ? [stopped.ToInfo()] : []);
            }, () => services.Subsystem.Jobs.CheckStopAsync(job.UniqueId)).ConfigureAwait(false);
        }
    }
}
