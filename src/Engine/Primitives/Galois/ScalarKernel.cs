using System.Runtime.CompilerServices;

namespace TierSpaces.Engine.Primitives;

/// <summary>Eight bytes at a time in a 64-bit register, and the last bytes of a strip fewer at a time. Runs on every processor.</summary>
internal sealed unsafe class ScalarKernel : ParityKernel
{
    private const int Word = sizeof(ulong);
    private const ulong HighBits = 0x8080_8080_8080_8080;

    /// <summary>The kernel that others use for the last bytes of strips.</summary>
    internal static ScalarKernel Instance { get; } = new();

    /// <inheritdoc/>
    internal override string Name => "Scalar";

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveOptimization)]
    internal override void Xor(byte** sources, int count, byte* target, bool adds, int from, int to)
    {
        for (int at = from; at < to; at += Word)
        {
            int bytes = Math.Min(Word, to - at);
            ulong sum = adds ? Load(target, at, bytes) : 0;
            for (int i = 0; i < count; i++)
            {
                sum ^= Load(sources[i], at, bytes);
            }

            Store(target, at, bytes, sum);
        }
    }

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveOptimization)]
    internal override void Compute(in StripSet strips, bool adds, int from, int to)
    {
        for (int at = from; at < to; at += Word)
        {
            int bytes = Math.Min(Word, to - at);
            (ulong p, ulong q) = Sums(strips, at, bytes);
            if (strips.P != null)
            {
                Store(strips.P, at, bytes, adds ? p ^ Load(strips.P, at, bytes) : p);
            }

            Store(strips.Q, at, bytes, adds ? q ^ Load(strips.Q, at, bytes) : q);
        }
    }

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveOptimization)]
    internal override void Update(byte* delta, byte factor, byte* p, byte* q, int from, int to)
    {
        ReadOnlySpan<byte> products = GaloisField.Products(factor);
        for (int at = from; at < to; at += Word)
        {
            int bytes = Math.Min(Word, to - at);
            ulong change = Load(delta, at, bytes);
            if (p != null)
            {
                Store(p, at, bytes, Load(p, at, bytes) ^ change);
            }

            Store(q, at, bytes, Load(q, at, bytes) ^ Multiply(change, products));
        }
    }

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveOptimization)]
    internal override void SolveOne(in StripSet strips, byte factor, byte* target, int from, int to)
    {
        ReadOnlySpan<byte> products = GaloisField.Products(factor);
        for (int at = from; at < to; at += Word)
        {
            int bytes = Math.Min(Word, to - at);
            (_, ulong q) = Sums(strips, at, bytes);
            Store(target, at, bytes, Multiply(q ^ Load(strips.Q, at, bytes), products));
        }
    }

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveOptimization)]
    internal override void SolveTwo(in StripSet strips, byte byP, byte byQ, byte* first, byte* second, int from, int to)
    {
        ReadOnlySpan<byte> productsP = GaloisField.Products(byP);
        ReadOnlySpan<byte> productsQ = GaloisField.Products(byQ);
        for (int at = from; at < to; at += Word)
        {
            int bytes = Math.Min(Word, to - at);
            (ulong p, ulong q) = Sums(strips, at, bytes);
            p ^= Load(strips.P, at, bytes);
            q ^= Load(strips.Q, at, bytes);
            ulong solved = Multiply(p, productsP) ^ Multiply(q, productsQ);
            Store(first, at, bytes, solved);
            if (second != null)
            {
                Store(second, at, bytes, p ^ solved);
            }
        }
    }

    /// <summary>Returns P and Q of the data: from the last column down, Q is doubled and the column is added.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static (ulong P, ulong Q) Sums(in StripSet strips, int at, int bytes)
    {
        ulong p = 0, q = 0;
        for (int i = strips.Count - 1; i >= 0; i--)
        {
            ulong value = Load(strips.Data[i], at, bytes);
            p ^= value;
            q = Double(q) ^ value;
        }

        return (p, q);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static ulong Double(ulong value)
    {
        ulong carries = (value & HighBits) >> 7;
        return ((value & ~HighBits) << 1) ^ (carries * GaloisField.Reduction);
    }

    [MethodImpl(MethodImplOptions.AggressiveOptimization)]
    private static ulong Multiply(ulong value, ReadOnlySpan<byte> products)
    {
        ulong product = 0;
        for (int shift = 0; shift < 64; shift += 8)
        {
            int low = (int)(value >> shift) & 0x0F, high = (int)(value >> (shift + 4)) & 0x0F;
            product |= (ulong)(uint)(products[low] ^ products[16 + high]) << shift;
        }

        return product;
    }

    /// <summary>Returns up to eight bytes of a strip; zeros if its address is null.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static ulong Load(byte* strip, int at, int bytes) =>
        strip == null ? 0 : bytes == Word ? Unsafe.ReadUnaligned<ulong>(strip + at) : LoadPart(strip + at, bytes);

    private static ulong LoadPart(byte* source, int bytes)
    {
        ulong value = 0;
        for (int i = 0; i < bytes; i++)
        {
            value |= (ulong)source[i] << (8 * i);
        }

        return value;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static void Store(byte* strip, int at, int bytes, ulong value)
    {
        if (bytes == Word)
        {
            Unsafe.WriteUnaligned(strip + at, value);
            return;
        }

        for (int i = 0; i < bytes; i++)
        {
            strip[at + i] = (byte)(value >> (8 * i));
        }
    }
}
