using System.Buffers.Binary;
using System.Numerics;
using System.Runtime.CompilerServices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tiering;

// Recent use of each slice of a virtual disk: requests, each counting half after a half-life, half of that after another.
//
// A request counts by its size: up to 64 KiB 1, up to 256 KiB 1.25, up to 1 MiB 1.5, above that its MiB, at least 1.5. This is about what
// a rotating disk spends on it: most of a small request is finding the place. One that continues a sequential stream, which such
// a disk serves well, counts its MiB and no more, so a scan leaves 1 on a slice of 1 MiB whatever the size of its requests; a stream is known
// from its 4th request and its 256th KiB on. Reads and writes count the same. A request over several slices is divided by bytes.
//
// Nothing runs as time passes. The stored value is heat × 2^(time since the base ÷ half-life): a later request is added with a larger
// scale, and to look at a slice is to divide by the scale of now. After 64 half-lives everything is divided once and the base is now.
//
// Invariants
//  1. Stored values are finite and not negative. The scale lies between 1 and 2^64 and belongs to a time at most 1/4096 half-life ago.
//  2. A page exists exactly if one of its slices has been touched since it was last seen to be empty; a slice without one has no heat.
//  3. Requests are added rounded at random to the two nearest values that can be stored, fairly: a slice of 100 million hits still grows by one
//     on average when it is hit.
//
// A value is stored in three bytes: a float without its sign and its last seven bits, so with a mantissa of 16 bits. After many hits
// rounding at random makes a slice deviate by about a quarter of a percent.
//
// It belongs to the lane of its virtual disk.

/// <summary>
/// Heat of the slices of a virtual disk: 3 bytes each, in pages of 512 slices that exist where something was touched. Heat is in requests:
/// 1 is one small request just now. Recording allocates nothing but a page when one is touched for the first time.
/// </summary>
public sealed class HeatMap
{
    /// <summary>Slices of a page.</summary>
    public const int PageSlices = 1 << PageBits;

    /// <summary>Largest number of slices.</summary>
    public const long MaxSlices = 1L << 36;

    /// <summary>Half-lives after which stored values are divided.</summary>
    internal const int RenormalizeAfter = 64;

    private const int PageBits = 9;
    private const int Quanta = 4096;
    private const double SmallestKept = 1e-30;
    private const int Stored = 3;
    private const int DroppedFloatBits = 7;                                  // of a float's mantissa
    private const long DroppedDoubleBits = (1L << (29 + DroppedFloatBits)) - 1;   // of a double's: a float has 29 less

    private readonly int _shift;
    private long _quantumNs;
    private HeatStreams _streams;
    private byte[]?[] _pages;
    private bool _hasBegun;
    private long _baseNs;
    private long _nextNs = long.MinValue;   // when the scale is computed again
    private double _scale = 1;
    private ulong _random = 0x9E3779B97F4A7C15;

    /// <summary>A map without heat.</summary>
    /// <param name="settings">Size of slices and half-life.</param>
    /// <param name="slices">Slices of the virtual disk, 0 to <see cref="MaxSlices"/>.</param>
    /// <exception cref="ArgumentOutOfRangeException">A setting or the number of slices is out of its range.</exception>
    public HeatMap(HeatSettings settings, long slices)
    {
        if (!settings.IsPossible)
        {
            throw new ArgumentOutOfRangeException(nameof(settings), settings, "Slices of 256 KiB to 16 MiB, a power of two; half-lives of 1 s to 365 days.");
        }

        Settings = settings;
        Slices = CheckedSlices(slices, 0);
        _shift = BitOperations.Log2((uint)settings.SliceBytes);
        _quantumNs = settings.HalfLifeNs / Quanta;
        _streams = new HeatStreams(slices << _shift);
        _pages = new byte[]?[PagesFor(slices)];
    }

    /// <summary>Settings by which the map counts.</summary>
    public HeatSettings Settings { get; private set; }

    /// <summary>Slices of the virtual disk.</summary>
    public long Slices { get; private set; }

    /// <summary>Pages that exist.</summary>
    public long TouchedPages { get; private set; }

    /// <summary>Number of times that another map has replaced its contents.</summary>
    internal int Generation { get; private set; }

    /// <summary>Requests counted by this map since it was made or read.</summary>
    internal long Recorded { get; private set; }

    /// <summary>Returns the weight of a request that continues no stream.</summary>
    /// <param name="length">Its bytes.</param>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static double WeightOf(int length) => length switch
    {
        <= 64 << 10 => 1,
        <= 256 << 10 => 1.25,
        _ => Math.Max(1.5, length * (1.0 / (1 << 20))),
    };

    /// <summary>Counts a request.</summary>
    /// <param name="offset">First byte, within the virtual disk.</param>
    /// <param name="length">Bytes; none are not counted.</param>
    /// <param name="isWrite">Whether it is a write; says which streams it may continue.</param>
    /// <param name="nowNs">Time of the lane. One before the last counts as the last.</param>
    /// <exception cref="ArgumentOutOfRangeException">It is not within the virtual disk.</exception>
    public void Record(long offset, int length, bool isWrite, long nowNs)
    {
        if (length <= 0)
        {
            return;
        }

        long first = offset >> _shift;
        long last = (offset + length - 1) >> _shift;
        if ((ulong)first >= (ulong)Slices || last >= Slices)
        {
            throw new ArgumentOutOfRangeException(
                nameof(offset), offset, $"{ByteText.Exact(length)} there are not within {Slices} slices of {ByteText.Exact(Settings.SliceBytes)}.");
        }

        if (nowNs >= _nextNs)
        {
            Advance(nowNs);
        }

        Recorded++;
        double weight = WeightOf(length);
        if (_streams.Continues(offset, length, isWrite))
        {
            weight = Math.Min(weight, length * (1.0 / (1 << 20)));
        }

        if (first == last)
        {
            Add(first, weight * _scale);
        }
        else
        {
            Divide(offset, length, weight * _scale / length);
        }
    }

    /// <summary>Heat of a slice, in requests; 0 for one that was never touched or is not there.</summary>
    public double Heat(long slice, long nowNs) => StoredOf(slice) / ScaleAt(nowNs);

    /// <summary>Heat of all slices, in requests.</summary>
    public double Total(long nowNs)
    {
        double sum = 0;
        foreach (byte[] page in _pages.OfType<byte[]>())
        {
            for (int i = 0; i < PageSlices; i++)
            {
                sum += Load(page, i);
            }
        }

        return sum / ScaleAt(nowNs);
    }

    /// <summary>
    /// Copies the heats of slices from a first one on, so that code off the lane can read them. Fast, but a lane should not be kept busy for long:
    /// copy a large disk piece by piece.
    /// </summary>
    /// <param name="heats">Buffer for the heats; those of slices that are not there are 0.</param>
    /// <param name="first">The first slice, 0 or more.</param>
    /// <param name="nowNs">Time of the lane.</param>
    public void CopyTo(Span<float> heats, long first, long nowNs)
    {
        float left = (float)(1 / ScaleAt(nowNs));
        while (heats.Length > 0)
        {
            int within = (int)(first & (PageSlices - 1));
            int count = Math.Min(heats.Length, PageSlices - within);
            heats[..count].Clear();
            if (first < Slices && _pages[first >> PageBits] is { } page)
            {
                for (int i = 0; i < count; i++)
                {
                    heats[i] = Math.Min(Load(page, within + i) * left, HeatSnapshot.HeatMax);
                }
            }

            heats = heats[count..];
            first += count;
        }
    }

    /// <summary>Makes room for more slices; those that are there keep their heat.</summary>
    /// <exception cref="ArgumentOutOfRangeException">Fewer slices than now, or more than <see cref="MaxSlices"/>.</exception>
    public void Grow(long slices)
    {
        Slices = CheckedSlices(slices, Slices);
        Array.Resize(ref _pages, PagesFor(slices));
        HeatStreams streams = new(slices << _shift);
        _streams = streams.Slots > _streams.Slots ? streams : _streams;   // those under way are found again soon
    }

    /// <summary>Slices with heat and their heat, ascending. May be gone through while requests are recorded, a piece at a time.</summary>
    public IEnumerable<(long Slice, double Heat)> Touched(long nowNs)
    {
        for (long page = 0; page < _pages.Length; page++)
        {
            for (int i = 0; i < PageSlices && _pages[page] is { } heats; i++)
            {
                if (Load(heats, i) is > 0 and float stored)
                {
                    yield return ((page << PageBits) + i, stored / ScaleAt(nowNs));
                }
            }
        }
    }

    /// <summary>
    /// The heat that one small request has left after a time: what is below has not been touched by such a request for that long. The
    /// reverse does not hold: a slice that was very hot before takes longer to get there.
    /// </summary>
    /// <param name="untouchedNs">Time in nanoseconds, 0 or more.</param>
    public double ColdBelow(long untouchedNs) => double.Exp2(-(double)Math.Max(0, untouchedNs) / Settings.HalfLifeNs);

    /// <summary>The first slice from this one on whose page exists; <see cref="Slices"/> when none is.</summary>
    internal long NextTouched(long slice)
    {
        for (long page = slice >> PageBits; page < _pages.Length; page++)
        {
            if (_pages[page] is not null)
            {
                return Math.Max(slice, page << PageBits);
            }
        }

        return Slices;
    }

    /// <summary>Adds heat that was saved. Slices that were equally hot are so again: this sum is not rounded at random.</summary>
    internal void Restore(long slice, double heat, long nowNs)
    {
        Advance(nowNs);
        byte[] page = _pages[slice >> PageBits] ?? Touch(slice >> PageBits);
        Store(page, slice, Load(page, slice) + (Math.Min(heat, HeatSnapshot.HeatMax) * _scale));
    }

    /// <summary>Changes the half-life from now on. Heat is a rate times the half-life: counted heat is scaled and represents the same load.</summary>
    internal void SetHalfLife(long halfLifeNs, long nowNs)
    {
        HeatMap after = new(Settings with { HalfLifeNs = halfLifeNs }, Slices);
        foreach ((long slice, double heat) in Touched(nowNs))
        {
            after.Restore(slice, heat * halfLifeNs / Settings.HalfLifeNs, nowNs);
        }

        Take(after);
    }

    /// <summary>Takes all heat of another map in place of its own; that one is not to be used any more.</summary>
    /// <exception cref="ArgumentException">It is of slices of another size or of another number of slices.</exception>
    internal void Take(HeatMap other)
    {
        if (other.Settings.SliceBytes != Settings.SliceBytes || other.Slices != Slices)
        {
            throw new ArgumentException($"A map of {other.Slices} slices, {other.Settings}, in place of one of {Slices} slices, {Settings}.", nameof(other));
        }

        Generation++;
        (Settings, _quantumNs) = (other.Settings, other._quantumNs);
        (_pages, TouchedPages) = (other._pages, other.TouchedPages);
        (_hasBegun, _baseNs, _nextNs, _scale) = (other._hasBegun, other._baseNs, other._nextNs, other._scale);
    }

    private static long CheckedSlices(long slices, long least) => slices >= least && slices <= MaxSlices
        ? slices
        : throw new ArgumentOutOfRangeException(nameof(slices), slices, $"{least} to {MaxSlices} slices.");

    private static int PagesFor(long slices) => (int)((slices + PageSlices - 1) >> PageBits);

    private double StoredOf(long slice) =>
        (ulong)slice < (ulong)Slices && _pages[slice >> PageBits] is { } page ? Load(page, slice) : 0;

    private double ScaleAt(long nowNs) => _hasBegun ? double.Exp2(Math.Max(0, (double)nowNs - _baseNs) / Settings.HalfLifeNs) : 1;

    private void Divide(long offset, int length, double perByte)
    {
        for (long end = offset + length; offset < end;)
        {
            long slice = offset >> _shift;
            long until = Math.Min(end, (slice + 1) << _shift);
            Add(slice, (until - offset) * perByte);
            offset = until;
        }
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void Add(long slice, double stored)
    {
        byte[] page = _pages[slice >> PageBits] ?? Touch(slice >> PageBits);
        _random = (_random * 6364136223846793005) + 1442695040888963407;
        StoreDown(page, slice, Load(page, slice) + stored, (long)(_random >> 28) & DroppedDoubleBits);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static float Load(byte[] page, long slice)
    {
        ReadOnlySpan<byte> at = page.AsSpan((int)(slice & (PageSlices - 1)) * Stored, Stored);
        return BitConverter.Int32BitsToSingle((BinaryPrimitives.ReadUInt16LittleEndian(at) | (at[2] << 16)) << DroppedFloatBits);
    }

    /// <summary>Stores the nearest value that can be stored.</summary>
    private static void Store(byte[] page, long slice, double value) => StoreDown(page, slice, value, (DroppedDoubleBits + 1) / 2);

    /// <summary>Stores a value with so much added to its last bits, cut off.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static void StoreDown(byte[] page, long slice, double value, long added)
    {
        float cut = (float)BitConverter.Int64BitsToDouble((BitConverter.DoubleToInt64Bits(value) + added) & ~DroppedDoubleBits);
        int bits = BitConverter.SingleToInt32Bits(cut) >> DroppedFloatBits;
        Span<byte> at = page.AsSpan((int)(slice & (PageSlices - 1)) * Stored, Stored);
        BinaryPrimitives.WriteUInt16LittleEndian(at, (ushort)bits);
        at[2] = (byte)(bits >> 16);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private byte[] Touch(long page)
    {
        TouchedPages++;
        return _pages[page] = new byte[PageSlices * Stored];
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void Advance(long nowNs)
    {
        if (!_hasBegun)
        {
            _hasBegun = true;
            _baseNs = nowNs;
        }

        if ((double)nowNs - _baseNs > (double)RenormalizeAfter * Settings.HalfLifeNs)
        {
            Renormalize(nowNs);
        }

        _scale = ScaleAt(nowNs);
        _nextNs = Math.Max(_nextNs, nowNs + _quantumNs);
    }

    private void Renormalize(long nowNs)
    {
        double scale = ScaleAt(nowNs);
        for (int i = 0; i < _pages.Length; i++)
        {
            if (_pages[i] is { } page && !AnyLeft(page, scale))
            {
                _pages[i] = null;
                TouchedPages--;
            }
        }

        _baseNs = nowNs;
    }

    // So small a float begins to lose bits: it is nothing.
    private static bool AnyLeft(byte[] page, double scale)
    {
        bool any = false;
        for (int i = 0; i < PageSlices; i++)
        {
            double heat = Load(page, i) / scale;
            bool isLeft = heat >= SmallestKept;
            Store(page, i, isLeft ? heat : 0);
            any |= isLeft;
        }

        return any;
    }
}
