using System.Runtime.CompilerServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;

namespace TierSpaces.Engine.Primitives;

/// <summary>
/// Vectors of 64 bytes: AVX-512 with byte instructions. A byte shuffle with the value as index gives 0 where the highest bit of the value is set: that
/// takes the place of a comparison, which would go through a mask register.
/// </summary>
internal readonly unsafe struct Vector512Set : IVectorSet<Vector512<byte>>
{
    private const byte ThreeWayXor = 0x96;   // truth table

    /// <inheritdoc/>
    public static int Size => Vector512<byte>.Count;

    /// <inheritdoc/>
    public static Vector512<byte> Load(byte* source) => Vector512.Load(source);

    /// <inheritdoc/>
    public static void Store(Vector512<byte> value, byte* target) => value.Store(target);

    /// <inheritdoc/>
    public static Vector512<byte> Xor(Vector512<byte> left, Vector512<byte> right) => left ^ right;

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Vector512<byte> Double(Vector512<byte> value) => DoubleXor(value, Vector512<byte>.Zero);

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Vector512<byte> DoubleXor(Vector512<byte> doubled, Vector512<byte> added)
    {
        Vector512<byte> reduction = Vector512.Create(GaloisField.Reduction);
        return Avx512F.TernaryLogic(doubled + doubled, Avx512BW.Shuffle(reduction, doubled), reduction ^ added, ThreeWayXor);
    }

    /// <inheritdoc/>
    public static Vector512<byte> Repeat(Vector128<byte> table)
    {
        Vector256<byte> half = Vector256.Create(table, table);
        return Vector512.Create(half, half);
    }

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Vector512<byte> Multiply(Vector512<byte> value, Vector512<byte> lowProducts, Vector512<byte> highProducts)
    {
        Vector512<byte> half = Vector512.Create((byte)0x0F);
        return Avx512BW.Shuffle(lowProducts, value & half) ^ Avx512BW.Shuffle(highProducts, (value.AsUInt16() >>> 4).AsByte() & half);
    }
}
