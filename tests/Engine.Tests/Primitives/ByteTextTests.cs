using System.Globalization;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Primitives;

/// <summary>Sizes as messages and tables have them.</summary>
public sealed class ByteTextTests
{
    [Theory]
    [InlineData(0, "0 bytes")]
    [InlineData(1, "1 byte")]
    [InlineData(512, "512 bytes")]
    [InlineData(1025, "1025 bytes")]
    [InlineData(4096, "4 KB")]
    [InlineData(1 << 20, "1 MB")]
    [InlineData(3L << 29, "1.5 GB")]
    [InlineData(1537L << 20, "1537 MB")]
    [InlineData(3416064, "3336 KB")]
    [InlineData((1L << 30) + 1, "1 GB (1073741825 bytes)")]
    [InlineData(2000000000, "1.86 GB (2000000000 bytes)")]
    [InlineData((1L << 40) - 1, "1 TB (1099511627775 bytes)")]
    [InlineData(long.MaxValue, "8192 PB (9223372036854775807 bytes)")]
    [InlineData(-5, "-5 bytes")]
    public void A_message_is_exact(long bytes, string expected) => Assert.Equal(expected, ByteText.Exact(bytes));

    [Fact]
    public void A_range_has_its_length_first() => Assert.Equal("2 MB at offset 70 MB", ByteText.Range(70 << 20, 2 << 20));

    [Theory]
    [InlineData(81920, "0.00", "80.00 KB")]
    [InlineData(916245709, "0.00", "873.80 MB")]
    [InlineData(30612376781, "0.00", "28.51 GB")]
    [InlineData(1000204886016, "0.##", "931.51 GB")]
    [InlineData((1 << 30) - 1, "0.##", "1 GB")]
    [InlineData(1023, "0.##", "1023 B")]
    [InlineData(ulong.MaxValue, "0.##", "16384 PB")]
    public void A_table_is_rounded(ulong bytes, string numberFormat, string expected) =>
        Assert.Equal(expected, ByteText.Rounded(bytes, numberFormat, CultureInfo.InvariantCulture));
}
