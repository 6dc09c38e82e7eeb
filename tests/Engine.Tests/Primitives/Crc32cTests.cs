using System.Text;
using TierSpaces.Engine.Primitives;
using Xunit;

namespace TierSpaces.Engine.Tests.Primitives;

public class Crc32cTests
{
    [Fact]
    public void Known_answers_of_RFC_3720()
    {
        Assert.Equal(0xE3069283u, Crc32c.Compute(Encoding.ASCII.GetBytes("123456789")));
        Assert.Equal(0x8A9136AAu, Crc32c.Compute(new byte[32]));
        Assert.Equal(0x62A8AB43u, Crc32c.Compute(Enumerable.Repeat((byte)0xFF, 32).ToArray()));
    }

    [Fact]
    public void Streams_agree_with_the_table_at_every_length_and_seed()
    {
        Random random = new(1);
        byte[] data = new byte[20_000];
        random.NextBytes(data);
        for (int i = 0; i < 500; i++)
        {
            int start = random.Next(data.Length), length = random.Next(data.Length - start);
            uint seed = (uint)random.Next();
            Assert.Equal(Crc32c.ComputePortable(data.AsSpan(start, length), seed), Crc32c.Compute(data.AsSpan(start, length), seed));
        }
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Whichever_mix_of_the_units_wins_the_sum_is_the_same(bool favoursStreams)
    {
        Assert.SkipUnless(Crc32c.HasBothUnits, "This processor has not both units.");
        byte[] data = new byte[20_000];
        new Random(2).NextBytes(data);
        foreach (int length in new[] { 0, 7, 4079, 4080, 4095, 4096, 4097, 8192, 12_288, 20_000 })
        {
            Assert.Equal(
                Crc32c.ComputePortable(data.AsSpan(0, length), (uint)length), Crc32c.ComputeMixed(data.AsSpan(0, length), (uint)length, favoursStreams));
        }
    }

    [Theory]
    [InlineData(8)]
    [InlineData(512)]
    [InlineData(4096)]
    public void Four_pieces_have_the_sums_of_each(int length)
    {
        byte[] data = new byte[4 * length];
        new Random(3).NextBytes(data);
        uint[] sums = new uint[4];
        Crc32c.ComputeFour(data, sums);
        Assert.Equal(Enumerable.Range(0, 4).Select(piece => Crc32c.ComputePortable(data.AsSpan(piece * length, length))), sums);
        Assert.Throws<InvariantException>(() => Crc32c.ComputeFour(data.AsSpan(0, 24), sums));
    }

    [Fact]
    public void A_checksum_continues_where_another_ended()
    {
        byte[] data = Encoding.ASCII.GetBytes("the first part and the second part of one message, checked in two steps");
        Assert.Equal(Crc32c.Compute(data), Crc32c.Compute(data.AsSpan(20), Crc32c.Compute(data.AsSpan(0, 20))));
    }
}
