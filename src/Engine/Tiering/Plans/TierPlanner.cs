using System.Collections.Immutable;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tiering;

// Plans the moves between the tiers of a virtual disk so that the hottest slices are on the fastest tier, pins are kept, and nothing moves that
// does not gain more than it costs. It is a function: no clock, no I/O, the same answer for the same question.
//
//  - A slice that is on the right tier stays, one that is no hotter than another does not replace it.
//  - A tier is not emptied for being cold: slices leave it for hotter or pinned ones, for its free reserve, because it holds more than its
//    capacity, or when ColdBelow is set.
//  - A plan whose moves have all been made is followed by an empty one (unless heat has changed).
//
// It takes one pass over the slices and sorts those of the fast tiers and those that are hot. 24 bytes for each of these, 12 more while sorting.

/// <summary>Plans the moves between the tiers of a virtual disk.</summary>
public static class TierPlanner
{
    /// <summary>Makes a plan.</summary>
    /// <exception cref="ArgumentException">The request holds something impossible.</exception>
    public static TierPlan Make(TierPlanRequest request)
    {
        Check(request);
        TierCandidates candidates = new(request);
        TierChoice choice = new(request, candidates);
        TierMoveOrder order = new(request, candidates, choice.Limits);
        double[] after = [.. candidates.Heat];
        long promotions = 0;
        foreach (TierMove move in order.Moves)
        {
            after[move.From] -= move.Heat;
            after[move.To] += move.Heat;
            promotions += move.IsPromotion ? 1 : 0;
        }

        return new TierPlan
        {
            Moves = order.Moves,
            Bytes = order.Moves.Count * (long)request.SliceBytes,
            BytesPromoted = promotions * request.SliceBytes,
            ShareBefore = Shares(candidates.Heat),
            ShareAfter = Shares(after),
            Thresholds = [.. choice.Thresholds],
            Pinned = [.. candidates.Held],
            MovesLeftOut = order.LeftOut + order.OverBudget,
            MovesOverBudget = order.OverBudget,
            BytesOverBudget = order.OverBudget * request.SliceBytes,
        };
    }

    private static ImmutableArray<double> Shares(double[] heat)
    {
        double total = heat.Sum();
        return [.. heat.Select(one => total > 0 ? Math.Clamp(one / total, 0, 1) : 0)];
    }

    private static void Check(TierPlanRequest request)
    {
        int tiers = request.Capacities.IsDefault ? 0 : request.Capacities.Length;
        if (tiers is < 1 or > TierPlanRequest.MaxTiers || request.Capacities.Any(static capacity => capacity < 0))
        {
            throw new ArgumentException($"Capacities of 1 to {TierPlanRequest.MaxTiers} tiers, none negative; these are {tiers}.");
        }

        if (!request.Spare.IsDefaultOrEmpty && (request.Spare.Length != tiers || request.Spare.Any(static spare => spare < 0)))
        {
            throw new ArgumentException($"Spare slices for each of {tiers} tiers or for none, none negative; these are {request.Spare.Length}.");
        }

        if (request.Slices < 0 || request.SliceBytes <= 0 || !request.Settings.IsPossible)
        {
            throw new ArgumentException($"{request.Slices} slices of {ByteText.Exact(request.SliceBytes)}, or a setting out of its range: {request.Settings}.");
        }
    }
}
