using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Primitives;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Devices;

/// <summary>A member disk that does not answer: the errors that its callers get, when they get them, and who owns the memory.</summary>
public class DeadlineTests
{
    private const long Second = 1_000_000_000;

    private readonly SimLane _lane = new(1);
    private readonly SimDisk _device;
    private readonly SimDisk _otherDevice;
    private readonly MeteredDisk _disk;
    private readonly MeteredDisk _other;

    public DeadlineTests()
    {
        DiskWatch watch = new(_lane);
        _device = new SimDisk(_lane, new SimMedia("a", 1 << 20, 512));
        _otherDevice = new SimDisk(_lane, new SimMedia("b", 1 << 20, 512));
        _disk = new MeteredDisk(_lane, _device, watch);
        _other = new MeteredDisk(_lane, _otherDevice, watch);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void A_request_ends_after_ten_seconds_while_another_disk_answers(int kind)
    {
        _device.Hang();
        KeepAnswering(_other, 30).Forget();
        long startNs = _lane.NowNs;
        Assert.Equal(IoError.TimedOut, _lane.Run(Ask(_disk, kind, Filled(1))));
        Assert.InRange(_lane.NowNs - startNs, 10 * Second, (10 * Second) + DiskWatchTick);
        Assert.True(_disk.IsHung);
    }

    [Fact]
    public void Where_nothing_answers_no_disk_is_the_culprit_for_a_minute()
    {
        _device.Hang();
        _otherDevice.Hang();
        LaneTask<IoError> other = Ask(_other, 2, default);
        long startNs = _lane.NowNs;
        Assert.Equal(IoError.TimedOut, _lane.Run(Ask(_disk, 1, Filled(1))));
        Assert.InRange(_lane.NowNs - startNs, 60 * Second, (60 * Second) + DiskWatchTick);
        Assert.Equal(IoError.TimedOut, _lane.Run(other));
    }

    [Fact]
    public void A_disk_that_has_nothing_to_do_is_asked_whether_it_answers()
    {
        _device.Hang();
        long startNs = _lane.NowNs;
        Assert.Equal(IoError.TimedOut, _lane.Run(Ask(_disk, 1, Filled(1))));
        Assert.InRange(_lane.NowNs - startNs, 10 * Second, (10 * Second) + DiskWatchTick);
        Assert.InRange(_otherDevice.Requests, 1, 3);
    }

    [Fact]
    public void A_look_at_a_disk_that_hangs_ends_by_the_deadline_and_tells_nothing_of_its_presence()
    {
        Assert.Equal(IoError.None, _lane.Run(_disk.CheckPresence()));
        _device.Hang();
        long startNs = _lane.NowNs;
        Assert.Equal(IoError.TimedOut, _lane.Run(_disk.CheckPresence()));
        Assert.InRange(_lane.NowNs - startNs, (10 * Second) - DiskWatchTick, (10 * Second) + DiskWatchTick);
        Assert.True(_disk.IsHung);
        Assert.True(_disk.IsPresent);
        Assert.Equal(IoError.TimedOut, _lane.Run(_disk.CheckPresence()));   // at once
        Assert.Equal(1, _disk.InFlight);

        _device.Wake();
        _lane.Advance(Second);
        Assert.False(_disk.IsHung);
        Assert.Equal(IoError.None, _lane.Run(_disk.CheckPresence()));
        _device.Pulled = true;
        Assert.Equal(IoError.DeviceGone, _lane.Run(_disk.CheckPresence()));
    }

    // A file system may know the size of a file whose blocks it cannot reach: such an answer blames no other disk.
    [Fact]
    public void A_look_at_a_disk_is_no_answer_of_its_medium()
    {
        _device.Hang();
        LaneTask<IoError> request = Ask(_disk, 1, Filled(1));
        _otherDevice.ReadTakesLonger = static (_, _) => 1000 * Second;   // the probe does not come back either
        KeepLooking(_other, 30).Forget();
        long startNs = _lane.NowNs;
        Assert.Equal(IoError.TimedOut, _lane.Run(request));
        Assert.InRange(_lane.NowNs - startNs, 60 * Second, (60 * Second) + DiskWatchTick);
    }

    private async LaneTask KeepLooking(MeteredDisk disk, int seconds)
    {
        for (int i = 0; i < seconds; i++)
        {
            await disk.CheckPresence();
            await _lane.Delay(Second);
        }
    }

    [Fact]
    public void A_hung_disk_is_asked_nothing_until_it_has_answered_everything()
    {
        IoError late = Hang(() => Ask(_disk, 1, Filled(1)));
        Assert.Equal(IoError.TimedOut, late);
        Assert.Equal(1, _device.InFlight);
        Assert.Equal(IoError.TimedOut, _lane.Run(Ask(_disk, 1, Filled(2))));   // at once, and it does not reach the device
        Assert.Equal((1, 1), (_device.InFlight, _disk.InFlight));

        _device.Wake();
        _lane.Advance(Second);
        Assert.False(_disk.IsHung);
        Assert.Equal(IoError.None, _lane.Run(Ask(_disk, 1, Filled(3))));
        Assert.Equal(3, Content());
        Assert.Equal(0, _disk.InFlight);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Memory_in_flight_is_given_to_nobody(bool mayBeKept)
    {
        IoBuffer memory = Filled(7);
        Assert.Equal(IoError.TimedOut, Hang(() => Ask(_disk, 1, mayBeKept ? memory.AllowKeeping() : memory)));
        _lane.Buffers.Return(memory);
        for (int i = 0; i < 4; i++)
        {
            Filled(9);   // writes to any memory that is rented again
        }

        _device.Wake();
        _lane.Advance(Second);
        Assert.Equal(0, _device.ReusedBuffers);
        Assert.Equal(7, Content());
        Assert.Equal(0, _lane.Buffers.Waiting);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_read_that_ends_late_reaches_nobodys_memory(bool mayBeKept)
    {
        _lane.Run(Ask(_disk, 1, Filled(5)));
        IoBuffer memory = Filled(1);
        Assert.Equal(IoError.TimedOut, Hang(() => Ask(_disk, 0, mayBeKept ? memory.AllowKeeping() : memory)));
        _lane.Buffers.Return(memory);
        IoBuffer[] others = [Filled(2), Filled(2), Filled(2)];
        _device.Wake();
        _lane.Advance(Second);
        Assert.All(others, other => Assert.Equal(2, other.Span[0]));
    }

    [Fact]
    public void An_abandoned_disk_answers_its_callers_at_once_and_closes_when_the_device_has()
    {
        _device.Hang();
        LaneTask<IoError> write = Ask(_disk, 1, Filled(1));
        _lane.Advance(Second);
        _disk.Disconnect();
        Assert.Equal(IoError.DeviceGone, _lane.Run(write));
        Assert.Equal(IoError.DeviceGone, _lane.Run(Ask(_disk, 0, Filled(1))));
        Assert.Equal(1, _disk.InFlight);
        _lane.Run(_disk.Close());   // does not wait for a device that hangs
        _device.Wake();
        _lane.Advance(Second);
        Assert.Equal(0, _disk.InFlight);
    }

    [Fact]
    public void Slow_is_not_hung()
    {
        KeepAnswering(_other, 30).Forget();
        _device.Hang();
        _lane.Schedule(9 * Second, _device.Wake);
        Assert.Equal(IoError.None, _lane.Run(Ask(_disk, 1, Filled(4))));
        Assert.Equal(4, Content());
    }

    private const long DiskWatchTick = 300_000_000;

    private IoError Hang(Func<LaneTask<IoError>> ask)
    {
        KeepAnswering(_other, 15).Forget();
        _device.Hang();
        return _lane.Run(ask());
    }

    private async LaneTask KeepAnswering(MeteredDisk disk, int seconds)
    {
        for (int i = 0; i < seconds; i++)
        {
            await disk.Flush();
            await _lane.Delay(Second);
        }
    }

    private static LaneTask<IoError> Ask(IDisk disk, int kind, IoBuffer buffer) => kind switch
    {
        0 => disk.Read(0, buffer),
        1 => disk.Write(0, buffer, WriteFlags.None),
        2 => disk.Flush(),
        _ => disk.WriteZeroes(0, 4096, WriteFlags.None),
    };

    private IoBuffer Filled(byte value)
    {
        IoBuffer buffer = _lane.Buffers.Rent(4096);
        buffer.Span.Fill(value);
        return buffer;
    }

    private int Content()
    {
        byte[] sector = new byte[512];
        _device.Media.Read(0, sector);
        return sector[0];
    }
}
