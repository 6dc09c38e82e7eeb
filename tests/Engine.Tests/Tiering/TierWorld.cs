using TierSpaces.Engine.Tiering;

namespace TierSpaces.Engine.Tests.Tiering;

/// <summary>Slices on tiers, on which plans are carried out move by move; every move is checked.</summary>
internal sealed class TierWorld(long[] capacities, int slices)
{
    internal int[] Tiers { get; } = [.. Enumerable.Repeat(-1, slices)];

    internal double[] Heat { get; } = new double[slices];

    internal int[] Pins { get; } = [.. Enumerable.Repeat(-1, slices)];

    internal long[] Capacities => capacities;

    internal long[] Spare { get; set; } = [.. capacities.Select(static _ => 1L)];

    internal int Mapped => Tiers.Count(static tier => tier >= 0);

    internal TierPlan Plan(TierPlanSettings? settings = null) => TierPlanner.Make(new TierPlanRequest
    {
        Capacities = [.. capacities], Spare = [.. Spare], Slices = slices, SliceBytes = 1 << 20,
        TierOf = slice => Tiers[slice], HeatOf = slice => Heat[slice], PinOf = slice => Pins[slice], Settings = settings ?? TierPlanSettings.Default,
    });

    internal long Occupied(int tier) => Tiers.LongCount(one => one == tier);

    /// <summary>Maps the slices in order, on the fastest tier that has room.</summary>
    internal void MapInOrder()
    {
        long[] left = [.. capacities];
        for (int slice = 0; slice < slices; slice++)
        {
            int tier = Array.FindIndex(left, static room => room > 0);
            left[tier]--;
            Tiers[slice] = tier;
        }
    }

    /// <summary>Carries a plan out.</summary>
    internal void Apply(TierPlan plan)
    {
        long[] occupied = [.. capacities.Select((_, tier) => Occupied(tier))];
        HashSet<long> moved = [];
        foreach (TierMove move in plan.Moves)
        {
            Assert.True(moved.Add(move.Slice), $"{move} moves twice");
            Assert.Equal(move.From, Tiers[move.Slice]);
            Assert.NotEqual(move.From, move.To);
            Assert.True(++occupied[move.To] <= capacities[move.To] + Spare[move.To], $"{move} finds no room");
            occupied[move.From]--;
            Tiers[move.Slice] = move.To;
        }

        Assert.Equal(plan.Moves.Count * (1L << 20), plan.Bytes);
        Assert.Equal(plan.Bytes, plan.BytesPromoted + plan.BytesDemoted);
        for (int tier = 0; tier < capacities.Length && MappedHeat > 0; tier++)
        {
            Assert.Equal(Share(tier), plan.ShareAfter[tier], 1e-4);
        }
    }

    internal double Share(int tier) => Tiers.Select((one, slice) => one == tier ? Heat[slice] : 0).Sum() / MappedHeat;

    private double MappedHeat => Tiers.Select((one, slice) => one >= 0 ? Heat[slice] : 0).Sum();
}
