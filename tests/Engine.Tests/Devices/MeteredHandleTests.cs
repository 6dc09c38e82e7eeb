using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Devices.Emulated;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tests.Lanes;
using TierSpaces.Engine.Tests.Primitives;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Devices;

/// <summary>Metered disks that two lanes use: deadlines judged over both, sums of counters, bad places, closing.</summary>
public class MeteredHandleTests
{
    private const long Second = 1_000_000_000;
    private const long TickNs = 310_000_000;   // of the watch, and how far the clocks of the lanes are apart

    private readonly TwinLanes _lanes = new(1);
    private readonly SimDisk _device;
    private readonly SimDisk _otherDevice;
    private readonly MeteredDisk _owner;
    private readonly MeteredDisk _other;
    private readonly MeteredDisk _handle;

    public MeteredHandleTests()
    {
        DiskWatch watch = new(_lanes.First);
        _device = new SimDisk(_lanes.First, new SimMedia("a", 1 << 20, 512));
        _otherDevice = new SimDisk(_lanes.First, new SimMedia("b", 1 << 20, 512));
        _owner = new MeteredDisk(_lanes.First, _device, watch);
        _other = new MeteredDisk(_lanes.First, _otherDevice, watch);
        _handle = OpenHandle(_owner);
    }

    [Fact]
    public void A_disk_of_another_lane_that_answers_is_enough_to_blame_one()
    {
        _device.Hang();
        KeepAnswering(_lanes.First, _other, 30).Forget();
        long startNs = _lanes.Second.NowNs;
        Assert.Equal(IoError.TimedOut, _lanes.Run(Write(_handle)));
        Assert.InRange(_lanes.Second.NowNs - startNs, 10 * Second, (10 * Second) + TickNs);
    }

    [Fact]
    public void Idle_disks_of_another_lane_are_asked_whether_they_answer()
    {
        _device.Hang();
        long startNs = _lanes.Second.NowNs;
        Assert.Equal(IoError.TimedOut, _lanes.Run(Write(_handle)));
        Assert.InRange(_lanes.Second.NowNs - startNs, 10 * Second, (10 * Second) + TickNs);
        Assert.InRange(_otherDevice.Requests, 1, 3);
    }

    [Fact]
    public void Where_nothing_answers_on_any_lane_no_disk_is_blamed_for_a_minute()
    {
        _device.Hang();
        _otherDevice.Hang();
        long startNs = _lanes.Second.NowNs;
        Assert.Equal(IoError.TimedOut, _lanes.Run(Write(_handle)));
        Assert.InRange(_lanes.Second.NowNs - startNs, 60 * Second, (60 * Second) + TickNs);
    }

    [Fact]
    public void Answers_of_the_same_device_through_another_handle_blame_it_no_sooner()
    {
        _otherDevice.Hang();
        _device.WriteTakesLonger = static (_, _) => 1000 * Second;
        KeepAnswering(_lanes.First, _owner, 70).Forget();
        long startNs = _lanes.Second.NowNs;
        Assert.Equal(IoError.TimedOut, _lanes.Run(Write(_handle)));
        Assert.InRange(_lanes.Second.NowNs - startNs, 60 * Second, (60 * Second) + TickNs);
    }

    [Fact]
    public void The_owner_blames_its_disk_by_answers_of_a_handle_of_another()
    {
        MeteredDisk otherHandle = OpenHandle(_other);
        _device.Hang();
        _otherDevice.ReadTakesLonger = static (_, _) => 1000 * Second;   // its probes do not come back
        KeepAnswering(_lanes.Second, otherHandle, 30).Forget();
        long startNs = _lanes.First.NowNs;
        Assert.Equal(IoError.TimedOut, _lanes.Run(_owner.Flush()));
        Assert.InRange(_lanes.First.NowNs - startNs, 10 * Second, (10 * Second) + TickNs);
    }

    [Fact]
    public void The_owner_shows_that_a_handle_hangs_and_goes_on_itself()
    {
        _device.WriteTakesLonger = static (_, _) => 100 * Second;
        KeepAnswering(_lanes.First, _other, 30).Forget();
        LaneTask<IoError> write = Write(_handle);
        _lanes.Advance(Second);
        Assert.Equal((1, 0, false), (_owner.InFlight, _owner.Overdue, _owner.IsHung));
        Assert.Equal(IoError.TimedOut, _lanes.Run(write));
        Assert.Equal((1, 1, true), (_owner.InFlight, _owner.Overdue, _owner.IsHung));
        Assert.Equal((1, 1, true), (_handle.InFlight, _handle.Overdue, _handle.IsHung));
        Assert.Equal(IoError.TimedOut, _lanes.Run(_handle.Flush()));   // at once
        Assert.Equal(IoError.None, _lanes.Run(_owner.Flush()));
        _lanes.Advance(100 * Second);
        Assert.Equal((0, 0, false), (_owner.InFlight, _owner.Overdue, _owner.IsHung));
        Assert.Equal(IoError.None, _lanes.Run(_handle.Flush()));
    }

    [Fact]
    public void The_counters_of_an_owner_are_the_sum_over_its_handles_closed_ones_included()
    {
        MeteredDisk second = OpenHandle(_owner);
        _lanes.Run(Write(_handle));
        _lanes.Run(Write(second));
        _lanes.Run(_owner.Flush());
        Check();
        _lanes.Run(_handle.Close());
        Check();
        _lanes.Advance(Second);
        Check();
        _lanes.Run(second.Close());
        _lanes.Run(_owner.Close());
        _lanes.Advance(Second);
        Check();
        Assert.Equal((1, 0), (_handle.TotalCounters().WriteOperations, _owner.Counters.WriteOperations));

        void Check()
        {
            IoCounters sum = _owner.TotalCounters();
            Assert.Equal((2, 2 * 4096, 1, 0, 0), (sum.WriteOperations, sum.WriteBytes, sum.FlushOperations, sum.Errors, sum.Queue));
            Assert.Equal(2, sum.WriteLatencies.ToArray().Sum());
            Assert.True(sum.WriteNsMax > 0);
            Assert.Equal(0, _owner.InFlight);
        }
    }

    [Fact]
    public void A_place_that_a_handle_finds_bad_is_reported_by_the_owner_once_until_it_is_rewritten()
    {
        _device.WriteFails = static (_, _) => true;
        Assert.Equal(IoError.Io, _lanes.Run(Write(_handle)));
        _lanes.Advance(Second);
        Assert.Equal(IoError.Io, _lanes.Run(Write(_handle)));
        _lanes.Advance(Second);
        Assert.Equal([0L], _owner.BadPlaces.Take());
        Assert.Empty(_handle.BadPlaces.Take());
        Assert.Equal(2, _owner.TotalCounters().MediaErrors);

        _device.WriteFails = null;
        Assert.Equal(IoError.None, _lanes.Run(Write(_handle)));
        _lanes.Advance(Second);
        Assert.Empty(_owner.BadPlaces.Take());
        _handle.BadPlaces.Add(4096);   // a checksum that does not match
        _lanes.Advance(Second);
        Assert.Equal([0L], _owner.BadPlaces.Take());
    }

    [Fact]
    public void An_owner_that_is_disconnected_disconnects_its_handles()
    {
        _device.Hang();
        LaneTask<IoError> write = Write(_handle);
        DiskShare notOpen = _owner.Share();
        _lanes.Advance(Second);
        _owner.Disconnect();
        Assert.Equal(IoError.DeviceGone, _lanes.Run(write));
        Assert.Equal(IoError.DeviceGone, _lanes.Run(_handle.Flush()));
        MeteredDisk late = (MeteredDisk)notOpen.Open(_lanes.Second);
        Assert.Equal(IoError.DeviceGone, _lanes.Run(late.Flush()));
        Assert.Equal(1, _owner.InFlight);
        _device.Wake();
        _lanes.Advance(Second);
        Assert.Equal(0, _owner.InFlight);
    }

    [Fact]
    public void A_handle_that_is_disconnected_leaves_its_owner_alone()
    {
        _handle.Disconnect();
        Assert.Equal(IoError.DeviceGone, _lanes.Run(_handle.Flush()));
        Assert.Equal(IoError.None, _lanes.Run(_owner.Flush()));
    }

    [Fact]
    public void A_handle_is_not_shared_and_goes_on_when_its_owner_is_closed()
    {
        Assert.Throws<InvalidOperationException>(() => _handle.Share());
        DiskShare share = _owner.Share();
        _lanes.Run(_owner.Close());
        share.Dispose();
        Assert.Throws<InvalidOperationException>(() => _owner.Share());
        Assert.Equal(IoError.None, _lanes.Run(Write(_handle)));
        _lanes.Run(_handle.Close());
        _lanes.Advance(Second);
        Assert.Equal(1, _owner.TotalCounters().WriteOperations);
    }

    [Fact]
    public void Writes_of_a_handle_are_in_flight_in_a_fork_of_the_medium_and_faults_are_common()
    {
        _device.Hang();
        LaneTask<IoError> write = Write(_handle);
        _lanes.Advance(Second);
        Assert.Equal((0, 1), (_device.InFlight, _device.TotalInFlight));
        byte[] sector = new byte[512];
        _device.SnapshotWithInFlight().Read(0, sector);
        Assert.Equal(1, sector[0]);
        _device.Media.Read(0, sector);
        Assert.Equal(0, sector[0]);

        _device.Wake();
        Assert.Equal(IoError.None, _lanes.Run(write));
        _device.Media.Read(0, sector);
        Assert.Equal(1, sector[0]);
        Assert.Equal(1, _device.Media.CachedWrites);
        Assert.Equal(IoError.None, _lanes.Run(_owner.Flush()));   // of the owner, for the write of the handle
        Assert.Equal(0, _device.Media.CachedWrites);
        _device.Pulled = true;
        Assert.Equal(IoError.DeviceGone, _lanes.Run(_handle.Flush()));
        Assert.False(_handle.IsPresent);
    }

    private static LaneTask<IoError> Write(MeteredDisk disk)
    {
        IoBuffer buffer = disk.Lane.Buffers.Rent(4096);
        buffer.Span.Fill(1);
        return disk.Write(0, buffer.AllowKeeping(), WriteFlags.None);
    }

    private static async LaneTask KeepAnswering(SimLane lane, MeteredDisk disk, int seconds)
    {
        for (int i = 0; i < seconds; i++)
        {
            await disk.Flush();
            await lane.Delay(Second);
        }
    }

    private MeteredDisk OpenHandle(MeteredDisk owner) => (MeteredDisk)owner.Share().Open(_lanes.Second);
}

/// <summary>The same on real lanes: the disk that hangs is found by asking an idle disk of the other lane.</summary>
public abstract class MeteredHandleThreadTests(LaneBackend backend)
{
    [Fact]
    public void A_disk_that_hangs_for_a_handle_is_blamed_and_disconnected_by_its_owner()
    {
        using TemporaryImage image = TemporaryImage.OnDisk(), otherImage = TemporaryImage.OnDisk();
        using TestLane first = TestLane.Create(backend);
        using TestLane second = TestLane.Create(backend);
        (MeteredDisk owner, MeteredDisk other, DiskShare share) = first.Run(async () =>
        {
            DiskWatch watch = new(first.Lane, new IoDeadlines(250_000_000, 1_000_000_000, 50_000_000_000));
            MeteredDisk owner = new(first.Lane, await Open(first.Lane, image), watch);
            return (owner, new MeteredDisk(first.Lane, await Open(first.Lane, otherImage), watch), owner.Share());
        });
        MeteredDisk handle = second.Run(() => new LaneTask<MeteredDisk>((MeteredDisk)share.Open(second.Lane)));
        Assert.Equal(IoError.None, second.Run(handle.Flush));
        SetFault(new EmulatedFault { IsHung = true });
        Assert.Equal(IoError.TimedOut, second.Run(handle.Flush));
        Assert.Equal((true, 1L), first.Run(() => new LaneTask<(bool, long)>((owner.IsHung, owner.TotalCounters().FlushErrors))));
        first.Run(async () =>
        {
            owner.Disconnect();
            await first.Lane.Yield();
        });
        SetFault(EmulatedFault.None);
        Assert.True(SpinWait.SpinUntil(() => !first.Run(() => new LaneTask<bool>(owner.IsHung)), TimeSpan.FromSeconds(30)));
        Assert.Equal(IoError.DeviceGone, second.Run(handle.Flush));
        second.Run(handle.Close);
        first.Run(owner.Close);
        first.Run(other.Close);

        void SetFault(EmulatedFault fault) => first.Run(async () =>
        {
            ((EmulatedDisk)owner.Below).Show(fault);
            await first.Lane.Yield();
        });
    }

    private static LaneTask<IDisk> Open(ILane lane, TemporaryImage image) =>
        new DiskFactory().Open(lane, DiskUri.ForEmulated(image.Path, "NVMe").ToString(), new DiskOverrides());
}

public sealed class UringMeteredHandleTests() : MeteredHandleThreadTests(LaneBackend.Uring);

public sealed class ThreadsMeteredHandleTests() : MeteredHandleThreadTests(LaneBackend.Threads);

/// <summary>The suite over a handle of a simulated disk, metered.</summary>
public sealed class SimulatedHandleConformance : BlockStoreConformance
{
    /// <inheritdoc/>
    protected override bool UnmapReadsZeros => false;   // a simulated disk gives garbage then

    protected override void WithStore(Func<ILane, IBlockStore, LaneTask> body)
    {
        SimLane first = new(11), second = new(12);
        MeteredDisk owner = new(first, new SimDisk(first, new SimMedia("m", 8 << 20, 512)));
        IDisk handle = owner.Share().Open(second);
        second.Run(body(second, handle));
        Assert.Equal((0, 0), (handle.InFlight, owner.InFlight));
    }
}
