using System.Numerics;
using System.Runtime.CompilerServices;

namespace TierSpaces.Engine.Primitives;

/// <summary>
/// A stretch of unmanaged memory that I/O may target. A pointer and a length, no owner: the code that rented the memory
/// keeps it alive until every request on it has completed.
///
/// A striped buffer is every n-th strip of such a stretch: what a request over several columns has of one of them. Only member disks, and what is between
/// them and the code that made it, get one; it has no span.
/// </summary>
public readonly unsafe struct IoBuffer
{
    private readonly byte _stripShift;   // log2 of the bytes of a strip; 0: not striped
    private readonly ushort _round;      // distance of two strips, in strips

    /// <summary>A buffer over <paramref name="length"/> bytes at <paramref name="pointer"/>.</summary>
    public IoBuffer(byte* pointer, int length)
        : this(pointer, length, mayBeKept: false)
    {
    }

    private IoBuffer(byte* pointer, int length, bool mayBeKept, byte stripShift = 0, ushort round = 0)
    {
        Pointer = pointer;
        Length = length;
        MayBeKept = mayBeKept;
        _stripShift = stripShift;
        _round = round;
    }

    /// <summary>First byte.</summary>
    public byte* Pointer { get; }

    /// <summary>Length in bytes; of a striped buffer that of all strips together.</summary>
    public int Length { get; }

    /// <summary>Whether there is other memory between the strips of this buffer.</summary>
    public bool IsStriped => _stripShift != 0;

    /// <summary>Strips: stretches of memory, one for a buffer that is not striped.</summary>
    public int Strips => IsStriped ? Length >> _stripShift : 1;

    /// <summary>Bytes from the first one to the last one, other memory between the strips included.</summary>
    public int Extent => IsStriped ? Length + (((Strips - 1) * (_round - 1)) << _stripShift) : Length;

    /// <summary>
    /// Whether the memory may stay with a device that does not answer. The request may then end before the device releases the memory: the owner
    /// asks <see cref="BufferPool.Settle"/> where the data is, returns the memory to its pool and does not touch it again. The pool
    /// quarantines it until the device has released it. Without this such requests use memory that the disk rents.
    /// </summary>
    public bool MayBeKept { get; }

    /// <summary>The bytes as a span.</summary>
    /// <exception cref="InvalidOperationException">The buffer is striped.</exception>
    public Span<byte> Span => _stripShift == 0 ? new(Pointer, Length) : throw new InvalidOperationException("A striped buffer has no span.");

    /// <summary>Whether the address is a multiple of <paramref name="alignment"/> (a power of two).</summary>
    public bool IsAligned(int alignment) => ((nuint)Pointer & (nuint)(alignment - 1)) == 0;

    /// <summary>Part of this buffer; of a striped one it is within one strip.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public IoBuffer Slice(int start, int length)
    {
        if (IsStriped)
        {
            return SliceOfStrip(start, length);
        }

        if ((uint)start > (uint)Length || (uint)length > (uint)(Length - start))
        {
            throw new ArgumentOutOfRangeException(nameof(start), $"Slice {start}+{length} of a buffer of {Length} bytes.");
        }

        return new IoBuffer(Pointer + start, length, MayBeKept);
    }

    /// <summary>The same memory, rented from the lane's pool by an owner who keeps the rules of <see cref="MayBeKept"/>.</summary>
    public IoBuffer AllowKeeping() => new(Pointer, Length, mayBeKept: true, _stripShift, _round);

    /// <summary>The same memory, which a device must not access after the request has ended.</summary>
    public IoBuffer ForbidKeeping() => new(Pointer, Length, mayBeKept: false, _stripShift, _round);

    /// <summary>Every <paramref name="round"/>-th strip of a part of this buffer, which is not striped.</summary>
    /// <param name="start">First byte of the first strip.</param>
    /// <param name="strip">Bytes of a strip, a power of two.</param>
    /// <param name="round">Distance of two strips, in strips, at least 2.</param>
    /// <param name="length">Bytes of all strips, which end within this buffer.</param>
    internal IoBuffer Stripe(int start, int strip, int round, int length)
    {
        IoBuffer striped = new(Pointer + start, length, MayBeKept, (byte)BitOperations.Log2((uint)strip), checked((ushort)round));
        Invariant.That(!IsStriped && start >= 0 && round > 1 && striped.Strips << striped._stripShift == length && start + (long)striped.Extent <= Length,
            "A striped buffer has whole strips of a buffer that is not striped.");
        return striped;
    }

    /// <summary>Returns a strip.</summary>
    internal IoBuffer Strip(int index) => IsStriped ? Slice(index << _stripShift, 1 << _stripShift) : this;

    /// <summary>Zeroes all bytes.</summary>
    internal void Clear()
    {
        for (int i = 0; i < Strips; i++)
        {
            Strip(i).Span.Clear();
        }
    }

    /// <summary>Copies all bytes to a buffer that is at least as long; one of the two at most is striped.</summary>
    internal void CopyTo(IoBuffer target)
    {
        IoBuffer striped = IsStriped ? this : target;
        int length = IsStriped || target.IsStriped ? striped.Strip(0).Length : Length;
        for (int at = 0; at < Length; at += length)
        {
            Slice(at, length).Span.CopyTo(target.Slice(at, length).Span);
        }
    }

    private IoBuffer SliceOfStrip(int start, int length)
    {
        int within = start & ((1 << _stripShift) - 1);
        if ((uint)start >= (uint)Length || (uint)length > (uint)((1 << _stripShift) - within))
        {
            throw new ArgumentOutOfRangeException(nameof(start), $"Slice {start}+{length} of a striped buffer of {Length} bytes.");
        }

        return new IoBuffer(Pointer + ((long)(start >> _stripShift) * _round << _stripShift) + within, length, MayBeKept);
    }
}
