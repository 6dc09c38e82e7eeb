using TierSpaces.Contracts;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tiering;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Tests.Verbs;

/// <summary>Explanations of slices, for a disk with two slices on tier 'fast' and more on 'slow', by the planner's own plans.</summary>
public sealed class SliceExplanationTests
{
    private const int FastSlices = 2;

    private readonly Dictionary<int, (int Tier, double Heat, int Pin)> _slices = new()
    {
        [0] = (0, 100, -1), [1] = (0, 50, -1), [2] = (1, 40, -1), [3] = (1, 0, -1), [4] = (1, 1, -1), [5] = (1, 60, -1),
    };

    [Fact]
    public void On_the_fast_tier() => Assert.Equal(
        "It is on tier 'fast' since the hour that began at 2026-01-02 03:00 UTC, where its first write found room. Its heat is 100, the hottest of the virtual disk. "
        + "It stays there: it is the hottest of 2 that fit.",
        Explain(0));

    [Fact]
    public void On_the_fast_tier_though_others_are_hotter() => Assert.EndsWith(
        "Its heat is 50, the 3rd hottest of the virtual disk. It stays there: 2 slices fit, and no hotter one is worth the exchange. A tier is not emptied for being cold unless -DemoteColdAfter is set.",
        Explain(1), StringComparison.Ordinal);

    [Fact]
    public void On_the_slow_tier_hot_but_not_hot_enough_for_an_exchange()
    {
        Assert.Contains("It stays there: it is the 2nd hottest of 2 that fit on faster tiers, but the places of tier 'fast' are taken by slices that are pinned or about as hot, and only heat of more than ", Explain(5), StringComparison.Ordinal);
        Assert.Contains("It stays there: 2 slices fit on faster tiers, and it is the 4th hottest. Tier 'fast' takes what is hotter than ", Explain(2),
        StringComparison.Ordinal);
    }

    [Fact]
    public void Without_heat() => Assert.EndsWith(
        "It has no heat: nothing has used it lately. It stays there: what is not used has no need of a faster tier.", Explain(3), StringComparison.Ordinal);

    [Fact]
    public void With_room_on_the_fast_tier()
    {
        _slices.Remove(1);
        _slices.Remove(2);
        _slices.Remove(5);
        Assert.EndsWith("It stays there: heat of more than 1.5 is needed for tier 'fast', for a move to gain what it costs.", Explain(4),
            StringComparison.Ordinal);
        _slices[2] = (1, 2, -1);
        Assert.EndsWith("The next optimization moves it to tier 'fast', because it is hot enough.", Explain(2), StringComparison.Ordinal);
    }

    [Fact]
    public void With_a_floor_that_is_set()
    {
        _slices.Remove(1);
        _slices.Remove(5);
        Assert.EndsWith("It stays there: heat of more than 45 is needed for tier 'fast', though it have room (-MinimumHeat).",
            Explain(2, new TierPlanSettings { MinimumHeat = 45 }), StringComparison.Ordinal);
        Assert.EndsWith("It stays there: heat of more than 45 is needed for tier 'fast', since less is cold (-DemoteColdAfter).",
            Explain(2, new TierPlanSettings { ColdBelow = 45 }), StringComparison.Ordinal);
    }

    [Fact]
    public void With_a_setting_for_cold_slices()
    {
        TierPlanSettings cold = new TierPlanSettings { ColdBelow = 45 };
        Assert.EndsWith("no hotter one is worth the exchange. It is not cold: that is what has less heat than 45 (-DemoteColdAfter).", Explain(1, cold),
            StringComparison.Ordinal);
        _slices[1] = (0, 44, -1);
        _slices.Remove(5);
        Assert.EndsWith("The next optimization moves it to tier 'slow', because it is cold.", Explain(1, cold), StringComparison.Ordinal);
        Assert.Matches("It stays there: it is cold, with less heat than 45 .-DemoteColdAfter., but [1-9] moves are left to a later optimization",
            Explain(1, cold with { MaxBytes = 0 }));
    }

    [Fact]
    public void With_a_reserve_that_is_kept_free()
    {
        TierPlanSettings reserve = new TierPlanSettings { FreeReservePercent = 50 };
        const string told = " (50 percent are kept free: Set-StorageTierSchedule -FreeReservePercent)";
        Assert.EndsWith($"It stays there: it is the hottest of 1 that fit{told}.", Explain(0, reserve), StringComparison.Ordinal);
        Assert.Contains($"It stays there: 1 slice fits on faster tiers{told}, and it is the 2nd hottest. Tier 'fast' takes", Explain(5, reserve),
            StringComparison.Ordinal);
        Assert.Equal(1UL, Make(reserve).ToInfo(Status(5, SliceReason.FirstWrite), null).Fitting);
    }

    [Fact]
    public void With_a_pin_on_one_of_the_places()
    {
        _slices[1] = (0, 50, 0);
        Assert.EndsWith("It stays there: it is the hottest of 1 that fit beside 1 that is pinned there.", Explain(0), StringComparison.Ordinal);
        Assert.Contains("It stays there: 1 slice fits on faster tiers beside 1 that is pinned there, and it is the 2nd hottest. Tier 'fast' takes", Explain(5),
            StringComparison.Ordinal);
        Assert.Equal(1UL, Make(TierPlanSettings.Default).ToInfo(Status(5, SliceReason.FirstWrite), null).Fitting);
    }

    [Fact]
    public void With_pins_on_every_place()
    {
        _slices[0] = (0, 0, 0);
        _slices[1] = (0, 0, 0);
        Assert.EndsWith("It stays there: it is hot enough, but tier 'fast' has no place beside what is pinned to it.", Explain(5), StringComparison.Ordinal);
    }

    [Fact]
    public void When_it_moves_out_of_the_way()
    {
        _slices[5] = (1, 1000, -1);
        Assert.EndsWith("The next optimization moves it to tier 'slow', to make room for a hotter one.", Explain(1), StringComparison.Ordinal);
        Assert.EndsWith("The next optimization moves it to tier 'fast', because it is hot enough.", Explain(5), StringComparison.Ordinal);
    }

    [Fact]
    public void A_pin_is_the_reason_whatever_the_heat()
    {
        _slices[0] = (0, 0, 0);
        _slices[3] = (1, 0, 0);
        Assert.EndsWith("It stays there: it is pinned to this tier, whatever its heat.", Explain(0), StringComparison.Ordinal);
        Assert.EndsWith("The next optimization moves it to tier 'fast', to which it is pinned.", Explain(3), StringComparison.Ordinal);
    }

    [Fact]
    public void Left_out_of_the_plan()
    {
        _slices[5] = (1, 1000, -1);
        _slices[3] = (1, 0, 0);
        Assert.Matches("It stays there: [1-9] moves that are worth it are left to a later optimization, perhaps its own[.]$",
            Explain(5, new TierPlanSettings { MaxBytes = 0 }));
        Assert.EndsWith("It is pinned to tier 'fast' and stays for now: what can be moved next does not make room for it there yet.",
            Explain(3, new TierPlanSettings { MaxBytes = 0 }), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(SliceReason.Promoted, "brought there for being hot.")]
    [InlineData(SliceReason.MadeRoom, "moved out of the way of a hotter slice.")]
    [InlineData(SliceReason.Pinned, "brought there by its pin.")]
    [InlineData(SliceReason.Cold, "moved there for being cold.")]
    [InlineData(SliceReason.Reserve, "moved there to keep room for new data on a faster tier.")]
    [InlineData(SliceReason.Demoted, "moved there because its tier held more than it is to hold.")]
    public void Why_it_came(SliceReason reason, string text) => Assert.Contains("03:00 UTC, " + text, Explain(0, reason: reason), StringComparison.Ordinal);

    [Fact]
    public void Its_place_is_written_as_people_say_it()
    {
        for (int slice = 10; slice < 150; slice++)
        {
            _slices[slice] = (1, 2000 - slice, -1);
        }

        Assert.All(((int, string)[])[(10, "the hottest"), (11, "the 2nd"), (12, "the 3rd"), (13, "the 4th"), (20, "the 11th"), (21, "the 12th"), (22,
            "the 13th"), (30, "the 21st"), (120, "the 111th"), (131, "the 122nd")],
            place => Assert.Contains($", {place.Item2}", Explain(place.Item1), StringComparison.Ordinal));
    }

    [Fact]
    public void Properties_say_the_same()
    {
        StorageTierExplanationInfo info = Make(TierPlanSettings.Default).ToInfo(Status(5, SliceReason.FirstWrite), "/f");
        Assert.Equal(("slow", 2U, 2UL, "/f", null), (info.Tier, info.Rank, info.Fitting, info.FilePath, info.NextTier));
        Assert.InRange(info.Threshold!.Value, 60, 100);
        Assert.Null(Make(TierPlanSettings.Default).ToInfo(Status(0, SliceReason.FirstWrite), null).Threshold);
    }

    private string Explain(int slice, TierPlanSettings? settings = null, SliceReason reason = SliceReason.FirstWrite) =>
        Make(settings ?? TierPlanSettings.Default).ToInfo(Status(slice, reason), null).Explanation;

    private SliceStatus Status(int slice, SliceReason reason) => new(
        slice, _slices[slice].Heat, new SliceEntry(_slices[slice].Tier, 0, reason, new DateTime(2026, 1, 2, 3, 4, 5, DateTimeKind.Utc).Ticks),
        _slices[slice].Pin);

    private SliceExplanation Make(TierPlanSettings settings)
    {
        TierDescription[] tiers =
            ((string[])["fast", "slow"]).Select((name, number) =>
                new TierDescription { Id = Guid.NewGuid(), Number = number, FriendlyName = name, ResiliencySettingName = "Simple", SizeBytes = 8,
                    SpaceBytes = 8 }).ToArray();
        VirtualDiskDescription disk =
            new VirtualDiskDescription { Id = new VirtualDiskId(Guid.NewGuid()), FriendlyName = "z", ResiliencySettingName = "Simple", SizeBytes = 16,
            SliceSize = 1 << 20, Tiers = [.. tiers] };
        TierPlan plan = TierPlanner.Make(new TierPlanRequest
        {
            Capacities = [FastSlices, 1000], Spare = [2, 2], Slices = 1000, SliceBytes = 1 << 20, Settings = settings,
            TierOf = slice => _slices.TryGetValue((int)slice, out (int Tier, double Heat, int Pin) known) ? known.Tier : -1,
            HeatOf = slice => _slices.TryGetValue((int)slice, out (int Tier, double Heat, int Pin) known) ? known.Heat : 0,
            PinOf = slice => _slices.TryGetValue((int)slice, out (int Tier, double Heat, int Pin) known) ? known.Pin : -1,
        });
        HeatRanking ranking = new HeatRanking(0, [.. _slices.Values.Where(slice => slice.Heat > 0).Select(slice => (float)slice.Heat)]);
        return new SliceExplanation(disk, ranking, new TierOutlook(plan, [FastSlices, 1000], settings));
    }
}
