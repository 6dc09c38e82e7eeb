using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Tiering;

namespace TierSpaces.Engine.Tests.Tiering;

public sealed class TierPlannerTests
{
    private const int Cases = 20_000;

    private static readonly TierPlanSettings s_eager = new() { MoveCost = 0, Hysteresis = 1, Deviations = 0 };

    // On any load, with any settings: no tier ever holds more than it can, nothing moves twice, what cannot begin is left out.
    [Fact]
    public void No_prefix_of_a_plan_exceeds_a_tier()
    {
        Random random = new(1);
        for (int i = 0; i < Cases; i++)
        {
            TierWorld world = RandomWorld(random);
            world.Spare = [.. world.Capacities.Select(_ => (long)random.Next(3))];
            TierPlanSettings settings = RandomSettings(random) with { MaxBytes = random.Next(2) == 0 ? random.Next(40) << 19 : long.MaxValue };
            TierPlan plan = world.Plan(settings);
            Assert.True(plan.Bytes <= settings.MaxBytes, $"case {i}");
            world.Apply(plan);
        }
    }

    // With a spare slice on each tier and no budget every plan is whole: pins are kept, reserves are there, and the next plan is empty.
    [Fact]
    public void A_plan_carried_out_is_followed_by_an_empty_one()
    {
        Random random = new(2);
        for (int i = 0; i < Cases; i++)
        {
            TierWorld world = RandomWorld(random);
            TierPlanSettings settings = RandomSettings(random);
            TierPlan plan = world.Plan(settings);
            Assert.Equal(0, plan.MovesLeftOut);
            world.Apply(plan);
            Assert.True(world.Plan(settings).Moves.Count == 0,
                $"case {i}: {string.Join(", ", world.Plan(settings).Moves)} after {string.Join(", ", plan.Moves)}");
            Assert.All(Enumerable.Range(0, world.Tiers.Length)
                .Where(s => world.Tiers[s] >= 0 && world.Pins[s] >= 0), s => Assert.Equal(world.Pins[s], world.Tiers[s]));
            Assert.All(Enumerable.Range(0, world.Capacities.Length), tier => Assert.InRange(world.Occupied(tier), 0, world.Capacities[tier]));
        }
    }

    // With two tiers: a promoted slice gains, compared with every slice that stays below and every slice that was demoted.
    [Fact]
    public void What_is_promoted_beats_what_is_demoted_by_more_than_the_cost()
    {
        Random random = new(3);
        for (int i = 0; i < Cases; i++)
        {
            TierWorld world = RandomWorld(random, tiers: 2);
            TierPlanSettings settings = RandomSettings(random);
            TierPlan plan = world.Plan(settings);
            double[] up = [.. plan.Moves.Where(static move => move.Reason == SliceReason.Promoted).Select(static move => (double)move.Heat)];
            double[] down = [.. plan.Moves.Where(static move => move.Reason == SliceReason.MadeRoom && !move.IsPromotion)
                .Select(static move => (double)move.Heat)];
            Assert.All(up, heat => Assert.True(heat > settings.MoveCost && heat >= settings.MinimumHeat));
            if (up.Length > 0 && down.Length > 0)
            {
                Assert.True(up.Min() - down.Max() > 2 * settings.MoveCost - 1e-3 && up.Min() >= down.Max() * settings.Hysteresis, $"case {i}");
            }
        }
    }

    // Without costs the fastest tier ends with the hottest slices of all, as sorting says.
    [Fact]
    public void Without_costs_the_hottest_slices_that_fit_are_on_the_fast_tiers()
    {
        Random random = new(4);
        for (int i = 0; i < Cases / 10; i++)
        {
            TierWorld world = RandomWorld(random);
            Array.Fill(world.Pins, -1);
            world.Apply(world.Plan(s_eager));
            double[] hottest = [.. world.Heat.Where((_, slice) => world.Tiers[slice] >= 0).OrderDescending()];
            int at = 0;
            for (int tier = 0; tier < world.Capacities.Length; tier++)
            {
                int room = (int)Math.Min(world.Capacities[tier], hottest.Length - at);
                double here = world.Heat.Where((_, slice) => world.Tiers[slice] == tier).Sum();
                Assert.Equal(hottest.AsSpan(at, room).ToArray().Sum(), here, 1e-6);
                at += room;
            }
        }
    }

    [Fact]
    public void Equal_heat_moves_nothing_and_neither_does_cold()
    {
        TierWorld world = new([10, 90], 100);
        world.MapInOrder();
        Assert.Empty(world.Plan(s_eager).Moves);
        Array.Fill(world.Heat, 1000);
        Assert.Empty(world.Plan(s_eager).Moves);
        world.Heat[50] = 1001;
        Assert.Equal([(0, 1, SliceReason.MadeRoom), (1, 0, SliceReason.Promoted)], Shape(world.Plan(s_eager)));
        Assert.Empty(world.Plan().Moves);   // gains 1, costs 3
    }

    [Fact]
    public void A_swap_must_gain_more_than_it_costs()
    {
        TierWorld world = new([1, 9], 10);
        world.MapInOrder();
        TierPlanSettings settings = new() { MoveCost = 2, Hysteresis = 1.5, Deviations = 2 };
        world.Heat[0] = 100;
        world.Heat[5] = 174;
        TierPlan plan = world.Plan(settings);
        Assert.Empty(plan.Moves);
        Assert.Equal([174.0], plan.Thresholds);
        world.Heat[5] = 174.01;
        Assert.Equal([(0, 1, SliceReason.MadeRoom), (1, 0, SliceReason.Promoted)], Shape(world.Plan(settings)));
    }

    [Fact]
    public void A_place_that_is_free_is_taken_by_what_is_worth_the_move()
    {
        TierWorld world = new([5, 9], 8);
        Array.Fill(world.Tiers, 1);
        world.Heat[3] = 1.4;
        world.Heat[4] = 1.6;
        world.Heat[7] = 50;
        TierPlan plan = world.Plan();
        Assert.Equal([7L, 4L], plan.Moves.Select(static move => move.Slice));
        Assert.Equal([1.5], plan.Thresholds);
        Assert.Equal([7L], world.Plan(TierPlanSettings.Default with { MinimumHeat = 20 }).Moves.Select(static move => move.Slice));
    }

    [Fact]
    public void A_place_that_is_free_is_taken_before_anybody_leaves()
    {
        TierWorld world = new([3, 9], 5);
        Array.Fill(world.Tiers, 1);
        (world.Tiers[0], world.Tiers[1]) = (0, 0);
        (world.Heat[0], world.Heat[4]) = (9, 90);
        TierPlan plan = world.Plan(TierPlanSettings.Default with { ColdBelow = 0.5, MaxBytes = 1 << 20 });
        Assert.Equal((4L, SliceReason.Promoted), (plan.Moves.Single().Slice, plan.Moves.Single().Reason));
        Assert.Equal(1, plan.MovesLeftOut);   // slice 1, which is cold
    }

    [Fact]
    public void A_reserve_is_made_of_the_coldest()
    {
        TierWorld world = new([10, 90], 60);
        world.MapInOrder();
        for (int slice = 0; slice < 10; slice++)
        {
            world.Heat[slice] = 100 - slice;
        }

        TierPlan plan = world.Plan(TierPlanSettings.Default with { FreeReservePercent = 25 });
        Assert.Equal([(9L, SliceReason.Reserve), (8L, SliceReason.Reserve), (7L, SliceReason.Reserve)],
            plan.Moves.Select(static move => (move.Slice, move.Reason)));
    }

    [Fact]
    public void Cold_slices_go_down_only_when_that_is_asked_for()
    {
        TierWorld world = new([4, 10, 90], 14);
        world.MapInOrder();
        world.Heat[0] = 5;
        world.Heat[1] = 0.01;
        Assert.Empty(world.Plan().Moves);
        TierPlan plan = world.Plan(TierPlanSettings.Default with { ColdBelow = 0.02 });
        Assert.Equal(13, plan.Moves.Count);
        Assert.All(plan.Moves, static move => Assert.Equal((2, SliceReason.Cold), (move.To, move.Reason)));
        world.Apply(plan);
        Assert.Empty(world.Plan(TierPlanSettings.Default with { ColdBelow = 0.02, MoveCost = 0 }).Moves);
    }

    [Fact]
    public void A_tier_that_has_become_too_small_is_cleared_to_its_size()
    {
        TierWorld world = new([4, 10], 9);
        world.MapInOrder();
        world.Tiers[8] = 0;
        world.Heat[8] = 1;
        TierPlan plan = world.Plan();
        Assert.Equal([(0, 1, SliceReason.Demoted)], Shape(plan));
        Assert.NotEqual(8, plan.Moves[0].Slice);
    }

    [Fact]
    public void Pins_win_over_heat_up_and_down()
    {
        TierWorld world = new([2, 8], 10);
        world.MapInOrder();
        Array.Fill(world.Heat, 1000);
        world.Pins[9] = 0;
        world.Pins[0] = 1;
        world.Heat[9] = 0;
        Assert.Equal([(0, 1, SliceReason.Pinned), (1, 0, SliceReason.Pinned)], Shape(world.Plan()).Order());
        world.Spare = [0, 0];
        TierPlan none = world.Plan();
        Assert.Equal((0, 2), (none.Moves.Count, none.MovesLeftOut));
    }

    [Fact]
    public void A_pin_to_a_tier_full_of_cold_slices_sends_one_of_them_up()
    {
        TierWorld world = new([5, 5], 9);
        Array.Fill(world.Tiers, 1, 0, 5);
        Array.Fill(world.Tiers, 0, 5, 4);
        world.Pins[8] = 1;
        world.Heat[8] = 100;
        world.Apply(world.Plan());
        Assert.Equal((1, 5), (world.Tiers[8], world.Occupied(1)));
        Assert.Empty(world.Plan().Moves);
    }

    [Fact]
    public void More_pins_than_fit_keep_what_is_there_and_take_the_hottest()
    {
        TierWorld world = new([3, 20], 20);
        world.MapInOrder();
        Array.Fill(world.Pins, 0, 2, 10);
        world.Heat[7] = 9;
        world.Heat[8] = 8;
        TierPlan plan = world.Plan();
        Assert.Equal(0, plan.MovesLeftOut);
        world.Apply(plan);
        Assert.Equal([0, 0, 0], new[] { 2, 7, 8 }.Select(slice => world.Tiers[slice]));
        Assert.Empty(world.Plan().Moves);
    }

    [Fact]
    public void A_budget_is_spent_on_the_best_exchanges()
    {
        TierWorld world = new([10, 90], 100);
        world.MapInOrder();
        for (int slice = 0; slice < 100; slice++)
        {
            world.Heat[slice] = slice < 10 ? slice : slice * 10;
        }

        TierPlan plan = world.Plan(TierPlanSettings.Default with { MaxBytes = 5 << 20 });
        Assert.Equal([0L, 99L, 1L, 98L], plan.Moves.Select(static move => move.Slice));
        Assert.Equal((16L, 16L, 16L << 20), (plan.MovesLeftOut, plan.MovesOverBudget, plan.BytesOverBudget));
        world.Apply(plan);
        Assert.Equal([2L, 97L], world.Plan(TierPlanSettings.Default with { MaxBytes = 3 << 20 }).Moves.Select(static move => move.Slice));
    }

    [Fact]
    public void A_plan_with_a_budget_is_the_beginning_of_the_one_without_and_counts_the_rest()
    {
        Random random = new(9);
        for (int i = 0; i < Cases / 10; i++)
        {
            TierWorld world = RandomWorld(random);
            TierPlanSettings settings = RandomSettings(random);
            TierPlan whole = world.Plan(settings);
            TierPlan part = world.Plan(settings with { MaxBytes = (long)random.Next(40) << 19 });
            Assert.Equal(whole.Moves.Take(part.Moves.Count), part.Moves);
            Assert.Equal((whole.Moves.Count, whole.Bytes), (part.Moves.Count + part.MovesOverBudget, part.Bytes + part.BytesOverBudget));
            Assert.Equal(whole.MovesLeftOut, part.MovesLeftOut - part.MovesOverBudget);
        }
    }

    [Fact]
    public void Slices_that_lose_a_fast_tier_go_to_the_next_before_they_go_to_the_last()
    {
        TierWorld world = new([1, 1, 8], 10);
        world.MapInOrder();
        (world.Heat[0], world.Heat[1], world.Heat[2]) = (50, 10, 500);
        Assert.Equal([(1, 2), (0, 1), (2, 0)], world.Plan().Moves.Select(static move => ((int)move.From, (int)move.To)));
    }

    [Fact]
    public void Nothing_moves_on_a_disk_with_one_tier_whatever_is_asked_for()
    {
        TierWorld world = new([10], 8);
        world.MapInOrder();
        (world.Heat[0], world.Heat[7]) = (500, 1);
        TierPlan plan = world.Plan(new TierPlanSettings { FreeReservePercent = 50, ColdBelow = 100, MinimumHeat = 1000 });
        Assert.Empty(plan.Moves);
        Assert.Equal([1.0], plan.ShareBefore);
        Assert.Equal([1.0], plan.ShareAfter);
        Assert.Equal(0, plan.MovesLeftOut);
        Assert.Empty(plan.Thresholds);
    }

    [Fact]
    public void Impossible_requests_are_refused()
    {
        Assert.Throws<ArgumentException>(static () => new TierWorld([], 5).Plan());
        Assert.Throws<ArgumentException>(static () => new TierWorld([10, -1], 5).Plan());
        Assert.Throws<ArgumentException>(static () => new TierWorld([10, 10], 5) { Spare = [1] }.Plan());
        Assert.Throws<ArgumentException>(static () => new TierWorld([10, 10], 5).Plan(new TierPlanSettings { Hysteresis = 0.9 }));
        Assert.Throws<ArgumentException>(static () => new TierWorld([10, 10], 5).Plan(new TierPlanSettings { Deviations = double.NaN }));
        Assert.Throws<ArgumentException>(static () => new TierWorld([10, 10], 5).Plan(new TierPlanSettings { FreeReservePercent = 51 }));
        TierWorld world = new([10, 10], 5);
        world.Tiers[3] = 2;
        Assert.Throws<ArgumentException>(() => world.Plan());
    }

    private static IEnumerable<(int From, int To, SliceReason Reason)> Shape(TierPlan plan) =>
        plan.Moves.Select(static move => ((int)move.From, (int)move.To, move.Reason));

    private static TierPlanSettings RandomSettings(Random random) => new()
    {
        MinimumHeat = random.Next(3) == 0 ? random.Next(20) : 0,
        ColdBelow = random.Next(4) == 0 ? random.Next(10) : 0,
        MoveCost = random.Next(4) * 0.75,
        Hysteresis = 1 + (random.Next(3) * 0.25),
        Deviations = random.Next(3),
        FreeReservePercent = random.Next(3) == 0 ? random.Next(51) : 0,
    };

    // Heat with many equals and zeros; tiers from empty to full; pins to as much as fits.
    private static TierWorld RandomWorld(Random random, int tiers = 0)
    {
        long[] capacities = [.. Enumerable.Range(0, tiers > 0 ? tiers : random.Next(2, 5)).Select(_ => (long)random.Next(1, 16))];
        int slices = random.Next(1, 60);
        TierWorld world = new(capacities, slices);
        long[] left = [.. capacities];
        long[] toPin = [.. capacities];
        for (int slice = 0; slice < slices; slice++)
        {
            int tier = random.Next(capacities.Length);
            bool fits = random.Next(5) > 0 && left[tier]-- > 0;
            world.Tiers[slice] = fits ? tier : -1;
            world.Heat[slice] = random.Next(3) switch { 0 => 0, 1 => random.Next(8), _ => random.NextDouble() * 100 };
            int pin = random.Next(capacities.Length);
            world.Pins[slice] = random.Next(5) == 0 && fits && toPin[pin]-- > 0 ? pin : -1;
        }

        return world;
    }
}
