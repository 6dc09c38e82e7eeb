using System.Diagnostics;
using TierSpaces.Engine.Tiering;

namespace TierSpaces.Engine.Tests.Tiering;

/// <summary>Loads recorded by the heat map, plans made from it, and where the I/O would then have gone.</summary>
public sealed class TierLoadTests(ITestOutputHelper output)
{
    private const int Mi = 1 << 20;
    private const long Hour = 3600L * 1_000_000_000;

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void Of_Zipf_reads_over_ten_times_the_fast_tier_it_serves_what_the_best_placement_would(int seed)
    {
        const int fast = 1000, slices = 10 * fast, reads = 1_000_000;
        Load load = new(seed, [fast, slices], slices);
        int[] trace = load.Zipf(reads);
        load.Record(trace, 24 * Hour);
        long[] counts = Counts(trace, slices);
        HashSet<int> best = [.. Enumerable.Range(0, slices).OrderByDescending(slice => counts[slice]).Take(fast)];
        long optimalMoves = 2 * best.Count(slice => load.World.Tiers[slice] == 1);

        TierPlan plan = load.Plan();
        load.World.Apply(plan);

        double served = trace.Count(slice => load.World.Tiers[slice] == 0) / (double)best.Sum(slice => counts[slice]);
        output.WriteLine($"{served:P2} of the best placement, {plan.Moves.Count / (double)optimalMoves:0.000} of its moves");
        Assert.True(served >= 0.95, $"{served:P2} of what the best placement serves");
        Assert.True(plan.Moves.Count <= 1.2 * optimalMoves, $"{plan.Moves.Count} moves for {optimalMoves}");
    }

    [Fact]
    public void The_hot_part_of_a_file_goes_up_and_the_cold_part_does_not()
    {
        const int slices = 3000, hot = 900;
        Load load = new(5, [950, slices], slices);
        int[] order = load.Shuffled();
        load.Record([.. Enumerable.Range(0, 300_000).Select(_ => order[load.Random.Next(hot)])], 8 * Hour);
        load.World.Apply(load.Plan());
        double up = order[..hot].Count(slice => load.World.Tiers[slice] == 0) / (double)hot;
        double cold = order[hot..].Count(slice => load.World.Tiers[slice] == 0) / (double)(slices - hot);
        output.WriteLine($"{up:P1} of the hot part, {cold:P1} of the cold part");
        Assert.True(up >= 0.95 && cold <= 0.05, $"{up:P1} of the hot part, {cold:P1} of the cold part");
    }

    // Two loads take turns, and the fast tier has room for one. After the first plan nothing is gained by moving.
    [Theory]
    [InlineData(10)]
    [InlineData(60)]
    [InlineData(3 * 60)]
    public void Two_loads_that_take_turns_do_not_replace_each_other(int minutes)
    {
        const int fast = 100;
        int requests = 20_000 * Math.Max(1, minutes / 60);
        Load load = new(6, [fast, 1000], 1000);
        int moves = 0;
        for (int round = 0; round < 100; round++)
        {
            int first = 300 + (round % 2 * fast);
            load.Record([.. Enumerable.Range(0, requests).Select(_ => first + load.Random.Next(fast))], minutes * Hour / 60);
            TierPlan plan = load.Plan();
            load.World.Apply(plan);
            moves += round >= 2 ? plan.Moves.Count : 0;
        }

        Assert.Equal(0, moves);
    }

    // A load that does not change: what chance makes of it is not followed.
    [Fact]
    public void A_steady_load_is_settled_after_a_day_and_then_left_alone()
    {
        const int fast = 200, slices = 2000;
        Load load = new(7, [fast, slices], slices);
        load.Record(load.Zipf(200_000), 24 * Hour);
        load.World.Apply(load.Plan());
        int moves = 0;
        for (int round = 0; round < 100; round++)
        {
            load.Record(load.Zipf(8000), Hour);
            TierPlan plan = load.Plan();
            load.World.Apply(plan);
            moves += plan.Moves.Count;
        }

        output.WriteLine($"{moves} moves in 100 hours");
        Assert.InRange(moves, 0, fast / 2);
    }

    [Fact]
    public void A_terabyte_is_planned_in_a_moment()
    {
        const int slices = 1 << 20, fast = slices / 10;
        Load load = new(8, [fast, slices], slices);
        load.Record(load.Zipf(2_000_000), Hour);
        load.Plan();
        long before = GC.GetAllocatedBytesForCurrentThread();
        Stopwatch watch = Stopwatch.StartNew();
        TierPlan plan = load.Plan();
        watch.Stop();
        long allocated = GC.GetAllocatedBytesForCurrentThread() - before;
        output.WriteLine($"{plan.Moves.Count} moves in {watch.ElapsedMilliseconds} ms, {allocated >> 20} MiB allocated");
        Assert.InRange(allocated, 0, 96 * slices);
    }

    private static long[] Counts(int[] trace, int slices)
    {
        long[] counts = new long[slices];
        Array.ForEach(trace, slice => counts[slice]++);
        return counts;
    }

    private sealed class Load
    {
        private readonly HeatMap _map;
        private readonly int _slices;
        private readonly double[] _zipf;   // cumulative
        private readonly int[] _byRank;
        private long _nowNs;

        internal Load(int seed, long[] capacities, int slices)
        {
            Random = new Random(seed);
            _slices = slices;
            _map = new HeatMap(HeatSettings.Default, slices);
            World = new TierWorld(capacities, slices);
            World.MapInOrder();
            _byRank = Shuffled();
            _zipf = new double[slices];
            double sum = 0;
            for (int rank = 0; rank < slices; rank++)
            {
                _zipf[rank] = sum += 1.0 / (rank + 1);
            }
        }

        internal Random Random { get; }

        internal TierWorld World { get; }

        internal int[] Shuffled()
        {
            int[] order = [.. Enumerable.Range(0, _slices)];
            Random.Shuffle(order);
            return order;
        }

        internal int[] Zipf(int reads)
        {
            int[] trace = new int[reads];
            for (int i = 0; i < reads; i++)
            {
                int rank = Array.BinarySearch(_zipf, Random.NextDouble() * _zipf[^1]);
                trace[i] = _byRank[Math.Min(rank < 0 ? ~rank : rank, _slices - 1)];
            }

            return trace;
        }

        internal void Record(int[] trace, long durationNs)
        {
            for (int i = 0; i < trace.Length; i++)
            {
                _map.Record((trace[i] * (long)Mi) + (Random.Next(256) * 4096), 4096, isWrite: false, _nowNs + (durationNs / trace.Length * i));
            }

            _nowNs += durationNs;
        }

        internal TierPlan Plan()
        {
            for (int slice = 0; slice < _slices; slice++)
            {
                World.Heat[slice] = _map.Heat(slice, _nowNs);
            }

            return World.Plan();
        }
    }
}
