using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Devices.Emulated;
using TierSpaces.Engine.Primitives;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Devices;

/// <summary>The faults that an emulated disk injects on request.</summary>
public class EmulatedFaultTests
{
    private const int Requests = 2000;

    private readonly SimLane _lane = new(3);
    private readonly EmulatedDisk _disk;

    public EmulatedFaultTests() => _disk = new EmulatedDisk(_lane, new SimDisk(_lane, new SimMedia("m", 1 << 20, 512)), LatencyProfile.Find("NVMe")!);

    [Theory]
    [InlineData(100_000, 0, 0.1, 0)]
    [InlineData(0, 250_000, 0, 0.25)]
    public void A_share_of_the_requests_fails(int reads, int writes, double readShare, double writeShare)
    {
        _disk.Show(new EmulatedFault { ReadErrorsPerMillion = reads, WriteErrorsPerMillion = writes });
        Assert.Equal(readShare, Share(() => Read(out _)), 0.03);
        Assert.Equal(writeShare, Share(() => Write(1)), 0.03);
    }

    [Fact]
    public void A_range_fails_and_its_neighbours_do_not()
    {
        _disk.Show(new EmulatedFault { ErrorOffset = 8192, ErrorLength = 512 });
        Assert.Equal((IoError.None, IoError.Io, IoError.None), (Write(1, 4096), Write(1, 8192), Write(1, 12288)));
        Assert.Equal((IoError.None, IoError.Io, IoError.None), (Read(out _, 4096), Read(out _, 8192), Read(out _, 12288)));
        Assert.Equal(IoError.None, _lane.Run(_disk.Flush()));
    }

    [Fact]
    public void A_flipped_bit_is_in_what_is_read_and_not_on_the_disk()
    {
        Write(0);
        _disk.Show(new EmulatedFault { BitFlipsPerMillion = EmulatedFault.Million });
        Read(out byte[] flipped);
        Assert.Equal(1, flipped.Sum(value => System.Numerics.BitOperations.PopCount(value)));
        _disk.Show(EmulatedFault.None);
        Read(out byte[] plain);
        Assert.Equal(0, plain.Sum(value => value));
    }

    [Fact]
    public void A_request_that_hangs_is_done_when_the_disk_answers_again()
    {
        _disk.Show(new EmulatedFault { IsHung = true });
        LaneTask<IoError> write = _disk.Write(0, Filled(7), WriteFlags.None);
        _lane.Advance(60_000_000_000);
        Assert.False(write.IsCompleted);
        Assert.Equal(1, _disk.InFlight);
        Assert.True(_disk.IsPresent);

        _disk.Show(EmulatedFault.None);
        Assert.Equal(IoError.None, _lane.Run(write));
        Assert.Equal(0, _disk.InFlight);
        Read(out byte[] content);
        Assert.Equal(7, content[0]);
    }

    [Fact]
    public void A_pulled_disk_is_gone_also_for_what_hangs()
    {
        _disk.Show(new EmulatedFault { IsHung = true });
        LaneTask<IoError> write = _disk.Write(0, Filled(7), WriteFlags.None);
        _disk.Show(new EmulatedFault { IsPulled = true });
        Assert.Equal(IoError.DeviceGone, _lane.Run(write));
        Assert.Equal(IoError.DeviceGone, Write(1));
        Assert.False(_disk.IsPresent);
    }

    [Fact]
    public void A_slow_disk_takes_so_many_times_as_long()
    {
        long startNs = _lane.NowNs;
        Write(1);
        long plainNs = _lane.NowNs - startNs;
        _disk.Show(new EmulatedFault { SlowFactor = 1000 });
        startNs = _lane.NowNs;
        Write(1);
        Assert.InRange(_lane.NowNs - startNs, plainNs * 300, plainNs * 3000);
    }

    private static double Share(Func<IoError> ask)
    {
        int failed = 0;
        for (int i = 0; i < Requests; i++)
        {
            failed += ask() == IoError.Io ? 1 : 0;
        }

        return failed / (double)Requests;
    }

    private IoError Write(byte value, long offset = 0) => Settle(Filled(value), buffer => _disk.Write(offset, buffer, WriteFlags.None), out _);

    private IoError Read(out byte[] content, long offset = 0) => Settle(Filled(0xEE), buffer => _disk.Read(offset, buffer), out content);

    private IoError Settle(IoBuffer buffer, Func<IoBuffer, LaneTask<IoError>> ask, out byte[] content)
    {
        IoError error = _lane.Run(ask(buffer));
        content = buffer.Span.ToArray();
        _lane.Buffers.Return(buffer);
        return error;
    }

    private IoBuffer Filled(byte value)
    {
        IoBuffer buffer = _lane.Buffers.Rent(4096);
        buffer.Span.Fill(value);
        return buffer;
    }
}
