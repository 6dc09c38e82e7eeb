using System.Numerics;
using System.Runtime.InteropServices;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Verification;

// Memory that one simulated world leaves to the next of the same thread: a world lives for milliseconds, and fresh pages from the kernel
// would cost more than all that happens in it.
//
// Invariants
//  1. Memory is kept only between Keep and the end of its scope; the last scope of a thread gives all of it back.
//  2. A thread keeps at most KeptMax bytes.

/// <summary>Memory for the buffers of simulated worlds.</summary>
internal sealed unsafe class RecycledMemory : IMemorySource
{
    internal static readonly RecycledMemory Instance = new();

    private const long KeptMax = 64 << 20;

    [ThreadStatic]
    private static Stack<nint>[]? s_kept;     // by the logarithm of their size

    [ThreadStatic]
    private static int s_scopes;

    private RecycledMemory()
    {
    }

    /// <summary>Bytes that this thread keeps now.</summary>
    [field: ThreadStatic]
    internal static long KeptBytes { get; private set; }

    /// <inheritdoc/>
    public int Stretch => 1 << 20;

    private static Stack<nint>[] Kept => s_kept ??= [.. Enumerable.Range(0, 32).Select(static _ => new Stack<nint>())];

    /// <summary>Keeps the memory of worlds that end on this thread for the next ones, until the scope is disposed of on the same thread.</summary>
    public static Scope Keep()
    {
        s_scopes++;
        return default;
    }

    /// <inheritdoc/>
    public byte* Take(int size)
    {
        if (!Kept[BitOperations.Log2((uint)size)].TryPop(out nint memory))
        {
            return (byte*)NativeMemory.AlignedAlloc((nuint)size, (nuint)Stretch);
        }

        KeptBytes -= size;
        return (byte*)memory;
    }

    /// <inheritdoc/>
    public void GiveBack(byte* memory, int size)
    {
        if (s_scopes == 0 || KeptBytes + size > KeptMax)
        {
            NativeMemory.AlignedFree(memory);
            return;
        }

        KeptBytes += size;
        Kept[BitOperations.Log2((uint)size)].Push((nint)memory);
    }

    private static void EndScope()
    {
        if (--s_scopes > 0)
        {
            return;
        }

        foreach (Stack<nint> kept in Kept)
        {
            while (kept.TryPop(out nint memory))
            {
                NativeMemory.AlignedFree((void*)memory);
            }
        }

        KeptBytes = 0;
    }

    /// <summary>The time in which a thread keeps memory.</summary>
    internal readonly struct Scope : IDisposable
    {
        /// <inheritdoc/>
        public void Dispose() => EndScope();
    }
}
