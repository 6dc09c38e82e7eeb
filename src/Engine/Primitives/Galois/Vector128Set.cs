using System.Runtime.CompilerServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.Arm;
using System.Runtime.Intrinsics.X86;

namespace TierSpaces.Engine.Primitives;

/// <summary>Vectors of 16 bytes: NEON on Arm64, SSSE3 on x64.</summary>
internal readonly unsafe struct Vector128Set : IVectorSet<Vector128<byte>>
{
    /// <inheritdoc/>
    public static int Size => Vector128<byte>.Count;

    /// <inheritdoc/>
    public static Vector128<byte> Load(byte* source) => Vector128.Load(source);

    /// <inheritdoc/>
    public static void Store(Vector128<byte> value, byte* target) => value.Store(target);

    /// <inheritdoc/>
    public static Vector128<byte> Xor(Vector128<byte> left, Vector128<byte> right) => left ^ right;

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Vector128<byte> Double(Vector128<byte> value)
    {
        Vector128<byte> overflows = Vector128.LessThan(value.AsSByte(), Vector128<sbyte>.Zero).AsByte();
        return (value + value) ^ (overflows & Vector128.Create(GaloisField.Reduction));
    }

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Vector128<byte> DoubleXor(Vector128<byte> doubled, Vector128<byte> added) => Double(doubled) ^ added;

    /// <inheritdoc/>
    public static Vector128<byte> Repeat(Vector128<byte> table) => table;

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Vector128<byte> Multiply(Vector128<byte> value, Vector128<byte> lowProducts, Vector128<byte> highProducts)
    {
        Vector128<byte> half = Vector128.Create((byte)0x0F);
        return LookUp(lowProducts, value & half) ^ LookUp(highProducts, (value.AsUInt16() >>> 4).AsByte() & half);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static Vector128<byte> LookUp(Vector128<byte> table, Vector128<byte> indexes) =>
        AdvSimd.Arm64.IsSupported ? AdvSimd.Arm64.VectorTableLookup(table, indexes) : Ssse3.Shuffle(table, indexes);
}
