using System.Runtime.CompilerServices;

namespace TierSpaces.Engine.Primitives;

/// <summary>
/// A stretch of unmanaged memory that I/O may target. A pointer and a length, no owner: the code that rented the memory
/// keeps it alive until every request on it has completed.
/// </summary>
public readonly unsafe struct IoBuffer
{
    /// <summary>A buffer over <paramref name="length"/> bytes at <paramref name="pointer"/>.</summary>
    public IoBuffer(byte* pointer, int length)
        : this(pointer, length, mayBeKept: false)
    {
    }

    private IoBuffer(byte* pointer, int length, bool mayBeKept)
    {
        Pointer = pointer;
        Length = length;
        MayBeKept = mayBeKept;
    }

    /// <summary>First byte.</summary>
    public byte* Pointer { get; }

    /// <summary>Length in bytes.</summary>
    public int Length { get; }

    /// <summary>
    /// Whether the memory may stay with a device that does not answer. The request may then end before the device releases the memory: the owner
    /// asks <see cref="BufferPool.Settle"/> where the data is, returns the memory to its pool and does not touch it again. The pool
    /// quarantines it until the device has released it. Without this such requests use memory that the disk rents.
    /// </summary>
    public bool MayBeKept { get; }

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

        return new IoBuffer(Pointer + start, length, MayBeKept);
    }

    /// <summary>The same memory, rented from the lane's pool by an owner who keeps the rules of <see cref="MayBeKept"/>.</summary>
    public IoBuffer AllowKeeping() => new(Pointer, Length, mayBeKept: true);

    /// <summary>The same memory, which a device must not access after the request has ended.</summary>
    public IoBuffer ForbidKeeping() => new(Pointer, Length, mayBeKept: false);
}
