using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Devices.Emulated;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>First writes into slices of flash while the metadata of the pool lie on rotating disks too, in simulated time.</summary>
public sealed class FirstTouchRateTests(ITestOutputHelper output)
{
    private const long Gibibyte = 1L << 30;
    private const int Mebibyte = 1 << 20;
    private const int Block = 4096;

    private readonly SubsystemWorld _world = new()
    {
        Profiles = static media => LatencyProfile.Find(media == MediaType.HDD ? "HDD7200" : "SSDSata")!,
        SlabSize = 256 << 20,
    };

    [Fact]
    public void In_sequence_they_are_more_than_half_as_fast_as_overwriting()
    {
        Guid id = NewDisk();
        double first = Write(id, 1, Mebibyte, Gibibyte / Mebibyte, static i => (long)i * Mebibyte);
        double again = Write(id, 1, Mebibyte, Gibibyte / Mebibyte, static i => (long)i * Mebibyte);
        output.WriteLine($"1 MiB in sequence: first {first / 1e6:f0} MB/s, again {again / 1e6:f0}: {first / again:f3}");
        Assert.True(first >= 0.6 * again, $"{first / again:f3}");
    }

    [Fact]
    public void At_random_one_commit_serves_many_of_them()
    {
        Guid id = NewDisk();
        long[] places = new long[4096];
        Random random = new(7);
        for (int i = 0; i < places.Length; i++)
        {
            places[i] = random.NextInt64(4 * Gibibyte / Block) * Block;
        }

        double first = Write(id, 8, Block, places.Length, i => places[i]) / Block;
        double again = Write(id, 8, Block, places.Length, i => places[i]) / Block;
        output.WriteLine($"4 KiB at random over 4 GiB: first {first:f0} a second, again {again:f0}: {first / again:f3}");
        Assert.True(first >= 0.08 * again, $"{first / again:f3}");
    }

    private Guid NewDisk()
    {
        _world.NewPool([.. Enumerable.Repeat((20 * Gibibyte, MediaType.SSD), 2), .. Enumerable.Repeat((100 * Gibibyte, MediaType.HDD), 3)]);
        return _world.Run(_world.Subsystem.VirtualDisks.CreateAsync(_world.Pool, new VirtualDiskRequest
        {
            FriendlyName = "v", Tiers = [new(Template("fast", MediaType.SSD), 8 * Gibibyte), new(Template("slow", MediaType.HDD), 20 * Gibibyte)],
            WriteCacheSize = 0,
        })).Description.Id.Value;
    }

    private Guid Template(string name, MediaType media) => _world.Run(_world.Subsystem.Tiers.CreateTemplateAsync(
        _world.Pool, new TierTemplateRequest { FriendlyName = name, MediaType = media, ResiliencySettingName = "Mirror" })).UniqueId;

    /// <summary>Writes so many requests, some at once; bytes a second.</summary>
    private double Write(Guid id, int depth, int size, long count, Func<int, long> placeOf)
    {
        int next = 0;
        int running = depth;
        long startNs = _world.Lane.NowNs;
        for (int i = 0; i < depth; i++)
        {
            Work().Forget();
        }

        _world.Until(() => running == 0);
        return count * size * 1e9 / (_world.Lane.NowNs - startNs);

        async LaneTask Work()
        {
            IoBuffer buffer = _world.Lane.Buffers.Rent(size);
            while (next < count)
            {
                Assert.Equal(IoError.None, await _world.Disk(id).Write(placeOf(next++), buffer, WriteFlags.None));
            }

            _world.Lane.Buffers.Return(buffer);
            running--;
        }
    }
}
