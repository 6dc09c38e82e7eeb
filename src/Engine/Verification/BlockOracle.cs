using System.Runtime.InteropServices;

namespace TierSpaces.Engine.Verification;

/// <summary>
/// Model of the answers that a store may give. Every 512-byte sector carries the number of the write that produced it. Per sector the oracle keeps
/// the value that is durable and every later one that was issued. After a power cut a sector holds one of them, after a crash of the process the last
/// acknowledged one or one that was in flight. The value that is read first then stays.
/// </summary>
public sealed class BlockOracle
{
    private const int Sector = 512;

    private static readonly Issued[] s_blank = [default];
    private static readonly List<uint> s_none = [];

    // Durable value first, then every later one issued, in order of issue; clones share the inner arrays, which never change.
    private readonly Issued[][] _allowed;
    private readonly uint[] _acknowledged;      // last acknowledged value
    private readonly HashSet<long> _lost = [];    // sectors whose contents a sick disk and a crash together may have made anything
    private readonly List<(long First, int Count, uint Value)> _inFlight = [];
    private readonly List<ReadBeside> _reads = [];
    private readonly Dictionary<long, List<uint>> _rejected;   // by sector: requests that failed may have been carried out there all the same
    private long _issues;                       // requests issued so far
    private readonly bool[] _isUncertain;       // sectors that were neither read nor written since a power cut: what was acknowledged may be gone
    private Issued[]?[]? _afterKill;          // stricter: what a crash of the process alone may leave; dropped at a power cut

    /// <summary>A store of zeros.</summary>
    public BlockOracle(long length)
    {
        _rejected = [];
        _acknowledged = new uint[length / Sector];
        _isUncertain = new bool[_acknowledged.Length];
        _allowed = new Issued[_acknowledged.Length][];
        Array.Fill(_allowed, s_blank);
    }

    private BlockOracle(BlockOracle other)
    {
        _acknowledged = (uint[])other._acknowledged.Clone();
        _allowed = (Issued[][])other._allowed.Clone();
        _isUncertain = (bool[])other._isUncertain.Clone();
        _inFlight = [.. other._inFlight];
        _rejected = other._rejected.ToDictionary(pair => pair.Key, pair => new List<uint>(pair.Value));
        _afterKill = (Issued[]?[]?)other._afterKill?.Clone();
        _issues = other._issues;
        _lost = [.. other._lost];
        StripeBytes = other.StripeBytes;
        GathersStripes = other.GathersStripes;
        MissesDisk = other.MissesDisk;
        HasSickDisk = other.HasSickDisk;
        MayBeTorn = other.MayBeTorn;
    }

    /// <summary>
    /// Whether one disk corrupts data, loses writes or lies about flushes. Flushed data, and data read while serving, must be right all the same.
    /// Only a write that no flush covers may then be lost in a crash, of the process too, or come back as other bytes.
    /// </summary>
    public bool HasSickDisk { get; set; }

    /// <summary>
    /// Bytes of data of a stripe of parity; 0 without parity. A block of a stripe that was written whole and not flushed may be lost in a crash together with
    /// a disk: it reads as old, new or an error then.
    /// </summary>
    public int StripeBytes { get; init; }

    /// <summary>Whether writes under way at the same time that make up a whole stripe may be written as one, as by a write cache.</summary>
    public bool GathersStripes { get; init; }

    /// <summary>Whether a disk was missing, or missed writes, at one of the openings since the crash.</summary>
    public bool MissesDisk { get; set; }

    /// <summary>Whether the disks have lost their power and the machine has not: a block with unflushed writes may be an error.</summary>
    public bool MayBeTorn { get; private set; }

    /// <summary>An independent copy.</summary>
    public BlockOracle Clone() => new(this);

    /// <summary>Contents of a sector with a value; value 0 is zeros.</summary>
    public static void Fill(Span<byte> sector, uint value, long index)
    {
        sector.Clear();
        if (value != 0)
        {
            for (int at = 0; at + 16 <= sector.Length; at += 16)
            {
                BitConverter.TryWriteBytes(sector[at..], value);
                BitConverter.TryWriteBytes(sector[(at + 4)..], (uint)index);
                BitConverter.TryWriteBytes(sector[(at + 8)..], (ulong)value * 0x9E3779B97F4A7C15 ^ (ulong)(index + at));
            }
        }
    }

    /// <summary>Contents of a range that one write covers.</summary>
    public static void Fill(Span<byte> data, long offset, uint value)
    {
        for (int at = 0; at < data.Length; at += Sector)
        {
            Fill(data.Slice(at, Sector), value, (offset + at) / Sector);
        }
    }

    /// <summary>A write (or with value 0 an unmap) is issued.</summary>
    public void Issue(long offset, long length, uint value)
    {
        _inFlight.Add((offset / Sector, (int)(length / Sector), value));
        _reads.ForEach(read => read.Others.Add((offset / Sector, (int)(length / Sector), value)));
        _issues++;
        for (long i = offset / Sector; i < (offset + length) / Sector; i++)
        {
            _allowed[i] = [.. _allowed[i], new Issued(value, _issues, value != 0 && IsInWholeStripe(i, offset, length))];
        }

        if (GathersStripes && StripeBytes > 0 && value != 0)
        {
            IssueGathered(offset / StripeBytes);
            IssueGathered((offset + length - 1) / StripeBytes);
        }
    }

    /// <summary>It was acknowledged, or refused: then both old and new remain possible.</summary>
    public void Complete(long offset, long length, uint value, bool acknowledged)
    {
        _inFlight.Remove((offset / Sector, (int)(length / Sector), value));
        for (long i = offset / Sector; i < (offset + length) / Sector; i++)
        {
            if (acknowledged)
            {
                _acknowledged[i] = value;
                _isUncertain[i] = false;
                _rejected.Remove(i);
                _lost.Remove(i);
            }
            else if (_rejected.TryGetValue(i, out List<uint>? others))
            {
                others.Add(value);
            }
            else
            {
                _rejected[i] = [value];
            }
        }
    }

    /// <summary>Returns the values that a flush submitted now will make durable.</summary>
    public (uint[] Values, long Issues) BeginFlush() => ((uint[])_acknowledged.Clone(), _issues);

    /// <summary>
    /// Records that the flush was acknowledged: of the values issued before it, the last acknowledged one remains; later ones stay
    /// possible.
    /// </summary>
    public void EndFlush((uint[] Values, long Issues) begun, List<(long First, int Count, uint Value)> inFlightAtBegin)
    {
        List<Issued> kept = [];
        HashSet<(long Sector, uint Value)> single = [];   // those that were refused: they may be many
        single.UnionWith(inFlightAtBegin.Where(static request => request.Count == 1).Select(static request => (request.First, request.Value)));
        List<(long First, int Count, uint Value)> ranges = inFlightAtBegin.FindAll(static request => request.Count > 1);
        for (int i = 0; i < _allowed.Length; i++)
        {
            Issued[] values = _allowed[i];
            kept.Clear();
            if (_isUncertain[i])
            {
                continue;   // an acknowledged value may be gone: the flush makes none of them final
            }

            for (int k = 0; k < values.Length; k++)
            {
                if (values[k].Issue > begun.Issues || single.Contains((i, values[k].Value)) || WasInFlight(ranges, i, values[k].Value))
                {
                    kept.Add(values[k]);
                }
                else if (values[k].Value == begun.Values[i])
                {
                    RemoveOlder(kept, values[k].Value, begun.Issues);
                    kept.Insert(0, values[k]);
                }
            }

            if (!CollectionsMarshal.AsSpan(kept).SequenceEqual(values))
            {
                _allowed[i] = [.. kept];
            }
        }
    }

    /// <summary>A write with FUA was acknowledged: nothing older remains possible.</summary>
    public void Harden(long offset, long length, uint value)
    {
        for (long i = offset / Sector; i < (offset + length) / Sector; i++)
        {
            _allowed[i] = _allowed[i][Math.Max(0, Array.FindLastIndex(_allowed[i], issued => issued.Value == value))..];
        }
    }

    /// <summary>Requests that may or may not have been carried out: under way, or refused.</summary>
    public List<(long First, int Count, uint Value)> InFlight() =>
        [.. _inFlight, .. _rejected.SelectMany(sector => sector.Value.Select(value => (sector.Key, 1, value)))];

    /// <summary>Restricts to what a crash of the process alone may leave.</summary>
    public void ProcessCrash()
    {
        if (HasSickDisk)
        {
            PowerCut();
            return;
        }

        _afterKill = new Issued[_allowed.Length][];
        List<Issued> kept = [];
        for (int i = 0; i < _allowed.Length; i++)
        {
            kept.Clear();
            kept.Add(new Issued(_acknowledged[i], 0));
            foreach ((long first, int count, uint value) in _inFlight)
            {
                if (i >= first && i < first + count)
                {
                    kept.Add(new Issued(value, 0));
                }
            }

            kept.AddRange((_rejected.GetValueOrDefault(i) ?? s_none).Select(static value => new Issued(value, 0)));
            _afterKill[i] = _isUncertain[i] ? null : [.. kept];
        }

        _inFlight.Clear();
    }

    /// <summary>A power cut: what was not read since the last stop may be anything not yet durable.</summary>
    /// <param name="ofDisksAlone">
    /// Whether the machine went on. Then recovery knows what was written, and gives nothing else: a block that a disk has torn may be an error.
    /// </param>
    public void PowerCut(bool ofDisksAlone = false)
    {
        _afterKill = null;
        Array.Fill(_isUncertain, true);
        _inFlight.Clear();
        MayBeTorn |= ofDisksAlone;
    }

    /// <summary>After a crash: what is read must be allowed, and then is the only value allowed. Returns what is wrong, or null.</summary>
    public string? Observe(long offset, ReadOnlySpan<byte> data)
    {
        Span<byte> expected = stackalloc byte[Sector];
        for (int at = 0; at < data.Length; at += Sector)
        {
            long index = (offset + at) / Sector;
            bool found = false;
            Issued[] allowed = MissesDisk && IsWholeStripeUnflushed(index) ? _allowed[index] : _afterKill?[index] ?? _allowed[index];
            foreach ((uint value, _, _) in allowed)
            {
                Fill(expected, value, index);
                if (data.Slice(at, Sector).SequenceEqual(expected))
                {
                    Pin(index, value);
                    found = true;
                    break;
                }
            }

            if (!found && HasSickDisk && allowed.Length > 1)
            {
                _lost.Add(index);
            }
            else if (!found && !_lost.Contains(index))
            {
                return $"sector {index} reads as write {BitConverter.ToUInt32(data[at..])} of sector {BitConverter.ToUInt32(data[(at + 4)..])}, allowed: {string.Join(", ", allowed.Select(issued => issued.Value))}";
            }
        }

        return null;
    }

    /// <summary>Whether data may be read after a crash. Nothing is recorded.</summary>
    internal bool Allows(long offset, ReadOnlySpan<byte> data)
    {
        bool allows = true;
        for (int at = 0; at < data.Length && allows; at += Sector)
        {
            long index = (offset + at) / Sector;
            Issued[] allowed = MissesDisk && IsWholeStripeUnflushed(index) ? _allowed[index] : _afterKill?[index] ?? _allowed[index];
            allows = false;
            for (int i = 0; i < allowed.Length && !allows; i++)
            {
                allows = Holds(data.Slice(at, Sector), index, allowed[i].Value);
            }
        }

        return allows;
    }

    /// <summary>Whether data is what the last flush, or the last observation, made durable.</summary>
    internal bool IsDurable(long offset, ReadOnlySpan<byte> data)
    {
        bool isDurable = true;
        for (int at = 0; at < data.Length && isDurable; at += Sector)
        {
            long index = (offset + at) / Sector;
            isDurable = Holds(data.Slice(at, Sector), index, _allowed[index][0].Value);
        }

        return isDurable;
    }

    /// <summary>While serving, a sector that nothing is writing reads as its last acknowledged value, or as one that was refused since.</summary>
    public string? CheckServing(long offset, ReadOnlySpan<byte> data)
    {
        for (int at = 0; at < data.Length; at += Sector)
        {
            long index = (offset + at) / Sector;
            ReadOnlySpan<byte> sector = data.Slice(at, Sector);
            if (!Holds(sector, index, _acknowledged[index]) && !IsRejected(sector, index) && !_lost.Contains(index))
            {
                return $"sector {index} reads as write {BitConverter.ToUInt32(data[at..])} while serving, last acknowledged: {_acknowledged[index]}";
            }
        }

        return null;
    }

    /// <summary>A read begins that other requests to the same range may run beside.</summary>
    public ReadBeside BeginRead(long offset, int length)
    {
        int first = (int)(offset / Sector);
        ReadBeside read = new(first, _acknowledged[first..(first + (length / Sector))], InFlight());
        _reads.Add(read);
        return read;
    }

    /// <summary>
    /// It has ended: a sector reads as its last acknowledged value when the read began, as one that was under way then, or as one that was issued since.
    /// Returns what is wrong, or null. Without data the read gave an error.
    /// </summary>
    public string? EndRead(ReadBeside read, ReadOnlySpan<byte> data)
    {
        _reads.Remove(read);
        for (int at = 0; at < data.Length; at += Sector)
        {
            int index = read.First + (at / Sector);
            uint found = BitConverter.ToUInt32(data[at..]);
            bool isKnown = found == read.Values[at / Sector] || WasInFlight(read.Others, index, found);
            if (!isKnown || !Holds(data.Slice(at, Sector), index, found))
            {
                return $"sector {index} reads as write {found} beside other requests, last acknowledged: {read.Values[at / Sector]}";
            }
        }

        return null;
    }

    /// <summary>After a crash a block gives an error. Returns whether it may; then it may be anything from now on.</summary>
    public bool TryLose(long offset, int length)
    {
        bool mayBeLost = true;
        for (long i = offset / Sector; i < (offset + length) / Sector && mayBeLost; i++)
        {
            mayBeLost = _lost.Contains(i) || (MissesDisk && IsWholeStripeUnflushed(i));
        }

        mayBeLost |= MayBeTorn && IsUnflushed(offset / Sector, length / Sector);

        for (long i = offset / Sector; i < (offset + length) / Sector && mayBeLost; i++)
        {
            _lost.Add(i);
        }

        return mayBeLost;
    }

    /// <summary>Whether a write of some of these sectors was not flushed.</summary>
    private bool IsUnflushed(long first, int count)
    {
        bool isUnflushed = false;
        for (long i = first; i < first + count && !isUnflushed; i++)
        {
            isUnflushed = _allowed[i].Length > 1;
        }

        return isUnflushed;
    }

    private bool IsWholeStripeUnflushed(long sector) => Array.Exists(_allowed[sector][1..], static issued => issued.IsWholeStripe);

    private bool IsInWholeStripe(long sector, long offset, long length) =>
        StripeBytes > 0 && sector * Sector / StripeBytes * StripeBytes is var stripe && stripe >= offset && stripe + StripeBytes <= offset + length;

    /// <summary>If writes under way cover a stripe, each of its sectors is written with the whole stripe.</summary>
    private void IssueGathered(long stripe)
    {
        long first = stripe * StripeBytes / Sector;
        long end = first + (StripeBytes / Sector);
        long covered = 0;
        foreach ((long start, int count, uint value) in _inFlight)
        {
            covered += value == 0 ? 0 : Math.Max(0, Math.Min(end, start + count) - Math.Max(first, start));
        }

        for (long i = first; i < end && covered == end - first; i++)
        {
            Issued[] values = [.. _allowed[i]];
            values[^1] = values[^1] with { IsWholeStripe = true };
            _allowed[i] = values;
        }
    }

    private void Pin(long index, uint value)
    {
        _allowed[index] = [new Issued(value, 0)];
        _acknowledged[index] = value;
        _isUncertain[index] = false;
        _rejected.Remove(index);
        if (_afterKill is not null)
        {
            _afterKill[index] = null;
        }
    }

    private static void RemoveOlder(List<Issued> values, uint value, long issuesMax) =>
        values.RemoveAll(older => older.Value == value && older.Issue <= issuesMax);

    private bool IsRejected(ReadOnlySpan<byte> sector, long index)
    {
        foreach (uint value in _rejected.GetValueOrDefault(index) ?? s_none)
        {
            if (Holds(sector, index, value))
            {
                return true;
            }
        }

        return false;
    }

    private static bool Holds(ReadOnlySpan<byte> sector, long index, uint value)
    {
        Span<byte> expected = stackalloc byte[Sector];
        Fill(expected, value, index);
        return sector.SequenceEqual(expected);
    }

    private static bool WasInFlight(List<(long First, int Count, uint Value)> requests, int sector, uint value) =>
        requests.Exists(request => request.Value == value && sector >= request.First && sector < request.First + request.Count);

    /// <summary>A read that other requests run beside.</summary>
    /// <param name="First">Its first sector.</param>
    /// <param name="Values">Its last acknowledged values when it began.</param>
    /// <param name="Others">Requests under way then, or issued since.</param>
    public sealed record ReadBeside(int First, uint[] Values, List<(long First, int Count, uint Value)> Others);

    private readonly record struct Issued(uint Value, long Issue, bool IsWholeStripe = false);
}
