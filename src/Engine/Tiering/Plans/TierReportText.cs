using System.Globalization;
using System.Text;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tiering;

/// <summary>The tier report in the words that Windows prints it in.</summary>
public static class TierReportText
{
    /// <summary>The report, lines ended by a line feed. The star marks what the performance tier is large enough for.</summary>
    public static string Format(TierReport report)
    {
        StringBuilder to = new();
        to.Append("Storage Tier Optimization Report:\n\n% I/Os Serviced from Perf Tier  Perf Tier Size Required\n");
        TierReportTier performance = report.Tiers[0];
        bool isMarked = false;
        foreach (TierReportRow row in report.Rows)
        {
            bool isMark = !isMarked && row.Bytes <= performance.SizeBytes;
            isMarked |= isMark;
            to.Append(CultureInfo.InvariantCulture, $"{row.Percent,29}%  {Size(row.Bytes)}{(isMark ? " *" : "")}\n");
        }

        bool isOnly = report.Tiers.Length == 1;
        to.Append(CultureInfo.InvariantCulture, $"\n* Current size of the {(isOnly ? $"only tier, '{performance.Name}'" : "Performance tier")}: {Size(performance.SizeBytes)}\n");
        to.Append(CultureInfo.InvariantCulture, $"  Percent of total I/Os serviced from {(isOnly ? "it" : "the Performance tier")}: {Percent(performance.PercentOfIo)}\n");
        if (report.MinimumHeat > 0)
        {
            to.Append(CultureInfo.InvariantCulture, $"\n  Least heat of what comes to a faster tier (-MinimumHeat): {report.MinimumHeat}\n");
            to.Append(CultureInfo.InvariantCulture, $"  Size of what is used and has less: {Size(report.BelowMinimumBytes)}\n");
        }

        foreach (TierReportTier tier in report.Tiers)
        {
            to.Append(CultureInfo.InvariantCulture, $"\n  Size of files pinned to the {(isOnly ? $"tier '{tier.Name}'" : $"{tier.Name} tier")}: {Size(tier.PinnedBytes)}\n");
            to.Append(CultureInfo.InvariantCulture, $"  Percent of total I/Os: {Percent(tier.PinnedPercentOfIo)}\n");
        }

        return to.ToString();
    }

    // As Windows' tools print it: whole bytes, or two decimals of the largest unit that is reached.
    private static string Size(long bytes) =>
        bytes < 1024 ? $"{bytes} bytes" : ByteText.Rounded((ulong)bytes, "0.00", CultureInfo.InvariantCulture);

    // All is only said of all, and nothing of nothing.
    private static string Percent(double percent)
    {
        int whole = percent is > 0 and < 100 ? Math.Clamp((int)Math.Round(percent), 1, 99) : (int)percent;
        return string.Create(CultureInfo.InvariantCulture, $"{whole}%");
    }
}
