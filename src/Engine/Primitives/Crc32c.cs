using System.Buffers.Binary;
using System.Diagnostics;
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
/// strands while three streams of the instruction take the rest, and all are joined at the end. The share of each unit depends on the processor,
/// since some multiply at half the rate of others: two mixes race once.
/// </summary>
public static class Crc32c
{
    private const uint Polynomial = 0x82F63B78;
    private const int FoldedPerRound = 64;

    private static readonly uint[] s_table = MakeTable();
    private static readonly Vector128<ulong> s_overStrands = FoldBy(512);   // strand to strand's next
    private static readonly Vector128<ulong> s_overOne = FoldBy(128);       // strand to neighbour

    /// <summary>Share of a stretch that the streams take.</summary>
    private interface IMix
    {
        /// <summary>Rounds of 64 folded bytes.</summary>
        static abstract int Rounds { get; }

        /// <summary>Words that each stream takes in a round: 3, or 6 when they take twice as much.</summary>
        static abstract bool IsDouble { get; }

        /// <summary>Words of each stream behind the rounds.</summary>
        static abstract int LastWords { get; }
    }

    /// <summary>Whether this processor can do it both ways.</summary>
    internal static bool HasBothUnits => Sse42.X64.IsSupported && Pclmulqdq.IsSupported;

    /// <summary>Checksum of <paramref name="data"/>; <paramref name="seed"/> is the checksum of what came before it.</summary>
    public static uint Compute(ReadOnlySpan<byte> data, uint seed = 0) =>
        HasBothUnits ? ComputeMixed(data, seed, Race.FavoursStreams) : ~OneStream(~seed, data);

    /// <summary>
    /// Checksums of four pieces of one length that follow each other, in the time of one: a stream each. The length of <paramref name="data"/> is a
    /// multiple of 32 bytes.
    /// </summary>
    internal static void ComputeFour(ReadOnlySpan<byte> data, Span<uint> sums)
    {
        Invariant.That(data.Length % 32 == 0, "Four pieces of one length are of whole words.");
        int length = data.Length / 4;
        if (!Sse42.X64.IsSupported)
        {
            for (int i = 0; i < 4; i++)
            {
                sums[i] = Compute(data.Slice(i * length, length));
            }

            return;
        }

        ref byte word = ref MemoryMarshal.GetReference(data);
        ulong a = uint.MaxValue, b = uint.MaxValue, c = uint.MaxValue, d = uint.MaxValue;
        for (int i = 0; i < length; i += 8)
        {
            d = Sse42.X64.Crc32(d, Unsafe.ReadUnaligned<ulong>(ref Unsafe.Add(ref word, 3 * length)));
            word = ref Step(ref word, length, ref a, ref b, ref c);
        }

        (sums[0], sums[1], sums[2], sums[3]) = (~(uint)a, ~(uint)b, ~(uint)c, ~(uint)d);
    }

    /// <summary>The same as <see cref="Compute"/> by table, for machines without the instruction and as the reference in tests.</summary>
    internal static uint ComputePortable(ReadOnlySpan<byte> data, uint seed = 0)
    {
        uint crc = ~seed;
        foreach (byte value in data)
        {
            crc = s_table[(byte)(crc ^ value)] ^ (crc >> 8);
        }

        return ~crc;
    }

    /// <summary>The same with one of the mixes.</summary>
    internal static uint ComputeMixed(ReadOnlySpan<byte> data, uint seed, bool favoursStreams)
    {
        uint crc = favoursStreams ? Stretches<Streams>(~seed, ref data) : Stretches<Even>(~seed, ref data);
        return ~OneStream(crc, data);
    }

    /// <summary>Sums whole stretches and takes them off the data.</summary>
    private static uint Stretches<TMix>(uint crc, ref ReadOnlySpan<byte> data)
        where TMix : struct, IMix
    {
        for (; data.Length >= Of<TMix>.Length; data = data[Of<TMix>.Length..])
        {
            crc = Stretch<TMix>(crc, ref MemoryMarshal.GetReference(data));
        }

        return crc;
    }

    [MethodImpl(MethodImplOptions.AggressiveOptimization)]   // the race is run before anything has been called often
    private static uint Stretch<TMix>(uint crc, ref byte data)
        where TMix : struct, IMix
    {
        int words = TMix.IsDouble ? 6 : 3;
        int length = 8 * ((words * TMix.Rounds) + TMix.LastWords);
        ref byte stream = ref Unsafe.Add(ref data, FoldedPerRound * (TMix.Rounds + 1));
        Vector128<ulong> over = s_overStrands;
        Vector128<ulong> x0 = Load(ref data, 0) ^ Vector128.CreateScalar((ulong)crc);
        Vector128<ulong> x1 = Load(ref data, 16), x2 = Load(ref data, 32), x3 = Load(ref data, 48);
        ulong a = 0, b = 0, c = 0;
        for (int i = 0; i < TMix.Rounds; i++)
        {
            data = ref Unsafe.Add(ref data, FoldedPerRound);
            x0 = Fold(x0, over, Load(ref data, 0));
            stream = ref Step(ref stream, length, ref a, ref b, ref c);
            if (TMix.IsDouble)
            {
                stream = ref Step(ref stream, length, ref a, ref b, ref c);
            }

            x1 = Fold(x1, over, Load(ref data, 16));
            stream = ref Step(ref stream, length, ref a, ref b, ref c);
            x2 = Fold(x2, over, Load(ref data, 32));
            stream = ref Step(ref stream, length, ref a, ref b, ref c);
            if (TMix.IsDouble)
            {
                stream = ref Step(ref stream, length, ref a, ref b, ref c);
            }

            x3 = Fold(x3, over, Load(ref data, 48));
            if (TMix.IsDouble)
            {
                stream = ref Step(ref stream, length, ref a, ref b, ref c);
            }
        }

        for (int i = 0; i < TMix.LastWords; i++)
        {
            stream = ref Step(ref stream, length, ref a, ref b, ref c);
        }

        x0 = Fold(Fold(Fold(x0, s_overOne, x1), s_overOne, x2), s_overOne, x3);
        ulong folded = Sse42.X64.Crc32(Sse42.X64.Crc32(0, x0.ToScalar()), x0.GetElement(1));
        ulong joined = Product(folded, Of<TMix>.ShiftThree) ^ Product(a, Of<TMix>.ShiftTwo) ^ Product(b, Of<TMix>.ShiftOne);
        return (uint)(Sse42.X64.Crc32(0, joined) ^ c);
    }

    private static Vector128<ulong> Load(ref byte data, int at) => Vector128.LoadUnsafe(ref data, (nuint)at).AsUInt64();

    private static Vector128<ulong> Fold(Vector128<ulong> strand, Vector128<ulong> over, Vector128<ulong> next) =>
        Pclmulqdq.CarrylessMultiply(strand, over, 0x00) ^ Pclmulqdq.CarrylessMultiply(strand, over, 0x11) ^ next;

    private static ulong Product(ulong crc, ulong power) =>
        Pclmulqdq.CarrylessMultiply(Vector128.CreateScalar(crc), Vector128.CreateScalar(power), 0).ToScalar();

    /// <summary>Takes a word of each stream of that length, and gives the place of the next.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static ref byte Step(ref byte stream, int length, scoped ref ulong a, scoped ref ulong b, scoped ref ulong c)
    {
        a = Sse42.X64.Crc32(a, Unsafe.ReadUnaligned<ulong>(ref stream));
        b = Sse42.X64.Crc32(b, Unsafe.ReadUnaligned<ulong>(ref Unsafe.Add(ref stream, length)));
        c = Sse42.X64.Crc32(c, Unsafe.ReadUnaligned<ulong>(ref Unsafe.Add(ref stream, 2 * length)));
        return ref Unsafe.Add(ref stream, 8);
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

    /// <summary>Half and half, for processors that multiply once a cycle.</summary>
    private readonly struct Even : IMix
    {
        public static int Rounds => 29;

        public static bool IsDouble => false;

        public static int LastWords => 3;
    }

    /// <summary>The streams take two thirds, for processors that multiply every other cycle.</summary>
    private readonly struct Streams : IMix
    {
        public static int Rounds => 18;

        public static bool IsDouble => true;

        public static int LastWords => 12;
    }

    /// <summary>Figures of a mix.</summary>
    private static class Of<TMix>
        where TMix : struct, IMix
    {
        private static readonly int s_stream = 8 * (((TMix.IsDouble ? 6 : 3) * TMix.Rounds) + TMix.LastWords);

        internal static readonly int Length = (FoldedPerRound * (TMix.Rounds + 1)) + (3 * s_stream);   // a block of 4 KiB, or two words less
        internal static readonly ulong ShiftOne = PowerOfX((s_stream * 8) - 33);
        internal static readonly ulong ShiftTwo = PowerOfX((s_stream * 16) - 33);
        internal static readonly ulong ShiftThree = PowerOfX((s_stream * 24) - 33);
    }

    /// <summary>
    /// Measures which mix is the faster one on this processor. This takes some microseconds, once, besides the time to compile both. Both give the
    /// same sum, so nothing else depends on the result.
    /// </summary>
    private static class Race
    {
        private const int Blocks = 16;
        private const int Heats = 8;

        internal static readonly bool FavoursStreams = Best<Streams>() < Best<Even>();

        private static long Best<TMix>()
            where TMix : struct, IMix
        {
            RuntimeHelpers.RunClassConstructor(typeof(Crc32c).TypeHandle);   // then what is compiled now takes its tables for granted
            byte[] block = new byte[Of<TMix>.Length];
            long best = long.MaxValue;
            for (int heat = 0; heat < Heats; heat++)
            {
                long start = Stopwatch.GetTimestamp();
                uint crc = 0;
                for (int i = 0; i < Blocks; i++)
                {
                    crc = Stretch<TMix>(crc, ref block[0]);
                }

                best = Math.Min(best, Stopwatch.GetTimestamp() - start);
            }

            return best;
        }
    }
}
