using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;
using TierSpaces.Engine.Tests.Formats;

namespace TierSpaces.Engine.Tests.Pools;

/// <summary>A state that decodes and applies, and yet is one that nothing can be built on: refused as a whole, with the reason.</summary>
public sealed class PoolConsistencyTests
{
    private const long Mebibyte = 1 << 20;

    private static readonly VirtualDiskDescription s_good = RecordSamples.VirtualDisk with
    {
        NumberOfColumns = 1, SizeBytes = 4 * Mebibyte, WriteCacheSize = 2 * Mebibyte, CacheSpace = new SpaceId(3),
    };

    public static TheoryData<string, Func<VirtualDiskDescription, VirtualDiskDescription>> Impossible => new()
    {
        { "0 columns", static disk => disk with { NumberOfColumns = 0 } },
        { "65 columns", static disk => disk with { NumberOfColumns = 65 } },
        { "0 copies", static disk => disk with { NumberOfDataCopies = 0 } },
        { "4 copies", static disk => disk with { NumberOfDataCopies = 4 } },
        { "an interleave of 0 bytes", static disk => disk with { Interleave = 0 } },
        { "an interleave of 64 KB (65537 bytes)", static disk => disk with { Interleave = 65537 } },
        { "an interleave of 2 MB in slabs of 1 MB", static disk => disk with { Interleave = 2 << 20 } },
        { "a size of 0 bytes", static disk => disk with { SizeBytes = 0 } },
        { "a size of 16 TB (17592186044417 bytes)", static disk => disk with { SizeBytes = (SpaceDescription.MaxRows * Mebibyte) + 1 } },
        { "a size of 8192 PB (9223372036854775807 bytes)", static disk => disk with { SizeBytes = long.MaxValue } },
        { "sectors of 513 bytes", static disk => disk with { LogicalSectorSize = 513 } },
        { "checksums 7", static disk => disk with { Checksum = (ChecksumKind)7 } },
        { "space 1 is not of its shape", static disk => disk with { NumberOfDataCopies = 3 } },
        { "space 2 is not of its shape", static disk => disk with { DataSpace = new SpaceId(2) } },
        { "space 0 is not of its shape", static disk => disk with { DataSpace = SpaceId.None } },
        { "space 0 is no integrity log", static disk => disk with { LogSpace = SpaceId.None } },
        { "space 1 is no integrity log", static disk => disk with { LogSpace = new SpaceId(1) } },
        { "space 9, which is not its own", static disk => disk with { LogSpace = new SpaceId(9) } },
        { "space 10, which is not its own", static disk => disk with { CacheSpace = new SpaceId(10) } },
        { "a write cache of 2 MB without a space", static disk => disk with { CacheSpace = SpaceId.None } },
        { "space 2 is no write cache of 2 MB", static disk => disk with { CacheSpace = new SpaceId(2) } },
        { "space 3 is no write cache of 3 MB", static disk => disk with { WriteCacheSize = 3 * Mebibyte } },
        { "destage settings of", static disk => disk with { Destage = new() { StartPercent = 96 } } },
        { "destage settings of", static disk => disk with { Destage = new() { StartPercent = 10, StopPercent = 10 } } },
        { "destage settings of", static disk => disk with { Destage = new() { IdleNs = DestageSettings.IdleNsMax + 1 } } },
        { "destage settings of", static disk => disk with { Destage = new() { HoldUntil = DestageSettings.HoldUntilMax + 1 } } },
        { "tier settings of", static disk => disk with { TierSettings = new() { MinimumHeat = -1 } } },
        { "tier settings of", static disk => disk with { TierSettings = new() { HalfLifeNs = 0 } } },
        { "tier settings of", static disk => disk with { TierSettings = new() { DemoteColdAfterNs = TierSettings.DemoteColdAfterNsMax + 1 } } },
    };

    public static TheoryData<string, Func<VirtualDiskDescription, VirtualDiskDescription>> ImpossibleParity => new()
    {
        { "2 columns and 1 copies with 1 parities", static disk => disk with { NumberOfColumns = 2 } },
        { "3 columns and 2 copies with 1 parities", static disk => disk with { NumberOfDataCopies = 2 } },
        { "3 columns and 1 copies with 2 parities", static disk => disk with { PhysicalDiskRedundancy = 2 } },
        { "4 columns and 1 copies with 3 parities", static disk => disk with { NumberOfColumns = 4, PhysicalDiskRedundancy = 3 } },
        { "4 columns and 1 copies with 0 parities", static disk => disk with { NumberOfColumns = 4, PhysicalDiskRedundancy = 0 } },
        { "an interleave of 128 KB with parity in slabs of 1 MB", static disk => disk with { Interleave = 128 << 10 } },
        { "parity without checksums", static disk => disk with { Checksum = ChecksumKind.None } },
    };

    [Theory]
    [MemberData(nameof(ImpossibleParity))]
    public void Parity_that_cannot_be_is_refused(string why, Func<VirtualDiskDescription, VirtualDiskDescription> change)
    {
        VirtualDiskDescription good = s_good with
        {
            ResiliencySettingName = TierDescription.ParityName, NumberOfColumns = 3, NumberOfDataCopies = 1, PhysicalDiskRedundancy = 1, Interleave = 64 << 10,
        };
        Assert.True(StateOf(good).IsConsistent(out string reason), reason);
        Assert.False(StateOf(change(good)).IsConsistent(out reason));
        Assert.Contains(why, reason);
    }

    [Fact]
    public void The_largest_strip_of_parity_is_in_one_page_and_one_region()
    {
        foreach (int slab in new[] { 1 << 20, 32 << 20, 64 << 20, 256 << 20 })
        {
            SpaceShape shape = new(3, 1, (int)ParityGeometry.InterleaveMax(slab), slab, true, 1);
            Assert.Equal(Math.Min(shape.RegionSize, SpaceShape.BlocksPerPage * SpaceShape.BlockSize), shape.Interleave);
        }
    }

    [Fact]
    public void A_state_whose_objects_fit_is_consistent()
    {
        Assert.True(StateOf(s_good).IsConsistent(out string reason), reason);
        Assert.True(StateOf(s_good with { SizeBytes = SpaceDescription.MaxRows * Mebibyte }).IsConsistent(out reason), reason);
        Assert.True(StateOf(s_good with { WriteCacheSize = 0, CacheSpace = SpaceId.None }).IsConsistent(out reason), reason);
        Assert.True(StateOf(s_good with { Checksum = ChecksumKind.None, LogSpace = new SpaceId(2) }).IsConsistent(out reason), reason);
    }

    [Theory]
    [MemberData(nameof(Impossible))]
    public void A_virtual_disk_that_cannot_be_is_refused(string why, Func<VirtualDiskDescription, VirtualDiskDescription> change)
    {
        Assert.False(StateOf(change(s_good)).IsConsistent(out string reason));
        Assert.Contains(why, reason);
        Assert.True(StateOf(change(s_good) with { IsBeingCreated = true }).IsConsistent(out reason) || why.EndsWith("own", StringComparison.Ordinal), reason);
    }

    [Fact]
    public void A_cache_without_rows_or_with_gaps_is_refused()
    {
        Assert.False(StateOf(s_good, firstCacheRow: -1).IsConsistent(out _));
        Assert.False(StateOf(s_good, firstCacheRow: 3).IsConsistent(out string reason));
        Assert.Contains("gaps", reason);
    }

    [Fact]
    public void A_space_may_be_of_another_pool_only_as_a_lent_cache_and_a_cache_elsewhere_has_no_space_here()
    {
        PoolState state = StateOf(s_good);
        SpaceDescription remote = new(state.NextSpace, new VirtualDiskId(Guid.NewGuid()), SpaceKind.WriteCache, 1, 2);
        Assert.False(state.TryApply(new SpaceCreated(remote), out _, out _));
        remote = remote with { OwnerPool = new PoolId(Guid.NewGuid()) };
        Assert.False(state.TryApply(new SpaceCreated(remote with { Kind = SpaceKind.Data }), out _, out _));
        Assert.True(state.Apply(new SpaceCreated(remote)).IsConsistent(out string reason), reason);

        VirtualDiskDescription elsewhere = s_good with { CachePool = remote.OwnerPool, CacheSpace = new SpaceId(77) };
        Assert.True(StateOf(elsewhere).IsConsistent(out reason), reason);
        Assert.False(StateOf(elsewhere with { WriteCacheSize = 0 }).IsConsistent(out _));
        Assert.True(StateOf(elsewhere with { WriteCacheSize = 0, CacheSpace = SpaceId.None }).IsConsistent(out reason), reason);
    }

    [Fact]
    public void A_log_without_rows_or_with_gaps_is_refused()
    {
        Assert.False(StateOf(s_good, firstLogRow: -1).IsConsistent(out _));
        Assert.False(StateOf(s_good, firstLogRow: 3).IsConsistent(out string reason));
        Assert.Contains("gaps", reason);
    }

    private static PoolState StateOf(VirtualDiskDescription disk, int firstLogRow = 0, int firstCacheRow = 0)
    {
        bool isParity = disk.ResiliencySettingName == TierDescription.ParityName;
        PoolState state = PoolState.Empty.Apply(new PoolCreated(RecordSamples.Pool)).Apply(new DiskAdded(RecordSamples.MakeDisk(1, 16 << 20)))
            .Apply(new DiskAdded(RecordSamples.MakeDisk(2, 16 << 20))).Apply(new VirtualDiskCreated(disk))
            .Apply(new SpaceCreated(new SpaceDescription(new SpaceId(1), disk.Id, SpaceKind.Data, (ushort)(isParity ? 3 : 1), (ushort)(isParity ? 1 : 2))))
            .Apply(new SpaceCreated(new SpaceDescription(new SpaceId(2), disk.Id, SpaceKind.IntegrityLog, 1, 2)))
            .Apply(new SpaceCreated(new SpaceDescription(new SpaceId(3), disk.Id, SpaceKind.WriteCache, 1, 2)));
        state = firstLogRow < 0 ? state : state.Apply(new RowsMapped(new SpaceId(2), firstLogRow, 2, [Row(0)]));
        return firstCacheRow < 0 ? state : state.Apply(new RowsMapped(new SpaceId(3), firstCacheRow, 2, [Row(1), Row(2)]));
    }

    private static RowMapping Row(uint slab) => new([new SlabRef(new DiskNumber(1), slab), new SlabRef(new DiskNumber(2), slab)]);
}
