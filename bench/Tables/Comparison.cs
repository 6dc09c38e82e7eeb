using System.Globalization;

namespace TierSpaces.Bench.Tables;

/// <summary>One row of a table: our disk against something else under the same load.</summary>
/// <param name="Ours">Name of our target.</param>
/// <param name="Other">Name of what it is compared with.</param>
/// <param name="Bar">Least ratio of rates that is required; null: reported only.</param>
/// <param name="Aim">Ratio of rates that is aimed at.</param>
/// <param name="CpuBar">Greatest ratio of server processor time per request that is required.</param>
internal sealed record Comparison(string Ours, string Other, double? Bar = null, double? Aim = null, double? CpuBar = null)
{
    internal string BarText => Text("≥ ", Bar) + (Aim is null ? "" : $" ({Text("≥ ", Aim)})");

    internal string CpuBarText => Text("≤ ", CpuBar);

    private static string Text(string sign, double? value) =>
        value is { } known ? sign + known.ToString("0.0#", CultureInfo.InvariantCulture) : "–";
}

/// <summary>Targets over one kind of backing, and what is measured on them.</summary>
internal sealed record Section(string Title, IReadOnlyList<IMeasured> Targets, IReadOnlyList<(Workload Load, Comparison[] Rows)> Loads);

/// <summary>A row that was measured.</summary>
/// <param name="Load">Load of both sides.</param>
/// <param name="Comparison">The two sides and their bars.</param>
/// <param name="Rate">Ratios of rates, one per round.</param>
/// <param name="Cpu">Ratios of server processor time per request; null where one side has no server.</param>
internal sealed record MeasuredRow(Workload Load, Comparison Comparison, Spread Rate, Spread? Cpu)
{
    internal bool Misses =>
        Rate.Median < (Comparison.Bar ?? 0) || (Cpu is { } cpu && cpu.Median > (Comparison.CpuBar ?? double.MaxValue));
}
