using System.Globalization;

namespace TierSpaces.Contracts;

/// <summary>
/// Numbers as PowerShell writes them: decimal or 0x, an optional fraction, an optional suffix KB, MB, GB, TB or PB (powers of
/// 1024, any case). A fraction is allowed where the product is whole to the byte after rounding, as PowerShell rounds it.
/// The suffixes of other tools mean the same: M and MiB are MB.
/// </summary>
public static class SizeText
{
    private const string UnitLetters = "KMGTP";

    private static readonly string[] s_suffixes = ["KB", "MB", "GB", "TB", "PB"];

    /// <summary>Reads a size in bytes from 0 to 2^64 - 1; false when the text is none.</summary>
    public static bool TryParse(string text, out ulong bytes)
    {
        bytes = 0;
        (string? number, ulong factor) = SplitSuffix(text.Trim());
        if (number.StartsWith("0x", StringComparison.OrdinalIgnoreCase))
        {
            return ulong.TryParse(number.AsSpan(2), NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out ulong hex)
                && TryScale(hex, factor, out bytes);
        }

        return decimal.TryParse(number, NumberStyles.AllowDecimalPoint, CultureInfo.InvariantCulture, out decimal value)
            && TryScale(value, factor, out bytes);
    }

    /// <summary>A size with the largest unit it reaches, at most two decimals: 1.5 GB.</summary>
    public static string Format(ulong bytes)
    {
        int unit = -1;
        decimal value = bytes;
        while (value >= 1024 && unit + 1 < s_suffixes.Length)
        {
            value /= 1024;
            unit++;
        }

        string number = Math.Round(value, 2).ToString("0.##", CultureInfo.InvariantCulture);
        return unit < 0 ? $"{number} B" : $"{number} {s_suffixes[unit]}";
    }

    private static (string Number, ulong Factor) SplitSuffix(string text)
    {
        string unit = text.EndsWith("iB", StringComparison.OrdinalIgnoreCase) ? text[..^2]
            : text.EndsWith("B", StringComparison.OrdinalIgnoreCase) ? text[..^1]
            : text;
        int power = unit.Length > 0 ? UnitLetters.IndexOf(char.ToUpperInvariant(unit[^1]), StringComparison.Ordinal) : -1;
        return power < 0 ? (text, 1) : (unit[..^1], 1UL << (10 * (power + 1)));
    }

    private static bool TryScale(decimal number, ulong factor, out ulong bytes)
    {
        bytes = 0;
        if (number > ulong.MaxValue / (decimal)factor)
        {
            return false;
        }

        bytes = (ulong)Math.Round(number * factor, MidpointRounding.ToEven);
        return true;
    }
}
