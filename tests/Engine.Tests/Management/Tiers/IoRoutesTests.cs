using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Management;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>Each request of a client counts for one reason, with a write cache and without; the bytes add up to those of the client.</summary>
public sealed class IoRoutesTests
{
    private const int Block = 4096;
    private const long Mebibyte = 1 << 20;

    private readonly SubsystemWorld _world = new();

    [Fact]
    public void Four_loads_move_one_counter_each()
    {
        _world.NewPool([(128 * Mebibyte, MediaType.SSD), (128 * Mebibyte, MediaType.HDD)]);
        Guid id = NewTiered("Simple", 8 * Mebibyte);
        Load(4, number => _world.Write(id, number * Mebibyte, Block));                            // the fast tier has room
        Expect(Routes(), allocated: 4);
        Load(3, number => _world.Write(id, (number * Mebibyte) + (2 * Block), Block));            // the slices are there
        Expect(Routes(), allocated: 4, resident: 3);
        Load(5, number => _world.Write(id, (4 * Mebibyte) + (number * 2 * Block), Block));        // the fast tier is full
        Expect(Routes(), allocated: 4, resident: 3, cached: 5);
        Load(2, number => _world.Write(id, (6 + number) * Mebibyte, 1 << 20));                    // larger than the cache takes
        Expect(Routes(), allocated: 4, resident: 3, cached: 5, large: 2);
    }

    [Fact]
    public void Without_a_cache_the_tier_is_the_reason()
    {
        _world.NewPool([(128 * Mebibyte, MediaType.SSD), (128 * Mebibyte, MediaType.HDD)]);
        Guid id = NewTiered("Simple", 0);
        Load(4, number => _world.Write(id, number * Mebibyte, Block));
        Expect(Routes(), allocated: 4);
        Load(3, number => _world.Write(id, (number * Mebibyte) + (2 * Block), Block));
        Expect(Routes(), allocated: 4, resident: 3);
        Load(5, number => _world.Write(id, (4 * Mebibyte) + (number * 2 * Block), Block));
        Expect(Routes(), allocated: 4, resident: 3, slow: 5);
        _world.Read(id, 0, Block);
        Assert.Equal((0, Block, 0), (Routes().CacheReadBytes, Routes().SsdReadBytes, Routes().SlowReadBytes));
        _world.Read(id, 4 * Mebibyte, 2 * Block);
        Assert.Equal((0, Block, 2 * Block), (Routes().CacheReadBytes, Routes().SsdReadBytes, Routes().SlowReadBytes));
    }

    [Theory]
    [InlineData(MediaType.SSD)]
    [InlineData(MediaType.HDD)]
    public void Without_cache_and_tiers_the_medium_is_the_reason(MediaType media)
    {
        _world.NewPool([(64 * Mebibyte, media), (64 * Mebibyte, media)]);
        Guid id = _world.NewMirror("m", 8 * Mebibyte, filled: false);
        Load(3, number => _world.Write(id, number * Block, Block));
        _world.Read(id, 0, Block);
        bool isFast = media == MediaType.SSD;
        Expect(Routes(), resident: isFast ? 3 : 0, slow: isFast ? 0 : 3);
        Assert.Equal(isFast ? (Block, 0) : (0, Block), (Routes().SsdReadBytes, Routes().SlowReadBytes));
    }

    [Theory]
    [InlineData("Simple", 8)]
    [InlineData("Mirror", 8)]
    [InlineData("Parity", 8)]
    [InlineData("Mirror", 0)]
    [InlineData("Parity", 0)]
    public void The_bytes_of_mixed_sizes_add_up_to_those_of_the_client(string layout, int cacheMebibytes)
    {
        _world.NewPool([.. Enumerable.Range(0, 6).Select(number => (128 * Mebibyte, number < 3 ? MediaType.SSD : MediaType.HDD))]);
        Guid id = NewTiered(layout, cacheMebibytes * Mebibyte);
        Random random = new(7);
        long length = Assert.Single(_world.Run(_world.Subsystem.VirtualDisks.ListAsync())).Description.SizeBytes;
        for (int number = 0; number < 200; number++)
        {
            int bytes = Block * random.Next(1, random.Next(1, 160));
            long offset = random.NextInt64((length - bytes) / Block) * Block;
            if (random.Next(3) == 0)
            {
                _world.Read(id, offset, bytes);
            }
            else
            {
                _world.Write(id, offset, bytes);
            }
        }

        VirtualDiskStatus disk = Assert.Single(_world.Run(_world.Subsystem.VirtualDisks.ListAsync()));
        IoRoutes routes = disk.Routes!;
        StorageTierStatus[] tiers = [.. _world.Run(_world.Subsystem.Tiers.ListAsync()).Where(static tier => !tier.IsTemplate)];
        long written = routes.Cached.Bytes + routes.SsdAllocated.Bytes + routes.SsdResident.Bytes + routes.BypassLarge.Bytes + routes.BypassFull.Bytes
            + routes.WriteThrough.Bytes + routes.Slow.Bytes;
        Assert.Equal(1, (double)written / disk.Counters!.WriteBytes, 0.01);
        Assert.Equal(1, (double)(tiers.Sum(static tier => tier.Counters!.WriteBytes) + routes.Cached.Bytes) / disk.Counters.WriteBytes, 0.01);
        Assert.InRange(routes.CacheReadBytes + routes.SsdReadBytes + routes.SlowReadBytes, disk.Counters.ReadBytes / 2, disk.Counters.ReadBytes);
    }

    private static void Load(int requests, Action<long> request)
    {
        for (int number = 0; number < requests; number++)
        {
            request(number);
        }
    }

    private static void Expect(IoRoutes routes, int allocated = 0, int resident = 0, int cached = 0, int large = 0, int slow = 0)
    {
        Assert.Equal(
            (allocated, resident, cached, large, slow),
            (routes.SsdAllocated.Writes, routes.SsdResident.Writes, routes.Cached.Writes, routes.BypassLarge.Writes, routes.Slow.Writes));
        Assert.Equal((0, 0), (routes.BypassFull.Writes, routes.WriteThrough.Writes));
    }

    private IoRoutes Routes() => Assert.Single(_world.Run(_world.Subsystem.VirtualDisks.ListAsync())).Routes!;

    private Guid NewTiered(string layout, long cacheBytes)
    {
        TierRequest[] tiers = [.. new[] { (MediaType.SSD, 4), (MediaType.HDD, 8) }.Select(tier => new TierRequest(
            _world.Run(_world.Subsystem.Tiers.CreateTemplateAsync(_world.Pool, new TierTemplateRequest
            {
                FriendlyName = $"{tier.Item1}", MediaType = tier.Item1, ResiliencySettingName = layout,
            })).UniqueId, tier.Item2 * Mebibyte))];
        return _world.Run(_world.Subsystem.VirtualDisks.CreateAsync(_world.Pool, new VirtualDiskRequest
        {
            FriendlyName = "d", ResiliencySettingName = layout, Tiers = tiers, WriteCacheSize = cacheBytes,
        })).Description.Id.Value;
    }
}
