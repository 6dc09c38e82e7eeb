using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Tiering;

namespace TierSpaces.Engine.Tests.Tiering;

public sealed class HeatSnapshotTests
{
    private const int Mi = 1 << 20;
    private const long Day = 86_400L * 1_000_000_000;
    private const long Now = 638_000_000_000_000_000;   // ticks

    private static readonly Guid s_owner = new(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);

    [Theory]
    [InlineData(0, 0)]
    [InlineData(1, 1)]
    [InlineData(1000, 1000)]
    [InlineData(1001, 1001)]
    [InlineData(50_000, 30)]
    [InlineData(50_000, 100_000)]
    public void A_map_comes_back_as_it_was(int slices, int requests)
    {
        HeatMap map = RandomMap(slices, requests, seed: 1);
        byte[] area = Write(map, 7, out int blocks);
        Assert.InRange(blocks, 1, HeatSnapshot.BlocksFor(slices));
        HeatSnapshotReader reader = Read(area, slices);
        Assert.True(reader.IsWhole);
        Assert.Equal(7UL, reader.Sequence);
        AssertEqual(map, reader.Map!, 1);
    }

    [Fact]
    public void Any_number_of_touched_slices_fits_in_an_area()
    {
        Random random = new(2);
        for (int i = 0; i < 300; i++)
        {
            int slices = random.Next(1, 20_000);
            Write(RandomMap(slices, random.Next(1, 40), random.Next()), 1, out int blocks);
            Assert.InRange(blocks, 1, HeatSnapshot.BlocksFor(slices));
        }

        Assert.Equal([1L, 1L, 1L, 2L, 1049L], new long[] { 0, 1, 1000, 1001, 1 << 20 }.Select(HeatSnapshot.BlocksFor));
    }

    [Fact]
    public void Any_flipped_bit_makes_it_torn()
    {
        byte[] area = Write(RandomMap(1500, 50, seed: 3), 7, out int blocks);
        Assert.Equal(2, blocks);
        for (int at = 0; at < blocks * HeatSnapshot.BlockSize; at++)
        {
            area[at] ^= (byte)(1 << (at % 8));
            Assert.False(Read(area, 1500).IsWhole, $"byte {at}");
            area[at] ^= (byte)(1 << (at % 8));
        }

        Assert.True(Read(area, 1500).IsWhole);
    }

    // A snapshot is written over the one before the last, and the power fails after any of its blocks, whichever of them got there.
    [Fact]
    public void A_torn_snapshot_leaves_the_other_or_none()
    {
        const int slices = 5000;
        byte[] old = Write(RandomMap(slices, 5000, seed: 4), 5, out _);
        byte[] other = Write(RandomMap(slices, 5000, seed: 5), 6, out _);
        byte[] next = Write(RandomMap(slices, 5000, seed: 6), 7, out int blocks);
        for (int written = 0; written < 1 << blocks; written++)
        {
            byte[] area = [.. old];
            for (int block = 0; block < blocks; block++)
            {
                if ((written & (1 << block)) != 0)
                {
                    next.AsSpan(block * HeatSnapshot.BlockSize, HeatSnapshot.BlockSize).CopyTo(area.AsSpan(block * HeatSnapshot.BlockSize));
                }
            }

            bool isWhole = written == (1 << blocks) - 1;
            Assert.Equal(isWhole ? 7UL : 6UL, Newest(other, area, slices)!.Sequence);
            Assert.Equal(isWhole ? 7UL : 6UL, Newest(area, other, slices)!.Sequence);
            Assert.Equal(isWhole ? 7UL : written == 0 ? 5UL : null, Newest(new byte[area.Length], area, slices)?.Sequence);
        }
    }

    [Fact]
    public void Another_owner_or_slice_size_is_as_none()
    {
        byte[] area = Write(RandomMap(100, 50, seed: 7), 7, out _);
        Assert.False(Feed(new HeatSnapshotReader(Guid.Empty, HeatSettings.Default, 100, Now, 0), area).IsWhole);
        Assert.False(Feed(new HeatSnapshotReader(s_owner, new HeatSettings { SliceBytes = 2 * Mi }, 100, Now, 0), area).IsWhole);
        Assert.Null(HeatSnapshotReader.Newest([], new byte[100], () => new HeatSnapshotReader(s_owner, HeatSettings.Default, 100, Now, 0)));
    }

    [Fact]
    public void Heat_decays_while_nobody_looks()
    {
        HeatMap map = RandomMap(3000, 3000, seed: 8);
        byte[] area = Write(map, 1, out _);
        AssertEqual(map, Feed(Reader(3000, Now + (TimeSpan.TicksPerDay * 2)), area).Map!, 0.25);
        AssertEqual(map, Feed(Reader(3000, Now - TimeSpan.TicksPerDay), area).Map!, 1);   // the clock was set back
        Assert.Equal(0, Feed(Reader(3000, DateTime.MaxValue.Ticks), area).Map!.Total(0));
    }

    [Fact]
    public void With_another_half_life_the_same_load_has_another_heat()
    {
        HeatMap map = RandomMap(3000, 3000, seed: 9);
        byte[] area = Write(map, 1, out _);
        HeatSettings settings = new() { HalfLifeNs = 3 * Day };
        AssertEqual(map, Feed(new HeatSnapshotReader(s_owner, settings, 3000, Now, 0), area).Map!, 3);
        settings = new() { HalfLifeNs = HeatSettings.HalfLifeNsMin };
        Assert.InRange(Feed(new HeatSnapshotReader(s_owner, settings, 3000, Now, 0), area).Map!.Total(0), 0, 1);
    }

    [Fact]
    public void A_disk_that_has_grown_or_shrunk_keeps_what_it_can()
    {
        HeatMap map = RandomMap(3000, 3000, seed: 10);
        byte[] area = Write(map, 1, out _);
        Assert.Equal(map.Total(Day), Read(area, 9000).Map!.Total(0), 1.0);
        Assert.Equal(map.Touched(Day).Where(static slice => slice.Slice < 1200).Sum(static slice => slice.Heat), Read(area, 1200).Map!.Total(0), 1.0);
    }

    [Fact]
    public void A_map_is_used_while_it_is_saved_and_restored_heat_goes_on_to_decay()
    {
        HeatMap map = RandomMap(10_000, 10_000, seed: 11);
        HeatSnapshotWriter writer = new(map, s_owner, 1, Now, Day);
        byte[] area = new byte[HeatSnapshot.BlockSize * (int)HeatSnapshot.BlocksFor(10_000)];
        int at = 0;
        while (writer.Next(area.AsSpan(at)))
        {
            at += HeatSnapshot.BlockSize;
            map.Record((at % 10_000) * (long)Mi, 4096, isWrite: true, Day + at);
        }

        HeatMap restored = Read(area, 10_000).Map!;
        Assert.Equal(restored.Total(0) / 2, restored.Total(Day), 0.01);
    }

    [Fact]
    public void The_newer_of_two_areas_shows_in_their_first_blocks()
    {
        byte[] old = Write(RandomMap(10, 5, seed: 12), 5, out _);
        byte[] next = Write(RandomMap(10, 5, seed: 13), 6, out _);
        Assert.True(HeatSnapshotReader.IsNewer(next, old, s_owner));
        Assert.False(HeatSnapshotReader.IsNewer(old, next, s_owner));
        Assert.True(HeatSnapshotReader.IsNewer(old, new byte[4096], s_owner));
        Assert.False(HeatSnapshotReader.IsNewer(new byte[4096], old, s_owner));
        Assert.Equal((1, 0), (new HeatSnapshot(s_owner, 5, 1, 1, 1).Area, new HeatSnapshot(s_owner, 6, 1, 1, 1).Area));
    }

    [Theory]
    [InlineData(float.NaN)]
    [InlineData(float.PositiveInfinity)]
    [InlineData(-1f)]
    [InlineData(1.1e15f)]
    public void Impossible_heat_under_a_good_checksum_is_refused(float heat)
    {
        byte[] block = new byte[HeatSnapshot.BlockSize];
        HeatSnapshot.Heats(block.AsSpan())[0] = heat;
        new HeatSnapshot(s_owner, 1, Day, Mi, Now).Seal(block, new HeatRun(0, 0, 1, true));
        Assert.False(Read(block, 10).IsWhole);
    }

    [Theory]
    [InlineData(-1, 1, Now)]
    [InlineData(long.MaxValue, 1, Now)]
    [InlineData(0, -1, Now)]
    [InlineData(0, 0, Now)]
    [InlineData(0, Day, -1)]
    [InlineData(0, Day, long.MaxValue)]
    public void Impossible_fields_under_a_good_checksum_are_refused(long first, long halfLife, long ticks)
    {
        byte[] block = new byte[HeatSnapshot.BlockSize];
        new HeatSnapshot(s_owner, 1, halfLife, Mi, ticks).Seal(block, new HeatRun(0, first, 1, true));
        Assert.False(Read(block, 10).IsWhole);
    }

    [Theory]
    [InlineData(10, true)]
    [InlineData(9, false)]
    public void Runs_that_overlap_are_refused(long second, bool isWhole)
    {
        byte[] area = new byte[2 * HeatSnapshot.BlockSize];
        HeatSnapshot snapshot = new(s_owner, 1, Day, Mi, Now);
        snapshot.Seal(area, new HeatRun(0, 0, 10, false));
        snapshot.Seal(area.AsSpan(HeatSnapshot.BlockSize), new HeatRun(1, second, 10, true));
        Assert.Equal(isWhole, Read(area, 100).IsWhole);
    }

    [Fact]
    public void The_layout_covers_the_block() =>
        Assert.Equal(
            HeatSnapshot.Layout.Select(static field => field.Offset + field.Length),
            HeatSnapshot.Layout.Skip(1).Select(static field => field.Offset).Append(HeatSnapshot.BlockSize));

    // Snapshots of these maps are taken after a day.
    private static HeatMap RandomMap(int slices, int requests, int seed)
    {
        Random random = new(seed);
        HeatMap map = new(HeatSettings.Default, slices);
        for (int i = 0; i < requests; i++)
        {
            map.Record(random.Next(slices) * (long)Mi, 4096, isWrite: false, Day / requests * i);
        }

        return map;
    }

    private static byte[] Write(HeatMap map, ulong sequence, out int blocks)
    {
        byte[] area = new byte[HeatSnapshot.BlockSize * HeatSnapshot.BlocksFor(map.Slices)];
        Array.Fill(area, (byte)0xA5);
        HeatSnapshotWriter writer = new(map, s_owner, sequence, Now, Day);
        for (int at = 0; at < area.Length && writer.Next(area.AsSpan(at)); at += HeatSnapshot.BlockSize)
        {
        }

        blocks = writer.Blocks;
        Assert.False(writer.Next(new byte[HeatSnapshot.BlockSize]));
        return area;
    }

    private static HeatSnapshotReader Reader(long slices, long utcTicks) => new(s_owner, HeatSettings.Default, slices, utcTicks, 0);

    private static HeatSnapshotReader Read(byte[] area, long slices) => Feed(Reader(slices, Now), area);

    private static HeatSnapshotReader Feed(HeatSnapshotReader reader, byte[] area)
    {
        for (int at = 0; at < area.Length && reader.Add(area.AsSpan(at)); at += HeatSnapshot.BlockSize)
        {
        }

        return reader;
    }

    private static HeatSnapshotReader? Newest(byte[] first, byte[] second, long slices) =>
        HeatSnapshotReader.Newest(first, second, () => Reader(slices, Now));

    private static void AssertEqual(HeatMap saved, HeatMap restored, double factor)
    {
        Assert.Equal(saved.Touched(Day).Select(static slice => slice.Slice), restored.Touched(0).Select(static slice => slice.Slice));
        Assert.All(saved.Touched(Day), slice => Assert.Equal(slice.Heat * factor, restored.Heat(slice.Slice, 0), slice.Heat * 1e-4));
    }
}
