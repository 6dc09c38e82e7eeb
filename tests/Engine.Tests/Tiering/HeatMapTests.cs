using System.Diagnostics;
using TierSpaces.Engine.Tests.Lanes;
using TierSpaces.Engine.Tiering;

namespace TierSpaces.Engine.Tests.Tiering;

public sealed class HeatMapTests(ITestOutputHelper output)
{
    private const int Mi = 1 << 20;
    private const long Day = 86_400L * 1_000_000_000;

    [Fact]
    public void A_request_counts_half_after_a_half_life_and_half_of_that_after_another()
    {
        HeatMap map = new(HeatSettings.Default, 10);
        map.Record(3 * Mi, 4096, isWrite: false, 5 * Day);
        Assert.Equal(1, map.Heat(3, 5 * Day), 1e-6);
        Assert.Equal(0.5, map.Heat(3, 6 * Day), 1e-6);
        Assert.Equal(0.25, map.Heat(3, 7 * Day), 1e-6);
        map.Record((3 * Mi) + 8192, 4096, isWrite: true, 7 * Day);
        Assert.Equal(1.25, map.Heat(3, 7 * Day), 1e-3);
        Assert.Equal(1.25, map.Total(7 * Day), 1e-3);
        Assert.Equal(0, map.Heat(2, 7 * Day));
        Assert.Equal(0, map.Heat(99, 7 * Day));
    }

    // The oracle adds every request with its own power of two; the map rounds to floats, computes its scale now and then, and renormalizes
    // after 64 half-lives.
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void Heat_is_what_the_sum_over_all_requests_says(int seed)
    {
        Random random = new(seed);
        HeatMap map = new(HeatSettings.Default, 2000);
        List<(int Slice, double At)> requests = [];
        double now = 0;
        for (int i = 0; i < 20_000; i++)
        {
            now += random.Next(100) == 0 ? random.NextDouble() * 3 : random.NextDouble() / 1000;
            int slice = random.Next(2000);
            requests.Add((slice, now));
            map.Record(((long)slice * Mi) + (random.Next(200) * 4096), 4096, random.Next(2) == 0, (long)(now * Day));
        }

        Assert.True(now > 2 * HeatMap.RenormalizeAfter, "The load is too short to renormalize twice.");
        double[] expected = new double[2000];
        requests.ForEach(request => expected[request.Slice] += double.Exp2(request.At - now));
        for (int slice = 0; slice < expected.Length; slice++)
        {
            Assert.Equal(expected[slice], map.Heat(slice, (long)(now * Day)), 1e-9 + (0.001 * expected[slice]));
        }

        Assert.Equal(map.Total((long)(now * Day)), map.Touched((long)(now * Day)).Sum(static slice => slice.Heat), 1e-6);
    }

    [Theory]
    [InlineData(512, 1)]
    [InlineData(64 << 10, 1)]
    [InlineData(256 << 10, 1.25)]
    [InlineData(512 << 10, 1.5)]
    [InlineData(1 << 20, 1.5)]
    [InlineData(4 << 20, 4)]
    public void A_request_counts_by_the_class_of_its_size(int length, double weight)
    {
        HeatMap map = new(HeatSettings.Default, 100);
        map.Record(10 * Mi, length, isWrite: false, 0);
        Assert.Equal(weight, map.Total(0), 1e-5);
        Assert.Equal(weight, HeatMap.WeightOf(length));
    }

    [Fact]
    public void A_request_over_several_slices_is_divided_by_bytes()
    {
        HeatMap map = new(HeatSettings.Default, 100);
        map.Record((10 * Mi) - 1024, 4096, isWrite: false, 0);
        Assert.Equal(0.25, map.Heat(9, 0), 1e-6);
        Assert.Equal(0.75, map.Heat(10, 0), 1e-6);
        map.Record((50 * Mi) + (Mi / 2), 2 * Mi, isWrite: false, 0);
        Assert.Equal([0.5, 1, 0.5], new[] { 50, 51, 52 }.Select(slice => Math.Round(map.Heat(slice, 0), 5)));
    }

    [Theory]
    [InlineData(4 << 10)]
    [InlineData(64 << 10)]
    [InlineData(256 << 10)]
    [InlineData(1 << 20)]
    [InlineData(4 << 20)]
    public void A_scan_heats_a_slice_as_much_as_one_request_whatever_its_size(int length)
    {
        HeatMap map = new(HeatSettings.Default, 1000);
        for (long offset = 0; offset < 1000L * Mi; offset += length)
        {
            map.Record(offset, length, isWrite: false, 0);
        }

        for (int slice = 8; slice < 1000; slice++)
        {
            Assert.Equal(1, map.Heat(slice, 0), 0.001);
        }
    }

    [Theory]
    [InlineData(10_000, 16)]
    [InlineData(1_000, 4)]   // a small disk, which tells fewer apart
    public void Streams_are_known_among_other_streams_and_random_requests(int slices, int jobs)
    {
        HeatMap map = new(HeatSettings.Default, slices);
        Random random = new(1);
        long[] at = [.. Enumerable.Range(0, jobs).Select(static job => job * 100L * Mi)];
        for (int i = 0; i < 256 * 50; i++)
        {
            for (int job = 0; job < jobs; job++)
            {
                map.Record(at[job], 4096, job % 2 == 0, 0);
                at[job] += 4096;
                map.Record(((slices / 2) + random.Next(slices * 2 / 5)) * (long)Mi, 4096, isWrite: false, 0);
            }
        }

        // A stream that is not known leaves 256 on each slice.
        double streams = map.Touched(0).Where(slice => slice.Slice < slices / 2).Sum(static slice => slice.Heat);
        Assert.InRange(streams / (jobs * 50), 1, 5);
    }

    [Fact]
    public void Reads_and_writes_in_turn_are_no_stream()
    {
        HeatMap map = new(HeatSettings.Default, 10);
        for (int i = 0; i < 1000; i++)
        {
            map.Record(i * 4096L, 4096, isWrite: i % 2 == 0, 0);
        }

        Assert.Equal(1000, map.Total(0), 1e-3);
    }

    [Fact]
    public void Random_requests_to_a_small_hot_stretch_are_no_stream()
    {
        HeatMap map = new(HeatSettings.Default, 10);
        Random random = new(1);
        for (int i = 0; i < 100_000; i++)
        {
            map.Record(random.Next(256) * 4096L, 4096, isWrite: false, 0);
        }

        Assert.Equal(100_000, map.Heat(0, 0), 100.0);
    }

    [Fact]
    public void Hits_are_not_lost_on_a_slice_that_has_had_very_many()
    {
        HeatMap map = new(HeatSettings.Default, 2);
        for (int i = 0; i < 60_000_000; i++)
        {
            map.Record((i & 1) * 8192, 4096, isWrite: false, 0);
        }

        Assert.Equal(60_000_000, map.Heat(0, 0), 480_000.0);   // those that are rounded to the nearest stop at 262 144
    }

    [Fact]
    public void A_map_that_grows_keeps_its_heat()
    {
        HeatMap map = new(HeatSettings.Default, 5);
        map.Record(4 * Mi, 4096, isWrite: false, 0);
        map.Grow(100_000);
        map.Record(99_999L * Mi, 4096, isWrite: false, 0);
        Assert.Equal([4L, 99_999L], map.Touched(0).Select(static slice => slice.Slice));
        Assert.Throws<ArgumentOutOfRangeException>(() => map.Grow(99_999));
        Assert.Throws<ArgumentOutOfRangeException>(() => map.Grow(HeatMap.MaxSlices + 1));
    }

    [Fact]
    public void Heats_are_copied_as_they_are_and_those_that_are_not_there_are_zero()
    {
        HeatMap map = new(HeatSettings.Default, 3000);
        Random random = new(1);
        for (int i = 0; i < 300; i++)
        {
            map.Record((random.Next(2) == 0 ? random.Next(500) : 2900 + random.Next(100)) * (long)Mi, 4096, isWrite: false, 0);
        }

        for (int i = 0; i < 300; i++)
        {
            float[] heats = new float[random.Next(2000)];
            Array.Fill(heats, -1);
            int first = random.Next(4000);
            map.CopyTo(heats, first, Day);
            Assert.All(Enumerable.Range(0, heats.Length), slice => Assert.Equal(map.Heat(first + slice, Day), heats[slice], 1e-5));
        }
    }

    [Fact]
    public void A_slice_is_cold_when_it_was_not_touched_for_the_time()
    {
        HeatMap map = new(HeatSettings.Default, 5);
        map.Record(0, 4096, isWrite: false, 0);
        map.Record(Mi, 4096, isWrite: false, 3 * Day);
        Assert.False(IsCold(0, 7 * Day, 6 * Day));
        Assert.True(IsCold(0, 7 * Day, 8 * Day));
        Assert.False(IsCold(1, 7 * Day, 8 * Day));
        Assert.True(IsCold(4, 7 * Day, 8 * Day));
        Assert.True(IsCold(0, 0, Day));

        bool IsCold(long slice, long untouchedNs, long nowNs) => map.Heat(slice, nowNs) < map.ColdBelow(untouchedNs);
    }

    [Fact]
    public void Time_that_goes_back_or_far_ahead_does_no_harm()
    {
        HeatMap map = new(HeatSettings.Default, 5);
        map.Record(0, 4096, isWrite: false, 10 * Day);
        map.Record(0, 4096, isWrite: false, 3 * Day);
        Assert.Equal(2, map.Heat(0, 10 * Day), 1e-6);
        Assert.Equal(2, map.Heat(0, long.MinValue), 1e-6);
        map.Record(Mi, 4096, isWrite: false, 80_000 * Day);
        Assert.Equal(0, map.Heat(0, 80_000 * Day));
        Assert.Equal(1, map.Heat(1, 80_000 * Day), 1e-6);
        Assert.Equal(0, map.Heat(1, long.MaxValue), 1e-6);
    }

    [Fact]
    public void Pages_that_have_become_cold_are_given_back()
    {
        HeatMap map = new(HeatSettings.Default, 4 * HeatMap.PageSlices);
        map.Record(0, 4096, isWrite: false, 0);
        map.Record(3L * HeatMap.PageSlices * Mi, 4096, isWrite: false, 60 * Day);
        Assert.Equal(2, map.TouchedPages);
        map.Record(3L * HeatMap.PageSlices * Mi, 4096, isWrite: false, 130 * Day);
        Assert.Equal(1, map.TouchedPages);
    }

    [Theory]
    [InlineData(-1, 1)]
    [InlineData(5 * Mi, 1)]
    [InlineData((5 * Mi) - 1, 2)]
    [InlineData(long.MaxValue, 1)]
    [InlineData(long.MaxValue - 5, int.MaxValue)]
    public void A_request_outside_the_disk_is_refused_and_none_is_nothing(long offset, int length)
    {
        HeatMap map = new(HeatSettings.Default, 5);
        map.Record(offset, 0, isWrite: false, 0);
        Assert.Throws<ArgumentOutOfRangeException>(() => map.Record(offset, length, isWrite: false, 0));
        Assert.Equal(0, map.Total(0));
    }

    [Fact]
    public void Settings_out_of_range_are_refused()
    {
        Assert.Throws<ArgumentOutOfRangeException>(static () => new HeatMap(new HeatSettings { SliceBytes = (1 << 20) + 512 }, 1));
        Assert.Throws<ArgumentOutOfRangeException>(static () => new HeatMap(new HeatSettings { SliceBytes = 128 << 10 }, 1));
        Assert.Throws<ArgumentOutOfRangeException>(static () => new HeatMap(new HeatSettings { SliceBytes = 32 << 20 }, 1));
        Assert.Throws<ArgumentOutOfRangeException>(static () => new HeatMap(new HeatSettings { HalfLifeNs = 999_999_999 }, 1));
        Assert.Throws<ArgumentOutOfRangeException>(static () => new HeatMap(HeatSettings.Default, -1));
    }

    [Fact]
    public void Recording_allocates_nothing_once_pages_are_there()
    {
        HeatMap map = new(HeatSettings.Default, 10_000);
        Random random = new(1);
        long[] offsets = [.. Enumerable.Range(0, 4096).Select(_ => random.NextInt64(10_000L * Mi / 4096) * 4096)];
        AllocationMeter meter = new();
        Stopwatch watch = new();
        long now = 0;
        for (int window = 0; window < 6; window++)
        {
            meter.Begin();
            watch.Restart();
            for (int i = 0; i < 1_000_000; i++)
            {
                map.Record(offsets[i & 4095], 4096, isWrite: false, now += 1_000_000);   // pages come in the first window
            }

            watch.Stop();
            meter.End();
        }

        output.WriteLine($"{watch.Elapsed.TotalNanoseconds / 1_000_000:0.0} ns per request");
        Assert.Equal(0, meter.Least);
    }

    [Theory]
    [InlineData(1L << 30)]
    [InlineData(1L << 40)]
    [InlineData(1L << 50)]
    public void A_slice_takes_three_bytes_and_a_little_where_something_was_touched(long bytes)
    {
        long before = GC.GetAllocatedBytesForCurrentThread();
        HeatMap map = new(HeatSettings.Default, bytes / Mi);
        long empty = GC.GetAllocatedBytesForCurrentThread() - before;
        long touched = Math.Min(bytes, 1L << 40) / Mi;
        for (long slice = 0; slice < touched; slice++)
        {
            map.Record(slice * Mi, 4096, isWrite: false, 0);
        }

        long all = GC.GetAllocatedBytesForCurrentThread() - before;
        output.WriteLine($"{bytes >> 30} GiB: {empty} bytes empty, {all} with {touched} slices touched, {(all - empty) / (double)touched:0.000} per touched slice");
        Assert.InRange(empty, 0, Math.Min(4608, (bytes / Mi / 2) + 256) + (8 * (bytes / Mi / HeatMap.PageSlices)));
        Assert.InRange(all - empty, 0, (long)(3.1 * Math.Max(touched, HeatMap.PageSlices)));
    }
}
