using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Primitives;

/// <summary>The field of dual parity against multiplication of polynomials bit by bit.</summary>
public sealed class GaloisFieldTests
{
    [Theory]
    [InlineData(0, 0x01)]
    [InlineData(1, 0x02)]
    [InlineData(7, 0x80)]
    [InlineData(8, 0x1D)]
    [InlineData(9, 0x3A)]
    [InlineData(12, 0xCD)]
    [InlineData(61, 0x6F)]
    [InlineData(254, 0x8E)]
    [InlineData(255, 0x01)]
    [InlineData(510, 0x01)]
    public void Powers_of_the_generator_have_their_published_values(int exponent, byte power) => Assert.Equal(power, GaloisField.Power(exponent));

    [Fact]
    public void A_doubled_high_bit_is_reduced_by_the_polynomial()
    {
        Assert.Equal(0x1D, GaloisField.Multiply(0x80, 2));
        Assert.Equal(0x1D, GaloisField.Multiply(2, 0x80));
    }

    [Fact]
    public void All_products_are_those_of_polynomials()
    {
        for (int left = 0; left < 256; left++)
        {
            ReadOnlySpan<byte> products = GaloisField.Products((byte)left);
            for (int right = 0; right < 256; right++)
            {
                byte expected = ParityModel.Multiply((byte)left, (byte)right);
                Assert.Equal(expected, GaloisField.Multiply((byte)left, (byte)right));
                Assert.Equal(expected, products[right & 15] ^ products[16 + (right >> 4)]);
            }
        }
    }

    [Fact]
    public void A_value_times_its_inverse_is_one()
    {
        for (int value = 1; value < 256; value++)
        {
            Assert.Equal(1, ParityModel.Multiply((byte)value, GaloisField.Inverse((byte)value)));
        }
    }

    [Fact]
    public void All_columns_have_different_factors()
    {
        byte[] factors = [.. Enumerable.Range(0, ParityMath.ColumnsMax).Select(GaloisField.Power)];

        Assert.Equal(255, factors.Distinct().Count());
        Assert.DoesNotContain((byte)0, factors);
    }

    [Fact]
    public void Zero_has_no_inverse_and_no_power_is_negative()
    {
        Assert.Throws<ArgumentOutOfRangeException>(static () => GaloisField.Inverse(0));
        Assert.Throws<ArgumentOutOfRangeException>(static () => GaloisField.Power(-1));
    }
}
