using System.Buffers.Binary;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics.X86;
using Arm = System.Runtime.Intrinsics.Arm;

namespace TierSpaces.Engine.Primitives;

/// <summary>
/// CRC-32C (Castagnoli, reflected polynomial 0x82F63B78, initial and final inversion), the checksum of every record and
/// every block. The processor's instruction has a latency of three cycles and a throughput of one, so a 4 KiB block is
/// summed as three streams that are joined by carry-less multiplication tables.
/// </summary>
public static class Crc32c
{
    // Three streams of 1360 bytes and a tail of 16 make a block of 4096.
    private const int StreamLength = 1360;

    private static readonly uint[] s_table = MakeTable();
    private static readonly uint[] s_shiftOne = MakeShift(StreamLength);
    private static readonly uint[] s_shiftTwo = MakeShift(StreamLength * 2);

    /// <summary>Checksum of <paramref name="data"/>; <paramref name="seed"/> is the checksum of what came before it.</summary>
    public static uint Compute(ReadOnlySpan<byte> data, uint seed = 0)
    {
        uint crc = ~seed;
        if (Sse42.X64.IsSupported)
        {
            while (data.Length >= StreamLength * 3)
            {
                crc = ThreeStreams(crc, data);
                data = data[(StreamLength * 3)..];
            }
        }

        return ~OneStream(crc, data);
    }

    /// <summary>The same by table, for machines without the instruction and as the reference in tests.</summary>
    internal static uint ComputePortable(ReadOnlySpan<byte> data, uint seed = 0)
    {
        uint crc = ~seed;
        foreach (byte value in data)
        {
            crc = s_table[(byte)(crc ^ value)] ^ (crc >> 8);
        }

        return ~crc;
    }

    private static uint ThreeStreams(uint crc, ReadOnlySpan<byte> data)
    {
        ref ulong first = ref MemoryMarshal.GetReference(MemoryMarshal.Cast<byte, ulong>(data));
        ulong a = crc, b = 0, c = 0;
        const int Words = StreamLength / 8;
        for (int i = 0; i < Words; i++)
        {
            a = Sse42.X64.Crc32(a, System.Runtime.CompilerServices.Unsafe.Add(ref first, i));
            b = Sse42.X64.Crc32(b, System.Runtime.CompilerServices.Unsafe.Add(ref first, i + Words));
            c = Sse42.X64.Crc32(c, System.Runtime.CompilerServices.Unsafe.Add(ref first, i + (2 * Words)));
        }

        return Shift(s_shiftTwo, (uint)a) ^ Shift(s_shiftOne, (uint)b) ^ (uint)c;
    }

    private static uint OneStream(uint crc, ReadOnlySpan<byte> data)
    {
        if (Sse42.X64.IsSupported)
        {
            ulong wide = crc;
            for (; data.Length >= 8; data = data[8..])
            {
                wide = Sse42.X64.Crc32(wide, BinaryPrimitives.ReadUInt64LittleEndian(data));
            }

            crc = (uint)wide;
        }
        else if (Arm.Crc32.Arm64.IsSupported)
        {
            for (; data.Length >= 8; data = data[8..])
            {
                crc = Arm.Crc32.Arm64.ComputeCrc32C(crc, BinaryPrimitives.ReadUInt64LittleEndian(data));
            }
        }

        foreach (byte value in data)
        {
            crc = s_table[(byte)(crc ^ value)] ^ (crc >> 8);
        }

        return crc;
    }

    // Appending n zero bytes is linear over GF(2): four tables of 256, one per byte of the checksum.
    private static uint Shift(uint[] table, uint crc) =>
        table[crc & 0xFF] ^ table[256 + ((crc >> 8) & 0xFF)] ^ table[512 + ((crc >> 16) & 0xFF)] ^ table[768 + (crc >> 24)];

    private static uint[] MakeShift(int zeros)
    {
        uint[] table = new uint[1024];
        Span<uint> ofBit = stackalloc uint[32];
        for (int bit = 0; bit < 32; bit++)
        {
            uint crc = 1u << bit;
            for (int i = 0; i < zeros; i++)
            {
                crc = s_table[(byte)crc] ^ (crc >> 8);
            }

            ofBit[bit] = crc;
        }

        for (int i = 0; i < 1024; i++)
        {
            for (int bit = 0; bit < 8; bit++)
            {
                table[i] ^= ((i >> bit) & 1) != 0 ? ofBit[(i / 256 * 8) + bit] : 0;
            }
        }

        return table;
    }

    private static uint[] MakeTable()
    {
        uint[] table = new uint[256];
        for (uint i = 0; i < 256; i++)
        {
            uint crc = i;
            for (int bit = 0; bit < 8; bit++)
            {
                crc = (crc & 1) != 0 ? (crc >> 1) ^ 0x82F63B78 : crc >> 1;
            }

            table[i] = crc;
        }

        return table;
    }
}
