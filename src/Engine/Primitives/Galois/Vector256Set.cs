using System.Runtime.CompilerServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;

namespace TierSpaces.Engine.Primitives;

/// <summary>Vectors of 32 bytes: AVX2.</summary>
internal readonly unsafe struct Vector256Set : IVectorSet<Vector256<byte>>
{
    /// <inheritdoc/>
    public static int Size => Vector256<byte>.Count;

    /// <inheritdoc/>
    public static Vector256<byte> Load(byte* source) => Vector256.Load(source);

    /// <inheritdoc/>
    public static void Store(Vector256<byte> value, byte* target) => value.Store(target);

    /// <inheritdoc/>
    public static Vector256<byte> Xor(Vector256<byte> left, Vector256<byte> right) => left ^ right;

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Vector256<byte> Double(Vector256<byte> value)
    {
        Vector256<byte> overflows = Avx2.CompareGreaterThan(Vector256<sbyte>.Zero, value.AsSByte()).AsByte();
        return (value + value) ^ (overflows & Vector256.Create(GaloisField.Reduction));
    }

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Vector256<byte> DoubleXor(Vector256<byte> doubled, Vector256<byte> added) => Double(doubled) ^ added;

    /// <inheritdoc/>
    public static Vector256<byte> Repeat(Vector128<byte> table) => Vector256.Create(table, table);

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Vector256<byte> Multiply(Vector256<byte> value, Vector256<byte> lowProducts, Vector256<byte> highProducts)
    {
        Vector256<byte> half = Vector256.Create((byte)0x0F);
        return Avx2.Shuffle(lowProducts, value & half) ^ Avx2.Shuffle(highProducts, (value.AsUInt16() >>> 4).AsByte() & half);
    }
}
