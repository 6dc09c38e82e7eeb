using System.Buffers.Binary;

namespace TierSpaces.Fuzz;

/// <summary>
/// Effects of an input on a pool's image. Byte 0 picks the image. Then 8 bytes a step: area and disks, which of the area's blocks (2),
/// offset in what the block uses (2), operation, value, flags. So any bytes are a script, and a script is small.
/// </summary>
internal static class ImageScript
{
    private const int StepBytes = 8;
    private const int BothDisks = 0x10;
    private const int SecondDisk = 0x08;
    private const int Reseals = 1;

    private static readonly long[] s_numbers =
    [
        0, 1, -1, 2, 3, 7, 15, 16, 255, 256, 4095, 4096, 65535, 65536, 1 << 20, 1 << 24, (1 << 24) + 1, int.MaxValue, int.MinValue, 1L << 32,
        1L << 40, 1L << 62, long.MaxValue, long.MinValue,
    ];

    /// <summary>The image a script begins with.</summary>
    internal static PoolImage ImageOf(byte[] script) => PoolImage.Both[script.Length > 0 ? script[0] & 1 : 0];

    /// <summary>Carries the steps out.</summary>
    internal static void Apply(byte[] script, PoolImage image, ImageDisk[] disks, MemoryState state)
    {
        bool reseals = false;
        for (int at = 1; at + StepBytes <= script.Length; at += StepBytes)
        {
            ReadOnlySpan<byte> step = script.AsSpan(at, StepBytes);
            reseals |= (step[7] & Reseals) != 0;
            Step(step, image, disks, state, out List<byte[]> changed);
            if (reseals && (ImageArea)(step[0] & 7) == ImageArea.Host)
            {
                changed.ForEach(static bytes => SealFile(bytes));
            }
        }

        for (int disk = 0; reseals && disk < disks.Length; disk++)
        {
            ImageSealing.Seal(image, disks[disk], disk);
        }
    }

    private static void Step(ReadOnlySpan<byte> step, PoolImage image, ImageDisk[] disks, MemoryState state, out List<byte[]> changed)
    {
        changed = [];
        int area = step[0] & 7, index = BinaryPrimitives.ReadUInt16LittleEndian(step[1..]);
        if ((ImageArea)area == ImageArea.Host)
        {
            byte[][] files = [.. state.Files.Values, .. state.Beginnings.Values];
            if (files.Length > 0)
            {
                changed.Add(files[index % files.Length]);
                Change(changed[0], files[(index + 1) % files.Length], step);
            }

            return;
        }

        for (int disk = 0; disk < disks.Length; disk++)
        {
            long[] blocks = image.Areas[area][disk];
            if (blocks.Length > 0 && ((step[0] & BothDisks) != 0 || disk == (step[0] & SecondDisk) / SecondDisk))
            {
                byte[] other = disks[disk].Own(blocks[(index + 1 + step[6]) % blocks.Length]);
                Change(disks[disk].Own(blocks[index % blocks.Length]), other, step);
            }
        }
    }

    private static void Change(byte[] block, byte[] other, ReadOnlySpan<byte> step)
    {
        int used = Math.Min(block.Length, block.AsSpan().LastIndexOfAnyExcept((byte)0) + 9);
        int offset = BinaryPrimitives.ReadUInt16LittleEndian(step[3..]) % Math.Max(1, used);
        byte value = step[6];
        Span<byte> at = block.AsSpan(offset);
        switch (step[5] % 9)
        {
            case 0:
                at[0] ^= (byte)(value | 1);
                break;
            case 1:
                at[0] = value;
                break;
            case 2 or 3 or 4:
                Span<byte> number = stackalloc byte[8];
                BinaryPrimitives.WriteInt64LittleEndian(number, s_numbers[value % s_numbers.Length]);
                number[..Math.Min(at.Length, 1 << ((step[5] % 9) - 1))].CopyTo(at);
                break;
            case 5:
                block.AsSpan().Clear();
                break;
            case 6:
                other.AsSpan(0, Math.Min(other.Length, block.Length)).CopyTo(block);
                break;
            case 7:
                int count = Math.Min(Math.Min(16, at.Length), Math.Max(0, other.Length - offset));
                other.AsSpan(Math.Min(offset, other.Length), count).CopyTo(at);
                break;
            default:
                at[0] += (byte)(sbyte)value;
                break;
        }
    }

    // The witness file is a block with the common header; memory has no checksum.
    private static void SealFile(byte[] bytes)
    {
        if (bytes.Length == ImageDisk.BlockSize && bytes.AsSpan().StartsWith("TSWN"u8))
        {
            Sealing.PoolBlock(bytes);
        }
    }
}
