using System.Globalization;

namespace TierSpaces.Cmdlets;

/// <summary>Formats numbers for tables; the format file calls these methods.</summary>
public static class Display
{
    private static readonly string[] s_units = ["B", "KB", "MB", "GB", "TB", "PB", "EB"];

    /// <summary>A number of bytes with at most two decimals and the largest unit that leaves at least 1, for example 931.51 GB.</summary>
    public static string? Bytes(ulong? bytes)
    {
        if (bytes is not { } amount)
        {
            return null;
        }

        int unit = amount == 0 ? 0 : Math.Min((int)Math.Log2(amount) / 10, s_units.Length - 1);
        double scaled = amount / Math.Pow(1024, unit);
        return string.Create(CultureInfo.CurrentCulture, $"{scaled:0.##} {s_units[unit]}");
    }

    /// <summary>One number as a share of another, for example 50.00%; nothing where there is no other.</summary>
    public static string? Percent(ulong? part, ulong? whole) =>
        part is { } p && whole is > 0 ? (p / (double)whole).ToString("0.00%", CultureInfo.CurrentCulture) : null;
}
