using System.Runtime.InteropServices;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Fuzz;

/// <summary>Bytes in memory that does not move, as a mapped file is.</summary>
internal static unsafe class NativeCopy
{
    /// <summary>Calls with a copy of the bytes.</summary>
    internal static T Use<T>(byte[] bytes, Func<IoBuffer, T> use)
    {
        void* memory = NativeMemory.AlignedAlloc((nuint)bytes.Length, 4096);
        try
        {
            IoBuffer buffer = new((byte*)memory, bytes.Length);
            bytes.CopyTo(buffer.Span);
            return use(buffer);
        }
        finally
        {
            NativeMemory.AlignedFree(memory);
        }
    }
}
