using System.Diagnostics;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Lanes.Uring;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Lanes;

public abstract class LaneTests(LaneBackend backend, LaneOptions options)
{
    [Fact]
    public void The_backend_is_reported_with_a_reason()
    {
        using TestLane test = TestLane.Create(backend, options);
        Assert.Equal(backend, test.Lane.Backend);
        Assert.StartsWith(backend == LaneBackend.Uring ? "io_uring: kernel " : "threads: ", test.Lane.BackendReason);
    }

    [Fact]
    public void Post_runs_on_the_lane_from_many_threads()
    {
        using TestLane test = TestLane.Create(backend, options);
        int ran = 0;
        using CountdownEvent done = new(4000);
        Thread[] threads = [.. Enumerable.Range(0, 4).Select(_ => new Thread(() =>
        {
            for (int i = 0; i < 1000; i++)
            {
                test.Lane.Post(() =>
                {
                    ran += test.Lane.IsCurrent ? 1 : 0;
                    done.Signal();
                });
            }
        }))];
        Array.ForEach(threads, thread => thread.Start());
        Assert.True(done.Wait(10_000));
        Assert.Equal(4000, ran);
        Assert.False(test.Lane.IsCurrent);
    }

    [Fact]
    public void Post_wakes_a_sleeping_lane()
    {
        using TestLane test = TestLane.Create(backend, options);
        for (int i = 0; i < 50; i++)
        {
            using ManualResetEventSlim done = new();
            test.Lane.Post(done.Set);
            Assert.True(done.Wait(5000));
        }
    }

    [Fact]
    public void Offloaded_work_does_not_block_the_lane()
    {
        using TestLane test = TestLane.Create(backend, options);
        using ManualResetEventSlim mayEnd = new();
        bool wasOffloaded = false;
        bool wasThrown = false;
        int turns = 0;
        test.Run(async () =>
        {
            LaneTask<int> computed = test.Lane.Compute(() =>
            {
                wasOffloaded = !test.Lane.IsCurrent && mayEnd.Wait(10_000);
                return 7;
            });
            for (; turns < 5; turns++)
            {
                await test.Lane.Delay(1_000_000);
            }

            mayEnd.Set();
            Assert.Equal(7, await computed);
            Assert.True(test.Lane.IsCurrent);
            try
            {
                await test.Lane.Compute<int>(static () => throw new FormatException());
            }
            catch (FormatException)
            {
                wasThrown = test.Lane.IsCurrent;
            }
        });
        Assert.True(wasOffloaded);
        Assert.True(wasThrown);
        Assert.Equal(5, turns);
    }

    [Fact]
    public void At_most_one_offloaded_item_runs_at_a_time()
    {
        using TestLane test = TestLane.Create(backend, options);
        int underWay = 0;
        int most = 0;
        List<int> order = [];
        test.Run(async () =>
        {
            LaneTask<int>[] pieces = [.. Enumerable.Range(0, 8).Select(piece => test.Lane.Compute(() =>
            {
                most = Math.Max(most, Interlocked.Increment(ref underWay));
                Thread.Sleep(5);
                Interlocked.Decrement(ref underWay);
                return piece;
            }))];
            foreach (LaneTask<int> piece in pieces)
            {
                order.Add(await piece);
            }
        });
        Assert.Equal(1, most);
        Assert.Equal(Enumerable.Range(0, 8), order);
    }

    [Fact]
    public void Offloaded_work_may_outlive_its_lane()
    {
        using ManualResetEventSlim begun = new(), mayEnd = new(), ended = new();
        using (TestLane test = TestLane.Create(backend, options))
        {
            test.Lane.Post(() => test.Lane.Offload(() =>
            {
                begun.Set();
                mayEnd.Wait(10_000);
                ended.Set();
            }).Forget());
            Assert.True(begun.Wait(10_000));
        }

        mayEnd.Set();
        Assert.True(ended.Wait(10_000));
    }

    [Fact]
    public void Delays_fire_in_order_and_not_early()
    {
        using TestLane test = TestLane.Create(backend, options);
        List<int> order = [];
        long early = 0;
        async LaneTask After(int milliseconds)
        {
            long start = test.Lane.NowNs;
            await test.Lane.Delay(milliseconds * 1_000_000L);
            early = Math.Max(early, (milliseconds * 1_000_000L) - (test.Lane.NowNs - start));
            order.Add(milliseconds);
        }

        test.Run(async () =>
        {
            LaneTask c = After(30), a = After(5), b = After(15), zero = After(0);
            await a;
            await b;
            await c;
            await zero;
        });
        Assert.Equal([0, 5, 15, 30], order);
        Assert.Equal(0, early);
    }

    [Fact]
    public void A_short_delay_is_not_late_by_milliseconds()
    {
        using TestLane test = TestLane.Create(backend, options);
        long[] late = new long[51];
        test.Run(async () =>
        {
            for (int i = 0; i < late.Length; i++)
            {
                long due = test.Lane.NowNs + 200_000;
                await test.Lane.Delay(200_000);
                late[i] = test.Lane.NowNs - due;
            }
        });
        Array.Sort(late);
        Assert.InRange(late[25], 0, 500_000);
    }

    [Fact]
    public void Yield_lets_everything_queued_go_first()
    {
        using TestLane test = TestLane.Create(backend, options);
        List<string> order = [];
        test.Run(async () =>
        {
            test.Lane.Post(() => order.Add("posted"));
            await test.Lane.Yield();
            order.Add("yielded");
        });
        Assert.Equal(["posted", "yielded"], order);
    }

    [Fact]
    public void A_lane_that_keeps_itself_busy_still_serves_timers()
    {
        using TestLane test = TestLane.Create(backend, options);
        bool fired = false;
        async LaneTask Timer()
        {
            await test.Lane.Delay(1_000_000);
            fired = true;
        }

        test.Run(async () =>
        {
            LaneTask timer = Timer();
            while (!fired)
            {
                await test.Lane.Yield();
            }

            await timer;
        });
        Assert.True(fired);
    }

    [Fact]
    public void An_unhandled_exception_reaches_the_handler_and_the_lane_goes_on()
    {
        using Lane lane = LaneFactory.Create("test", backend);
        Exception? seen = null;
        lane.UnhandledException = error => seen = error;
        lane.Post(() => throw new InvalidDataException("planted"));
        lane.InvokeAsync(async () =>
        {
            await lane.Yield();
            return 0;
        }).Wait(5000);
        Assert.Equal("planted", Assert.IsType<InvalidDataException>(seen).Message);
    }

    [Fact]
    public void Post_after_the_end_is_refused()
    {
        TestLane test = TestLane.Create(backend, options);
        test.Dispose();
        Assert.Throws<ObjectDisposedException>(() => test.Lane.Post(() => { }));
        test.Lane.Dispose();
    }

    [Fact]
    public void Random_and_identifiers_differ()
    {
        using TestLane test = TestLane.Create(backend, options);
        (int numbers, int guids) = test.Run(async () =>
        {
            await test.Lane.Yield();
            HashSet<ulong> numbers = [];
            HashSet<Guid> guids = [];
            for (int i = 0; i < 1000; i++)
            {
                numbers.Add(test.Lane.NextRandom());
                guids.Add(test.Lane.NewGuid());
            }

            return (numbers.Count, guids.Count);
        });
        Assert.Equal((1000, 1000), (numbers, guids));
    }

    [Fact]
    public void Waiting_allocates_nothing()
    {
        using TestLane test = TestLane.Create(backend, options);
        AllocationMeter meter = new();
        test.Run(async () =>
        {
            for (int i = 0; i < 6000; i++)
            {
                if (i % 1000 == 500)
                {
                    meter.Begin();
                }

                await test.Lane.Yield();
                await test.Lane.Delay(1000);
                if (i % 1000 == 999)
                {
                    meter.End();
                }
            }
        });
        Assert.Equal(0, meter.Least);
    }

    [Fact]
    public void Spinning_still_hears_posts()
    {
        using TestLane test = TestLane.Create(backend, options with { SpinNs = 50_000 });
        for (int i = 0; i < 200; i++)
        {
            using ManualResetEventSlim done = new();
            test.Lane.Post(done.Set);
            Assert.True(done.Wait(5000));
        }
    }
}

public class UringLaneTests() : LaneTests(LaneBackend.Uring, new LaneOptions())
{
    [Fact]
    public void The_kernel_knows_the_memory_of_the_pool()
    {
        using TestLane test = TestLane.Create(LaneBackend.Uring);
        UringLane lane = (UringLane)test.Lane;
        test.Run(() =>
        {
            foreach (int length in new[] { 4096, 100_000, 1 << 20, 5 << 20, BufferPool.LargestBuffer })
            {
                IoBuffer buffer = lane.Buffers.Rent(length);
                Assert.True(lane.IsRegistered(buffer) && lane.IsRegistered(buffer.Slice(length - 1, 1)), $"{length} bytes");
                lane.Buffers.Return(buffer);
            }

            using BufferPool other = new();
            Assert.False(lane.IsRegistered(other.Rent(4096)));
            return LaneTask.FromResult(0);
        });
    }
}

public class ThreadPoolLaneTests() : LaneTests(LaneBackend.Threads, new LaneOptions());

public class CooperativeRingLaneTests() : OlderRingLaneTests(1);

public class AnyIssuerRingLaneTests() : OlderRingLaneTests(2);

public class PlainRingLaneTests() : OlderRingLaneTests(3);

public abstract class OlderRingLaneTests(int way) : LaneTests(LaneBackend.Uring, OlderRing.Options(way))
{
    [Fact]
    public void A_kernel_that_refuses_the_better_ways_gets_this_one()
    {
        const RingSetup unknown = (RingSetup)(1u << 31);
        RingSetup[] setups = [.. UringProbe.Setups.Take(way).Select(setup => setup | unknown), UringProbe.Setups[way]];
        using Ring? ring = UringProbe.CreateRing(8, 16, setups, out string? problem);
        Assert.SkipWhen(ring is null, problem ?? "");
        Assert.Equal(UringProbe.Setups[way], ring.Setup & ~(RingSetup.CompletionQueueSize | RingSetup.Clamp));
    }
}
