using System.Runtime.CompilerServices;

namespace TierSpaces.Engine.Primitives;

/// <summary>
/// A stretch of unmanaged memory that I/O may target. A pointer and a length, no owner: whoever rented the memory
/// keeps it alive until every request on it has completed.
/// </summary>
public readonly unsafe struct IoBuffer
{
    /// <summary>A buffer over <paramref name="length"/> bytes at <paramref name="pointer"/>.</summary>
    public IoBuffer(byte* pointer, int length)
    {
        Pointer = pointer;
        Length = length;
    }

    /// <summary>First byte.</summary>
    public byte* Pointer { get; }

    /// <summary>Length in bytes.</summary>
    public int Length { get; }

    /// <summary>The bytes as a span.</summary>
    public Span<byte> Span => new(Pointer, Length);

    /// <summary>Whether the address is a multiple of <paramref name="alignment"/> (a power of two).</summary>
    public bool IsAligned(int alignment) => ((nuint)Pointer & (nuint)(alignment - 1)) == 0;

    /// <summary>Part of this buffer.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public IoBuffer Slice(int start, int length)
    {
        if ((uint)start > (uint)Length || (uint)length > (uint)(Length - start))
        {
            throw new ArgumentOutOfRangeException(nameof(start), $"Slice {start}+{length} of a buffer of {Length} bytes.");
        }

        return new IoBuffer(Pointer + start, length);
    }
}
