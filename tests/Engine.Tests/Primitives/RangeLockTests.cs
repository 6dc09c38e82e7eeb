using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tests.Lanes;

namespace TierSpaces.Engine.Tests.Primitives;

/// <summary>Against a model that compares every range with every other.</summary>
public sealed class RangeLockTests
{
    private sealed record Asked(int Number, long Start, long End)
    {
        public bool IsGranted { get; set; }

        public bool Overlaps(Asked other) => Start < other.End && other.Start < End;
    }

    [Theory]
    [InlineData(20, 4)]
    [InlineData(200, 20)]
    [InlineData(2000, 1500)]
    public void Ranges_are_granted_as_the_model_says(int space, int longest)
    {
        for (int seed = 0; seed < 60; seed++)
        {
            Random random = new(seed);
            RangeLock ranges = new();
            List<Asked> open = [];   // in order of arrival
            for (int step = 0; step < 600; step++)
            {
                Asked[] held = [.. open.Where(static one => one.IsGranted)];
                if (held.Length > 0 && random.Next(100) < (step < 400 ? 45 : 90))
                {
                    Asked released = held[random.Next(held.Length)];
                    open.Remove(released);
                    ranges.Release(released.Start, released.End);
                }
                else
                {
                    long start = random.Next(space);
                    Asked asked = new(step, start, start + 1 + random.Next(longest));
                    open.Add(asked);
                    Await(ranges, asked).Forget();
                }

                for (int i = 0; i < open.Count; i++)
                {
                    bool isFree = !open.Take(i).Any(open[i].Overlaps);
                    Assert.True(open[i].IsGranted == isFree, $"seed {seed}, step {step}: {open[i]}");
                }

                Assert.Equal(open.Count(static one => one.IsGranted), ranges.Held);
            }
        }
    }

    [Fact]
    public void A_waiter_may_use_the_lock_while_it_is_granted()
    {
        RangeLock ranges = new();
        List<int> order = [];
        Assert.True(ranges.Acquire(0, 10).IsCompleted);
        Chain(1, 0, 5).Forget();
        Chain(2, 5, 10).Forget();
        Chain(3, 0, 10).Forget();
        ranges.Release(0, 10);
        Assert.Equal([1, 2, 3], order);
        Assert.Equal(0, ranges.Held);

        async LaneTask Chain(int number, long start, long end)
        {
            await ranges.Acquire(start, end);
            order.Add(number);
            await ranges.Acquire(start + 100, end + 100);
            ranges.Release(start + 100, end + 100);
            ranges.Release(start, end);
        }
    }

    /// <summary>Twice as many ranges cost hardly more for each: those apart, those that overlap in a chain, and those at one place.</summary>
    [Theory]
    [InlineData(10, 10)]
    [InlineData(10, 15)]
    [InlineData(0, 10)]
    [InlineData(0, 0)]   // in random order over a small space
    public void A_range_costs_logarithmic_steps(int distance, int length)
    {
        double few = StepsOf(1 << 9, distance, length);
        double many = StepsOf(1 << 13, distance, length);
        Assert.InRange(many, 0, 120);
        Assert.InRange(many / few, 0, 3);   // 16 times as many
    }

    [Fact]
    public void Steady_use_allocates_nothing()
    {
        RangeLock ranges = new();
        Use(ranges);
        Use(ranges);
        Assert.Equal(0, AllocationMeter.LeastOf(() => Use(ranges)));

        static void Use(RangeLock ranges)
        {
            for (int i = 0; i < 1000; i++)
            {
                for (int range = 0; range < 16; range++)
                {
                    ranges.Acquire(range * 10, (range * 10) + 10).Forget();
                }

                for (int range = 0; range < 16; range++)
                {
                    ranges.Release(range * 10, (range * 10) + 10);
                }
            }
        }
    }

    private static double StepsOf(int count, int distance, int length)
    {
        RangeLock ranges = new();
        Random random = new(1);
        Queue<(long Start, long End)> granted = new();
        for (int i = 0; i < count; i++)
        {
            long start = length == 0 ? random.Next(count * 4) : (long)i * distance;
            Wait(start, start + (length == 0 ? 1 + random.Next(64) : length)).Forget();
        }

        while (granted.TryDequeue(out (long Start, long End) range))
        {
            ranges.Release(range.Start, range.End);
        }

        Assert.Equal(0, ranges.Held);
        return (double)ranges.Steps / count;

        async LaneTask Wait(long start, long end)
        {
            await ranges.Acquire(start, end);
            granted.Enqueue((start, end));
        }
    }

    private static async LaneTask Await(RangeLock ranges, Asked asked)
    {
        await ranges.Acquire(asked.Start, asked.End);
        asked.IsGranted = true;
    }
}
