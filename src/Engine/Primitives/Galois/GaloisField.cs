namespace TierSpaces.Engine.Primitives;

// GF(2^8): bytes as polynomials over GF(2), modulo x^8 + x^4 + x^3 + x^2 + 1 (0x11D), with the generator g = x = 2. Addition and subtraction are XOR.
// The field and its use for dual parity follow H. P. Anvin, "The mathematics of RAID-6".
//
// Invariants
//  1. g has order 255: the powers g^0 to g^254 are all different and are all values but 0. So 255 columns have different factors in Q.
//  2. Log and exponent tables are inverse to each other. The exponent table repeats once, so a sum of two logarithms needs no modulo.
//  3. The product table has 32 bytes for each factor: factor × 0 to 15, then factor × (0 to 15 × 16). The product of a byte is the XOR of the entries of its
//     low and its high half.

/// <summary>Arithmetic of single bytes in GF(2^8) with the polynomial 0x11D and the generator 2, as dual parity uses it.</summary>
public static class GaloisField
{
    /// <summary>Order of the generator: how many powers of it are different, and the largest number of columns that Q can tell apart.</summary>
    public const int Order = 255;

    /// <summary>Value added to a doubled value whose highest bit was set: the polynomial 0x11D without its highest bit.</summary>
    internal const byte Reduction = 0x1D;

    /// <summary>Bytes of the product table for one factor.</summary>
    internal const int ProductsLength = 32;

    private static readonly byte[] s_powers = MakePowers();
    private static readonly byte[] s_logarithms = MakeLogarithms();
    private static readonly byte[] s_products = MakeProducts();

    /// <summary>Returns the generator to the power of <paramref name="exponent"/>: the factor of that column in Q.</summary>
    /// <param name="exponent">0 or greater.</param>
    /// <exception cref="ArgumentOutOfRangeException">The exponent is negative.</exception>
    public static byte Power(int exponent)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(exponent);
        return s_powers[exponent % Order];
    }

    /// <summary>Returns the product of two values.</summary>
    public static byte Multiply(byte left, byte right) =>
        left == 0 || right == 0 ? (byte)0 : s_powers[s_logarithms[left] + s_logarithms[right]];

    /// <summary>Returns the value whose product with <paramref name="value"/> is 1.</summary>
    /// <param name="value">1 to 255.</param>
    /// <exception cref="ArgumentOutOfRangeException">The value is 0, which has no inverse.</exception>
    public static byte Inverse(byte value)
    {
        ArgumentOutOfRangeException.ThrowIfZero(value);
        return s_powers[Order - s_logarithms[value]];
    }

    /// <summary>Returns the product table of a factor: 16 products of the low half of a byte, then 16 of the high half.</summary>
    internal static ReadOnlySpan<byte> Products(byte factor) => s_products.AsSpan(factor * ProductsLength, ProductsLength);

    private static byte[] MakePowers()
    {
        byte[] powers = new byte[2 * Order];
        int power = 1;
        for (int i = 0; i < Order; i++)
        {
            powers[i] = powers[i + Order] = (byte)power;
            power = (byte)(power << 1) ^ ((power & 0x80) != 0 ? Reduction : 0);
        }

        return powers;
    }

    private static byte[] MakeLogarithms()
    {
        byte[] logarithms = new byte[256];
        for (int i = 0; i < Order; i++)
        {
            logarithms[s_powers[i]] = (byte)i;
        }

        return logarithms;
    }

    private static byte[] MakeProducts()
    {
        byte[] products = new byte[256 * ProductsLength];
        for (int factor = 0; factor < 256; factor++)
        {
            for (int half = 0; half < 16; half++)
            {
                products[(factor * ProductsLength) + half] = Multiply((byte)factor, (byte)half);
                products[(factor * ProductsLength) + 16 + half] = Multiply((byte)factor, (byte)(half << 4));
            }
        }

        return products;
    }
}
