using System.Collections.Immutable;
using TierSpaces.Engine.Formats;

namespace TierSpaces.Engine.Tiering;

/// <summary>A slice on its way from one tier to another; tiers count from 0, the fastest.</summary>
/// <param name="Slice">The slice.</param>
/// <param name="Heat">Its heat when the plan was made.</param>
/// <param name="From">Tier that holds it.</param>
/// <param name="To">Tier that is to hold it.</param>
/// <param name="Reason">Reason of the move.</param>
public readonly record struct TierMove(long Slice, float Heat, byte From, byte To, SliceReason Reason)
{
    /// <summary>Whether it goes to a faster tier.</summary>
    public bool IsPromotion => To < From;
}

/// <summary>Settings of a plan.</summary>
public sealed record TierPlanSettings
{
    /// <summary>The default settings.</summary>
    public static TierPlanSettings Default { get; } = new();

    /// <summary>Nothing is hot enough to be promoted: only what is pinned moves, and what makes room for it.</summary>
    public static TierPlanSettings PinsOnly { get; } = new() { MinimumHeat = 1e300 };

    /// <summary>Largest <see cref="FreeReservePercent"/>.</summary>
    public const int FreeReservePercentMax = 50;

    /// <summary>Heat that a slice must have to be promoted, 0 or more.</summary>
    public double MinimumHeat { get; init; }

    /// <summary>Heat below which a slice goes to the slowest tier even if no other slice needs its place (<see cref="HeatMap.ColdBelow"/>); 0: none.</summary>
    public double ColdBelow { get; init; }

    /// <summary>
    /// Cost of one move, in heat: a promotion must gain more, an exchange more than two of them. The default is the weight of reading or writing a
    /// slice of 1 MiB in <see cref="HeatMap"/>; <see cref="HeatMap.WeightOf"/> returns it for other slices.
    /// </summary>
    public double MoveCost { get; init; } = 1.5;

    /// <summary>
    /// Factor by which a slice must be hotter than the slice that it replaces, besides the cost: 1 or more. 1.25 keeps two loads that take turns from
    /// replacing each other as long as a turn is shorter than a quarter of a half-life.
    /// </summary>
    public double Hysteresis { get; init; } = 1.25;

    /// <summary>
    /// Number of standard deviations of its own heat by which it must be hotter besides, 0 or more. Of two slices that are used equally, one has had
    /// 90 requests and the other 110, by chance, and next time it is the other way round.
    /// </summary>
    public double Deviations { get; init; } = 3;

    /// <summary>Percent of every tier but the slowest that is to be free, 0 to <see cref="FreeReservePercentMax"/>.</summary>
    public int FreeReservePercent { get; init; }

    /// <summary>Most bytes that the plan may move, 0 or more.</summary>
    public long MaxBytes { get; init; } = long.MaxValue;

    /// <summary>Whether every value is in its range.</summary>
    public bool IsPossible => MinimumHeat >= 0 && ColdBelow >= 0 && MoveCost >= 0 && Hysteresis >= 1
        && Deviations >= 0 && double.IsFinite(MinimumHeat + ColdBelow + MoveCost + Hysteresis + Deviations)
        && FreeReservePercent is >= 0 and <= FreeReservePercentMax && MaxBytes >= 0;
}

/// <summary>Everything that a plan is made from.</summary>
public sealed record TierPlanRequest
{
    /// <summary>Most tiers.</summary>
    public const int MaxTiers = SliceEntry.TiersMax;

    /// <summary>Slices that each tier may hold, fastest first; 2 to <see cref="MaxTiers"/> tiers.</summary>
    public required ImmutableArray<long> Capacities { get; init; }

    /// <summary>Slices that each tier may hold beyond that while slices move; empty: none.</summary>
    public ImmutableArray<long> Spare { get; init; } = [];

    /// <summary>Slices of the virtual disk.</summary>
    public required long Slices { get; init; }

    /// <summary>Bytes of a slice.</summary>
    public required int SliceBytes { get; init; }

    /// <summary>Tier of a slice; negative when it is not mapped.</summary>
    public required Func<long, int> TierOf { get; init; }

    /// <summary>Heat of a slice, 0 or more.</summary>
    public required Func<long, double> HeatOf { get; init; }

    /// <summary>Tier that a slice is pinned to, negative for none; null: nothing is pinned.</summary>
    public Func<long, int>? PinOf { get; init; }

    /// <summary>Settings that the plan is made by.</summary>
    public TierPlanSettings Settings { get; init; } = TierPlanSettings.Default;
}

/// <summary>Moves in their order. After each of them no tier holds more than its capacity and its spare, unless it did before.</summary>
public sealed record TierPlan
{
    /// <summary>The moves.</summary>
    public required IReadOnlyList<TierMove> Moves { get; init; }

    /// <summary>Bytes that move.</summary>
    public required long Bytes { get; init; }

    /// <summary>Bytes that move to a faster tier.</summary>
    public required long BytesPromoted { get; init; }

    /// <summary>Bytes that move to a slower tier.</summary>
    public long BytesDemoted => Bytes - BytesPromoted;

    /// <summary>Part of the heat on each tier before, 0 to 1; all 0 when nothing is hot.</summary>
    public required ImmutableArray<double> ShareBefore { get; init; }

    /// <summary>Part of the heat on each tier when all moves are made.</summary>
    public required ImmutableArray<double> ShareAfter { get; init; }

    /// <summary>For each tier but the slowest: the heat above which a slice of a slower tier comes to it.</summary>
    public required ImmutableArray<double> Thresholds { get; init; }

    /// <summary>Slices that each tier holds, or is to hold, because they are pinned to it; empty: none.</summary>
    public ImmutableArray<long> Pinned { get; init; } = [];

    /// <summary>Moves that would be worth it and are not in the plan, for want of budget or of a free slice to begin with.</summary>
    public required long MovesLeftOut { get; init; }

    /// <summary>Moves that are not in it for want of budget.</summary>
    public long MovesOverBudget { get; init; }

    /// <summary>Bytes of these.</summary>
    public long BytesOverBudget { get; init; }
}
