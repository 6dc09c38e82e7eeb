using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Devices.Emulated;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tests.Lanes;
using TierSpaces.Engine.Tests.Primitives;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Devices;

public class EmulatedDiskTests
{
    private const long Terabyte = 1L << 40;

    public static TheoryData<EmulatedRate> Rates { get; } = [.. EmulatedRate.Table];

    [Theory]
    [MemberData(nameof(Rates))]
    public void The_rate_is_that_of_the_table_in_virtual_time(EmulatedRate rate)
    {
        SimLane lane = new(1);
        EmulatedDisk disk = Make(lane, rate.Profile);
        double found = lane.Run(rate.Measure(lane, disk, seconds: rate.PerSecond > 1000 ? 0.2 : 20));
        Assert.InRange(found / rate.PerSecond, 0.9, 1.1);
    }

    [Fact]
    public void A_deep_queue_is_reordered_on_rotating_disks()
    {
        SimLane lane = new(1);
        EmulatedRate deep = new("HDD7200", EmulatedLoad.RandomRead, 32, 4096, 80);
        double found = lane.Run(deep.Measure(lane, Make(lane, "HDD7200"), seconds: 20));
        Assert.InRange(found, 80 * 2, 80 * 6);
    }

    [Fact]
    public void Reordering_starves_no_request()
    {
        SimLane lane = new(1);
        EmulatedDisk disk = Make(lane, "HDD7200");
        long worstNs = 0;
        lane.Run(All());
        Assert.InRange(worstNs, 0, 1_500_000_000);

        async LaneTask All()
        {
            LaneTask[] workers = [.. Enumerable.Range(0, 48).Select(_ => Work(new Random(_)))];
            foreach (LaneTask worker in workers)
            {
                await worker;
            }
        }

        async LaneTask Work(Random random)
        {
            IoBuffer buffer = lane.Buffers.Rent(4096);
            for (int i = 0; i < 200; i++)
            {
                // Most requests lie close together, so that the far ones are unattractive.
                long offset = random.Next(20) == 0 ? random.NextInt64(Terabyte / 4096) : random.NextInt64(10_000);
                long start = lane.NowNs;
                await disk.Read(offset * 4096, buffer);
                worstNs = Math.Max(worstNs, lane.NowNs - start);
            }

            lane.Buffers.Return(buffer);
        }
    }

    [Theory]
    [InlineData("HDD10K", 0.9, 1.1)]     // a write that has ended is on the platter
    [InlineData("SSDSata", 10, 30)]      // a durable write costs the flush
    public void A_durable_write_costs_what_the_medium_needs(string profile, double least, double most)
    {
        double plain = LatencyOf(WriteFlags.None), durable = LatencyOf(WriteFlags.ForceUnitAccess);
        Assert.InRange(durable / plain, least, most);

        double LatencyOf(WriteFlags flags)
        {
            SimLane lane = new(1);
            EmulatedDisk disk = Make(lane, profile);
            return lane.Run(Measure());

            async LaneTask<double> Measure()
            {
                Random random = new(9);
                IoBuffer buffer = lane.Buffers.Rent(4096);
                long start = lane.NowNs;
                for (int i = 0; i < 300; i++)
                {
                    await disk.Write(random.NextInt64(Terabyte / 4096) * 4096, buffer, flags);
                }

                return lane.NowNs - start;
            }
        }
    }

    [Fact]
    public void A_flush_waits_for_the_writes_before_it()
    {
        SimLane lane = new(1);
        foreach (LatencyProfile profile in LatencyProfile.All)
        {
            EmulatedDisk disk = new(lane, new NullDisk(Terabyte), profile);
            List<string> order = [];
            lane.Run(All());
            Assert.Equal("flush", order[^1]);

            async LaneTask All()
            {
                LaneTask a = Write(1 << 30), b = Write(3L << 30), flush = Flush();
                await a;
                await b;
                await flush;
            }

            async LaneTask Write(long offset)
            {
                IoBuffer buffer = lane.Buffers.Rent(1 << 20);
                await disk.Write(offset, buffer, WriteFlags.None);
                lane.Buffers.Return(buffer);
                order.Add("write");
            }

            async LaneTask Flush()
            {
                await disk.Flush();
                order.Add("flush");
            }
        }
    }

    [Fact]
    public void The_same_seed_takes_the_same_time()
    {
        long[] ends = [.. Enumerable.Range(0, 2).Select(_ =>
        {
            SimLane lane = new(7);
            lane.Run(new EmulatedRate("HDD10K", EmulatedLoad.RandomRead, 8, 4096, 150).Measure(lane, Make(lane, "HDD10K"), 5));
            return lane.NowNs;
        })];
        Assert.Equal(ends[0], ends[1]);
    }

    [Theory]
    [InlineData("SSDSas")]
    [InlineData("HDD10K")]
    public void A_machine_that_wakes_late_slows_no_closed_loop_down(string profile)
    {
        Assert.Equal(TimeOf(disks: 1, lateNs: 0), TimeOf(disks: 1, lateNs: 50_000), 0.2);
        Assert.Equal(TimeOf(disks: 2, lateNs: 0), TimeOf(disks: 2, lateNs: 50_000), 0.2);   // a mirror: the next write follows both
        Assert.Equal(TimeOf(disks: 3, lateNs: 0), TimeOf(disks: 3, lateNs: 50_000), 0.2);

        double TimeOf(int disks, long lateNs)
        {
            SimLane lane = new(1);
            LateLane late = new(lane, lateNs);
            EmulatedDisk[] copies = [.. Enumerable.Range(0, disks).Select(_ => Make(late, profile))];
            long start = lane.NowNs;
            lane.Run(WriteAll(lane, copies));
            return (lane.NowNs - start) / 500 / 1000.0;   // microseconds per write; the end of the last one comes late in any case
        }

        static async LaneTask WriteAll(SimLane lane, EmulatedDisk[] copies)
        {
            Random random = new(9);
            IoBuffer buffer = lane.Buffers.Rent(64 << 10);
            for (int i = 0; i < 500; i++)
            {
                long offset = random.NextInt64(Terabyte >> 16) << 16;
                LaneTask<IoError>[] writes = [.. copies.Select(copy => copy.Write(offset, buffer, WriteFlags.None))];
                foreach (LaneTask<IoError> write in writes)
                {
                    Assert.Equal(IoError.None, await write);
                }
            }
        }
    }

    [Fact]
    public void A_request_that_the_disk_below_ends_at_once_takes_the_time_of_the_medium()
    {
        const int count = 100;
        const long copyNs = 40_000;
        SimLane lane = new(1);
        LateLane busy = new(lane, lateNs: 0);
        NullDisk below = new(Terabyte) { Worked = () => busy.BusyNs += copyNs };
        EmulatedDisk disk = new(busy, below, LatencyProfile.Find("SSDSas")!);
        long spentNs = 0;
        lane.Run(WriteSome());
        Assert.InRange(spentNs / count, 147_000, 148_000);

        async LaneTask WriteSome()
        {
            IoBuffer buffer = lane.Buffers.Rent(64 << 10);
            for (int i = 0; i < count; i++)
            {
                await lane.Yield();   // as a client's request comes: not from within the completion before it
                long start = busy.NowNs;
                await disk.Write(i * 1L << 20, buffer, WriteFlags.None);
                spentNs += busy.NowNs - start;
            }
        }
    }

    [Fact]
    public void Errors_below_come_through_and_close_waits()
    {
        SimLane lane = new(1);
        NullDisk below = new(Terabyte);
        EmulatedDisk disk = new(lane, below, LatencyProfile.Find("hdd7200")!);
        lane.Run(Test());

        async LaneTask Test()
        {
            below.Answer = IoError.Io;
            Assert.Equal(IoError.Io, await disk.Flush());
            below.Answer = IoError.None;
            LaneTask<IoError> flush = disk.Flush();
            Assert.Equal(1, disk.InFlight);
            await disk.Close();
            Assert.Equal(0, disk.InFlight);
            Assert.Equal(IoError.None, await flush);
            Assert.True(below.IsClosed);
            Assert.Equal(IoError.ShutDown, await disk.Flush());
        }
    }

    private static EmulatedDisk Make(ILane lane, string profile) => new(lane, new NullDisk(Terabyte), LatencyProfile.Find(profile)!);
}

/// <summary>The suite over an emulated disk on a real lane.</summary>
public abstract class EmulatedConformance(LaneBackend backend) : BlockStoreConformance
{
    protected override void WithStore(Func<ILane, IBlockStore, LaneTask> body)
    {
        using TemporaryImage image = TemporaryImage.OnDisk();
        using TestLane test = TestLane.Create(backend);
        test.Run(async () =>
        {
            IDisk disk = await new DiskFactory().Open(test.Lane, DiskUri.ForEmulated(image.Path, "NVMe").ToString(), new DiskOverrides());
            await body(test.Lane, disk);
            Assert.Equal(0, disk.InFlight);
            await disk.Close();
        });
    }
}

public sealed class UringEmulatedConformance() : EmulatedConformance(LaneBackend.Uring);

public sealed class ThreadsEmulatedConformance() : EmulatedConformance(LaneBackend.Threads);

/// <summary>The suite over an emulated disk on a simulated disk, in virtual time.</summary>
public sealed class SimulatedEmulatedConformance : BlockStoreConformance
{
    /// <inheritdoc/>
    protected override bool UnmapReadsZeros => false;   // a simulated disk gives garbage then

    protected override void WithStore(Func<ILane, IBlockStore, LaneTask> body)
    {
        SimLane lane = new(11);
        EmulatedDisk disk = new(lane, new SimDisk(lane, new SimMedia("m", 8 << 20, 512)), LatencyProfile.Find("HDD10K")!);
        lane.Run(body(lane, disk));
        Assert.Equal(0, disk.InFlight);
    }
}
