using System.Buffers.Binary;
using System.Numerics;

namespace TierSpaces.Fuzz;

/// <summary>
/// Makes inputs of valid ones. First in order: every offset of every seed gets every interesting number in every width. Then at random:
/// one to eight changes at once, of the same kind or others.
/// </summary>
internal sealed class Mutator(FuzzTarget target, Random random)
{
    private const int LargestSwept = 640;

    private static readonly long[] s_numbers =
    [
        0, 1, -1, 2, 7, 16, 127, 128, 255, 256, 511, 512, 4040, 4096, 32767, 32768, 65535, 65536, int.MaxValue, int.MinValue, uint.MaxValue,
        1L << 32, 1L << 62, long.MaxValue, long.MinValue,
    ];

    private readonly List<byte[]> _seeds = [.. target.Seeds];
    private long _swept;
    private bool _isSwept;

    /// <summary>Seeds now, those found included.</summary>
    internal int SeedCount => _seeds.Count;

    /// <summary>Keeps an input to go on from.</summary>
    internal void Keep(byte[] input) => _seeds.Add(input);

    /// <summary>The next input.</summary>
    /// <param name="sweeps">Whether the inputs in order are to be had, as long as there are any.</param>
    internal byte[] Next(bool sweeps)
    {
        byte[]? input = sweeps && !_isSwept ? Sweep() : null;
        input ??= Mutate();
        if (target.Reseal is { } reseal && random.Next(2) == 0)
        {
            reseal(input);
        }

        return input;
    }

    /// <summary>Number i of the sweep: seed, offset, width, number and order of bytes are the digits of i.</summary>
    private byte[]? Sweep()
    {
        long rest = _swept++;
        foreach (byte[] seed in target.Seeds)
        {
            int length = Math.Min(seed.Length, LargestSwept);
            long each = (long)length * s_numbers.Length * 4;
            if (rest >= each)
            {
                rest -= each;
                continue;
            }

            byte[] input = (byte[])seed.Clone();
            Put(input, (int)(rest % length), 1 << (int)(rest / length % 4), s_numbers[rest / length / 4], isBig: target.Words.Count > 0 || random.Next(4) == 0);
            return input;
        }

        _isSwept = true;
        return null;
    }

    private byte[] Mutate()
    {
        byte[] input = (byte[])Pick().Clone();
        for (int changes = 1 + (random.Next(3) == 0 ? random.Next(8) : 0); changes > 0; changes--)
        {
            input = Change(input);
        }

        return input;
    }

    private byte[] Pick() => _seeds[random.Next(2) == 0 ? random.Next(target.Seeds.Count) : random.Next(_seeds.Count)];

    private byte[] Change(byte[] input)
    {
        if (input.Length == 0)
        {
            return target.IsFixedLength ? input : [(byte)random.Next(256)];
        }

        int at = Offset(input);
        switch (random.Next(target.IsFixedLength ? 7 : target.Words.Count > 0 ? 14 : 12))
        {
            case 0 or 1:
                input[at] ^= (byte)(1 << random.Next(8));
                return input;
            case 2:
                input[at] = (byte)random.Next(256);
                return input;
            case 3:
                Put(input, at, 1 << random.Next(4), s_numbers[random.Next(s_numbers.Length)], random.Next(2) == 0);
                return input;
            case 4:
                Nudge(input, at);
                return input;
            case 5:
                Copy(Pick(), input, at);
                return input;
            case 6:
                Copy((byte[])input.Clone(), input, at);
                return input;
            case 7:
                return input[..at];
            case 8:
                return Bounded([.. input, .. Noise(random.Next(1, 64))]);
            case 9:
                int end = Math.Min(input.Length, at + random.Next(1, 32));
                return [.. input[..at], .. input[end..]];
            case 10:
                byte[] other = Pick();
                return Bounded([.. input[..at], .. other.AsSpan(other.Length == 0 ? 0 : random.Next(other.Length))]);
            case 11:
                int stop = Math.Min(input.Length, at + random.Next(1, 64));
                return Bounded([.. input[..stop], .. input[at..]]);
            default:
                byte[] word = target.Words[random.Next(target.Words.Count)];
                return Bounded([.. input[..at], .. word, .. input[(random.Next(2) == 0 ? at : Math.Min(input.Length, at + word.Length))..]]);
        }
    }

    private byte[] Bounded(byte[] input) => input.Length <= target.MaxLength ? input : input[..target.MaxLength];

    /// <summary>Returns an offset: seven times of eight among the meaningful bytes, which end shortly after the last that is not zero.</summary>
    private int Offset(byte[] input)
    {
        int used = input.AsSpan().LastIndexOfAnyExcept((byte)0) + 9;
        return random.Next(random.Next(8) == 0 ? input.Length : Math.Min(input.Length, used));
    }

    private byte[] Noise(int count)
    {
        byte[] noise = new byte[count];
        if (random.Next(3) > 0)
        {
            random.NextBytes(noise);
        }

        return noise;
    }

    private void Copy(byte[] from, byte[] to, int at)
    {
        if (from.Length > 0)
        {
            int start = random.Next(from.Length);
            int count = Math.Min(random.Next(1, 33), Math.Min(from.Length - start, to.Length - at));
            from.AsSpan(start, count).CopyTo(to.AsSpan(at));
        }
    }

    /// <summary>Changes the number at an offset: one to sixteen more or less, doubled, or replaced by about the remaining length of the input.</summary>
    private void Nudge(byte[] input, int at)
    {
        int width = 1 << random.Next(4);
        bool isBig = random.Next(2) == 0;
        Span<byte> whole = stackalloc byte[8];
        input.AsSpan(at, Math.Min(width, input.Length - at)).CopyTo(whole);
        long value = isBig ? BinaryPrimitives.ReadInt64BigEndian(whole) >> (64 - (8 * width)) : BinaryPrimitives.ReadInt64LittleEndian(whole);
        value = random.Next(4) switch
        {
            0 => value + random.Next(1, 17),
            1 => value - random.Next(1, 17),
            2 => (long)BitOperations.RotateLeft((ulong)value, 1),
            _ => input.Length - at + random.Next(-9, 10),
        };
        Put(input, at, width, value, isBig);
    }

    private static void Put(byte[] input, int at, int width, long value, bool isBig)
    {
        Span<byte> bytes = stackalloc byte[8];
        if (isBig)
        {
            BinaryPrimitives.WriteInt64BigEndian(bytes, value);
            bytes = bytes[(8 - width)..];
        }
        else
        {
            BinaryPrimitives.WriteInt64LittleEndian(bytes, value);
            bytes = bytes[..width];
        }

        bytes[..Math.Min(width, input.Length - at)].CopyTo(input.AsSpan(at));
    }
}
