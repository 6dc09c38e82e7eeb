using System.Globalization;

namespace TierSpaces.Engine.Primitives;

/// <summary>
/// The one formatter of sizes and offsets that people read. Units are powers of 1024, KB to PB. There are two forms.
/// 1. Messages are exact (<see cref="Exact(ulong)"/>): the largest unit in which at most two decimals are the value itself ("1 GB",
///    "1.5 GB", "1537 MB"). A value without such a unit is rounded and has its bytes behind it: "1.86 GB (2000000000 bytes)".
///    Small values that are no whole number of KB are bytes: "513 bytes". An offset of zero has no unit.
///    An exact text can be typed as a size, with or without the space.
/// 2. Tables are rounded to two decimals (<see cref="Rounded"/>): their objects have the bytes.
/// Sector sizes and lengths of names and records are not formatted here: they are small and are known by their bytes (512, 4096).
/// The contracts compile this file too: <c>SizeText</c> is their door to it.
/// </summary>
internal static class ByteText
{
    private const ulong FewBytes = 10_000;
    private const ulong LongestNumber = 100_000;   // a number of a smaller unit with more digits is not read at a glance

    private static readonly string[] s_units = ["B", "KB", "MB", "GB", "TB", "PB"];

    /// <summary>Returns a size or an offset exactly, for messages: 1 GB, 1537 MB, 513 bytes, 1.86 GB (2000000000 bytes).</summary>
    internal static string Exact(ulong bytes)
    {
        if (bytes < FewBytes && (bytes < 1024 || bytes % 1024 != 0))
        {
            return string.Create(CultureInfo.InvariantCulture, $"{bytes} {(bytes == 1 ? "byte" : "bytes")}");
        }

        for (int unit = UnitOf(bytes); unit > 0 && bytes >> (10 * unit) < LongestNumber; unit--)
        {
            UInt128 hundredths = (UInt128)bytes * 100;
            UInt128 unitBytes = UInt128.One << (10 * unit);
            if (hundredths % unitBytes == 0)
            {
                return string.Create(CultureInfo.InvariantCulture, $"{(decimal)(hundredths / unitBytes) / 100:0.##} {s_units[unit]}");
            }
        }

        return string.Create(CultureInfo.InvariantCulture, $"{Rounded(bytes, "0.##", CultureInfo.InvariantCulture)} ({bytes} bytes)");
    }

    /// <summary>Returns a size or an offset exactly; a negative one, which only a validation error names, in bytes.</summary>
    internal static string Exact(long bytes) =>
        bytes >= 0 ? Exact((ulong)bytes) : string.Create(CultureInfo.InvariantCulture, $"{bytes} bytes");

    /// <summary>Returns a range of a disk exactly, for messages: 2 MB at offset 8 MB.</summary>
    internal static string Range(long offset, long length) => $"{Exact(length)} at offset {Offset(offset)}";

    /// <summary>Returns an offset exactly, for messages: 0, 8 MB.</summary>
    internal static string Offset(long offset) => offset == 0 ? "0" : Exact(offset);

    /// <summary>Returns a size with the largest unit that it reaches, for tables: 931.51 GB with the number format 0.##.</summary>
    /// <param name="bytes">The size in bytes.</param>
    /// <param name="numberFormat">Format of the number: 0.## or 0.00.</param>
    /// <param name="culture">The culture of the number.</param>
    internal static string Rounded(ulong bytes, string numberFormat, CultureInfo culture)
    {
        int unit = UnitOf(bytes);
        decimal number = Math.Round(bytes / (decimal)(1UL << (10 * unit)), 2);
        if (number >= 1024 && unit + 1 < s_units.Length)
        {
            number /= 1024;   // 1023.999 MB are 1 GB
            unit++;
        }

        return $"{number.ToString(unit == 0 ? "0" : numberFormat, culture)} {s_units[unit]}";
    }

    private static int UnitOf(ulong bytes) => bytes == 0 ? 0 : Math.Min(System.Numerics.BitOperations.Log2(bytes) / 10, s_units.Length - 1);
}
