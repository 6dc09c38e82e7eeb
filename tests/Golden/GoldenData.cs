using System.Buffers.Binary;

namespace TierSpaces.Golden;

/// <summary>Contents of golden pools: they follow from a seed and a place, differ in every block and compress well.</summary>
internal static class GoldenData
{
    private const int Period = 16;   // bytes after which a block repeats
    private const int Unit = 4096;    // bytes that have contents of their own: one block

    /// <summary>Bytes of a seed at a place.</summary>
    public static void Fill(ulong seed, long offset, Span<byte> target)
    {
        target.Clear();
        Span<byte> period = stackalloc byte[Period];
        for (int at = 0; seed != 0 && at < target.Length; at += Period)
        {
            ulong block = (ulong)((offset + at) / Unit);
            BinaryPrimitives.WriteUInt64LittleEndian(period, Mixed(seed));
            BinaryPrimitives.WriteUInt64LittleEndian(period[8..], Mixed((seed << 32) ^ (block + 1)));
            period.CopyTo(target[at..]);
        }
    }

    /// <summary>Content of a virtual disk after the writes.</summary>
    public static byte[] After(IEnumerable<GoldenWrite> writes, string disk, long size)
    {
        byte[] content = new byte[size];
        foreach (GoldenWrite write in writes.Where(write => write.Disk == disk))
        {
            Fill(write.Seed, write.Offset, content.AsSpan((int)write.Offset, write.Length));
        }

        return content;
    }

    // SplitMix64: the same numbers for ever, whatever the runtime's generator does.
    private static ulong Mixed(ulong value)
    {
        value += 0x9E3779B97F4A7C15;
        value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9;
        value = (value ^ (value >> 27)) * 0x94D049BB133111EB;
        return value ^ (value >> 31);
    }
}
