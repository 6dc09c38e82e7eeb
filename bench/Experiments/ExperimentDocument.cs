using System.Globalization;
using TierSpaces.Bench.Charts;
using TierSpaces.Bench.Tables;

namespace TierSpaces.Bench.Experiments;

/// <summary>The page and the picture of an experiment, from what was measured.</summary>
internal sealed record ExperimentDocument(
    Experiment Experiment, ExperimentResult Result, string Command, MachineFacts Machine, string Host, Spread? OthersCpu)
{
    private const int PictureWidth = 860;
    private const double DisturbedFrom = 0.5;   // processors busy with other work

    /// <summary>Nice value of load and host; below 0 they go before other work.</summary>
    internal int Niceness { get; init; }

    /// <summary>The page, which shows the picture beside it.</summary>
    internal string Page() => string.Create(CultureInfo.InvariantCulture, $"""
        # {Experiment.Title}

        {Experiment.Question}

        ![What was measured]({Experiment.Name}.svg)

        | | |
        |---|---|
        | Command | `{Command}` |
        | Machine | {Machine.Processor}, {Machine.Cores} cores, Linux {Machine.Kernel} |
        | Host | {Host} |
        | Processors busy with other work while measuring | {OthersCpu?.ToString() ?? "–"}{(Niceness < 0 ? $", after load and host (nice {Niceness})" : "")} |
        {string.Join('\n', Result.Parameters.Select(one => $"| {one.Name} | {one.Value} |"))}

        Ratios are of rates in one run: the median over the rounds (least–greatest), each of two loads of one round. *p99* is the ratio of the
        latencies that one request in a hundred exceeds; below 1 is faster.{(OthersCpu is { Median: > DisturbedFrom } ? Niceness < 0 ? Preferred : Disturbed : "")}

        | Load | Disk | over | rate | required | p99 |
        |---|---|---|---|---|---|
        {string.Join('\n', Result.Findings.Select(finding => finding.Row))}

        ## What it shows

        {string.Join('\n', Result.Findings.Where(finding => finding.Compared.Bar is not null || Result.Findings.All(one => one.Compared.Bar is null)).Select(finding => finding.Sentence))}
        {(Result.Notes.Length == 0 ? "" : $"\n{Result.Notes}\n")}
        """);

    internal string Picture()
    {
        BarChart bars = new("Ratios of rates: median and range; dashed: required", "ratio (1: equal)", [.. Result.Findings.Select(finding => finding.Bar)]);
        int curves = Result.Timeline is null ? 0 : LineChart.Height;
        int top = curves + (Result.Curves is null ? 0 : CurveChart.Height);
        SvgCanvas canvas = new(PictureWidth, top + bars.Height);
        Result.Timeline?.Draw(canvas, 0);
        Result.Curves?.Draw(canvas, curves);
        bars.Draw(canvas, top);
        return canvas.ToString();
    }

    private const string Preferred = """


        Other work kept the processors busy all along. Load and host had a higher priority, so they waited for it seldom, but a processor shares its caches with it.
        """;

    private const string Disturbed = """


        **This run was disturbed: other work kept the processors busy all along. Measure again on a quiet machine.**
        """;
}
