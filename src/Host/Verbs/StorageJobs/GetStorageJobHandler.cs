using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;
using TierSpaces.Host.Verbs.Subsystems;
using TierSpaces.Host.Verbs.Volumes;

namespace TierSpaces.Host.Verbs.StorageJobs;

/// <summary>Get-StorageJob: lists jobs, all of them or those of an object.</summary>
internal sealed class GetStorageJobHandler(HostServices services) : VerbHandler<GetStorageJobRequest, StorageJobInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(GetStorageJobRequest request, ReplyBuilder<StorageJobInfo> reply, CancellationToken cancellation)
    {
        Catalogue all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        List<JobStatus> jobs = all.Jobs.Select(null, request.UniqueId, request.Name, null, reply.Fail);
        string? volumeDisk = request.Volume is { } volume
            ? (await VolumeSelection.OneVolumeAsync(services, all, volume).ConfigureAwait(false)).Disk.UniqueId : null;
        reply.Add(Of(all, request, jobs, volumeDisk ?? request.Disk ?? request.VirtualDisk).Select(job => job.ToInfo())
            .Where(info => request.JobState is null || DisplayName.Of(request.JobState).Contains(info.JobState)));
    }

    private static IEnumerable<JobStatus> Of(Catalogue all, GetStorageJobRequest request, IEnumerable<JobStatus> jobs, string? virtualDisk)
    {
        if (request.StorageSubsystem is { } subsystem)
        {
            LocalSubsystem.Selector.One(subsystem);
        }

        Guid? pool = request.StoragePool is { } named ? all.Pools.One(named).Id : (Guid?)null;
        Guid? disk = virtualDisk is null ? null : all.VirtualDisks.One(virtualDisk).Description.Id.Value;
        return jobs.Where(job => (pool is null || job.PoolId == pool) && (disk is null || job.VirtualDisk == disk));
    }
}
