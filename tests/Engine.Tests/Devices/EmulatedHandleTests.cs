using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Devices.Emulated;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tests.Lanes;
using TierSpaces.Engine.Tests.Primitives;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Devices;

/// <summary>Emulated disks that two lanes use: one medium.</summary>
public class EmulatedHandleTests
{
    private const long Terabyte = 1L << 40;

    private readonly SimLane _clock = new(1);   // the lanes have one clock and one thread

    // Two lanes of half the depth each get what one lane gets: not more, and not so much less that a bench of lanes would be one of this instrument.
    [Theory]
    [InlineData("HDD7200", EmulatedLoad.RandomRead, 1, 4096, 2000)]
    [InlineData("HDD7200", EmulatedLoad.RandomRead, 8, 4096, 2000)]
    [InlineData("HDD7200", EmulatedLoad.RandomWrite, 4, 65536, 2000)]
    [InlineData("HDD7200", EmulatedLoad.Flush, 1, 0, 400)]
    [InlineData("SSDSata", EmulatedLoad.RandomRead, 16, 4096, 20000)]
    [InlineData("SSDSata", EmulatedLoad.RandomWrite, 16, 4096, 20000)]
    [InlineData("SSDSata", EmulatedLoad.SequentialRead, 4, 1 << 20, 1000)]
    [InlineData("SSDSata", EmulatedLoad.Flush, 1, 0, 1000)]
    [InlineData("SSDSas", EmulatedLoad.RandomWrite, 1, 65536, 5000)]
    [InlineData("NVMe", EmulatedLoad.RandomRead, 16, 4096, 40000)]
    [InlineData("NVMe", EmulatedLoad.RandomWrite, 32, 4096, 40000)]
    public void Two_lanes_are_as_fast_as_one(string profile, EmulatedLoad load, int depth, int size, int requests)
    {
        double one = Measure(profile, load, [depth * 2], size, requests, lateNs: 0), two = Measure(profile, load, [depth, depth], size, requests, lateNs: 0);
        Assert.InRange(two / one, 0.9, 1.05);
        double late = Measure(profile, load, [depth, depth], size, requests, lateNs: 50_000);   // the machine's lateness is not charged
        Assert.InRange(late / one, 0.85, 1.05);
    }

    // A sequential stream of each lane: the next request of the stream competes with the other lane's.
    [Theory]
    [InlineData(0)]
    [InlineData(50_000)]
    public void Streams_of_two_lanes_go_as_those_of_one(long lateNs)
    {
        double one = Measure("HDD7200", EmulatedLoad.SequentialRead, [2], 1 << 18, 4000, 0);
        Assert.InRange(Measure("HDD7200", EmulatedLoad.SequentialRead, [1, 1], 1 << 18, 4000, lateNs) / one, 0.9, 1.05);
    }

    [Fact]
    public void A_lane_that_comes_too_late_holds_the_others_up_for_20_milliseconds()
    {
        LateLane slow = new(_clock, lateNs: 2_000_000_000), quick = new(_clock, lateNs: 0);
        EmulatedDisk owner = Make(slow, "HDD7200");
        EmulatedDisk handle = (EmulatedDisk)owner.Share().Open(quick);
        LaneTask<IoError> stuck = owner.Flush();
        long startNs = _clock.NowNs;
        for (int i = 0; i < 10; i++)
        {
            Assert.Equal(IoError.None, _clock.Run(handle.Flush()));
        }

        Assert.InRange(_clock.NowNs - startNs, 10 * 8_333_333, (11 * 8_333_333) + 21_000_000);
        Assert.False(stuck.IsCompleted);
        Assert.Equal(IoError.None, _clock.Run(stuck));
        Assert.InRange(owner.LostNs, 1_900_000_000, 2_000_000_000);
        Assert.Equal(owner.LostNs, handle.LostNs);
    }

    [Fact]
    public void A_fault_is_in_force_for_all_handles_and_what_hangs_is_released_on_each_lane()
    {
        EmulatedDisk owner = new(_clock, new NullDisk(Terabyte), LatencyProfile.Find("NVMe")!);
        EmulatedDisk handle = (EmulatedDisk)owner.Share().Open(new LateLane(_clock, 0));
        owner.Show(new EmulatedFault { IsHung = true });
        LaneTask<IoError> write = handle.Flush(), own = owner.Flush();
        _clock.Advance(60_000_000_000);
        Assert.False(write.IsCompleted || own.IsCompleted);
        Assert.Equal((1, 1), (handle.InFlight, owner.InFlight));
        owner.Show(EmulatedFault.None);
        Assert.Equal((IoError.None, IoError.None), (_clock.Run(write), _clock.Run(own)));

        owner.Show(new EmulatedFault { WriteErrorsPerMillion = EmulatedFault.Million });
        Assert.Equal(IoError.Io, _clock.Run(handle.Flush()));
        handle.Show(new EmulatedFault { IsPulled = true });
        Assert.Equal(IoError.DeviceGone, _clock.Run(owner.Flush()));
        Assert.False(owner.IsPresent || handle.IsPresent);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Owner_and_handle_close_in_any_order(bool isOwnerFirst)
    {
        EmulatedDisk owner = Make(_clock, "HDD7200");
        EmulatedDisk handle = (EmulatedDisk)owner.Share().Open(new LateLane(_clock, 0));
        (EmulatedDisk first, EmulatedDisk second) = isOwnerFirst ? (owner, handle) : (handle, owner);
        LaneTask<IoError> last = first.Flush();
        _clock.Run(first.Close());
        Assert.Equal(IoError.None, _clock.Run(last));
        Assert.Equal(IoError.ShutDown, _clock.Run(first.Flush()));
        Assert.Equal(IoError.None, _clock.Run(second.Flush()));
        _clock.Run(second.Close());
        Assert.Throws<InvalidOperationException>(() => owner.Share());
    }

    [Theory]
    [InlineData(LaneBackend.Uring)]
    [InlineData(LaneBackend.Threads)]
    public void Two_threads_get_no_more_than_the_cap_of_one_medium(LaneBackend backend)
    {
        const double readsPerSecond = 70_000;
        using TestLane first = TestLane.Create(backend);
        using TestLane second = TestLane.Create(backend);
        EmulatedDisk owner = first.Run(() => new LaneTask<EmulatedDisk>(Make(first.Lane, "SSDSata")));
        DiskShare share = first.Run(() => new LaneTask<DiskShare>(owner.Share()));
        IDisk handle = second.Run(() => new LaneTask<IDisk>(share.Open(second.Lane)));
        const int each = 7000;
        long startNs = first.Run(() => new LaneTask<long>(first.Lane.NowNs));
        Task<int> one = first.Lane.InvokeAsync(() => ReadAll(first.Lane, owner));
        Task<int> two = second.Lane.InvokeAsync(() => ReadAll(second.Lane, handle));
        Assert.True(Task.WaitAll([one, two], TimeSpan.FromSeconds(60)));
        double seconds = (first.Run(() => new LaneTask<long>(first.Lane.NowNs)) - startNs) / 1e9;
        Assert.InRange(2 * each, 0, readsPerSecond * seconds * 1.05);
        second.Run(handle.Close);
        first.Run(owner.Close);

        static async LaneTask<int> ReadAll(ILane lane, IDisk disk)
        {
            LaneTask[] workers = [.. Enumerable.Range(0, 10).Select(worker => Work(worker))];
            foreach (LaneTask worker in workers)
            {
                await worker;
            }

            return 0;

            async LaneTask Work(int worker)
            {
                IoBuffer buffer = lane.Buffers.Rent(4096);
                for (int i = 0; i < each / 10; i++)
                {
                    Assert.Equal(IoError.None, await disk.Read(((worker * 1000L) + i) * 4096, buffer));
                }

                lane.Buffers.Return(buffer);
            }
        }
    }

    [Theory]
    [InlineData(LaneBackend.Uring)]
    [InlineData(LaneBackend.Threads)]
    public void What_hangs_on_two_threads_is_released(LaneBackend backend)
    {
        using TestLane first = TestLane.Create(backend);
        using TestLane second = TestLane.Create(backend);
        EmulatedDisk owner = first.Run(() => new LaneTask<EmulatedDisk>(Make(first.Lane, "HDD7200")));
        DiskShare share = first.Run(() => new LaneTask<DiskShare>(owner.Share()));
        IDisk handle = second.Run(() => new LaneTask<IDisk>(share.Open(second.Lane)));
        Set(new EmulatedFault { IsHung = true });
        Task<IoError>[] hanging = [.. Enumerable.Range(0, 5).Select(_ => second.Lane.InvokeAsync(handle.Flush))];
        Assert.False(Task.WaitAll(hanging, 100));
        Set(EmulatedFault.None);
        Assert.True(Task.WaitAll(hanging, TimeSpan.FromSeconds(60)));
        Assert.All(hanging, static one => Assert.Equal(IoError.None, one.Result));
        second.Run(handle.Close);
        first.Run(owner.Close);

        void Set(EmulatedFault fault) => first.Run(async () =>
        {
            owner.Show(fault);
            await first.Lane.Yield();
        });
    }

    private static EmulatedDisk Make(ILane lane, string profile) => new(lane, new NullDisk(Terabyte), LatencyProfile.Find(profile)!);

    /// <summary>Requests per second of virtual time that lanes with these queue depths get out of one disk together.</summary>
    private static double Measure(string profile, EmulatedLoad load, int[] depths, int size, int requests, long lateNs)
    {
        SimLane clock = new(1);
        ILane[] lanes = [.. depths.Select(_ => new LateLane(clock, lateNs))];
        EmulatedDisk owner = Make(lanes[0], profile);
        IDisk[] disks = [owner, .. lanes.Skip(1).Select(lane => owner.Share().Open(lane))];
        int left = requests;
        long startNs = clock.NowNs;
        clock.Run(All());
        return requests * 1e9 / (clock.NowNs - startNs);

        async LaneTask All()
        {
            LaneTask[] workers = [.. Enumerable.Range(0, depths.Length).SelectMany(lane => Enumerable.Range(0, depths[lane])
                .Select(worker => Work(lanes[lane], disks[lane], (lane * depths[lane]) + worker)))];
            foreach (LaneTask worker in workers)
            {
                await worker;
            }
        }

        async LaneTask Work(ILane lane, IDisk disk, int number)
        {
            Random random = new(number);
            IoBuffer buffer = lane.Buffers.Rent(Math.Max(4096, size));
            for (long next = number * (1L << 34); left-- > 0; next += size)
            {
                long offset = load is EmulatedLoad.SequentialRead ? next : random.NextInt64(Terabyte / Math.Max(1, size)) * size;
                Assert.Equal(IoError.None, load switch
                {
                    EmulatedLoad.Flush => await disk.Flush(),
                    EmulatedLoad.RandomWrite => await disk.Write(offset, buffer, WriteFlags.None),
                    _ => await disk.Read(offset, buffer),
                });
            }

            lane.Buffers.Return(buffer);
        }
    }
}

/// <summary>The suite over a handle of an emulated disk on a real lane.</summary>
public abstract class EmulatedHandleConformance(LaneBackend backend) : BlockStoreConformance
{
    protected override void WithStore(Func<ILane, IBlockStore, LaneTask> body)
    {
        using TemporaryImage image = TemporaryImage.OnDisk();
        using TestLane first = TestLane.Create(backend);
        using TestLane second = TestLane.Create(backend);
        string uri = DiskUri.ForEmulated(image.Path, "NVMe").ToString();
        IDisk owner = first.Run(() => new DiskFactory().Open(first.Lane, uri, new DiskOverrides()));
        DiskShare share = first.Run(() => new LaneTask<DiskShare>(owner.Share()));
        second.Run(async () =>
        {
            IDisk disk = share.Open(second.Lane);
            await body(second.Lane, disk);
            Assert.Equal(0, disk.InFlight);
            await disk.Close();
        });
        first.Run(owner.Close);
    }
}

public sealed class UringEmulatedHandleConformance() : EmulatedHandleConformance(LaneBackend.Uring);

public sealed class ThreadsEmulatedHandleConformance() : EmulatedHandleConformance(LaneBackend.Threads);
