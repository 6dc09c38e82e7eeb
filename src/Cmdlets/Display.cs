using System.Globalization;
using TierSpaces.Contracts;

namespace TierSpaces.Cmdlets;

/// <summary>Formats numbers for tables; the format file calls these methods.</summary>
public static class Display
{
    /// <summary>A number of bytes with at most two decimals and the largest unit that leaves at least 1, for example 931.51 GB.</summary>
    public static string? Bytes(ulong? bytes) => bytes is { } amount ? SizeText.Format(amount, CultureInfo.CurrentCulture) : null;

    /// <summary>One number as a share of another, for example 50.00%; nothing where there is no other.</summary>
    public static string? Percent(ulong? part, ulong? whole) =>
        part is { } p && whole is > 0 ? (p / (double)whole).ToString("0.00%", CultureInfo.CurrentCulture) : null;
}
