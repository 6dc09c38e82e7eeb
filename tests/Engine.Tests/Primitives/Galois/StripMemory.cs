using System.Runtime.InteropServices;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Primitives;

/// <summary>Strips in unmanaged memory at addresses without alignment, with guard bytes before and after each.</summary>
internal sealed unsafe class StripMemory(Random random) : IDisposable
{
    private const byte Guard = 0xA5;
    private const int GuardLength = 64;

    private readonly List<(nint Block, int Length, int Start, int Used)> _blocks = [];

    public void Dispose()
    {
        foreach ((nint block, _, _, _) in _blocks)
        {
            NativeMemory.Free((void*)block);
        }
    }

    /// <summary>Returns a strip of random bytes.</summary>
    internal IoBuffer Random(int length)
    {
        int start = GuardLength + random.Next(GuardLength), whole = start + length + GuardLength;
        byte* block = (byte*)NativeMemory.Alloc((nuint)whole);
        new Span<byte>(block, whole).Fill(Guard);
        _blocks.Add(((nint)block, whole, start, length));
        IoBuffer strip = new(block + start, length);
        random.NextBytes(strip.Span);
        return strip;
    }

    /// <summary>Returns a copy of a strip elsewhere; a default buffer of a default one.</summary>
    internal IoBuffer Copy(IoBuffer strip)
    {
        if (strip.Pointer == null)
        {
            return default;
        }

        IoBuffer copy = Random(strip.Length);
        strip.Span.CopyTo(copy.Span);
        return copy;
    }

    /// <summary>Fails if a byte beside a strip has changed.</summary>
    internal void CheckGuards()
    {
        foreach ((nint block, int length, int start, int used) in _blocks)
        {
            Assert.False(new Span<byte>((void*)block, start).ContainsAnyExcept(Guard));
            Assert.False(new Span<byte>((byte*)block + start + used, length - start - used).ContainsAnyExcept(Guard));
        }
    }
}
