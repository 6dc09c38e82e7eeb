using System.Numerics;
using System.Text.RegularExpressions;
using FsCheck;
using FsCheck.Fluent;
using TierSpaces.Contracts;

namespace TierSpaces.Host.Tests.CommandLine;

public class SizeTextTests
{
    [Theory]
    [InlineData("0", 0UL)]
    [InlineData("512", 512UL)]
    [InlineData("1KB", 1024UL)]
    [InlineData("1gb", 1073741824UL)]
    [InlineData("1.5GB", 1610612736UL)]
    [InlineData("0.3KB", 307UL)]
    [InlineData("2TB", 2199023255552UL)]
    [InlineData("16383PB", 18445618173802708992UL)]
    [InlineData("0x10", 16UL)]
    [InlineData("0x10MB", 16777216UL)]
    [InlineData("18446744073709551615", ulong.MaxValue)]
    [InlineData("100M", 104857600UL)]
    [InlineData("1t", 1099511627776UL)]
    [InlineData("100MiB", 104857600UL)]
    [InlineData("1.5gib", 1610612736UL)]
    [InlineData("4K", 4096UL)]
    [InlineData("1 GB", 1073741824UL)]
    [InlineData("1.5 MB", 1572864UL)]
    [InlineData("2KiB", 2048UL)]
    [InlineData("1P", 1125899906842624UL)]
    [InlineData("0xAT", 10995116277760UL)]
    public void Reads_what_PowerShell_reads_and_the_suffixes_of_other_tools(string text, ulong expected)
    {
        Assert.True(SizeText.TryParse(text, out ulong bytes));
        Assert.Equal(expected, bytes);
    }

    [Theory]
    [InlineData("")]
    [InlineData("GB")]
    [InlineData("-1GB")]
    [InlineData("1  GB")]
    [InlineData(" GB")]
    [InlineData("1 G B")]
    [InlineData("1GiBB")]
    [InlineData("1iB")]
    [InlineData("M")]
    [InlineData("1,5GB")]
    [InlineData("1e3")]
    [InlineData("16384PB")]
    [InlineData("18446744073709551616")]
    [InlineData("0x1FFFFFFFFFFFFFFFF")]
    public void Refuses_what_is_no_size(string text) => Assert.False(SizeText.TryParse(text, out _));

    [Fact]
    public void A_whole_number_with_a_suffix_is_the_product_or_refused() =>
        Prop.ForAll(
            ArbMap.Default.ArbFor<uint>(),
            ArbMap.Default.ArbFor<byte>(),
            (number, choice) =>
            {
                string[] suffixes = ["", "KB", "MB", "GB", "TB", "PB", "", "K", "M", "G", "T", "P", "", "KiB", "MiB", "GiB", "TiB", "PiB"];
                int suffix = choice % suffixes.Length;
                int power = suffix % 6;
                BigInteger product = new System.Numerics.BigInteger(number) << (10 * power);
                bool read = SizeText.TryParse(number + suffixes[suffix], out ulong bytes);
                return read ? bytes == product : product > ulong.MaxValue;
            }).QuickCheckThrowOnFailure();

    /// <summary>An exact size of a message can be typed, with its space and without; a rounded one has its bytes behind it.</summary>
    [Fact]
    public void What_is_printed_exactly_is_read_as_the_same_size() =>
        Prop.ForAll(
            ArbMap.Default.ArbFor<ulong>(),
            ArbMap.Default.ArbFor<byte>(),
            (bits, shift) =>
            {
                ulong bytes = bits >> (shift % 64) << (shift / 4 % 64);
                string text = SizeText.Exact(bytes);
                Match rounded = Regex.Match(text, @"\((?<bytes>\d+) bytes\)$");
                string[] typed = rounded.Success ? [rounded.Groups["bytes"].Value]
                    : text.EndsWith("bytes", StringComparison.Ordinal) || text == "1 byte" ? [text.Split(' ')[0]] : [text, text.Replace(" ", "")];
                return typed.All(word => SizeText.TryParse(word, out ulong read) && read == bytes);
            }).QuickCheckThrowOnFailure();

    [Theory]
    [InlineData(0UL, "0 B")]
    [InlineData(1023UL, "1023 B")]
    [InlineData(1024UL, "1 KB")]
    [InlineData(1610612736UL, "1.5 GB")]
    [InlineData(1000204886016UL, "931.51 GB")]
    public void Prints_the_largest_unit(ulong bytes, string expected) => Assert.Equal(expected, SizeText.Format(bytes));
}
