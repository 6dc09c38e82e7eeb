using System.Globalization;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Contracts;

/// <summary>
/// Numbers as PowerShell writes them: decimal or 0x, an optional fraction, an optional suffix KB, MB, GB, TB or PB (powers of
/// 1024, any case). A fraction is allowed where the product is whole to the byte after rounding, as PowerShell rounds it.
/// The suffixes of other tools mean the same: M and MiB are MB. One space before the suffix is allowed, so that sizes are read as messages
/// and tables write them: "1.5 GB". <see cref="ByteText"/> has the rule.
/// </summary>
public static class SizeText
{
    private const string UnitLetters = "KMGTP";

    /// <summary>Reads a size in bytes from 0 to 2^64 - 1; false when the text is none.</summary>
    public static bool TryParse(string text, out ulong bytes) => TryParse(text, out bytes, out _);

    /// <summary>Reads a whole number from 0 to 2^64 - 1, with or without a suffix; false when the text is none, or would be rounded.</summary>
    public static bool TryParseWhole(string text, out ulong number) => TryParse(text, out number, out bool isWhole) && isWhole;

    private static bool TryParse(string text, out ulong bytes, out bool isWhole)
    {
        (bytes, isWhole) = (0, true);
        (string? number, ulong factor) = SplitSuffix(text.Trim());
        if (number.StartsWith("0x", StringComparison.OrdinalIgnoreCase))
        {
            return ulong.TryParse(number.AsSpan(2), NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out ulong hex)
                && TryScale(hex, factor, out bytes, out isWhole);
        }

        return decimal.TryParse(number, NumberStyles.AllowDecimalPoint, CultureInfo.InvariantCulture, out decimal value)
            && TryScale(value, factor, out bytes, out isWhole);
    }

    /// <summary>Returns a size with the largest unit it reaches and at most two decimals, for tables: 1.5 GB.</summary>
    public static string Format(ulong bytes) => Format(bytes, CultureInfo.InvariantCulture);

    /// <summary>Returns a size as <see cref="Format(ulong)"/> does, with the decimal separator of a culture.</summary>
    public static string Format(ulong bytes, CultureInfo culture) => ByteText.Rounded(bytes, "0.##", culture);

    /// <summary>Returns a size or an offset exactly, for messages: 1 GB, 1537 MB, 513 bytes, 1.86 GB (2000000000 bytes).</summary>
    public static string Exact(ulong bytes) => ByteText.Exact(bytes);

    /// <inheritdoc cref="Exact(ulong)"/>
    public static string Exact(long bytes) => ByteText.Exact(bytes);

    /// <summary>Returns a range of a disk exactly, for messages: 2 MB at offset 8 MB.</summary>
    public static string Range(long offset, long length) => ByteText.Range(offset, length);

    /// <summary>Returns an offset exactly, for messages: 0, 8 MB.</summary>
    public static string Offset(long offset) => ByteText.Offset(offset);

    private static (string Number, ulong Factor) SplitSuffix(string text)
    {
        string unit = text.EndsWith("iB", StringComparison.OrdinalIgnoreCase) ? text[..^2]
            : text.EndsWith("B", StringComparison.OrdinalIgnoreCase) ? text[..^1]
            : text;
        int power = unit.Length > 0 ? UnitLetters.IndexOf(char.ToUpperInvariant(unit[^1]), StringComparison.Ordinal) : -1;
        if (power < 0)
        {
            return (text, 1);
        }

        string number = unit[..^1];
        bool isSpaced = number.Length > 1 && number[^1] == ' ' && char.IsAsciiHexDigit(number[^2]);
        return (isSpaced ? number[..^1] : number, 1UL << (10 * (power + 1)));
    }

    private static bool TryScale(decimal number, ulong factor, out ulong bytes, out bool isWhole)
    {
        (bytes, isWhole) = (0, true);
        if (number > ulong.MaxValue / (decimal)factor)
        {
            return false;
        }

        decimal product = number * factor;
        bytes = (ulong)Math.Round(product, MidpointRounding.ToEven);
        isWhole = product == bytes;
        return true;
    }
}
