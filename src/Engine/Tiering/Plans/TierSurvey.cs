using System.Collections.Immutable;
using TierSpaces.Engine.Formats;

namespace TierSpaces.Engine.Tiering;

/// <summary>A tiered virtual disk as it was at one time: what plans and reports are made from, on any thread. Tiers count from 0, the fastest.</summary>
public sealed class TierSurvey
{
    /// <summary>The tiers.</summary>
    public required ImmutableArray<TierDescription> Tiers { get; init; }

    /// <summary>Slices that each tier may hold.</summary>
    public required ImmutableArray<long> Capacities { get; init; }

    /// <summary>Slices that each may hold beyond that while slices move.</summary>
    public required ImmutableArray<long> Spare { get; init; }

    /// <summary>Slices of the virtual disk.</summary>
    public required long Slices { get; init; }

    /// <summary>Bytes of a slice.</summary>
    public required int SliceBytes { get; init; }

    /// <summary>Tier of a slice; negative when it is nowhere.</summary>
    public required Func<long, int> TierOf { get; init; }

    /// <summary>Heat that a slice must have to be brought to a faster tier.</summary>
    public required double MinimumHeat { get; init; }

    /// <summary>Its pins.</summary>
    public required PinTable Pins { get; init; }

    /// <summary>Its heat.</summary>
    internal HeatCopy Heat { get; init; } = null!;

    /// <summary>The moves that are worth it.</summary>
    public TierPlan Plan(TierPlanSettings settings) => TierPlanner.Make(new TierPlanRequest
    {
        Capacities = Capacities,
        Spare = Spare,
        Slices = Slices,
        SliceBytes = SliceBytes,
        TierOf = TierOf,
        HeatOf = slice => Heat[slice],
        PinOf = slice => Pins.TierOf(slice),
        Settings = settings,
    });

    /// <summary>Returns a report on the fit of the tier sizes to the load.</summary>
    public TierReport Report() => TierReport.Make(
        Slices, SliceBytes, [.. Tiers.Select((tier, i) => (Tiers.Length == 1 || (i > 0 && i < Tiers.Length - 1) ? tier.FriendlyName : null, tier.SizeBytes))],
        TierOf, slice => Heat[slice], slice => Pins.TierOf(slice), MinimumHeat);
}
