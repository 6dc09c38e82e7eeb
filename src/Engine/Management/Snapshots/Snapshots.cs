using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Jobs;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

// A snapshot has parts of several lanes. First each lane with open virtual disks takes its part, all at once; then the control lane takes the rest in one piece
// and puts the parts in.
//
// Invariants
//  1. A snapshot waits for no lane longer than LanePatience.LimitNs: the part of a lane that does not answer is its last one.
//  2. The virtual disks of a snapshot are those that are open when the control lane takes its part. One that was just opened has the part of then.

/// <summary>Takes snapshots of a subsystem.</summary>
internal sealed class Snapshots(SubsystemCore core, JobRunner runner, ReliabilityRecords reliability)
{
    /// <summary>Takes a snapshot of every object. Takes time in proportion to the objects, never to rows or slabs.</summary>
    internal async LaneTask<SubsystemSnapshot> Take()
    {
        await TakeParts();
        return TakeRest(null);
    }

    /// <summary>Gathers the reliability counters, then takes a snapshot with them.</summary>
    internal async LaneTask<SubsystemSnapshot> TakeWithReliability()
    {
        await reliability.Gather();
        await TakeParts();
        return TakeRest(reliability.Copy());
    }

    /// <summary>Runs a verb that changes something, and computes the reply outside from its result and a snapshot of the moment in which it ended.</summary>
    internal Task<TReply> Change<T, TReply>(Func<LaneTask<T>> verb, Func<T, SubsystemSnapshot, TReply> reply) => core.Verbs.Change(
        async LaneTask<(T Result, SubsystemSnapshot Now)> () => (await verb(), await Take()), after => reply(after.Result, after.Now));

    private LaneTask<Nothing> TakeParts() => core.Patience.Ask(
        [.. core.Pools.All.SelectMany(static managed => managed.VirtualDisks.Values).GroupBy(static disk => disk.Lane)
            .Select(static disks => (disks.Key, (Func<LaneTask<Nothing>>)(() => ManagedVirtualDisk.TakeSnapshots([.. disks]))))]);

    private SubsystemSnapshot TakeRest(Dictionary<Guid, DiskReliability>? counters)
    {
        Dictionary<PoolId, PoolSnapshot> open = core.Pools.Snapshot();
        List<JobStatus> jobs = [];
        Dictionary<(Guid Pool, Guid Disk), JobStatus> repairs = [];   // the newest of each virtual disk
        foreach (StorageJob job in runner.All)
        {
            JobStatus status = JobStatus.Of(job);
            jobs.Add(status);
            if (!job.HasEnded && job.Spec.Kind == JobKind.Repair)
            {
                repairs[(job.Spec.Pool, job.Spec.VirtualDisk)] = status;
            }
        }

        return new SubsystemSnapshot(
            core.Lane.NowNs, [.. core.Disks.All.Select(static disk => disk.Snapshot())],
            [.. core.Pools.All.Select(managed => Copy(managed, open.GetValueOrDefault(managed.Id), repairs))], jobs, reliability.PastThreshold.ToHashSet(),
            counters);
    }

    private ManagedPoolSnapshot Copy(ManagedPool managed, PoolSnapshot? pool, Dictionary<(Guid Pool, Guid Disk), JobStatus> repairs) => new(
        managed, pool, managed.VirtualDisks.ToDictionary(
            static disk => disk.Key, disk => new VirtualDiskSnapshot(
                disk.Value, core.DataLanes.NumberOf(disk.Value.Lane), repairs.GetValueOrDefault((managed.Id.Value, disk.Key.Value)))),
        core.Options.Healing.MissingGraceNs)
    {
        Copies = core.Disks.Copies.ReasonOf(managed.Id),
    };
}
