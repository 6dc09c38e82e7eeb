using System.Runtime.InteropServices;

namespace TierSpaces.Engine.Primitives;

/// <summary>Source of the memory that the buffers of a <see cref="BufferPool"/> are made of, a stretch at a time.</summary>
internal unsafe interface IMemorySource
{
    /// <summary>
    /// Bytes of a stretch from which smaller buffers are carved, a power of two and its own alignment; 0 gives every buffer a stretch of its own.
    /// </summary>
    int Stretch { get; }

    /// <summary>Memory of any content, aligned to the larger of <see cref="BufferPool.Alignment"/> and <see cref="Stretch"/>.</summary>
    byte* Take(int size);

    /// <summary>Takes back what <see cref="Take"/> gave, at its full size.</summary>
    void GiveBack(byte* memory, int size);
}

/// <summary>Memory of the process's heap, a buffer at a time.</summary>
internal sealed unsafe class HeapMemory : IMemorySource
{
    internal static readonly HeapMemory Instance = new();

    private HeapMemory()
    {
    }

    /// <inheritdoc/>
    public int Stretch => 0;

    /// <inheritdoc/>
    public byte* Take(int size) => (byte*)NativeMemory.AlignedAlloc((nuint)size, BufferPool.Alignment);

    /// <inheritdoc/>
    public void GiveBack(byte* memory, int size) => NativeMemory.AlignedFree(memory);
}
