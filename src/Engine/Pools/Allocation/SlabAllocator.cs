using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

// Finds slabs for rows. It owns nothing but reservations and holds: the pool's state has the slabs in use. A reservation is of one row to come
// and ends when the row is in the map. A caller holds a slab that it is about to take out of the map and to punch; one slab may have several holds.
//
// A row takes one slab each from distinct disks. With fault-domain awareness above the disk it takes `copies` domains and
// from each of them `columns` disks, so that a domain holds one whole copy; at the level of the disk every disk is a
// domain of its own and all columns × copies of them are equal.
//
// Within a domain, and over the domains, the ones with most left come first. For slabs per disk f and n disks per row
// that greedy order reaches the most rows there can be: the largest R with sum(min(f, R)) ≥ n × R. LargestRowCount is
// that formula, and a property test holds the two against each other. Logs and caches prefer some disks over others, so for them it
// reserves rows until there are none and gives them back.
//
// A run is what a log or a cache lies on: rows of one column whose copies keep to one disk each. It takes the first choice of disks that
// has room for the whole of it; the longest one is as long as the n-th largest number of free slabs of the widest choice.
//
// Invariants
//  1. A slab is given out once until it is released or the state says that it is in use. A held slab is never given out, whatever the state says.
//  2. Disks that are missing or retired give slabs to degraded rows only (DegradedRow), hot spares only to what is rebuilt; ManualSelect disks only when named;
//     Journal disks only to logs and caches; to caches no disk but these and flash.

/// <summary>Reserves slabs on the disks of one pool, spread evenly.</summary>
public sealed class SlabAllocator
{
    private readonly Func<PoolState> _state;
    private readonly Func<DiskNumber, bool> _isPresent;
    private readonly Dictionary<DiskNumber, SlabSet> _reserved = [];
    private readonly Dictionary<DiskNumber, Dictionary<uint, int>> _held = [];   // how often

    internal SlabAllocator(Func<PoolState> state, Func<DiskNumber, bool> isPresent)
    {
        _state = state;
        _isPresent = isPresent;
    }

    /// <summary>
    /// Reserves the slabs of one row, position = column × <paramref name="copies"/> + copy, or says why there are none. The
    /// reservation ends when a committed record maps the slabs, or with <see cref="Release"/>.
    /// </summary>
    public bool TryReserveRow(int columns, int copies, AllocationPreferences preferences, out SlabRef[] row, out string reason)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(columns);
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(copies);
        reason = "";
        foreach (Func<DiskState, bool> choice in Choices(preferences.Purpose))
        {
            List<Domain> domains = DomainsOf(preferences, choice);
            (int groups, int disksEach) = ShapeOf(columns, copies, preferences);
            List<Domain> chosen = domains.Where(domain => domain.Rows(disksEach) > 0)
                .OrderByDescending(domain => domain.Rows(disksEach)).ThenBy(domain => domain.First).Take(groups).ToList();
            if (chosen.Count == groups)
            {
                row = Reserve(chosen, groups, disksEach);
                reason = "";
                return true;
            }

            reason = WhyNot(groups, disksEach, chosen.Count, preferences, domains);
        }

        row = [];
        return false;
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
    /// Reserves <paramref name="count"/> rows of one column, each copy on one disk of its own, the same for all rows; position = copy. Fault
    /// domains are not looked at. Ends as <see cref="TryReserveRow"/> does.
    /// </summary>
    public bool TryReserveRun(int copies, int count, AllocationPreferences preferences, out SlabRef[][] rows, out string reason)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(copies);
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(count);
        List<DiskState> disks = [];
        foreach (Func<DiskState, bool> choice in Choices(preferences.Purpose))
        {
            disks = EligibleDisks(preferences, choice).Where(disk => FreeOn(disk) >= count)
                .OrderByDescending(FreeOn).ThenBy(disk => disk.Description.Number).Take(copies).ToList();
            if (disks.Count == copies)
            {
                List<SlabRef[]> runs = disks.ConvertAll(disk => ReserveOn(disk, count));
                rows = [.. Enumerable.Range(0, count).Select(row => runs.Select(run => run[row]).ToArray())];
                reason = "";
                return true;
            }
        }

        rows = [];
        reason = $"It needs {copies} disks with {count} free slabs each{KindsFor(preferences.Purpose)}; {disks.Count} are there.";
        return false;
    }

    /// <summary>The most rows that <see cref="TryReserveRun"/> could reserve now.</summary>
    public long LargestRunCount(int copies, AllocationPreferences preferences) =>
        EligibleDisks(preferences, Choices(preferences.Purpose).Last()).Select(FreeOn).OrderDescending().ElementAtOrDefault(copies - 1);

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

        (int groups, int disksEach) = ShapeOf(columns, copies, preferences);
        List<Domain> domains = DomainsOf(preferences, Choices(preferences.Purpose).Single());
        return LargestCount(domains.ConvertAll(domain => domain.Rows(disksEach)), groups);
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

    /// <summary>The largest R with sum(min(free, R)) ≥ each × R.</summary>
    internal static long LargestCount(List<long> free, int each)
    {
        long low = 0;
        long high = free.Sum() / each;
        while (low < high)
        {
            long middle = low + ((high - low + 1) / 2);
            if (free.Sum(f => Math.Min(f, middle)) >= each * middle)
            {
                low = middle;
            }
            else
            {
                high = middle - 1;
            }
        }

        return low;
    }

    private static (int Groups, int DisksEach) ShapeOf(int columns, int copies, AllocationPreferences preferences) =>
        preferences.FaultDomainAwareness == FaultDomainLevel.PhysicalDisk ? (columns * copies, 1) : (copies, columns);

    // Which disks to look at, best first: a later choice contains the earlier ones.
    private static IEnumerable<Func<DiskState, bool>> Choices(AllocationPurpose purpose)
    {
        if (purpose == AllocationPurpose.Data)
        {
            yield return static disk => disk.Description.Usage != DiskUsage.Journal;
            yield break;
        }

        yield return static disk => disk.Description.Usage == DiskUsage.Journal;
        yield return static disk => disk.Description.Usage == DiskUsage.Journal || disk.Description.IsFlash();
        if (purpose == AllocationPurpose.Log)
        {
            yield return static _ => true;
        }
    }

    private DiskState[] ChooseDegraded(int columns, int copies, AllocationPreferences preferences) => DegradedRow.Choose(
        EligibleDisks(preferences with { IsDegraded = true }, Choices(AllocationPurpose.Data).Single()).Where(disk => FreeOn(disk) > 0)
            .Select(disk => new DegradedRow.Candidate(disk, FreeOn(disk), _isPresent(disk.Description.Number))),
        columns, copies, preferences.FaultDomainAwareness);

    private List<Domain> DomainsOf(AllocationPreferences preferences, Func<DiskState, bool> choice) =>
        EligibleDisks(preferences, choice)
            .GroupBy(disk => FaultDomains.DomainOf(disk.Description, preferences.FaultDomainAwareness))
            .Select(group => new Domain(group.Select(disk => (disk, FreeOn(disk))))).ToList();

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
            && !preferences.ExcludedDisks.Contains(disk.Number)
            && (preferences.IsDegraded || _isPresent(disk.Number));
    }

    private long FreeOn(DiskState disk)
    {
        SlabSet? reserved = _reserved.GetValueOrDefault(disk.Description.Number);
        int held = _held.GetValueOrDefault(disk.Description.Number)?.Keys.Count(slab => !disk.IsUsed(slab) && reserved?.Contains(slab) != true) ?? 0;
        return disk.FreeSlabs - (reserved?.Count ?? 0) - held;
    }

    private SlabRef[] Reserve(List<Domain> chosen, int groups, int disksEach)
    {
        SlabRef[] row = new SlabRef[groups * disksEach];
        for (int group = 0; group < groups; group++)
        {
            int column = 0;
            foreach (DiskState disk in chosen[group].MostFree(disksEach))
            {
                row[(column++ * groups) + group] = ReserveOn(disk, 1)[0];
            }
        }

        return row;
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
        for (uint slab = 0; found < count && slab < disk.Description.SlabCount; slab++)
        {
            if (slab % 64 == 0 && (disk.UsedWord(slab / 64) | reserved.Word(slab / 64)) == ulong.MaxValue)
            {
                slab += 63;
            }
            else if (!disk.IsUsed(slab) && held?.ContainsKey(slab) != true && reserved.Add(slab))
            {
                slabs[found++] = new SlabRef(number, slab);
            }
        }

        Invariant.That(found == count, "A disk has the free slabs that it counts, and none of them is given out twice.");
        return slabs;
    }

    private static string WhyNot(int groups, int disksEach, int found, AllocationPreferences preferences, List<Domain> domains)
    {
        string unit = preferences.FaultDomainAwareness == FaultDomainLevel.PhysicalDisk
            ? "disks with a free slab"
            : $"fault domains ({preferences.FaultDomainAwareness}) with {disksEach} disks with a free slab each";
        string media = preferences.Media is { } kind ? $" of media type {kind}" : "";
        int disks = domains.Sum(domain => domain.Disks);
        return $"A row needs {groups} {unit}{media}; {found} are there, of {disks} disks that may be used.";
    }

    private static string KindsFor(AllocationPurpose purpose) => purpose == AllocationPurpose.Cache ? ", flash or of usage Journal" : "";

    /// <summary>Disks that count as one place, with what is free on them.</summary>
    private sealed class Domain(IEnumerable<(DiskState Disk, long Free)> disks)
    {
        private readonly List<(DiskState Disk, long Free)> _disks =
            disks.OrderByDescending(disk => disk.Free).ThenBy(disk => disk.Disk.Description.Number).ToList();

        internal int Disks => _disks.Count;

        internal DiskNumber First => _disks[0].Disk.Description.Number;

        /// <summary>Rows that this domain can still give <paramref name="disksEach"/> disks to.</summary>
        internal long Rows(int disksEach) =>
            disksEach == 1 ? _disks.Sum(disk => disk.Free) : LargestCount(_disks.ConvertAll(disk => disk.Free), disksEach);

        internal IEnumerable<DiskState> MostFree(int count) => _disks.Take(count).Select(disk => disk.Disk);
    }
}
