using System.Numerics;

namespace TierSpaces.Engine.Primitives;

/// <summary>
/// Page-aligned unmanaged buffers of one lane, in power-of-two classes from 4 KiB to 32 MiB. Used by one thread; never
/// shrinks below what the load once needed, and its bound is the bound on requests in flight above it. Memory that a device
/// may still reach into is not handed out: see <see cref="KeptBuffers"/>.
/// </summary>
public sealed unsafe class BufferPool : IDisposable
{
    /// <summary>Alignment of every buffer, in bytes.</summary>
    public const int Alignment = 4096;

    /// <summary>Largest buffer, in bytes.</summary>
    public const int LargestBuffer = 32 << 20;

    private readonly Stack<nint>[] _free = new Stack<nint>[BitOperations.Log2(LargestBuffer / Alignment) + 1];
    private readonly BufferArena _arena;
    private readonly KeptBuffers _kept;

    /// <summary>A pool whose memory is taken from the process's heap, a buffer at a time.</summary>
    public BufferPool()
        : this(HeapMemory.Instance)
    {
    }

    /// <summary>A pool with the memory of <paramref name="source"/>.</summary>
    internal BufferPool(IMemorySource source)
    {
        _arena = new BufferArena(source);
        _kept = new KeptBuffers(this);
    }

    /// <summary>Bytes obtained from the system so far.</summary>
    public long BytesReserved => _arena.BytesReserved;

    /// <summary>Buffers handed out and not returned.</summary>
    public int Outstanding { get; private set; }

    /// <summary>Returned buffers in quarantine until a device releases them.</summary>
    public int Waiting => _kept.Waiting;

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
        if (_kept.Any && _kept.IsKept((nint)buffer.Pointer, Alignment << index))
        {
            _kept.Wait((nint)buffer.Pointer, index);
            return;
        }

        Free((nint)buffer.Pointer, index);
    }

    /// <summary>Quarantines memory that a device still uses although its request has ended.</summary>
    public void Keep(IoBuffer memory) => _kept.Keep(memory);

    /// <summary>Releases memory that <see cref="Keep"/> has quarantined: the device has answered.</summary>
    public void LetGo(IoBuffer memory) => _kept.LetGo(memory);

    /// <summary>Whether a device may still access this memory.</summary>
    public bool IsKept(IoBuffer memory) => _kept.Any && _kept.IsKept((nint)memory.Pointer, memory.Extent);

    /// <summary>
    /// Records that the data of a read into <paramref name="asked"/>, which is in quarantine, is in <paramref name="answer"/>: a rented buffer of the
    /// same length that the pool takes over until <see cref="Settle"/>.
    /// </summary>
    public void Displace(IoBuffer asked, IoBuffer answer) => _kept.Displace(asked, answer);

    /// <summary>The same for a read into <paramref name="answer"/> that may have failed: then the buffer goes back to the pool.</summary>
    /// <returns><paramref name="error"/>.</returns>
    public IoError Displace(IoBuffer asked, IoBuffer answer, IoError error)
    {
        if (error == IoError.None)
        {
            Displace(asked, answer);
        }
        else
        {
            Return(answer);
        }

        return error;
    }

    /// <summary>
    /// Returns the buffer that holds the data of a read into <paramref name="target"/>: this buffer itself, or one that replaces it. The caller owns
    /// the result instead of <paramref name="target"/>, the whole of what it rented.
    /// </summary>
    public IoBuffer Settle(IoBuffer target) => _kept.Settle(target);

    /// <summary>Memory of a class is free.</summary>
    internal void Free(nint pointer, int index) => (_free[index] ??= new()).Push(pointer);

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
