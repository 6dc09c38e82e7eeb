using System.Runtime.InteropServices;

namespace TierSpaces.Engine.Primitives;

/// <summary>The memory of a pool: stretches of its source, handed out whole or carved into smaller pieces.</summary>
internal sealed unsafe class BufferArena(IMemorySource source)
{
    private const int SmallMax = 64 << 10;

    private readonly List<(nint Address, int Size)> _all = [];
    private Action<nint, int>? _tell;
    private Chunk _small;    // pieces up to SmallMax, apart from larger ones so that neither wastes much by alignment
    private Chunk _large;

    private struct Chunk
    {
        internal byte* Next;
        internal int Left;
    }

    /// <summary>Bytes obtained from the source so far.</summary>
    internal long BytesReserved { get; private set; }

    /// <summary>Zero-filled memory of <paramref name="size"/> bytes, a power of two and the alignment of its address if that is less than a stretch.</summary>
    internal byte* Take(int size)
    {
        byte* memory = size >= source.Stretch ? FromSource(size) : Carve(ref size <= SmallMax ? ref _small : ref _large, size);
        NativeMemory.Clear(memory, (nuint)size);
        return memory;
    }

    /// <summary>Tells of every stretch obtained from the source, also of those to come.</summary>
    internal void OnMemory(Action<nint, int> tell)
    {
        _all.ForEach(stretch => tell(stretch.Address, stretch.Size));
        _tell += tell;
    }

    internal void Free()
    {
        foreach ((nint memory, int size) in _all)
        {
            source.GiveBack((byte*)memory, size);
        }

        _all.Clear();
        _small = default;
        _large = default;
    }

    private byte* Carve(ref Chunk chunk, int size)
    {
        byte* start = (byte*)(((nuint)chunk.Next + (nuint)size - 1) & ~((nuint)size - 1));
        int used = (int)(start - chunk.Next) + size;
        if (used > chunk.Left)
        {
            chunk = new Chunk { Next = FromSource(source.Stretch), Left = source.Stretch };
            start = chunk.Next;
            used = size;
        }

        chunk.Next += used;
        chunk.Left -= used;
        return start;
    }

    private byte* FromSource(int size)
    {
        byte* memory = source.Take(size);
        BytesReserved += size;
        _all.Add(((nint)memory, size));
        _tell?.Invoke((nint)memory, size);
        return memory;
    }
}
