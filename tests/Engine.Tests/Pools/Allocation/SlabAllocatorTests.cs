using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tests.Formats;

namespace TierSpaces.Engine.Tests.Pools;

public sealed class SlabAllocatorTests
{
    private const int Cases = 100_000;

    // On random pools: the count foretold is the count obtained; a row never has a disk twice or a domain for two copies;
    // no slab is given twice; disks that must not give anything do not; what is released can be had again.
    [Fact]
    public void What_is_foretold_is_obtained_and_every_row_is_sound()
    {
        Random random = new(1);
        for (int i = 0; i < Cases; i++)
        {
            Check(random, i);
        }
    }

    // On random pools: a degraded row has no disk twice and no domain for two copies; a copy of each column stays; and no disk is passed over for a worse one.
    [Fact]
    public void A_degraded_row_is_sound_and_takes_the_best_disks()
    {
        Random random = new(2);
        int rows = 0;
        for (int i = 0; i < Cases / 10; i++)
        {
            PoolState state = StateOf([.. Enumerable.Range(0, 2 + random.Next(6)).Select(_ => random.Next(4))]);
            foreach (DiskNumber number in state.Disks.Keys.ToArray())
            {
                DiskUsage usage = random.Next(3) == 0 ? DiskUsage.Retired : DiskUsage.AutoSelect;
                state = Change(state, number.Value, disk => disk with { Usage = usage });
            }

            HashSet<DiskNumber> away = [.. state.Disks.Keys.Where(_ => random.Next(3) == 0)];
            SlabAllocator allocator = new(() => state, number => !away.Contains(number));
            (int columns, int copies) = (1 + random.Next(2), 1 + random.Next(3));
            bool found = allocator.TryReserveDegradedRow(columns, copies, AllocationPreferences.Default, out SlabRef[] row);
            int[] ranks = [.. state.Disks.Values.Where(static disk => disk.FreeSlabs > 0).Select(disk => Rank(disk.Description.Number)).Order()];
            int staying = ranks.Count(static rank => rank == 0);
            Assert.Equal(ranks.Length >= columns * copies && staying >= columns, found);
            Assert.Equal(found, row.Length > 0);
            if (found)
            {
                rows++;
                Assert.Equal(row.Length, row.Select(static slab => slab.Disk).Distinct().Count());
                Assert.Equal(ranks.Take(row.Length), row.Select(slab => Rank(slab.Disk)).Order());
                Assert.All(row.Chunk(copies), column => Assert.Contains(column, slab => Rank(slab.Disk) == 0));
            }

            int Rank(DiskNumber disk) => (away.Contains(disk) ? 2 : 0) + (state.Disk(disk)!.Description.Usage == DiskUsage.Retired ? 1 : 0);
        }

        Assert.True(rows > 1000);
    }

    // On random pools with enclosures: a degraded row keeps copies of a column in different ones, a copy of each column stays, and where disks that stay
    // suffice for a row, it has no other.
    [Fact]
    public void A_degraded_row_keeps_to_fault_domains()
    {
        Random random = new(4);
        int rows = 0;
        for (int i = 0; i < Cases / 10; i++)
        {
            PoolState state = StateOf([.. Enumerable.Range(0, 2 + random.Next(10)).Select(_ => random.Next(4))]);
            foreach (DiskNumber number in state.Disks.Keys.ToArray())
            {
                (DiskUsage usage, int enclosure) = (random.Next(4) == 0 ? DiskUsage.Retired : DiskUsage.AutoSelect, random.Next(-1, 4));
                state = Change(state, number.Value, disk => disk with { Usage = usage, EnclosureNumber = enclosure });
            }

            HashSet<DiskNumber> away = [.. state.Disks.Keys.Where(_ => random.Next(3) == 0)];
            SlabAllocator allocator = new(() => state, number => !away.Contains(number));
            (int columns, int copies) = (1 + random.Next(3), 2 + random.Next(2));
            AllocationPreferences preferences = new() { FaultDomainAwareness = FaultDomainLevel.StorageEnclosure };
            bool isWhole = allocator.LargestRowCount(columns, copies, preferences) > 0;
            bool found = allocator.TryReserveDegradedRow(columns, copies, preferences, out SlabRef[] row);
            Assert.True(found || !isWhole);
            if (found)
            {
                rows++;
                CheckDomains(state, row, columns, copies, preferences);
                Assert.All(row.Chunk(copies), column => Assert.Contains(column, Stays));
                Assert.True(!isWhole || Array.TrueForAll(row, Stays));
            }

            bool Stays(SlabRef slab) => !away.Contains(slab.Disk) && state.Disk(slab.Disk)!.Description.Usage != DiskUsage.Retired;
        }

        Assert.True(rows > 1000);
    }

    // A degraded row leaves a column out for a reason: as many columns as have a disk that stays could be dealt, in every way that is tried.
    [Theory]
    [InlineData(2, "S S|a a", true)]
    [InlineData(2, "S a|S a", true)]
    [InlineData(2, "S S|S a", true)]
    [InlineData(3, "S S a|a a S", true)]
    [InlineData(3, "S S a|S a|a", true)]
    [InlineData(2, "S a|a a", false)]
    public void A_degraded_row_is_found_where_there_is_one(int columns, string enclosures, bool isFound)
    {
        string[] domains = enclosures.Split('|');
        (string Kind, int Enclosure)[] disks = [.. domains.SelectMany(static (domain, i) => domain.Split(' ').Select(kind => (kind, i)))];
        PoolState state = StateOf([.. disks.Select(static _ => 1)]);
        for (int i = 0; i < disks.Length; i++)
        {
            int enclosure = disks[i].Enclosure;
            state = Change(state, i + 1, disk => disk with { EnclosureNumber = enclosure });
        }

        SlabAllocator allocator = new(() => state, number => disks[number.Value - 1].Kind == "S");
        AllocationPreferences preferences = new() { FaultDomainAwareness = FaultDomainLevel.StorageEnclosure };
        Assert.Equal(isFound, allocator.TryReserveDegradedRow(columns, 2, preferences, out _));
    }

    [Fact]
    public void A_run_keeps_its_copies_in_different_enclosures()
    {
        PoolState state = StateOf([9, 8, 7, 2]);
        state = Change(Change(Change(state, 1, In(1)), 2, In(1)), 3, In(1));
        state = Change(state, 4, In(2));
        SlabAllocator allocator = new(() => state, static _ => true);
        AllocationPreferences log = new() { Purpose = AllocationPurpose.Log, FaultDomainAwareness = FaultDomainLevel.StorageEnclosure };
        Assert.Equal(2, allocator.LargestRunCount(2, log));
        Assert.True(allocator.TryReserveRun(2, 2, log, out SlabRef[][] rows, out _));
        Assert.All(rows, static row => Assert.Equal([1, 4], row.Select(static slab => (int)slab.Disk.Value)));
        Assert.False(allocator.TryReserveRun(2, 1, log, out _, out string reason));
        Assert.Equal("It needs 2 disks with 1 free slab each in different fault domains (StorageEnclosure); there is 1.", reason);

        static Func<DiskDescription, DiskDescription> In(int enclosure) => disk => disk with { EnclosureNumber = enclosure };
    }

    [Fact]
    public void Rows_spread_over_all_disks()
    {
        PoolState state = StateOf([10, 10, 10, 10]);
        SlabAllocator allocator = new(() => state, static _ => true);
        Dictionary<DiskNumber, int> taken = [];
        for (int i = 0; i < 8; i++)
        {
            Assert.True(allocator.TryReserveRow(1, 2, AllocationPreferences.Default, out SlabRef[] row, out _));
            foreach (SlabRef slab in row)
            {
                taken[slab.Disk] = taken.GetValueOrDefault(slab.Disk) + 1;
            }
        }

        Assert.Equal([4, 4, 4, 4], taken.Values);
    }

    [Fact]
    public void Logs_prefer_journal_disks_then_flash()
    {
        PoolState state = StateOf([5, 5, 5, 2]);
        state = Change(state, 1, static disk => disk with { MediaTypeCode = (ushort)MediaType.HDD });
        state = Change(state, 2, static disk => disk with { MediaTypeCode = (ushort)MediaType.HDD });
        state = Change(state, 4, static disk => disk with { Usage = DiskUsage.Journal });
        SlabAllocator allocator = new(() => state, static _ => true);
        AllocationPreferences log = new() { Purpose = AllocationPurpose.Log };
        Assert.True(allocator.TryReserveRow(1, 1, log, out SlabRef[] one, out _));
        Assert.Equal(4, one[0].Disk.Value);
        Assert.True(allocator.TryReserveRow(1, 2, log, out SlabRef[] two, out _));
        Assert.Equal([3, 4], two.Select(static slab => (int)slab.Disk.Value).Order());
        Assert.Equal(7, allocator.LargestRowCount(1, 2, log));   // then the others: 5, 5 and 4 are left
        Assert.True(allocator.TryReserveRow(1, 3, AllocationPreferences.Default, out SlabRef[] data, out _));
        Assert.DoesNotContain(data, static slab => slab.Disk.Value == 4);
    }

    // The run foretold is obtained, each copy on one disk; one row more is refused; caches lie on journal disks and flash only.
    [Fact]
    public void A_run_of_the_length_foretold_is_obtained_and_none_longer()
    {
        Random random = new(2);
        for (int i = 0; i < Cases / 10; i++)
        {
            PoolState state = RandomState(random, out DiskNumber missing);
            SlabAllocator allocator = new(() => state, disk => disk != missing);
            AllocationPreferences preferences = new()
            {
                Purpose = (AllocationPurpose)random.Next(3), PreferredDisks = [.. state.Disks.Keys.Where(_ => random.Next(2) == 0)],
            };
            int copies = random.Next(1, 4);
            int foretold = (int)allocator.LargestRunCount(copies, preferences);
            Assert.False(allocator.TryReserveRun(copies, foretold + 1, preferences, out SlabRef[][] rows, out string reason));
            Assert.Empty(rows);
            Assert.StartsWith($"It needs {CountText.Of(copies, "disk")} with {CountText.Of(foretold + 1, "free slab")} each", reason, StringComparison.Ordinal);
            for (int length = foretold; length > 0; length = length == 1 ? 0 : random.Next(1, length))
            {
                Assert.True(allocator.TryReserveRun(copies, length, preferences, out rows, out reason), $"case {i}: {reason}");
                Assert.Equal(length, rows.Length);
                Assert.Equal(length * copies, rows.SelectMany(static row => row).Distinct().Count());
                Assert.All(rows, row => CheckRow(state, row, 1, copies, preferences, missing));
                Assert.All(rows, row => Assert.Equal(rows[0].Select(static slab => slab.Disk), row.Select(static slab => slab.Disk)));
                allocator.Release([.. rows.SelectMany(static row => row)]);
            }
        }
    }

    [Fact]
    public void A_run_that_does_not_fit_the_journal_disks_lies_on_flash_and_never_on_another_medium()
    {
        PoolState state = StateOf([9, 5, 5, 2]);
        state = Change(state, 1, static disk => disk with { MediaTypeCode = (ushort)MediaType.HDD });
        state = Change(state, 2, static disk => disk with { MediaTypeCode = (ushort)MediaType.Unspecified });
        state = Change(state, 4, static disk => disk with { MediaTypeCode = (ushort)MediaType.HDD, Usage = DiskUsage.Journal });
        SlabAllocator allocator = new(() => state, static _ => true);
        AllocationPreferences cache = new() { Purpose = AllocationPurpose.Cache };
        Assert.True(allocator.TryReserveRun(1, 2, cache, out SlabRef[][] rows, out _));
        Assert.All(rows, static row => Assert.Equal(4, row[0].Disk.Value));
        Assert.Equal((5, 0), (allocator.LargestRunCount(1, cache), allocator.LargestRunCount(2, cache)));
        Assert.True(allocator.TryReserveRun(1, 5, cache, out rows, out _));
        Assert.All(rows, static row => Assert.Equal(3, row[0].Disk.Value));
        Assert.False(allocator.TryReserveRun(1, 1, cache, out _, out string reason));
        Assert.Equal("It needs 1 disk with 1 free slab each, flash or of usage Journal; there are 0.", reason);
        Assert.True(allocator.TryReserveRun(1, 9, new() { Purpose = AllocationPurpose.Log }, out _, out _));
    }

    [Fact]
    public void A_refusal_says_what_is_needed_and_what_is_there()
    {
        PoolState state = StateOf([1, 0, 4]);
        SlabAllocator allocator = new(() => state, static _ => true);
        Assert.False(allocator.TryReserveRow(3, 1, AllocationPreferences.Default, out _, out string reason));
        Assert.Equal("A row needs 3 disks with a free slab; there are 2, of 3 disks that may be used.", reason);
    }

    [Fact]
    public void A_committed_row_is_in_use_and_no_longer_reserved()
    {
        PoolState state = StateOf([3, 3]);
        SlabAllocator allocator = new(() => state, static _ => true);
        Assert.True(allocator.TryReserveRow(1, 2, AllocationPreferences.Default, out SlabRef[] row, out _));
        RowsMapped record = new(new SpaceId(1), 0, 2, [new RowMapping(row)]);
        state = state.Apply(new SpaceCreated(new SpaceDescription(state.NextSpace, RecordSamples.VirtualDisk.Id, SpaceKind.Data, 1, 2)));
        state = state.Apply(record with { Space = new SpaceId(state.NextSpace.Value - 1) });
        allocator.Committed(record);
        Assert.Equal(2, allocator.FreeSlabs(new DiskNumber(1)));
        Assert.Equal(2, allocator.LargestRowCount(1, 2, AllocationPreferences.Default));
    }

    private static void Check(Random random, int number)
    {
        PoolState state = RandomState(random, out DiskNumber missing);
        SlabAllocator allocator = new(() => state, disk => disk != missing);
        AllocationPreferences preferences = new()
        {
            Purpose = random.Next(3) == 0 ? (AllocationPurpose)random.Next(3) : AllocationPurpose.Data,
            Media = random.Next(4) == 0 ? MediaType.SSD : null,
            AllowedDisks = random.Next(6) == 0 ? [new DiskNumber(1), new DiskNumber(2), new DiskNumber(3)] : [],
            ExcludedDisks = random.Next(6) == 0 ? [new DiskNumber((ushort)random.Next(1, 4))] : [],
            FaultDomainAwareness = RandomLevel(random),
            ColumnIsolation = random.Next(3) == 0 ? RandomLevel(random) : FaultDomainLevel.PhysicalDisk,
        };
        int columns = random.Next(1, 4);
        int copies = random.Next(1, 4);
        preferences = preferences with { PositionsPerDomain = copies == 1 && random.Next(2) == 0 ? random.Next(1, 3) : 0 };
        long foretold = allocator.LargestRowCount(columns, copies, preferences);
        List<SlabRef[]> rows = [];
        while (allocator.TryReserveRow(columns, copies, preferences, out SlabRef[] row, out string reason))
        {
            Assert.Equal("", reason);
            CheckRow(state, row, columns, copies, preferences, missing);
            rows.Add(row);
        }

        Assert.True(foretold == rows.Count, $"case {number}: {foretold} rows foretold, {rows.Count} obtained");
        Assert.Equal(rows.Count * columns * copies, rows.SelectMany(static row => row).Distinct().Count());
        rows.ForEach(row => allocator.Release(row));
        Assert.Equal(foretold, allocator.LargestRowCount(columns, copies, preferences));
        List<SlabRef[]> together = [];
        Assert.Equal(foretold > 0, allocator.TryReserveRows(columns, copies, (int)Math.Max(1, foretold), preferences, together, out string _));
        Assert.False(allocator.TryReserveRows(columns, copies, 1, preferences, together, out string none));
        Assert.NotEqual("", none);
        Assert.Equal(rows, together);
    }

    // The search for free slabs goes on where it ended, and from the beginning where slabs have become free.
    [Fact]
    public void Reserving_takes_steps_in_proportion_to_the_slabs_that_are_reserved()
    {
        const int disks = 8;
        const uint slabs = 200_000;
        PoolState state = PoolState.Empty.Apply(new PoolCreated(RecordSamples.Pool));
        for (ushort disk = 1; disk <= disks; disk++)
        {
            state = state.Apply(new DiskAdded(RecordSamples.MakeDisk(disk, 2L * slabs * state.Pool!.Slabs.Stride)));
        }

        SlabAllocator allocator = new(() => state, static _ => true);
        List<SlabRef[]> rows = [];
        long before = 0;
        for (int reserved = 0; reserved < slabs; reserved += 50_000)
        {
            Assert.True(allocator.TryReserveRows(disks, 1, 50_000, AllocationPreferences.Default, rows, out _));
            Assert.InRange(allocator.Steps - before, 50_000 * disks, 3 * 50_000 * disks);
            before = allocator.Steps;
        }

        allocator.Release(rows[7]);
        Assert.True(allocator.TryReserveRow(disks, 1, AllocationPreferences.Default, out SlabRef[] again, out _));
        Assert.Equal(rows[7], again);
    }

    private static FaultDomainLevel RandomLevel(Random random) => random.Next(3) switch
    {
        0 => FaultDomainLevel.StorageEnclosure, 1 => FaultDomainLevel.StorageRack, _ => FaultDomainLevel.PhysicalDisk,
    };

    private static PoolState RandomState(Random random, out DiskNumber missing)
    {
        int disks = random.Next(1, 10);
        PoolState state = StateOf([.. Enumerable.Range(0, disks).Select(_ => random.Next(6))]);
        for (int disk = 1; disk <= disks; disk++)
        {
            state = Change(state, disk, old => old with
            {
                Usage = random.Next(3) == 0 ? (DiskUsage)random.Next(1, 6) : DiskUsage.AutoSelect,
                MediaTypeCode = (ushort)(random.Next(4) == 0 ? MediaType.HDD : MediaType.SSD),
                FaultDomainPath = random.Next(8) == 0 ? "" : FaultDomains.Path(rack: $"r{random.Next(2)}", enclosure: $"e{random.Next(3)}"),
                EnclosureNumber = random.Next(-1, 2),
            });
        }

        missing = new DiskNumber((ushort)random.Next(0, disks * 3));
        return state;
    }

    private static void CheckRow(PoolState state, SlabRef[] row, int columns, int copies, AllocationPreferences preferences, DiskNumber missing)
    {
        Assert.Equal(columns * copies, row.Length);
        Assert.Equal(row.Length, row.Select(static slab => slab.Disk).Distinct().Count());
        foreach (SlabRef slab in row)
        {
            DiskState disk = state.Disks[slab.Disk];
            Assert.False(disk.IsUsed(slab.Slab));
            Assert.True(slab.Slab < disk.Description.SlabCount && slab.Disk != missing);
            Assert.True(disk.Description.Usage is DiskUsage.AutoSelect
                || (disk.Description.Usage == DiskUsage.Journal && preferences.Purpose != AllocationPurpose.Data)
                || (disk.Description.Usage == DiskUsage.ManualSelect && preferences.AllowedDisks.Contains(slab.Disk)));
            Assert.True(preferences.Media is null || disk.Description.Media() == preferences.Media);
            Assert.True(preferences.Purpose != AllocationPurpose.Cache || disk.Description.IsFlash() || disk.Description.Usage == DiskUsage.Journal);
            Assert.DoesNotContain(slab.Disk, preferences.ExcludedDisks);
        }

        CheckDomains(state, row, columns, copies, preferences);
    }

    private static void CheckDomains(PoolState state, SlabRef[] row, int columns, int copies, AllocationPreferences preferences)
    {
        foreach (FaultDomainLevel level in (FaultDomainLevel[])[preferences.FaultDomainAwareness, preferences.ColumnIsolation])
        {
            Assert.All(row, slab => Assert.NotEqual("", FaultDomains.DomainOf(state.Disks[slab.Disk].Description, level)));
        }

        Assert.Equal(row.Length, row.Select(slab => FaultDomains.DomainOf(state.Disks[slab.Disk].Description, preferences.ColumnIsolation)).Distinct().Count());
        int most = row.GroupBy(slab => FaultDomains.DomainOf(state.Disks[slab.Disk].Description, preferences.FaultDomainAwareness))
            .Max(static domain => domain.Count());
        Assert.True(preferences.PositionsPerDomain == 0 || most <= preferences.PositionsPerDomain);
        for (int column = 0; column < columns; column++)
        {
            IEnumerable<string> domains = Enumerable.Range(0, copies)
                .Select(copy => FaultDomains.DomainOf(state.Disks[row[(column * copies) + copy].Disk].Description, preferences.FaultDomainAwareness));
            Assert.Equal(copies, domains.Distinct().Count());
        }
    }

    // Disks with so many free slabs each; the others are in use.
    private static PoolState StateOf(int[] free)
    {
        PoolState state = PoolState.Empty.Apply(new PoolCreated(RecordSamples.Pool)).Apply(new VirtualDiskCreated(RecordSamples.VirtualDisk));
        state = state.Apply(new SpaceCreated(new SpaceDescription(state.NextSpace, RecordSamples.VirtualDisk.Id, SpaceKind.Data, 1, 1)));
        int row = 0;
        for (int i = 0; i < free.Length; i++)
        {
            DiskDescription disk = RecordSamples.MakeDisk((ushort)(i + 1), DiskLayout.SmallestDisk + (11L << 20));
            state = state.Apply(new DiskAdded(disk));
            RowMapping[] used =
                [.. Enumerable.Range(0, (int)disk.SlabCount - free[i])
                    .Select(slab => new RowMapping([new SlabRef(disk.Number, (uint)(slab * 7) % disk.SlabCount)]))];
            state = state.Apply(new RowsMapped(new SpaceId(1), row, 1, used));
            row += used.Length;
        }

        return state;
    }

    private static PoolState Change(PoolState state, int disk, Func<DiskDescription, DiskDescription> change) =>
        state.Apply(new DiskChanged(change(state.Disks[new DiskNumber((ushort)disk)].Description)));
}
