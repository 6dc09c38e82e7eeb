using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

/// <summary>Goes on with the jobs of pools that were just opened.</summary>
internal sealed class JobResumption(RepairService repairs, TierOptimizer optimizer, RebalanceService rebalance)
{
    /// <summary>Goes on with the jobs of a pool that has just been opened; forgets those of virtual disks that are gone.</summary>
    internal async LaneTask<Nothing> Resume(ManagedPool managed)
    {
        foreach (JobRecord record in managed.Pool!.State.Jobs.Values.ToArray())
        {
            if (JobProgress.TryDecode(record.State) is not { } progress || progress.Kind is JobKind.ScrubInterval or JobKind.TierSchedule)
            {
                continue;   // of a later version: kept for it
            }

            if (progress.Kind is JobKind.OptimizeTiers or JobKind.PlacePins
                && managed.VirtualDisks.TryGetValue(new VirtualDiskId(progress.Subject), out ManagedVirtualDisk? tiered)
                && tiered.Status is { IsTiered: true, Fault: IoError.None })
            {
                optimizer.Start(managed, tiered, progress.Kind, record.Job, progress, TierLimitChecks.Of(progress));
            }
            else if (progress.Kind == JobKind.Optimize)
            {
                rebalance.Start(managed, record.Job, progress);
            }
            else if (managed.State!.VirtualDisk(new VirtualDiskId(progress.Subject)) is null)
            {
                await JobRunner.Save(managed, record.Job, null);
            }
            else if (progress.Kind is JobKind.Repair or JobKind.Scrub
                && managed.VirtualDisks.TryGetValue(new VirtualDiskId(progress.Subject), out ManagedVirtualDisk? disk)
                && disk.Status.Fault == IoError.None)
            {
                repairs.Resume(managed, disk, record.Job, progress);
            }
        }

        return default;
    }
}
