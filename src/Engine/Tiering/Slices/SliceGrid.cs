namespace TierSpaces.Engine.Tiering;

/// <summary>Cuts addresses into slices of one size, a power of two.</summary>
/// <param name="size">Bytes of a slice.</param>
internal readonly struct SliceGrid(int size)
{
    private readonly int _shift = System.Numerics.BitOperations.Log2((uint)size);

    /// <summary>Bytes of a slice.</summary>
    internal int Size { get; } = size;

    /// <summary>Returns the slice that an address is in.</summary>
    internal int IndexOf(long offset) => (int)(offset >> _shift);

    /// <summary>Returns the first address of a slice.</summary>
    internal long StartOf(int slice) => (long)slice << _shift;

    /// <summary>Returns the first address behind a slice.</summary>
    internal long EndOf(int slice) => (slice + 1L) << _shift;

    /// <summary>Returns the distance of an address from the start of its slice.</summary>
    internal long Within(long offset) => offset & (Size - 1);

    /// <summary>Returns how many of the bytes from an address on are in the slice of that address.</summary>
    internal int LengthIn(long offset, int length) => (int)Math.Min(length, Size - Within(offset));
}
