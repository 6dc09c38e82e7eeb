using System.Numerics;
using System.Runtime.InteropServices;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Verification;

/// <summary>
/// Memory that one simulated world leaves to the next of the same thread: a world lives for milliseconds, and fresh pages from
/// the kernel would cost more than all that happens in it.
/// </summary>
internal sealed unsafe class RecycledMemory : IMemorySource
{
    internal static readonly RecycledMemory Instance = new();

    private const long KeptMax = 256 << 20;   // bytes a thread; what comes beyond goes back to the heap

    [ThreadStatic]
    private static Stack<nint>[]? t_kept;     // by the logarithm of their size

    [ThreadStatic]
    private static long t_keptBytes;

    private RecycledMemory()
    {
    }

    /// <inheritdoc/>
    public int Stretch => 1 << 20;

    private static Stack<nint>[] Kept => t_kept ??= [.. Enumerable.Range(0, 32).Select(_ => new Stack<nint>())];

    /// <inheritdoc/>
    public byte* Take(int size)
    {
        if (!Kept[BitOperations.Log2((uint)size)].TryPop(out nint memory))
        {
            return (byte*)NativeMemory.AlignedAlloc((nuint)size, (nuint)Stretch);
        }

        t_keptBytes -= size;
        return (byte*)memory;
    }

    /// <inheritdoc/>
    public void GiveBack(byte* memory, int size)
    {
        if (t_keptBytes + size > KeptMax)
        {
            NativeMemory.AlignedFree(memory);
            return;
        }

        t_keptBytes += size;
        Kept[BitOperations.Log2((uint)size)].Push((nint)memory);
    }
}
