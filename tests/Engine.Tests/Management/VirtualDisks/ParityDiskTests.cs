using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>Virtual disks with parity in a pool: what can be made, and that the loss of as many disks as there are parities costs nothing.</summary>
public sealed class ParityDiskTests
{
    private const int Mebibyte = 1 << 20;
    private const int Length = 192 << 10;
    private const int Piece = 12 << 10;

    private readonly SubsystemWorld _world = new();

    [Theory]
    [InlineData(3, 1, 3)]
    [InlineData(5, 1, 5)]
    [InlineData(9, 1, 8)]
    [InlineData(7, 2, 7)]
    public void Columns_are_as_many_as_the_disks_allow(int disks, int redundancy, int columns)
    {
        _world.NewPool(disks);
        VirtualDiskDescription made = Make(redundancy: redundancy);

        Assert.Equal(("Parity", columns, 1, redundancy), (
            made.ResiliencySettingName, made.NumberOfColumns, made.NumberOfDataCopies, made.PhysicalDiskRedundancy));
        long row = made.SizeBytes / ((6L * Mebibyte / ((columns - redundancy) * 960L * 1024)) + 1);
        Assert.Equal(0, row % ((columns - redundancy) * (64 << 10)));   // whole stripes of 64 KiB strips, the largest in slabs of 1 MiB
        Assert.True(made.SizeBytes >= 6 * Mebibyte);
        VirtualDiskPlacement placement = _world.Run(_world.Subsystem.Placements.GetAsync(made.Id.Value));
        Assert.All(
            placement.Data.GroupBy(static extent => extent.VirtualOffset),
            row => Assert.Equal(columns, row.Select(static extent => extent.PhysicalDisk).Distinct().Count()));
        Assert.Equal(redundancy + 1, placement.Log.Select(static extent => extent.PhysicalDisk).Distinct().Count());
    }

    [Theory]
    [InlineData(2, null, null, null, ChecksumKind.CRC32C, "NotEnoughPhysicalDisks", "needs 3 physical disks; 2 can be used")]
    [InlineData(6, null, 2, null, ChecksumKind.CRC32C, "NotEnoughPhysicalDisks", "-NumberOfColumns 4 to 6")]
    [InlineData(6, 7, 2, null, ChecksumKind.CRC32C, "ColumnsRange", "-NumberOfColumns 7")]
    [InlineData(6, 2, 1, null, ChecksumKind.CRC32C, "ColumnsRange", "Valid: 3 to 64")]
    [InlineData(6, null, 3, null, ChecksumKind.CRC32C, "RedundancyRange", "Valid: 1 and 2")]
    [InlineData(6, null, null, 131072L, ChecksumKind.CRC32C, "InterleaveRange", "to 64 KB with Parity")]
    [InlineData(6, null, null, null, ChecksumKind.None, "InvalidParameter", "-Checksum None")]
    public void What_cannot_be_made_is_refused(
        int disks, int? columns, int? redundancy, long? interleave, ChecksumKind checksum, string problem, string named)
    {
        _world.NewPool(disks);
        ManagementException refused = Assert.Throws<ManagementException>(() => Make(columns, redundancy, interleave, checksum));

        Assert.Equal(problem, refused.Error.ToString());
        Assert.Contains(named, refused.Message + refused.Action, StringComparison.Ordinal);
        Assert.Empty(_world.Run(_world.Subsystem.VirtualDisks.ListAsync()));
    }

    [Fact]
    public void A_pool_with_parity_needs_a_release_that_knows_it()
    {
        _world.NewPool(4);
        VirtualDiskDescription made = Make();
        PoolState state = _world.Opened(made.Id.Value).Pool.State;
        Assert.Equal(FeatureFlags.ParityFeature, FeatureRules.Of(state).Incompatible & FeatureFlags.ParityFeature);
        Assert.True(_world.Run(_world.Subsystem.VirtualDisks.RemoveAsync(made.Id.Value)));
    }

    [Theory]
    [InlineData(3, 1)]
    [InlineData(5, 1)]
    [InlineData(5, 2)]
    public void Every_set_of_disks_may_be_pulled_while_it_is_written(int columns, int redundancy)
    {
        _world.NewPool(columns);
        Guid id = Make(columns, redundancy).Id.Value;
        for (int at = 0; at + Length <= 6 * Mebibyte; at += Length)
        {
            _world.Write(id, at, Length);
        }

        int round = 0;
        foreach (int[] pulled in Sets(columns, redundancy))
        {
            Array.ForEach(pulled, _world.Pull);
            for (int i = 0; i < 8; i++)
            {
                _world.Write(id, ((round * 5) + i) % 30 * Length, Length);   // partly over stripes, partly over strips
            }

            RequireAll(id);
            Array.ForEach(pulled, _world.PutBack);
            _world.Until(() => !IsAnyMissing() && Status.OperationalStatus is "OK" or "Detached" && _world.Opened(id).BytesToResync == 0);
            round++;
        }

        RequireAll(id);
        Assert.Equal(0, Status.SpaceCounters!.Damage.BlocksLost);
        Assert.True(Status.SpaceCounters.Parity.JournalRecords > 0);
    }

    [Fact]
    public void What_a_lost_disk_held_is_rebuilt_on_a_spare()
    {
        _world.NewPool(5);
        Guid id = Make(columns: 4).Id.Value;
        for (int at = 0; at + Length <= 6 * Mebibyte; at += Length)
        {
            _world.Write(id, at, Length);
        }

        _world.Run(_world.Subsystem.Pools.SetAsync(_world.Pool, static pool => pool with { RetireMissingPhysicalDisks = RetireMissingPhysicalDisks.Always }));
        _world.Pull(1);
        _world.Advance(TimeSpan.FromMinutes(20));   // it is given up, and its slabs are made again elsewhere
        _world.Until(() => _world.Opened(id).BytesToResync == 0 && !_world.Run(_world.Subsystem.Placements.GetAsync(id)).Data
            .Any(extent => extent.PhysicalDisk == _world.Physical(1).UniqueId));
        _world.Pull(2);
        _world.Advance(TimeSpan.FromSeconds(5));
        RequireAll(id);
    }

    [Theory]
    [InlineData(3, 1)]
    [InlineData(4, 1)]
    [InlineData(5, 2)]
    public void Without_flash_a_cache_on_the_disks_of_the_data_gathers_small_writes_to_stripes(int columns, int redundancy)
    {
        _world.NewPool([.. Enumerable.Repeat((320L << 20, MediaType.HDD), columns)]);
        VirtualDiskDescription made = Make(columns, redundancy, cache: null);
        Guid id = made.Id.Value;
        Assert.Equal(32 << 20, made.WriteCacheSize);
        for (int at = 0; at + Piece <= 6 * Mebibyte; at += Piece)
        {
            _world.Write(id, at, Piece);
        }

        _world.Until(() => Status.WriteCache!.DirtyBytes == 0);
        SpaceParityCounters counters = Status.SpaceCounters!.Parity;
        long stripes = 6L * Mebibyte / (made.Parts[0].DataColumns * made.Interleave);
        Assert.InRange(counters.WholeStripes, stripes * 9 / 10, stripes);
        Assert.InRange(counters.PartialWrites, 0, stripes / 10);
        foreach (int[] pulled in Sets(columns, redundancy))
        {
            Array.ForEach(pulled, _world.Pull);
            for (int at = 0; at + Piece <= 6 * Mebibyte; at += Piece)
            {
                Assert.Equal(SubsystemWorld.Written(at, Piece), _world.Read(id, at, Piece));
            }

            _world.Write(id, 0, Piece);   // the ring has lost a disk, or the data, or both
            Array.ForEach(pulled, _world.PutBack);
            _world.Until(() => !IsAnyMissing() && Status.OperationalStatus is "OK" or "Detached" && _world.Opened(id).BytesToResync == 0);
        }
    }

    [Theory]
    [InlineData(0, 33L << 20, 3, "")]
    [InlineData(1, 33L << 20, 3, "needs 2 disks of usage Journal or flash (SSD, SCM); storage pool 'p' has 0 of usage Journal and 1 more of flash.")]
    [InlineData(2, 33L << 20, 3, "")]
    [InlineData(0, 33L << 20, 0, "needs 2 disks of usage Journal or flash")]
    public void A_cache_that_is_asked_for_is_on_any_medium_only_in_front_of_parity_and_without_flash(int flash, long size, int columns, string why)
    {
        _world.NewPool([.. Enumerable.Repeat((256L << 20, MediaType.SSD), flash), .. Enumerable.Repeat((256L << 20, MediaType.HDD), 4)]);
        VirtualDiskRequest request = new()
        {
            FriendlyName = "d", SizeBytes = 6 * Mebibyte, ResiliencySettingName = columns > 0 ? "Parity" : "Mirror",
            NumberOfColumns = columns > 0 ? columns : 1, WriteCacheSize = size,
        };
        Task<VirtualDiskStatus> made = _world.Subsystem.VirtualDisks.CreateAsync(_world.Pool, request);
        if (why.Length > 0)
        {
            Assert.Contains(why, Assert.Throws<ManagementException>(() => _world.Run(made)).Message, StringComparison.Ordinal);
            return;
        }

        VirtualDiskStatus disk = _world.Run(made);
        Assert.Equal(size, disk.Description.WriteCacheSize);
        VirtualDiskPlacement placement = _world.Run(_world.Subsystem.Placements.GetAsync(disk.Description.Id.Value));
        Assert.Equal(2, placement.Cache.Select(static extent => extent.PhysicalDisk).Distinct().Count());
    }

    private VirtualDiskStatus Status => Assert.Single(_world.Run(_world.Subsystem.VirtualDisks.ListAsync()));

    private static IEnumerable<int[]> Sets(int disks, int size)
    {
        for (int first = 0; first < disks; first++)
        {
            yield return [first];
            for (int second = first + 1; second < disks && size == 2; second++)
            {
                yield return [first, second];
            }
        }
    }

    private bool IsAnyMissing() => _world.Run(_world.Subsystem.PhysicalDisks.ListAsync()).Any(static disk => disk.OperationalStatus != "OK")
        || _world.IsBehind(_world.Run(_world.Subsystem.VirtualDisks.ListAsync()).Single().Description.Id.Value);

    private VirtualDiskDescription Make(
        int? columns = null, int? redundancy = null, long? interleave = null, ChecksumKind checksum = ChecksumKind.CRC32C, long? cache = 0) =>
        _world.Run(_world.Subsystem.VirtualDisks.CreateAsync(_world.Pool, new VirtualDiskRequest
        {
            FriendlyName = "d", SizeBytes = 6 * Mebibyte, ResiliencySettingName = "parity", NumberOfColumns = columns, PhysicalDiskRedundancy = redundancy,
            Interleave = interleave, Checksum = checksum, WriteCacheSize = cache,
        })).Description;

    private void RequireAll(Guid id)
    {
        for (int at = 0; at + Length <= 6 * Mebibyte; at += Length)
        {
            Assert.Equal(SubsystemWorld.Written(at, Length), _world.Read(id, at, Length));
        }
    }
}
