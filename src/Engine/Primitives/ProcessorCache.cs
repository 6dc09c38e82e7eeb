using System.Runtime.CompilerServices;
using System.Runtime.Intrinsics.X86;

namespace TierSpaces.Engine.Primitives;

/// <summary>Hints to the processor about memory that is used soon.</summary>
internal static class ProcessorCache
{
    /// <summary>
    /// Prefetches the cache line of a place. Does not wait. If the garbage collector moves the place meanwhile, another line is prefetched.
    /// </summary>
    internal static unsafe void Prefetch<T>(ref readonly T place)
        where T : unmanaged
    {
        if (Sse.IsSupported)
        {
            Sse.Prefetch0(Unsafe.AsPointer(ref Unsafe.AsRef(in place)));
        }
    }
}
