using System.Runtime.InteropServices;

namespace TierSpaces.PowerCuts;

/// <summary>Content of a sector of 512 bytes: the number of the write, the device, the sector, and bytes that follow from them. Number 0 is zeros.</summary>
internal static class SectorPattern
{
    internal const int Size = 512;

    internal static void Fill(Span<byte> sector, int device, long index, ulong number)
    {
        Span<ulong> words = MemoryMarshal.Cast<byte, ulong>(sector);
        words.Clear();
        if (number == 0)
        {
            return;
        }

        ulong place = ((ulong)device << 48) | (ulong)index;
        (words[0], words[1]) = (number, place);
        ulong state = number ^ (place * 0x9E3779B97F4A7C15);
        for (int i = 2; i < words.Length; i++)
        {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            words[i] = state;
        }
    }

    /// <summary>Number of the write that a sector claims to be of.</summary>
    internal static ulong NumberOf(ReadOnlySpan<byte> sector) => MemoryMarshal.Read<ulong>(sector);
}
