using System.Numerics;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

// Finds slabs for rows. It owns nothing but reservations and holds: the pool's state has the slabs in use. A reservation is of one row to come
// and ends when the row is in the map. A caller holds a slab that it is about to take out of the map and to punch; one slab may have several holds.
//
// RowRule decides which disks a row takes, and how many rows there can be. Logs and caches prefer some disks over others, so for them it
// reserves rows until there are none and gives them back.
//
// A run is what a log or a cache lies on: rows of one column whose copies keep to one disk each. It takes the first choice of disks that
// has room for the whole of it; the longest one is as long as the n-th largest number of free slabs of the widest choice. Above the level of the disk each
// copy is in another fault domain, of which only the disk with most free slabs counts.
//
// Reserving takes steps in proportion to the slabs that are reserved, whatever the size of the disks: many rows that look at disks alone take them from a
// queue by free slabs, and the search on a disk goes on where the last one ended.
//
// Invariants
//  1. A slab is given out once until it is released or the state says that it is in use. A held slab is never given out, whatever the state says.
//  2. Disks that are missing or retired give slabs to degraded rows only (DegradedRow), hot spares only to what is rebuilt; ManualSelect disks only when named;
//     Journal disks only to logs and caches; to caches no disk but these and flash.
//  3. Rows and runs keep to RowRule: a fault domain holds as many positions as may be lost, and no more.

/// <summary>Reserves slabs on the disks of one pool, spread evenly.</summary>
public sealed class SlabAllocator
{
    private readonly Func<PoolState> _state;
    private readonly Func<DiskNumber, bool> _isPresent;
    private readonly Dictionary<DiskNumber, SlabSet> _reserved;
    private readonly Dictionary<DiskNumber, Dictionary<uint, int>> _held;   // how often
    private readonly Dictionary<DiskNumber, (DiskState State, int Count)> _heldFree = [];   // held slabs that are neither in use nor reserved, in that state
    private readonly Dictionary<DiskNumber, (uint Frees, uint Word)> _searched = [];   // no slab below that word is free, while the disk has freed as many

    internal SlabAllocator(Func<PoolState> state, Func<DiskNumber, bool> isPresent)
        : this(state, isPresent, [], [])
    {
    }

    private SlabAllocator(
        Func<PoolState> state, Func<DiskNumber, bool> isPresent, Dictionary<DiskNumber, SlabSet> reserved,
        Dictionary<DiskNumber, Dictionary<uint, int>> held) => (_state, _isPresent, _reserved, _held) = (state, isPresent, reserved, held);

    /// <summary>
    /// Returns an allocator that gives out the slabs that this one would, over a state that does not change. Neither knows of the other afterwards. Takes time
    /// in proportion to the reservations and holds in force, which are those of changes under way.
    /// </summary>
    /// <param name="state">The state of the pool now.</param>
    /// <param name="isPresent">Whether a disk is there now.</param>
    internal SlabAllocator Copy(PoolState state, Func<DiskNumber, bool> isPresent) => new(
        () => state, isPresent,
        _reserved.Where(static disk => disk.Value.Count > 0).ToDictionary(static disk => disk.Key, static disk => disk.Value.Copy()),
        _held.Where(static disk => disk.Value.Count > 0).ToDictionary(static disk => disk.Key, static disk => new Dictionary<uint, int>(disk.Value)));

    /// <summary>Words of slabs that searches have looked at, and disks that rows have been given.</summary>
    internal long Steps { get; private set; }

    /// <summary>
    /// Reserves the slabs of one row, position = column × <paramref name="copies"/> + copy, or says why there are none. The
    /// reservation ends when a committed record maps the slabs, or with <see cref="Release"/>.
    /// </summary>
    public bool TryReserveRow(int columns, int copies, AllocationPreferences preferences, out SlabRef[] row, out string reason)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(columns);
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(copies);
        reason = "";
        RowRule rule = new(columns, copies, preferences);
        foreach (Func<DiskState, bool> choice in Choices(preferences))
        {
            List<(DiskState Disk, long Free)> disks = FreeDisks(preferences, choice);
            DiskState[] chosen = rule.Choose(disks, out int found);
            if (chosen.Length > 0)
            {
                row = Array.ConvertAll(chosen, disk => ReserveOn(disk, 1)[0]);
                reason = "";
                return true;
            }

            reason = WhyNot(rule, found, preferences, disks.Count);
        }

        row = [];
        return false;
    }

    /// <summary>
    /// Reserves rows of data, each as <see cref="TryReserveRow"/> would, one after another. False where there are fewer; those stay reserved.
    /// </summary>
    /// <param name="columns">Columns of a row, at least 1.</param>
    /// <param name="copies">Copies of each column, at least 1.</param>
    /// <param name="count">Number of rows.</param>
    /// <param name="preferences">Disks that may be used.</param>
    /// <param name="rows">Gets the rows.</param>
    /// <param name="reason">Reason why there are no more.</param>
    internal bool TryReserveRows(int columns, int copies, int count, AllocationPreferences preferences, List<SlabRef[]> rows, out string reason)
    {
        RowRule rule = new(columns, copies, preferences);
        reason = "";
        if (rule.IsByDisk && preferences.Purpose == AllocationPurpose.Data)
        {
            count -= ReserveByDisk(rule, count, preferences, rows);
        }

        for (; count > 0; count--)
        {
            if (!TryReserveRow(columns, copies, preferences, out SlabRef[] row, out reason))
            {
                return false;
            }

            rows.Add(row);
        }

        return true;
    }

    /// <summary>
    /// Reserves the slabs of one row of data, some of them on disks that are retired or missing. False if not every column gets a slab on a disk that is
    /// present and not retired. Ends as <see cref="TryReserveRow"/> does.
    /// </summary>
    public bool TryReserveDegradedRow(int columns, int copies, AllocationPreferences preferences, out SlabRef[] row)
    {
        row = Array.ConvertAll(ChooseDegraded(columns, copies, preferences), disk => ReserveOn(disk, 1)[0]);
        return row.Length > 0;
    }

    /// <summary>Whether a first write would get a row of this shape now, a degraded one if need be.</summary>
    internal bool HasRow(int columns, int copies, AllocationPreferences preferences) =>
        LargestRowCount(columns, copies, preferences) > 0 || ChooseDegraded(columns, copies, preferences).Length > 0;

    /// <summary>
    /// Reserves <paramref name="count"/> rows of one column, each copy on one disk of its own and in a fault domain of its own, the same for all rows;
    /// position = copy. Ends as <see cref="TryReserveRow"/> does.
    /// </summary>
    public bool TryReserveRun(int copies, int count, AllocationPreferences preferences, out SlabRef[][] rows, out string reason)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(copies);
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(count);
        List<DiskState> disks = [];
        foreach (Func<DiskState, bool> choice in Choices(preferences, copies))
        {
            disks = BestOfDomains(preferences, choice).Where(disk => FreeOn(disk) >= count).Take(copies).ToList();
            if (disks.Count == copies)
            {
                List<SlabRef[]> runs = disks.ConvertAll(disk => ReserveOn(disk, count));
                rows = [.. Enumerable.Range(0, count).Select(row => runs.Select(run => run[row]).ToArray())];
                reason = "";
                return true;
            }
        }

        rows = [];
        FaultDomainLevel level = preferences.FaultDomainAwareness;
        string apart = level == FaultDomainLevel.PhysicalDisk ? "" : $" in different fault domains ({level})";
        reason = $"It needs {CountText.Of(copies, "disk")} with {CountText.Of(count, "free slab")} each{KindsFor(preferences)}{apart}; there {(disks.Count == 1 ? "is 1" : $"are {disks.Count}")}.";
        return false;
    }

    /// <summary>The most rows that <see cref="TryReserveRun"/> could reserve now.</summary>
    public long LargestRunCount(int copies, AllocationPreferences preferences) =>
        BestOfDomains(preferences, Choices(preferences, copies).Last()).Select(FreeOn).ElementAtOrDefault(copies - 1);

    /// <summary>Keeps slabs that are about to leave the map from being given out until <see cref="LetGo"/>, by everyone who holds them.</summary>
    public void Hold(ReadOnlySpan<SlabRef> slabs)
    {
        foreach (SlabRef slab in slabs)
        {
            if (!_held.TryGetValue(slab.Disk, out Dictionary<uint, int>? held))
            {
                _held[slab.Disk] = held = [];
            }

            held[slab.Slab] = held.GetValueOrDefault(slab.Slab) + 1;
            _heldFree.Remove(slab.Disk);
        }
    }

    /// <summary>Ends a <see cref="Hold"/>.</summary>
    public void LetGo(ReadOnlySpan<SlabRef> slabs)
    {
        foreach (SlabRef slab in slabs)
        {
            int left = _held.GetValueOrDefault(slab.Disk)?.GetValueOrDefault(slab.Slab) - 1 ?? -1;
            Invariant.That(left >= 0, "A hold of a slab ends once.");
            if (left > 0)
            {
                _held[slab.Disk][slab.Slab] = left;
            }
            else
            {
                NoteFree(slab);
                _held[slab.Disk].Remove(slab.Slab);
            }
        }
    }

    /// <summary>Gives reservations back that were not, and will not be, committed.</summary>
    public void Release(ReadOnlySpan<SlabRef> slabs)
    {
        foreach (SlabRef slab in slabs)
        {
            if (_reserved.TryGetValue(slab.Disk, out SlabSet? reserved))
            {
                reserved.Remove(slab.Slab);
                NoteFree(slab);
            }
        }
    }

    /// <summary>Returns how many rows of this shape could be reserved now, one after another, before a reservation fails.</summary>
    public long LargestRowCount(int columns, int copies, AllocationPreferences preferences)
    {
        if (preferences.Purpose != AllocationPurpose.Data)
        {
            return CountByTrying(columns, copies, preferences);
        }

        return new RowRule(columns, copies, preferences).LargestRowCount(FreeDisks(preferences, Choices(preferences).Single()));
    }

    /// <summary>Slabs on a disk that are neither in use, nor reserved or held; 0 for a disk that is not there.</summary>
    public long FreeSlabs(DiskNumber disk) => _state().Disk(disk) is { } state && _isPresent(disk) ? FreeOn(state) : 0;

    /// <summary>Ends the reservations of slabs that a committed record has mapped.</summary>
    internal void Committed(RowsMapped record)
    {
        foreach (RowMapping row in record.Rows)
        {
            Release(row.Sources);
            for (int i = 0; row.HasJoining && i < row.Sources.Length; i++)
            {
                Release([row.Joining(i)]);
            }
        }
    }

    // Which disks to look at, best first: a later choice contains the earlier ones. Where enough preferred disks could have a copy each, others have none.
    private IEnumerable<Func<DiskState, bool>> Choices(AllocationPreferences preferences, int copies = 1)
    {
        if (preferences.Purpose == AllocationPurpose.Data)
        {
            yield return static disk => disk.Description.Usage != DiskUsage.Journal;
            yield break;
        }

        yield return static disk => disk.Description.Usage == DiskUsage.Journal;
        if (!preferences.PreferredDisks.IsDefaultOrEmpty)
        {
            Func<DiskState, bool> isPreferred = disk => preferences.MayTakeByItself(disk.Description);
            yield return isPreferred;
            if (BestOfDomains(preferences, isPreferred).Count() >= copies)
            {
                yield break;
            }
        }

        yield return static disk => disk.Description.Usage == DiskUsage.Journal || disk.Description.IsFlash();
        if (preferences.Purpose == AllocationPurpose.Log || preferences.TakesAnyMedium)
        {
            yield return static _ => true;
        }
    }

    private DiskState[] ChooseDegraded(int columns, int copies, AllocationPreferences preferences) => DegradedRow.Choose(
        EligibleDisks(preferences with { IsDegraded = true }, Choices(AllocationPreferences.Default).Single()).Where(disk => FreeOn(disk) > 0)
            .Select(disk => new DegradedRow.Candidate(disk, FreeOn(disk), _isPresent(disk.Description.Number))),
        columns, copies, preferences);

    private List<(DiskState Disk, long Free)> FreeDisks(AllocationPreferences preferences, Func<DiskState, bool> choice) =>
        [.. EligibleDisks(preferences, choice).Select(disk => (disk, FreeOn(disk)))];

    /// <summary>The disk with most free slabs of each fault domain, in that order.</summary>
    private IEnumerable<DiskState> BestOfDomains(AllocationPreferences preferences, Func<DiskState, bool> choice) => EligibleDisks(preferences, choice)
        .OrderByDescending(FreeOn).ThenBy(static disk => disk.Description.Number)
        .DistinctBy(disk => FaultDomains.DomainOf(disk.Description, preferences.FaultDomainAwareness));

    private IEnumerable<DiskState> EligibleDisks(AllocationPreferences preferences, Func<DiskState, bool> choice) =>
        _state().Disks.Values.Where(disk => choice(disk) && IsEligible(disk.Description, preferences));

    private long CountByTrying(int columns, int copies, AllocationPreferences preferences)
    {
        List<SlabRef> taken = [];
        while (TryReserveRow(columns, copies, preferences, out SlabRef[] row, out _))
        {
            taken.AddRange(row);
        }

        Release(taken.ToArray());
        return taken.Count / (columns * copies);
    }

    private bool IsEligible(DiskDescription disk, AllocationPreferences preferences)
    {
        bool isNamed = !preferences.AllowedDisks.IsDefaultOrEmpty && preferences.AllowedDisks.Contains(disk.Number);
        return (disk.Usage != DiskUsage.Retired || preferences.IsDegraded)
            && (disk.Usage != DiskUsage.HotSpare || preferences.TakesHotSpares)
            && (disk.Usage != DiskUsage.ManualSelect || isNamed)
            && (preferences.AllowedDisks.IsDefaultOrEmpty || isNamed)
            && (preferences.Media is not { } media || disk.Media() == media)
            && !preferences.ExcludedDisks.Contains(disk.Number) && RowRule.IsKnown(disk, preferences)
            && (preferences.IsDegraded || _isPresent(disk.Number));
    }

    private long FreeOn(DiskState disk)
    {
        DiskNumber number = disk.Description.Number;
        SlabSet? reserved = _reserved.GetValueOrDefault(number);
        if (!_heldFree.TryGetValue(number, out (DiskState State, int Count) held) || held.State != disk)
        {
            int count = _held.GetValueOrDefault(number)?.Keys.Count(slab => !disk.IsUsed(slab) && reserved?.Contains(slab) != true) ?? 0;
            _heldFree[number] = held = (disk, count);
        }

        return disk.FreeSlabs - (reserved?.Count ?? 0) - held.Count;
    }

    /// <summary>
    /// Reserves rows from the disks with most free slabs, as <see cref="RowRule.Choose"/> orders them where no domain matters. Returns their number.
    /// </summary>
    private int ReserveByDisk(RowRule rule, int count, AllocationPreferences preferences, List<SlabRef[]> rows)
    {
        PriorityQueue<(DiskState Disk, long Free), (long, DiskNumber)> disks = new();
        foreach ((DiskState disk, long free) in FreeDisks(preferences, Choices(preferences).Single()).Where(static disk => disk.Free > 0))
        {
            disks.Enqueue((disk, free), (-free, disk.Description.Number));
        }

        (DiskState Disk, long Free)[] chosen = new (DiskState Disk, long Free)[rule.Positions];
        int reserved = 0;
        for (; reserved < count && disks.Count >= rule.Positions; reserved++)
        {
            for (int position = 0; position < chosen.Length; position++)
            {
                chosen[position] = disks.Dequeue();
            }

            rows.Add(Array.ConvertAll(chosen, disk => ReserveOn(disk.Disk, 1)[0]));
            Steps += chosen.Length;
            foreach ((DiskState disk, long free) in chosen.Where(static disk => disk.Free > 1))
            {
                disks.Enqueue((disk, free - 1), (1 - free, disk.Description.Number));
            }
        }

        return reserved;
    }

    /// <summary>A slab may be free from now on.</summary>
    private void NoteFree(SlabRef slab)
    {
        if (_held.GetValueOrDefault(slab.Disk)?.ContainsKey(slab.Slab) == true)
        {
            _heldFree.Remove(slab.Disk);
        }

        if (_searched.TryGetValue(slab.Disk, out (uint Frees, uint Word) searched) && slab.Slab / 64 < searched.Word)
        {
            _searched[slab.Disk] = searched with { Word = slab.Slab / 64 };
        }
    }

    private SlabRef[] ReserveOn(DiskState disk, int count)
    {
        SlabRef[] slabs = new SlabRef[count];
        int found = 0;
        DiskNumber number = disk.Description.Number;
        if (!_reserved.TryGetValue(number, out SlabSet? reserved))
        {
            _reserved[number] = reserved = new SlabSet();
        }

        Dictionary<uint, int>? held = _held.GetValueOrDefault(number);
        (uint Frees, uint Word) searched = _searched.GetValueOrDefault(number);
        uint word = searched.Frees == disk.Frees ? searched.Word : 0;
        for (; word * 64 < disk.Description.SlabCount; word++)
        {
            Steps++;
            ulong free = ~(disk.UsedWord(word) | reserved.Word(word));
            for (; free != 0 && found < count; free &= free - 1)
            {
                uint slab = (word * 64) + (uint)BitOperations.TrailingZeroCount(free);
                if (slab < disk.Description.SlabCount && held?.ContainsKey(slab) != true && reserved.Add(slab))
                {
                    slabs[found++] = new SlabRef(number, slab);
                }
            }

            if (found == count)
            {
                break;
            }
        }

        _searched[number] = (disk.Frees, word);
        Invariant.That(found == count, "A disk has the free slabs that it counts, and none of them is given out twice.");
        return slabs;
    }

    private static string WhyNot(RowRule rule, int found, AllocationPreferences preferences, int disks)
    {
        string media = preferences.Media is { } kind ? $" of media type {kind}" : "";
        string apart = (preferences.ColumnIsolation != FaultDomainLevel.PhysicalDisk ? $", one in each fault domain ({preferences.ColumnIsolation})" : "")
            + (preferences.FaultDomainAwareness != FaultDomainLevel.PhysicalDisk
                ? $", at most {rule.Share} in each fault domain ({preferences.FaultDomainAwareness})" : "");
        return $"A row needs {CountText.Of(rule.Positions, "disk")} with a free slab{media}{apart}; there {(found == 1 ? "is 1" : $"are {found}")}, of {CountText.Of(disks, "disk")} that may be used.";
    }

    private static string KindsFor(AllocationPreferences preferences) =>
        preferences is { Purpose: AllocationPurpose.Cache, TakesAnyMedium: false } ? ", flash or of usage Journal" : "";
}
