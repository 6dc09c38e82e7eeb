using System.Collections.Immutable;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Tiering;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Jobs;

/// <summary>
/// Moves the slices of a tiered disk to the tiers that they belong on, by a plan made when it begins. A piece is as many moves as are made durable
/// together while no client is at work; the mover has breaks within it. The metadata records
/// which slices have moved; a resumed step makes a new plan.
/// </summary>
/// <param name="disk">The virtual disk; used on its lane only.</param>
/// <param name="settingsOf">Makes the settings of the plan, on that lane.</param>
/// <param name="limits">Limits of the run.</param>
/// <param name="bytesBefore">Bytes of it that an earlier process moved.</param>
public sealed class OptimizeTiersStep(OpenVirtualDisk disk, Func<DiskTiering, TierPlanSettings> settingsOf, TierLimits limits, long bytesBefore = 0) : IJobStep
{
    private const int MovesAtOnce = SliceMover.BatchMax;

    private TierPlanSettings? _settings;
    private TierPlan? _plan;
    private ImmutableArray<int> _order;   // of the tiers that the plan counts
    private int _next;
    private int _failed;

    /// <summary>A step whose settings are known.</summary>
    public OptimizeTiersStep(OpenVirtualDisk disk, TierPlanSettings settings)
        : this(disk, _ => settings, new TierLimits(settings.MaxBytes))
    {
    }

    /// <inheritdoc/>
    public string Name => "Optimize tiers";

    /// <inheritdoc/>
    public bool IsOnDiskLane => true;

    /// <inheritdoc/>
    public JobBreaks Breaks { get; } = new();

    /// <summary>Plan that the step carries out; null before it began.</summary>
    public TierPlan? Plan => _plan;

    /// <summary>The tiers that the plan counts, fastest first.</summary>
    public ImmutableArray<TierDescription> Tiers { get; private set; } = [];

    /// <summary>Report on the fit of the tier sizes to the load at the end of the step; null before that.</summary>
    public TierReport? Report { get; private set; }

    /// <summary>Limits of the run: by them it may leave something undone.</summary>
    public TierLimits Limits => limits;

    /// <summary>Bytes brought to a faster tier.</summary>
    public long BytesPromoted { get; private set; }

    /// <summary>Bytes brought to a slower tier.</summary>
    public long BytesDemoted { get; private set; }

    /// <inheritdoc/>
    public long BytesTotal => _plan?.Bytes ?? 0;

    /// <inheritdoc/>
    public string Outcome => _plan is null or { Moves.Count: 0, MovesOverBudget: 0 } && _failed == 0 ? "every slice is on the tier that it belongs on"
        : $"{ByteText.Exact(BytesPromoted)} promoted, {ByteText.Exact(BytesDemoted)} demoted" + (_failed > 0 ? $", {CountText.Of(_failed, "slice")} could not be moved" : "")
            + (_plan?.BytesOverBudget > 0 ? $", {ByteText.Exact(_plan.BytesOverBudget)} left to a later run, for the limit of this one" : "");

    /// <inheritdoc/>
    public void Reset() => _plan = null;

    /// <inheritdoc/>
    public async LaneTask<JobAdvance> Advance(long cursor)
    {
        TierPlan plan = await PlanOfNow();
        TierMove[] moves = [.. plan.Moves.Skip(_next).Take(MovesAtOnce)];
        if (moves.Length == 0)
        {
            return new JobAdvance(cursor, 0, true);
        }

        TierMove[] open = Array.FindAll(moves, move => !IsThere(move));   // some may have moved before the piece was stopped
        RepairEnd end = await disk.Tiering!.Move(Array.ConvertAll(open, move => new SliceOrder((int)move.Slice, _order[move.To], move.Reason)), Breaks);
        Count(open, end);
        if (end == RepairEnd.Stopped)
        {
            return new JobAdvance(cursor, 0, false);
        }

        _next += moves.Length;
        return disk.Fault == IoError.None
            ? new JobAdvance(cursor + moves.Length, moves.Length * (long)disk.Tiers!.SliceSize, false)
            : new JobAdvance(cursor, 0, false, disk.Fault, disk.FaultReason);
    }

    /// <inheritdoc/>
    public async LaneTask<Nothing> Ended()
    {
        if (_plan is not null)
        {
            await PlanOfNow();
            Report = await disk.Tiering!.Report();
        }

        return default;
    }

    // A tier that was added meanwhile makes another plan.
    private async LaneTask<TierPlan> PlanOfNow()
    {
        while (_plan is null || !_order.SequenceEqual(disk.Tiers!.Order))
        {
            _order = disk.Tiers!.Order;
            Tiers = disk.Tiering!.Tiers;
            _settings ??= settingsOf(disk.Tiering);
            _plan = await disk.Tiering.Plan(_settings with { MaxBytes = Math.Max(0, limits.MaxBytes - bytesBefore - BytesPromoted - BytesDemoted) });
            _next = 0;
        }

        return _plan;
    }

    // A slice that is nowhere any more was given back meanwhile.
    private void Count(TierMove[] moves, RepairEnd end)
    {
        foreach (TierMove move in moves)
        {
            BytesPromoted += IsThere(move) && move.IsPromotion ? disk.Tiers!.SliceSize : 0;
            BytesDemoted += IsThere(move) && !move.IsPromotion ? disk.Tiers!.SliceSize : 0;
            _failed += IsThere(move) || end == RepairEnd.Stopped || !disk.Tiers!.Map[(int)move.Slice].IsMapped ? 0 : 1;
        }
    }

    private bool IsThere(TierMove move) => disk.Tiers!.Map[(int)move.Slice] is { IsMapped: true } entry && entry.Tier == _order[move.To];
}
