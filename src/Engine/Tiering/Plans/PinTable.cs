using System.Collections.Immutable;
using System.Diagnostics.CodeAnalysis;
using System.Numerics;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tiering;

// Slices are pinned whole: one that a pin only touches goes where the pin says. Where two pins say otherwise of a slice, the faster tier wins.
//
// Invariants
//  1. The runs are ascending and apart; each slice of a run is pinned to the tier of the run, others to none.
//  2. A table never changes. A virtual disk whose pins have changed gets another one.

/// <summary>The pins of a tiered virtual disk, in memory; used on any thread. A lookup takes the logarithm of the pieces and allocates nothing.</summary>
public sealed class PinTable
{
    private readonly int _shift;
    private readonly ImmutableArray<long> _tierSlices;
    private readonly Dictionary<Guid, Pin> _pins;
    private readonly Runs _runs;

    /// <summary>A table of pins.</summary>
    /// <param name="sliceBytes">Bytes of a slice, a power of two.</param>
    /// <param name="tierBytes">Size of each tier, fastest first.</param>
    /// <param name="pins">The pins, each to one of these tiers, each with an identity of its own.</param>
    internal PinTable(int sliceBytes, IEnumerable<long> tierBytes, params Pin[] pins)
    {
        SliceBytes = sliceBytes;
        _shift = BitOperations.Log2((uint)sliceBytes);
        _tierSlices = [.. tierBytes.Select(bytes => bytes >> _shift)];
        _pins = pins.ToDictionary(static pin => pin.Id);
        _runs = RunsOf(pins);
    }

    /// <summary>Bytes of a slice.</summary>
    public int SliceBytes { get; }

    /// <summary>Pins: ranges by where they begin, then files by path.</summary>
    public IReadOnlyList<Pin> Pins =>
        [.. _pins.Values.OrderBy(static pin => pin.Label, StringComparer.Ordinal).ThenBy(static pin => pin.Ranges[0].Offset).ThenBy(static pin => pin.Id)];

    /// <summary>The pins of a virtual disk as its pool remembers them. Pins to tiers that the disk no longer has are left out.</summary>
    public static PinTable Load(VirtualDiskDescription disk, IEnumerable<PinSet> records)
    {
        List<Pin> pins = [];
        foreach (IGrouping<Guid, PinSet> pin in records.Where(pin => pin.Disk == disk.Id).GroupBy(static pin => pin.Id))
        {
            PinSet[] parts = [.. pin.OrderBy(static part => part.Part)];
            int tier = disk.Tiers.ToList().FindIndex(one => one.Id == parts[0].Tier);
            if (tier >= 0)
            {
                pins.Add(new Pin(pin.Key, tier, parts[0].Label, [.. parts.SelectMany(static part => part.Ranges)]));
            }
        }

        return new PinTable((int)disk.SliceSize, disk.Tiers.Select(static tier => tier.SizeBytes), [.. pins]);
    }

    /// <summary>The pin with an identity.</summary>
    public Pin? Find(Guid id) => _pins.GetValueOrDefault(id);

    /// <summary>The pin of a file.</summary>
    public Pin? Find(string label) => label.Length == 0 ? null : _pins.Values.FirstOrDefault(pin => pin.Label == label);

    /// <summary>The pin of a range: of exactly these bytes.</summary>
    public Pin? Find(PinnedRange range) => _pins.Values.FirstOrDefault(pin => pin.Label.Length == 0 && pin.Ranges is [var only] && only == range);

    /// <summary>The tier that a slice is pinned to; −1: none.</summary>
    public int TierOf(long slice)
    {
        int at = Array.BinarySearch(_runs.First, slice);
        at = at < 0 ? ~at - 1 : at;
        return at >= 0 && slice < _runs.End[at] ? _runs.Tier[at] : -1;
    }

    /// <summary>
    /// Whether a pin could be set in place of one with its identity: no more is pinned to a tier afterwards than it has. The space of the replaced
    /// pin counts as free.
    /// </summary>
    public bool CanSet(Pin pin, [NotNullWhen(false)] out PinError? problem)
    {
        problem = null;
        if ((uint)pin.Tier >= (uint)_tierSlices.Length)
        {
            problem = new PinError($"Tier {pin.Tier} is not there: 0 to {_tierSlices.Length - 1} are.", 0);
        }
        else if (pin.Ranges.IsDefaultOrEmpty || pin.Ranges.Length > Pin.RangesMax)
        {
            int pieces = pin.Ranges.IsDefault ? 0 : pin.Ranges.Length;
            problem = new PinError($"It has {pieces} pieces. Valid: 1 to {Pin.RangesMax}. Pin the rest separately, or rewrite the file in fewer pieces.", 0);
        }
        else
        {
            Pin[] others = [.. _pins.Values.Where(other => other.Id != pin.Id)];
            Runs runs = RunsOf([.. others, pin]);
            int full = Array.FindIndex([.. runs.Slices.Zip(_tierSlices)], static tier => tier.First > tier.Second);
            long wanted = full < 0 ? 0 : runs.Slices[full] << _shift;
            problem = full < 0 ? null : TooMuch(full, wanted, RunsOf(others).Slices[full]);
        }

        return problem is null;
    }

    private PinError TooMuch(int tier, long wantedBytes, long takenSlices)
    {
        long fitting = Math.Max(0, _tierSlices[tier] - takenSlices) << _shift;
        return new PinError(
            $"Its slices of {ByteText.Exact(SliceBytes)} would bring what is pinned to the tier to {ByteText.Exact(wantedBytes)}, and it has {ByteText.Exact(_tierSlices[tier] << _shift)}. "
            + $"At most {ByteText.Exact(fitting)} more can be pinned to it: pin less, take other pins away or make the tier larger.",
            fitting);
    }

    // Sweeps over the ends of all pieces: between two of them the fastest tier that a piece goes on for has the slices.
    private Runs RunsOf(IEnumerable<Pin> pins)
    {
        List<(long At, int Tier, int Change)> ends = [];
        foreach (Pin pin in pins)
        {
            foreach (PinnedRange range in pin.Ranges)
            {
                ends.Add((range.Offset >> _shift, pin.Tier, 1));
                ends.Add((((range.End - 1) >> _shift) + 1, pin.Tier, -1));
            }
        }

        ends.Sort(static (one, other) => one.At.CompareTo(other.At));
        int[] open = new int[_tierSlices.Length];
        List<(long First, long End, int Tier)> runs = [];
        for (int i = 0; i < ends.Count; i++)
        {
            open[ends[i].Tier] += ends[i].Change;
            int tier = Array.FindIndex(open, static count => count > 0);
            if (tier >= 0 && ends[i + 1].At > ends[i].At)
            {
                Append(runs, ends[i].At, ends[i + 1].At, tier);
            }
        }

        long[] slices = new long[_tierSlices.Length];
        runs.ForEach(run => slices[run.Tier] += run.End - run.First);
        return new Runs([.. runs.Select(static run => run.First)], [.. runs.Select(static run => run.End)], [.. runs.Select(static run => run.Tier)], slices);
    }

    private static void Append(List<(long First, long End, int Tier)> runs, long first, long end, int tier)
    {
        if (runs.Count > 0 && runs[^1].End == first && runs[^1].Tier == tier)
        {
            runs[^1] = runs[^1] with { End = end };
        }
        else
        {
            runs.Add((first, end, tier));
        }
    }

    private sealed record Runs(long[] First, long[] End, int[] Tier, long[] Slices);
}
