namespace TierSpaces.Engine.Tests.Primitives;

/// <summary>P and Q by their definition, one byte at a time and without tables.</summary>
internal static class ParityModel
{
    /// <summary>Returns the product of two polynomials, reduced by 0x11D.</summary>
    internal static byte Multiply(byte left, byte right)
    {
        int product = 0;
        for (int bit = 7; bit >= 0; bit--)
        {
            product <<= 1;
            product ^= (product & 0x100) != 0 ? 0x11D : 0;
            product ^= ((right >> bit) & 1) != 0 ? left : 0;
        }

        return (byte)product;
    }

    /// <summary>Returns P and Q of columns; null is a column of zeros.</summary>
    internal static (byte[] P, byte[] Q) Parity(byte[]?[] data, int length)
    {
        byte[] p = new byte[length], q = new byte[length];
        byte factor = 1;
        foreach (byte[]? column in data)
        {
            for (int i = 0; column is not null && i < length; i++)
            {
                p[i] ^= column[i];
                q[i] ^= Multiply(factor, column[i]);
            }

            factor = Multiply(factor, 2);
        }

        return (p, q);
    }
}
