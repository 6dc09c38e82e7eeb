using System.Numerics;

namespace TierSpaces.Engine.Primitives;

/// <summary>
/// Page-aligned unmanaged buffers of one lane, in power-of-two classes from 4 KiB to 32 MiB. Used by one thread; never
/// shrinks below what the load once needed, and its bound is the bound on requests in flight above it. Memory that a device
/// may still reach into is given to nobody: see BufferPool.Kept.cs.
/// </summary>
public sealed unsafe partial class BufferPool : IDisposable
{
    /// <summary>Alignment of every buffer, in bytes.</summary>
    public const int Alignment = 4096;

    /// <summary>Largest buffer, in bytes.</summary>
    public const int LargestBuffer = 32 << 20;

    private readonly Stack<nint>[] _free = new Stack<nint>[BitOperations.Log2(LargestBuffer / Alignment) + 1];
    private readonly BufferArena _arena;

    /// <summary>A pool whose memory is taken from the process's heap, a buffer at a time.</summary>
    public BufferPool()
        : this(HeapMemory.Instance)
    {
    }

    /// <summary>A pool with the memory of <paramref name="source"/>.</summary>
    internal BufferPool(IMemorySource source) => _arena = new BufferArena(source);

    /// <summary>Bytes obtained from the system so far.</summary>
    public long BytesReserved => _arena.BytesReserved;

    /// <summary>Buffers handed out and not returned.</summary>
    public int Outstanding { get; private set; }

    /// <summary>A buffer of exactly <paramref name="length"/> visible bytes; its contents are unspecified.</summary>
    /// <exception cref="ArgumentOutOfRangeException">Length is not within 1 byte to 32 MiB.</exception>
    public IoBuffer Rent(int length)
    {
        int index = ClassOf(length);
        Outstanding++;
        if (_free[index] is { Count: > 0 } stack)
        {
            return new IoBuffer((byte*)stack.Pop(), length);
        }

        return new IoBuffer(_arena.Take(Alignment << index), length);
    }

    /// <summary>Gives a buffer back. It must be the one that was rented, at its full length.</summary>
    public void Return(IoBuffer buffer)
    {
        Outstanding--;
        int index = ClassOf(buffer.Length);
        if (_kept.Count > 0 && IsKept((nint)buffer.Pointer, Alignment << index))
        {
            _waiting.Add(((nint)buffer.Pointer, index));
            return;
        }

        (_free[index] ??= new()).Push((nint)buffer.Pointer);
    }

    /// <summary>Tells of every stretch of memory that this pool has from the system: what is there, and what comes.</summary>
    internal void OnMemory(Action<nint, int> tell) => _arena.OnMemory(tell);

    /// <inheritdoc/>
    public void Dispose()
    {
        _arena.Free();
        Array.Clear(_free);
    }

    private static int ClassOf(int length)
    {
        if (length is < 1 or > LargestBuffer)
        {
            throw new ArgumentOutOfRangeException(nameof(length), length, $"A buffer is 1 to {LargestBuffer} bytes long.");
        }

        return length <= Alignment ? 0 : BitOperations.Log2((uint)(length - 1) / Alignment) + 1;
    }
}
