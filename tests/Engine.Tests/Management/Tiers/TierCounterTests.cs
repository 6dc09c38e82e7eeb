using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Management;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>Each write of a client counts once, at the tier or at the write cache that took it, and for one reason.</summary>
public sealed class TierCounterTests
{
    private const int Block = 4096;
    private const long Mebibyte = 1 << 20;

    private readonly SubsystemWorld _world = new();

    [Theory]
    [InlineData(8)]
    [InlineData(0)]
    public void Each_decision_has_its_counter_and_their_sum_is_what_the_client_wrote(int cacheMebibytes)
    {
        _world.NewPool([(128 * Mebibyte, MediaType.SSD), (128 * Mebibyte, MediaType.HDD)]);
        Guid id = NewDisk(cacheMebibytes * Mebibyte);
        for (int slice = 0; slice < 4; slice++)
        {
            _world.Write(id, slice * Mebibyte, Block);   // the fast tier has room
        }

        _world.Write(id, Block, 2 * Block);              // it has the slice
        _world.Write(id, 4 * Mebibyte, 4 * Block);       // it is full
        _world.Write(id, 6 * Mebibyte, 1 << 20);         // too large for a cache
        _world.Advance(TimeSpan.FromSeconds(20));        // the cache is destaged

        StorageTierStatus fast = Tier("d_SSD");
        StorageTierStatus slow = Tier("d_HDD");
        bool isCached = cacheMebibytes > 0;
        Assert.Equal((5, 4, 4L * Block), (fast.Counters!.WriteOperations, fast.Counters.FirstWrites, fast.Counters.FirstWriteBytes));
        Assert.Equal(isCached ? 1 : 2, slow.Counters!.WriteOperations);
        Assert.Equal(isCached ? 4 * Block : 0, slow.Counters.DestagedBytes);
        VirtualDiskStatus disk = Assert.Single(_world.Run(_world.Subsystem.VirtualDisks.ListAsync()));
        Assert.Equal(disk.Counters!.WriteBytes, fast.Counters.WriteBytes + slow.Counters.WriteBytes + (isCached ? disk.WriteCache!.Cached.Bytes : 0));
        if (isCached)
        {
            WriteCacheStatus cache = disk.WriteCache!;
            Assert.Equal((4, 4L * Block), (cache.SsdAllocated.Writes, cache.SsdAllocated.Bytes));
            Assert.Equal((1, 2L * Block), (cache.SsdResident.Writes, cache.SsdResident.Bytes));
            Assert.Equal((1, 4L * Block), (cache.Cached.Writes, cache.Cached.Bytes));
            Assert.Equal((1, Mebibyte), (cache.BypassLarge.Writes, cache.BypassLarge.Bytes));
        }
    }

    [Fact]
    public void A_tier_counts_latencies_and_its_longest_queue()
    {
        _world.NewPool([(128 * Mebibyte, MediaType.SSD), (128 * Mebibyte, MediaType.HDD)]);
        Guid id = NewDisk(0);
        _world.Write(id, 0, Block);
        _world.Read(id, 0, Block);
        IoCounters counters = Tier("d_SSD").Counters!.Io;
        Assert.Equal((1, 1, 0, 1), (Sum(counters.WriteLatencies), Sum(counters.ReadLatencies), counters.Queue, counters.QueueMax));
        Assert.True(counters.LatencyNsTotal > 0);

        static long Sum(ReadOnlySpan<long> classes)
        {
            long sum = 0;
            foreach (long count in classes)
            {
                sum += count;
            }

            return sum;
        }
    }

    [Fact]
    public void The_counters_of_a_disk_do_not_go_back_while_it_is_away_and_when_it_is_back()
    {
        _world.NewPool(3);
        Guid id = _world.NewMirror("m", 8 * Mebibyte);
        for (int number = 0; number < 3; number++)
        {
            long before = _world.Physical(number).Counters!.WriteBytes;
            _world.Pull(number);
            _world.Write(id, 0, Block);
            _world.Advance(TimeSpan.FromSeconds(5));
            long away = _world.Physical(number).Counters!.WriteBytes;
            _world.PutBack(number);
            _world.Advance(TimeSpan.FromSeconds(60));
            PhysicalDiskStatus back = _world.Physical(number);
            Assert.True(before > 0 && away >= before && back.Counters!.WriteBytes >= away, $"disk {number}: {before}, {away}, {back.Counters!.WriteBytes}");
            Assert.Equal("OK", back.OperationalStatus);
        }
    }

    private Guid NewDisk(long cacheBytes)
    {
        TierRequest[] tiers = [.. new[] { (MediaType.SSD, 4), (MediaType.HDD, 8) }.Select(tier => new TierRequest(
            _world.Run(_world.Subsystem.Tiers.CreateTemplateAsync(
                _world.Pool, new TierTemplateRequest { FriendlyName = $"{tier.Item1}", MediaType = tier.Item1 })).UniqueId, tier.Item2 * Mebibyte))];
        return _world.Run(_world.Subsystem.VirtualDisks.CreateAsync(_world.Pool, new VirtualDiskRequest
        {
            FriendlyName = "d", ResiliencySettingName = "Simple", Tiers = tiers, WriteCacheSize = cacheBytes,
        })).Description.Id.Value;
    }

    private StorageTierStatus Tier(string name) => _world.Run(_world.Subsystem.Tiers.ListAsync()).First(tier => tier.FriendlyName == name);
}
