using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;
using Arm = System.Runtime.Intrinsics.Arm;

namespace TierSpaces.Engine.Primitives;

/// <summary>
/// CRC-32C (Castagnoli, reflected polynomial 0x82F63B78, initial and final inversion), the checksum of every record and
/// every block. The processor has two units that can sum: its CRC instruction (a latency of three cycles, one result a cycle) and
/// carry-less multiplication, which folds 16 bytes into the next. A block of 4 KiB keeps both busy: its first part is folded in four
/// strands while three streams of the instruction take the rest, and all are joined at the end.
/// </summary>
public static class Crc32c
{
    private const uint Polynomial = 0x82F63B78;
    private const int Rounds = 29;                                  // of 64 folded bytes and 24 of each stream, balanced between the units
    private const int FoldedLength = 64 * (Rounds + 1);
    private const int StreamLength = 24 * (Rounds + 1);
    private const int Length = FoldedLength + (3 * StreamLength);   // 4080: what is left of a block is two words

    private static readonly uint[] s_table = MakeTable();
    private static readonly Vector128<ulong> s_overStrands = FoldBy(512);   // strand to strand's next
    private static readonly Vector128<ulong> s_overOne = FoldBy(128);       // strand to neighbour
    private static readonly ulong s_shiftOne = PowerOfX((StreamLength * 8) - 33);
    private static readonly ulong s_shiftTwo = PowerOfX((StreamLength * 16) - 33);
    private static readonly ulong s_shiftThree = PowerOfX((StreamLength * 24) - 33);

    /// <summary>Checksum of <paramref name="data"/>; <paramref name="seed"/> is the checksum of what came before it.</summary>
    public static uint Compute(ReadOnlySpan<byte> data, uint seed = 0)
    {
        uint crc = ~seed;
        if (Sse42.X64.IsSupported && Pclmulqdq.IsSupported)
        {
            while (data.Length >= Length)
            {
                crc = BothUnits(crc, ref MemoryMarshal.GetReference(data));
                data = data[Length..];
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

    private static uint BothUnits(uint crc, ref byte data)
    {
        ref byte stream = ref Unsafe.Add(ref data, FoldedLength);
        Vector128<ulong> over = s_overStrands;
        Vector128<ulong> x0 = Load(ref data, 0) ^ Vector128.CreateScalar((ulong)crc);
        Vector128<ulong> x1 = Load(ref data, 16), x2 = Load(ref data, 32), x3 = Load(ref data, 48);
        ulong a = 0, b = 0, c = 0;
        for (int i = 0; i < Rounds; i++)
        {
            data = ref Unsafe.Add(ref data, 64);
            x0 = Fold(x0, over, Load(ref data, 0));
            Step(ref stream, 0, ref a, ref b, ref c);
            x1 = Fold(x1, over, Load(ref data, 16));
            Step(ref stream, 8, ref a, ref b, ref c);
            x2 = Fold(x2, over, Load(ref data, 32));
            Step(ref stream, 16, ref a, ref b, ref c);
            x3 = Fold(x3, over, Load(ref data, 48));
            stream = ref Unsafe.Add(ref stream, 24);
        }

        Step(ref stream, 0, ref a, ref b, ref c);
        Step(ref stream, 8, ref a, ref b, ref c);
        Step(ref stream, 16, ref a, ref b, ref c);
        x0 = Fold(Fold(Fold(x0, s_overOne, x1), s_overOne, x2), s_overOne, x3);
        ulong folded = Sse42.X64.Crc32(Sse42.X64.Crc32(0, x0.ToScalar()), x0.GetElement(1));
        ulong joined = Product(folded, s_shiftThree) ^ Product(a, s_shiftTwo) ^ Product(b, s_shiftOne);
        return (uint)(Sse42.X64.Crc32(0, joined) ^ c);
    }

    private static Vector128<ulong> Load(ref byte data, int at) => Vector128.LoadUnsafe(ref data, (nuint)at).AsUInt64();

    private static Vector128<ulong> Fold(Vector128<ulong> strand, Vector128<ulong> over, Vector128<ulong> next) =>
        Pclmulqdq.CarrylessMultiply(strand, over, 0x00) ^ Pclmulqdq.CarrylessMultiply(strand, over, 0x11) ^ next;

    private static ulong Product(ulong crc, ulong power) =>
        Pclmulqdq.CarrylessMultiply(Vector128.CreateScalar(crc), Vector128.CreateScalar(power), 0).ToScalar();

    /// <summary>The next word of each stream.</summary>
    private static void Step(ref byte stream, int at, ref ulong a, ref ulong b, ref ulong c)
    {
        a = Sse42.X64.Crc32(a, Unsafe.ReadUnaligned<ulong>(ref Unsafe.Add(ref stream, at)));
        b = Sse42.X64.Crc32(b, Unsafe.ReadUnaligned<ulong>(ref Unsafe.Add(ref stream, at + StreamLength)));
        c = Sse42.X64.Crc32(c, Unsafe.ReadUnaligned<ulong>(ref Unsafe.Add(ref stream, at + (2 * StreamLength))));
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

    /// <summary>Factors that carry the two halves of a strand over a number of bits.</summary>
    private static Vector128<ulong> FoldBy(int bits) =>
        Vector128.Create((ulong)PowerOfX(bits + 32) << 1, (ulong)PowerOfX(bits - 32) << 1);

    /// <summary>x to a power, modulo the polynomial; reflected, as everything here.</summary>
    private static uint PowerOfX(int exponent)
    {
        uint power = 0x80000000;
        for (int i = 0; i < exponent; i++)
        {
            power = (power & 1) != 0 ? (power >> 1) ^ Polynomial : power >> 1;
        }

        return power;
    }

    private static uint[] MakeTable()
    {
        uint[] table = new uint[256];
        for (uint i = 0; i < 256; i++)
        {
            uint crc = i;
            for (int bit = 0; bit < 8; bit++)
            {
                crc = (crc & 1) != 0 ? (crc >> 1) ^ Polynomial : crc >> 1;
            }

            table[i] = crc;
        }

        return table;
    }
}
