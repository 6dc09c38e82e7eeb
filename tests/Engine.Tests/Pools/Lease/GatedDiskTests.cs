using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Pools;

/// <summary>Requests to a member disk while the lease of its pool does not run: each is done later, whole, or never.</summary>
public sealed class GatedDiskTests
{
    private const long Second = 1_000_000_000;
    private const int Length = 4096;

    private readonly SimLane _lane = new(1);
    private readonly SimMedia _media = new("a", 1 << 20, 512);
    private readonly MeteredDisk _disk;

    public GatedDiskTests() => _disk = new MeteredDisk(_lane, new SimDisk(_lane, _media), new DiskWatch(_lane));

    [Fact]
    public void A_write_that_waited_for_the_lease_is_done_and_so_is_a_flush()
    {
        LeaseGate first = Shut();
        LaneTask<IoError> write = Write();
        _lane.Advance(Second);
        Assert.False(write.IsCompleted);
        Assert.Equal(0, _media.CachedWrites);
        first.RunUntil(((ILane)_lane).BootNs + Second);
        Assert.Equal(IoError.None, _lane.Run(write));
        Assert.Equal(1, _media.CachedWrites);

        LeaseGate second = Shut();
        LaneTask<IoError> flush = _disk.Flush();
        _lane.Advance(Second);
        Assert.False(flush.IsCompleted);
        Assert.Equal(1, _media.CachedWrites);
        second.RunUntil(((ILane)_lane).BootNs + Second);
        Assert.Equal(IoError.None, _lane.Run(flush));
        Assert.Equal(7, FirstByteOf(_media.Cut((_, _) => false)));
    }

    [Fact]
    public void Nothing_that_waited_is_done_when_the_lease_is_lost()
    {
        Assert.Equal(IoError.None, _lane.Run(Write()));
        LeaseGate gate = Shut();
        IoBuffer buffer = _lane.Buffers.Rent(Length);
        LaneTask<IoError>[] waiting =
        [
            Write(9), _disk.Flush(), _disk.Read(0, buffer), _disk.Unmap(0, Length), _disk.WriteZeroes(0, Length, WriteFlags.None),
        ];
        _lane.Advance(Second);
        Assert.All(waiting, static request => Assert.False(request.IsCompleted));
        gate.Shut();
        Assert.All(waiting, request => Assert.Equal(IoError.DeviceGone, _lane.Run(request)));
        Assert.Equal(7, FirstByteOf(_media));
        Assert.Equal(1, _media.CachedWrites);
    }

    private static byte FirstByteOf(SimMedia media)
    {
        byte[] bytes = new byte[Length];
        media.Read(0, bytes);
        return bytes[0];
    }

    private LeaseGate Shut()
    {
        LeaseGate gate = new(untilNs: 0);
        _disk.Use(gate, skipsFlush: false);
        return gate;
    }

    private async LaneTask<IoError> Write(byte value = 7)
    {
        IoBuffer buffer = _lane.Buffers.Rent(Length);
        buffer.Span.Fill(value);
        IoError error = await _disk.Write(0, buffer, WriteFlags.None);
        _lane.Buffers.Return(buffer);
        return error;
    }
}
