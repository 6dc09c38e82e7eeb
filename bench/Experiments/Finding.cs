using System.Globalization;
using TierSpaces.Bench.Charts;
using TierSpaces.Bench.Tables;

namespace TierSpaces.Bench.Experiments;

/// <summary>A comparison of an experiment.</summary>
/// <param name="Load">Under this load …</param>
/// <param name="Ours">… this arrangement …</param>
/// <param name="Other">… over this one.</param>
/// <param name="Bar">Least ratio of rates that is required; null: reported only.</param>
internal sealed record ArmComparison(ArmLoad Load, string Ours, string Other, double? Bar = null);

/// <summary>Outcome of a comparison.</summary>
/// <param name="Compared">The comparison.</param>
/// <param name="Rate">Ratios of rates, one per round.</param>
/// <param name="Slow">Ratios of the latency that one request in a hundred exceeds.</param>
internal sealed record Finding(ArmComparison Compared, Spread Rate, Spread Slow)
{
    internal bool Misses => Rate.Median < (Compared.Bar ?? 0);

    internal string Row => string.Create(
        CultureInfo.InvariantCulture,
        $"| {Compared.Load.Name} | {Compared.Ours} | {Compared.Other} | {Rate}{(Misses ? " **missed**" : "")} | {BarText} | {Slow} |");

    internal string Sentence => string.Create(
        CultureInfo.InvariantCulture, $"- {Compared.Load.Name}: *{Compared.Ours}* runs at {Rate.Median.ToString(Rate.Median < 0.1 ? "0.000" : "0.00", CultureInfo.InvariantCulture)} times the rate of *{Compared.Other}*{Judgement}.");

    internal ChartBar Bar => new($"{Compared.Load.Name}: {Compared.Ours} over {Compared.Other}", Rate, Compared.Bar);

    private string BarText => Compared.Bar is { } bar ? string.Create(CultureInfo.InvariantCulture, $"≥ {bar:0.0##}") : "–";

    private string Judgement => Compared.Bar is not { } bar ? ""
        : string.Create(CultureInfo.InvariantCulture, $"; at least {bar:0.0##} is required, which is {(Misses ? "missed" : "reached")}");
}
