using System.Runtime.Intrinsics;

namespace TierSpaces.Engine.Primitives;

/// <summary>
/// Operations of one width of vectors. The type is a parameter of <see cref="VectorKernel{TSet, TVector}"/>, so each call is one or a few instructions.
/// </summary>
internal unsafe interface IVectorSet<TVector>
    where TVector : struct
{
    /// <summary>Bytes of a vector.</summary>
    static abstract int Size { get; }

    /// <summary>Returns the vector at an address without alignment.</summary>
    static abstract TVector Load(byte* source);

    /// <summary>Writes a vector to an address without alignment.</summary>
    static abstract void Store(TVector value, byte* target);

    /// <summary>Returns the sum of two vectors.</summary>
    static abstract TVector Xor(TVector left, TVector right);

    /// <summary>Returns each byte times the generator.</summary>
    static abstract TVector Double(TVector value);

    /// <summary>Returns the sum of a doubled vector and another one.</summary>
    static abstract TVector DoubleXor(TVector doubled, TVector added);

    /// <summary>Returns a table of 16 bytes in each part of 16 bytes of a vector.</summary>
    static abstract TVector Repeat(Vector128<byte> table);

    /// <summary>Returns the products of all bytes with a factor, from the table of their low and the table of their high halves.</summary>
    static abstract TVector Multiply(TVector value, TVector lowProducts, TVector highProducts);
}
