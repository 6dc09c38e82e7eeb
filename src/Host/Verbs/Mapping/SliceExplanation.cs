using System.Globalization;
using TierSpaces.Contracts;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Tiering;

namespace TierSpaces.Host.Verbs.Mapping;

/// <summary>Explains slices of a virtual disk, in properties and in sentences: their place, its time and reason, and their next move.</summary>
/// <param name="disk">The virtual disk.</param>
/// <param name="ranking">Heats of all its slices.</param>
/// <param name="outlook">Plan of the next optimization.</param>
internal sealed class SliceExplanation(VirtualDiskDescription disk, HeatRanking ranking, TierOutlook outlook)
{
    private readonly Dictionary<long, TierMove> _moves = outlook.Plan.Moves.GroupBy(move => move.Slice).ToDictionary(group => group.Key, group => group.Last());

    /// <summary>The heats that it goes by.</summary>
    public HeatRanking Ranking => ranking;

    /// <summary>A slice as the object users see.</summary>
    public StorageTierExplanationInfo ToInfo(SliceStatus slice, string? file)
    {
        StorageTierHeatInfo info = slice.ToInfo(disk, ranking);
        return new StorageTierExplanationInfo
        {
            VirtualDiskFriendlyName = info.VirtualDiskFriendlyName,
            VirtualDiskUniqueId = info.VirtualDiskUniqueId,
            FilePath = file,
            Slice = info.Slice,
            Offset = info.Offset,
            Length = info.Length,
            Tier = info.Tier,
            Reason = info.Reason,
            Since = info.Since,
            Heat = info.Heat,
            Rank = info.Rank,
            Fitting = (ulong)Fitting(slice),
            Threshold = slice.Entry.Tier > 0 ? SliceMapping.Shown(ThresholdOf(slice)) : null,
            PinnedTier = info.PinnedTier,
            NextTier = _moves.TryGetValue(slice.Slice, out TierMove move) ? NameOf(move.To) : null,
            Explanation = info.Rank is { } rank ? $"{Place(slice)} {Use(slice, rank)} {Future(slice, rank)}" : Nowhere(slice),
        };
    }

    /// <summary>Heat that a slice must have to be promoted, room or not.</summary>
    private double Floor => Math.Max(outlook.Settings.MoveCost, Math.Max(outlook.Settings.MinimumHeat, outlook.Settings.ColdBelow));

    /// <summary>Share of the tiers that is kept free, as part of a sentence.</summary>
    private string Reserve => outlook.Settings.FreeReservePercent > 0
        ? Text($" ({outlook.Settings.FreeReservePercent} percent are kept free: Set-StorageTierSchedule -FreeReservePercent)") : "";

    /// <summary>Slices that fit, beside what is pinned and what is kept free, where it would be promoted to, or on the fastest tier when it is there.</summary>
    private string Fits(SliceStatus slice) =>
        Fitting(slice) == 1 ? "1 slice fits" : string.Create(CultureInfo.InvariantCulture, $"{Fitting(slice)} slices fit");

    private long ReserveOf(long capacity) => IsOnlyTier ? 0 : ((capacity * outlook.Settings.FreeReservePercent) + 99) / 100;

    private bool IsOnlyTier => outlook.Capacities.Count == 1;

    private long Fitting(SliceStatus slice) => outlook.Capacities.Take(Math.Max(1, slice.Entry.Tier))
        .Select((capacity, tier) =>
            Math.Max(0, capacity - ReserveOf(capacity) - outlook.Plan.Pinned.ElementAtOrDefault(tier))).Sum();

    /// <summary>Pinned slices and the share kept free, which take places from those that fit; as part of a sentence.</summary>
    private string Beside(SliceStatus slice) => outlook.Plan.Pinned.Take(Math.Max(1, slice.Entry.Tier)).Sum() is > 0 and var pinned
        ? Text($" beside {pinned} that {(pinned == 1 ? "is" : "are")} pinned there{Reserve}") : Reserve;

    private double ThresholdOf(SliceStatus slice) => outlook.Plan.Thresholds[slice.Entry.Tier - 1];

    private string NameOf(int tier) => disk.Tiers[tier].FriendlyName;

    private string Nowhere(SliceStatus slice) =>
        "It is on no tier: nothing has been written to it, and it reads as zeros. Its first write goes to "
        + (IsOnlyTier ? $"tier '{NameOf(0)}', the only one." : "the fastest tier that has room" + (slice.PinnedTier >= 0 ? $"; the optimization after that brings it to tier '{NameOf(slice.PinnedTier)}', to which it is pinned." : "."));

    private string Place(SliceStatus slice) =>
        string.Create(CultureInfo.InvariantCulture,
            $"It is on tier '{NameOf(slice.Entry.Tier)}' since the hour that began at {SliceMapping.SinceOf(slice):yyyy-MM-dd HH}:00 UTC, ") + slice.Entry.Reason switch
        {
            SliceReason.FirstWrite => "where its first write found room.",
            SliceReason.Promoted => "brought there for being hot.",
            SliceReason.MadeRoom => "moved out of the way of a hotter slice.",
            SliceReason.Pinned => "brought there by its pin.",
            SliceReason.Cold => "moved there for being cold.",
            SliceReason.Reserve => "moved there to keep room for new data on a faster tier.",
            _ => "moved there because its tier held more than it is to hold.",
        };

    private static string Use(SliceStatus slice, uint rank) => slice.Heat > 0
        ? Text($"Its heat is {SliceMapping.Shown(slice.Heat)}, the {Hottest(rank)} of the virtual disk.")
        : "It has no heat: nothing has used it lately.";

    private string Future(SliceStatus slice, uint rank) =>
        _moves.TryGetValue(slice.Slice, out TierMove move) ? $"The next optimization moves it to tier '{NameOf(move.To)}', {Why(move)}."
        : slice.PinnedTier == slice.Entry.Tier ? "It stays there: it is pinned to this tier, whatever its heat."
        : slice.PinnedTier >= 0
        ? $"It is pinned to tier '{NameOf(slice.PinnedTier)}' and stays for now: what can be moved next does not make room for it there yet."
        : "It stays there: " + (IsOnlyTier ? "the virtual disk has no other tier." : slice.Entry.Tier == 0 ? WhyFast(slice, rank) : WhySlow(slice, rank));

    private static string Why(TierMove move) => move.Reason switch
    {
        SliceReason.Promoted => "because it is hot enough",
        SliceReason.MadeRoom => "to make room for a hotter one",
        SliceReason.Pinned => "to which it is pinned",
        SliceReason.Cold => "because it is cold",
        SliceReason.Reserve => "to keep room for new data",
        _ => "because its tier holds more than it is to hold",
    };

    private string WhyFast(SliceStatus slice, uint rank) =>
        slice.Heat < outlook.Settings.ColdBelow ? WhyColdStays()
        : rank <= Fitting(slice) && slice.Heat > 0 ? Text($"it is the {Hottest(rank)} of {Fitting(slice)} that fit{Beside(slice)}.")
        : Text($"{Fits(slice)}{Beside(slice)}, and no hotter one is worth the exchange. ") + (outlook.Settings.ColdBelow > 0
            ? Text($"It is not cold: that is what has less heat than {SliceMapping.Shown(outlook.Settings.ColdBelow)} (-DemoteColdAfter).")
            : "A tier is not emptied for being cold unless -DemoteColdAfter is set.");

    private string WhyColdStays() =>
        Text($"it is cold, with less heat than {SliceMapping.Shown(outlook.Settings.ColdBelow)} (-DemoteColdAfter), but ") + (outlook.Plan.MovesLeftOut > 0
            ? Text($"{outlook.Plan.MovesLeftOut} moves are left to a later optimization, perhaps its own.") : "slower tiers have no room for it.");

    private string WhySlow(SliceStatus slice, uint rank)
    {
        (double threshold, string? faster) = (ThresholdOf(slice), NameOf(slice.Entry.Tier - 1));
        return slice.Heat <= 0 ? "what is not used has no need of a faster tier."
            : outlook.Plan.MovesLeftOut > 0 && slice.Heat > Floor && rank <= Fitting(slice)
                ? Text($"{outlook.Plan.MovesLeftOut} moves that are worth it are left to a later optimization, perhaps its own.")
            : threshold <= Floor && slice.Heat > Floor ? $"it is hot enough, but tier '{faster}' has no place beside what is pinned to it{Reserve}."
            : threshold <= Floor ? Text($"heat of more than {SliceMapping.Shown(threshold)} is needed for tier '{faster}', {WhyFloor()}.")
            : rank > Fitting(slice)
            ? Text($"{Fits(slice)} on faster tiers{Beside(slice)}, and it is the {Hottest(rank)}. Tier '{faster}' takes what is hotter than {SliceMapping.Shown(threshold)}.")
            : Text($"it is the {Hottest(rank)} of {Fitting(slice)} that fit on faster tiers{Beside(slice)}, but the places of tier '{faster}' are taken by slices that are pinned or about as hot, and only heat of more than {SliceMapping.Shown(threshold)} gains what the exchange of two slices costs.");
    }

    private string WhyFloor() =>
        Floor <= outlook.Settings.MoveCost ? "for a move to gain what it costs"
        : Floor <= outlook.Settings.MinimumHeat ? "though it have room (-MinimumHeat)" : "since less is cold (-DemoteColdAfter)";

    private static string Hottest(uint rank) => rank == 1 ? "hottest" : Ordinal(rank) + " hottest";

    private static string Ordinal(uint number) => (number % 100, number % 10) switch
    {
        ( >= 11 and <= 13, _) => Text($"{number}th"),
        (_, 1) => Text($"{number}st"),
        (_, 2) => Text($"{number}nd"),
        (_, 3) => Text($"{number}rd"),
        _ => Text($"{number}th"),
    };

    private static string Text(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);
}
