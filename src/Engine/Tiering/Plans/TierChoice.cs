using System.Runtime.InteropServices;

namespace TierSpaces.Engine.Tiering;

// Assigns slices to tiers. Tier by tier from the fastest, the slices that no tier has taken yet compete for its places:
//
//   a slice that is there         heat × hysteresis + deviations × √heat + cost   (it would have to move)
//   one that lost its place above heat                                            (it moves anyway)
//   one of a slower tier          heat − cost, just below                         (it has to move; equal heat changes nothing)
//
// The highest win. So an exchange gains more than two moves cost, and the same plan made again finds that everyone who won is stronger now,
// everyone who lost no stronger, and moves nothing.
//
// A tier takes at least what the slower ones have no room for, whatever its reserve and however cold that is.

/// <summary>Chooses the tier of every candidate.</summary>
internal sealed class TierChoice
{
    private readonly TierPlanRequest _request;
    private readonly TierPlanSettings _settings;
    private readonly TierCandidates _candidates;
    private readonly int _slowest;
    private long _left;   // slices that no pin holds and no tier has taken

    internal TierChoice(TierPlanRequest request, TierCandidates candidates)
    {
        _request = request;
        _settings = request.Settings;
        _candidates = candidates;
        _slowest = request.Capacities.Length - 1;
        _left = candidates.Free;
        Limits = new long[_slowest + 1];
        Thresholds = new double[_slowest];
        for (int tier = 0; tier < _slowest; tier++)
        {
            Fill(tier);
        }

        Limits[_slowest] = request.Capacities[_slowest];
        foreach (ref TierCandidate candidate in CollectionsMarshal.AsSpan(candidates.All))
        {
            candidate.To = candidate.IsDecided ? candidate.To : (byte)_slowest;
        }
    }

    private delegate bool Filter(in TierCandidate candidate);

    /// <summary>Slices that each tier is to hold at most.</summary>
    internal long[] Limits { get; }

    /// <summary>Heat above which a slice of a slower tier comes to each tier.</summary>
    internal double[] Thresholds { get; }

    private void Fill(int tier)
    {
        long capacity = _request.Capacities[tier];
        long hard = Math.Max(0, capacity - _candidates.Held[tier]);
        long reserve = ((capacity * _settings.FreeReservePercent) + 99) / 100;
        long least = Math.Clamp(_left - RoomBelow(tier), 0, hard);
        long limit = Math.Clamp(capacity - reserve - _candidates.Held[tier], least, hard);
        long taken = Take(tier, limit, (in TierCandidate c) => c.From > tier ? _candidates.IsEligible(c.Heat) : !_candidates.IsCold(c.Heat));
        taken += Take(tier, least - taken, (in TierCandidate c) => c.From <= tier);
        taken += Take(tier, least - taken, static (in TierCandidate _) => true);
        if (taken < least)
        {
            _candidates.AddFromSlowest((byte)tier, least - taken);
            taken = least;
        }

        _left -= taken;
        Limits[tier] = limit + _candidates.Held[tier];
        Thresholds[tier] = Threshold(tier, taken == limit);
    }

    private long RoomBelow(int tier)
    {
        long room = 0;
        for (int below = tier + 1; below <= _slowest; below++)
        {
            room += Math.Max(0, _request.Capacities[below] - _candidates.Held[below]);
        }

        return room;
    }

    // Gives the tier to the strongest candidates of those that the filter lets through; how many.
    private long Take(int tier, long limit, Filter filter)
    {
        Span<TierCandidate> all = CollectionsMarshal.AsSpan(_candidates.All);
        if (limit <= 0)
        {
            return 0;
        }

        List<int> competing = [];
        for (int i = 0; i < all.Length; i++)
        {
            if (!all[i].IsDecided && filter(in all[i]))
            {
                competing.Add(i);
            }
        }

        Span<int> winners = CollectionsMarshal.AsSpan(competing);
        if (winners.Length > limit)
        {
            float[] strengths = new float[winners.Length];
            for (int i = 0; i < strengths.Length; i++)
            {
                strengths[i] = Strength(in all[winners[i]], tier);
            }

            strengths.AsSpan().Sort(winners);
            winners = winners[^(int)limit..];
        }

        foreach (int winner in winners)
        {
            all[winner].To = (byte)tier;
        }

        return winners.Length;
    }

    private float Strength(in TierCandidate candidate, int tier) => candidate.From.CompareTo((byte)tier) switch
    {
        0 => (float)StrengthInPlace(candidate.Heat),
        < 0 => candidate.Heat,
        _ => float.BitDecrement((float)(candidate.Heat - _settings.MoveCost)),
    };

    private double StrengthInPlace(double heat) => (heat * _settings.Hysteresis) + (_settings.Deviations * Math.Sqrt(heat)) + _settings.MoveCost;

    private double Threshold(int tier, bool isFull)
    {
        double threshold = Math.Max(_settings.MoveCost, Math.Max(_settings.MinimumHeat, _settings.ColdBelow));
        double coldest = double.MaxValue;
        foreach (ref TierCandidate candidate in CollectionsMarshal.AsSpan(_candidates.All))
        {
            coldest = candidate.To == tier && !candidate.IsPinned ? Math.Min(coldest, candidate.Heat) : coldest;
        }

        return isFull && coldest < double.MaxValue
            ? Math.Max(threshold, StrengthInPlace(coldest) + _settings.MoveCost)
            : threshold;
    }
}
