using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Devices.Emulated;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>Writes to rotating disks that no flash helps, in simulated time: what dirty regions and checksums cost. Slabs of 256 MiB.</summary>
public sealed class RotatingRateTests(ITestOutputHelper output)
{
    private const long Gibibyte = 1L << 30;
    private const int Mebibyte = 1 << 20;
    private const int Block = 4096;

    private readonly SubsystemWorld _world = new()
    {
        Profiles = static media => LatencyProfile.Find(media == MediaType.HDD ? "HDD7200" : "SSDSata")!,
        SlabSize = 256 << 20,
    };

    // A window of 64 MiB is more than a load over 10 GiB can reach with many requests at once: the disks have shorter ways there.
    [Theory]
    [InlineData(1, 0.45)]
    [InlineData(16, 0.40)]
    public void Writes_at_random_into_clean_regions_keep_up_with_a_window_that_was_just_written(int depth, double least)
    {
        Guid id = NewDisk(4, "Mirror", 40);
        double cold = Random(id, 0, 10 * Gibibyte, depth, seconds: 15);
        Sequential(id, 20 * Gibibyte, 64 * Mebibyte);
        double warm = Random(id, 20 * Gibibyte, 64 * Mebibyte, depth, seconds: 15);
        output.WriteLine($"depth {depth}: {cold:f0} a second, {warm:f0} in the window: {cold / warm:f3}");
        Assert.True(cold >= least * warm, $"{cold / warm:f3}");
    }

    [Theory]
    [InlineData(1, 0.65)]
    [InlineData(16, 0.75)]
    public void Writes_at_random_into_clean_regions_keep_up_with_those_into_dirty_ones(int depth, double least)
    {
        Guid id = NewDisk(4, "Mirror", 40);
        double cold = Random(id, 0, 10 * Gibibyte, depth, seconds: 15);
        double dirty = Random(id, 0, 10 * Gibibyte, depth, seconds: 15, seed: 8);
        output.WriteLine($"depth {depth}: {cold:f0} a second, then {dirty:f0}: {cold / dirty:f3}");
        Assert.True(cold >= least * dirty, $"{cold / dirty:f3}");
    }

    [Theory]
    [InlineData(1)]
    [InlineData(16)]
    public void Checksums_cost_writes_at_random_a_fifth_at_most(int depth)
    {
        double without = Random(NewDisk(4, "Mirror", 40, ChecksumKind.None), 0, 10 * Gibibyte, depth, seconds: 15);
        double with = Random(NewDisk(4, "Mirror", 40), 0, 10 * Gibibyte, depth, seconds: 15);
        output.WriteLine($"depth {depth}: {with:f0} a second, {without:f0} without checksums: {with / without:f3}");
        Assert.True(with >= 0.8 * without, $"{with / without:f3}");
    }

    [Fact]
    public void What_a_load_at_random_leaves_to_resync_is_bounded_and_gone_after_five_minutes()
    {
        Guid id = NewDisk(4, "Mirror", 60);
        Random(id, 7 * Gibibyte + (100 * Mebibyte), Gibibyte, 16, seconds: 60);
        int dirty = Dirty(id);
        long resynced = 2L * dirty * (256 * Mebibyte / 16);   // of two copies
        output.WriteLine($"{dirty} regions, {resynced / Mebibyte} MiB to be read");
        Assert.InRange(resynced, 2 * Gibibyte, 4 * Gibibyte);
        _world.Advance(TimeSpan.FromMinutes(5));
        Assert.Equal(0, Dirty(id));
    }

    [Fact]
    public void One_write_leaves_little_to_resync()
    {
        Guid id = NewDisk(4, "Mirror", 40);
        Sequential(id, 5 * Gibibyte, Mebibyte);
        Assert.Equal(2 * 4, Dirty(id));   // columns × regions
    }

    [Fact]
    public void First_writes_in_sequence_and_those_after_a_pause_are_as_fast_as_others()
    {
        Guid id = NewDisk(4, "Simple", 40);
        double first = Sequential(id, 0, 2 * Gibibyte);
        double again = Sequential(id, 0, 2 * Gibibyte);
        _world.Advance(TimeSpan.FromMinutes(10));
        double later = Sequential(id, 0, 2 * Gibibyte);
        output.WriteLine($"{first / 1e6:f0} MB/s, again {again / 1e6:f0}, after ten minutes {later / 1e6:f0}");
        Assert.True(first >= 0.9 * again, $"first {first / again:f3}");
        Assert.True(later >= 0.9 * again, $"later {later / again:f3}");
        Assert.True(again >= 0.6 * 4 * 150e6, $"{again / 1e6:f0} MB/s");
    }

    private int Dirty(Guid id) => _world.Opened(id).Space.DirtyRegions;

    private Guid NewDisk(int disks, string layout, int gibibytes, ChecksumKind checksum = ChecksumKind.CRC32C)
    {
        if (_world.Disks.Length == 0)
        {
            _world.NewPool([.. Enumerable.Repeat((100 * Gibibyte, MediaType.HDD), disks)]);
        }

        return _world.Run(_world.Subsystem.VirtualDisks.CreateAsync(_world.Pool, new VirtualDiskRequest
        {
            FriendlyName = $"{checksum}", SizeBytes = gibibytes * Gibibyte, ResiliencySettingName = layout, Checksum = checksum,
        })).Description.Id.Value;
    }

    /// <summary>Writes a range in sequence, 1 MiB at a time, 16 at once; bytes a second.</summary>
    private double Sequential(Guid id, long start, long length)
    {
        long next = start;
        long startNs = _world.Lane.NowNs;
        Load(id, 16, Mebibyte, () => next < start + length ? (next += Mebibyte) - Mebibyte : -1);
        return length * 1e9 / (_world.Lane.NowNs - startNs);
    }

    /// <summary>Writes blocks at random in a range for a time; blocks a second.</summary>
    private double Random(Guid id, long start, long length, int depth, int seconds, int seed = 7)
    {
        Random random = new(seed);
        int done = 0;
        long startNs = _world.Lane.NowNs;
        long endNs = startNs + (seconds * 1_000_000_000L);
        Load(id, depth, Block, () =>
        {
            done++;
            return _world.Lane.NowNs < endNs ? start + (random.NextInt64(length / Block) * Block) : -1;
        });
        return (done - depth) * 1e9 / (_world.Lane.NowNs - startNs);
    }

    /// <summary>Writes so many requests at once where <paramref name="next"/> says, until that is negative.</summary>
    private void Load(Guid id, int depth, int size, Func<long> next)
    {
        int running = depth;
        for (int i = 0; i < depth; i++)
        {
            Work().Forget();
        }

        _world.Until(() => running == 0);

        async LaneTask Work()
        {
            IoBuffer buffer = _world.Lane.Buffers.Rent(size);
            for (long at = next(); at >= 0; at = next())
            {
                Assert.Equal(IoError.None, await _world.Disk(id).Write(at, buffer, WriteFlags.None));
            }

            _world.Lane.Buffers.Return(buffer);
            running--;
        }
    }
}
