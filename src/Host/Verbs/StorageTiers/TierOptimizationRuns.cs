using TierSpaces.Contracts;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Jobs;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tiering;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Verbs.StorageTiers;

/// <summary>Optimizes the tiers of virtual disks side by side, or tells what that would do: what two verbs have in common.</summary>
internal sealed class TierOptimizationRuns(HostServices services, ReplyBuilder<StorageTierOptimizationInfo> reply)
{
    /// <summary>Tells the plan of each disk or, when it is to be done, answers when the last job has ended.</summary>
    /// <param name="disks">The virtual disks.</param>
    /// <param name="limits">Limits of the run over each of them.</param>
    /// <param name="show">Takes what each came to.</param>
    public async Task RunAsync(IReadOnlyCollection<VirtualDiskStatus> disks, TierLimits limits, Action<StorageTierOptimizationInfo> show)
    {
        (VirtualDiskDescription Description, Task<TierOptimization> run)[] runs =
            disks.Select(disk => (disk.Description, run: BeginAsync(disk.Description.Id.Value, limits))).ToArray();
        foreach ((VirtualDiskDescription? disk, Task<TierOptimization>? run) in runs)
        {
            await reply.TryAsync(async () =>
            {
                TierOptimization done = await run.ConfigureAwait(false);
                reply.Tell(Steps(disk, done, limits));
                if (done.Job is { } job)
                {
                    show(Describe(disk, job, done));
                    Judge(disk.FriendlyName, job);
                }
            }).ConfigureAwait(false);
        }
    }

    private Task<TierOptimization> BeginAsync(Guid disk, TierLimits limits) =>
        reply.IsWhatIf ? services.Subsystem.TierOptimizer.PlanAsync(disk, limits) : services.Subsystem.TierOptimizer.OptimizeAsync(disk, limits);

    private static IEnumerable<string> Steps(VirtualDiskDescription disk, TierOptimization done, TierLimits limits)
    {
        TierPlan plan = done.Plan;
        int promoted = plan.Moves.Count(move => move.IsPromotion);
        yield return done.Tiers.Length == 1 ? $"Optimize the tiers of virtual disk '{disk.FriendlyName}': move nothing, for it has one tier"
            : $"Optimize the tiers of virtual disk '{disk.FriendlyName}': move {CountText.Of(promoted, "slice")}, {SizeText.Exact(plan.BytesPromoted)}, to faster tiers"
            + $" and {CountText.Of(plan.Moves.Count - promoted, "slice")}, {SizeText.Exact(plan.BytesDemoted)}, to slower ones";
        if (plan.MovesOverBudget > 0)
        {
            yield return $"Leave {CountText.Of(plan.MovesOverBudget, "move")}, {SizeText.Exact(plan.BytesOverBudget)}, to a later optimization:"
                + $" -MaximumBytes {SizeText.Exact(limits.MaxBytes)} leaves no room for {(plan.MovesOverBudget == 1 ? "it" : "them")}";
        }

        if (plan.MovesLeftOut > plan.MovesOverBudget)
        {
            yield return $"Leave {CountText.Of(plan.MovesLeftOut - plan.MovesOverBudget, "move")} worth making to a later optimization: there is no free place to begin with";
        }

        for (int tier = 0; tier < done.Tiers.Length; tier++)
        {
            yield return FormattableString.Invariant(
                $"Share of the I/O on storage tier '{done.Tiers[tier].FriendlyName}': {plan.ShareBefore[tier] * 100:0.0} % before, {plan.ShareAfter[tier] * 100:0.0} % after");
        }
    }

    private static StorageTierOptimizationInfo Describe(VirtualDiskDescription disk, JobStatus job, TierOptimization done) => new()
    {
        VirtualDiskFriendlyName = disk.FriendlyName,
        VirtualDiskUniqueId = Identifiers.OfVirtualDisk(disk.Id.Value),
        StorageJobUniqueId = Identifiers.OfPoolOrDisk(job.UniqueId),
        State = job.State.ToString(),
        SlicesPlanned = (ulong)done.Plan.Moves.Count,
        BytesPromoted = (ulong)job.BytesPromoted,
        BytesDemoted = (ulong)job.BytesDemoted,
        BytesLeftOut = (ulong)done.Plan.BytesOverBudget,
        PerformanceTierSize = (ulong)done.Report.Tiers[0].SizeBytes,
        PercentOfIoBefore = Percent(done.Plan.ShareBefore[0] * 100),
        PercentOfIoAfter = Percent(done.Report.Tiers[0].PercentOfIo),
        Tiers = [.. done.Tiers.Zip(done.Report.Tiers, ShareOf)],
        SizesRequired = [.. done.Report.Rows.Select(row => new PerformanceTierSizeInfo { PercentOfIo = row.Percent, SizeRequired = (ulong)row.Bytes })],
        Report = $"Virtual disk '{disk.FriendlyName}': {SizeText.Format((ulong)job.BytesPromoted)} moved to faster tiers,"
            + $" {SizeText.Format((ulong)job.BytesDemoted)} to slower ones.{LeftOut(done.Plan)}\n\n{TierReportText.Format(done.Report)}",
    };

    private static string LeftOut(TierPlan plan) => plan.BytesOverBudget == 0 ? ""
        : $" {SizeText.Format((ulong)plan.BytesOverBudget)} of moves were left to a later optimization: -MaximumBytes had no room for them.";

    private static StorageTierShareInfo ShareOf(TierDescription tier, TierReportTier share) => new()
    {
        FriendlyName = tier.FriendlyName,
        Size = (ulong)share.SizeBytes,
        MappedSize = (ulong)share.MappedBytes,
        PercentOfIo = Percent(share.PercentOfIo),
        PinnedSize = (ulong)share.PinnedBytes,
        PinnedPercentOfIo = Percent(share.PinnedPercentOfIo),
    };

    private static double Percent(double percent) => Math.Round(percent, 1);

    private static void Judge(string name, JobStatus job)
    {
        if (job.State != JobState.Completed)
        {
            throw new StorageException(
                StorageErrors.Failed,
                job.State switch
                {
                    JobState.Terminated => $"Optimizing the tiers of virtual disk '{name}' was stopped.",
                    JobState.Suspended => $"The host stops; optimizing the tiers of virtual disk '{name}' goes on when it runs again.",
                    _ => $"Optimizing the tiers of virtual disk '{name}' could not go on: {job.ErrorDescription}.",
                },
                target: name);
        }
    }
}
