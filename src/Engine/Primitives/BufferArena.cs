using System.Runtime.InteropServices;

namespace TierSpaces.Engine.Primitives;

/// <summary>
/// Memory from the system for a pool: piece by piece, or carved from huge pages. A transfer from a huge page is one
/// contiguous stretch, which devices take whole: reading 1 MiB past the page cache is three times as fast as from single
/// pages, which a device takes in several commands.
/// </summary>
internal sealed unsafe class BufferArena(bool hugePages)
{
    private const int HugePage = 2 << 20;
    private const int SmallMax = 64 << 10;
    private const int AdviseHugePages = 14;   // MADV_HUGEPAGE

    private readonly List<(nint Address, int Size)> _all = [];
    private Action<nint, int>? _tell;
    private Chunk _small;    // buffers up to SmallMax, apart from larger ones so that neither wastes much by alignment
    private Chunk _large;

    private struct Chunk
    {
        internal byte* Next;
        internal int Left;
    }

    /// <summary>Bytes obtained from the system so far.</summary>
    internal long BytesReserved { get; private set; }

    /// <summary>Zero-filled memory of <paramref name="size"/> bytes, a power of two and the alignment of its address if that is less than a huge page.</summary>
    internal byte* Take(int size)
    {
        if (!hugePages || size >= HugePage)
        {
            return FromSystem(size, hugePages ? HugePage : BufferPool.Alignment);
        }

        return Carve(ref size <= SmallMax ? ref _small : ref _large, size);
    }

    /// <summary>Tells of every stretch obtained from the system, also of those to come.</summary>
    internal void OnMemory(Action<nint, int> tell)
    {
        _all.ForEach(stretch => tell(stretch.Address, stretch.Size));
        _tell = tell;
    }

    internal void Free()
    {
        foreach ((nint memory, _) in _all)
        {
            NativeMemory.AlignedFree((void*)memory);
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
            chunk = new Chunk { Next = FromSystem(HugePage, HugePage), Left = HugePage };
            start = chunk.Next;
            used = size;
        }

        chunk.Next += used;
        chunk.Left -= used;
        return start;
    }

    private byte* FromSystem(int size, int alignment)
    {
        void* memory = NativeMemory.AlignedAlloc((nuint)size, (nuint)alignment);
        if (alignment == HugePage)
        {
            _ = Advise(memory, (nuint)size, AdviseHugePages);   // where there are none, ordinary pages do
        }

        NativeMemory.Clear(memory, (nuint)size);
        BytesReserved += size;
        _all.Add(((nint)memory, size));
        _tell?.Invoke((nint)memory, size);
        return (byte*)memory;
    }

    [DllImport("libc", EntryPoint = "madvise")]
    private static extern int Advise(void* address, nuint length, int advice);
}
