using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Verification;

namespace TierSpaces.Engine.Tests.Resiliency;

/// <summary>Names in the counters of a space and of its disks.</summary>
public sealed class SplitTests
{
    // Regions and checksum pages of the simulated spaces are 16 KiB, as strips are.
    [Theory]
    [InlineData(1, 0, 64 << 10, 0)]            // over four regions of one column
    [InlineData(1, 0, 16 << 10, 0)]
    [InlineData(2, 4096, 12 << 10, 0)]
    [InlineData(2, 4096, 16 << 10, 1)]
    [InlineData(2, 0, 64 << 10, 1)]
    [InlineData(1, (256 << 10) - 4096, 8192, 1)]   // two rows
    public void A_request_is_split_where_it_crosses_a_strip_or_a_row(int columns, int offset, int length, int splits)
    {
        ScrubWorld world = ScrubWorld.New(columns, 1, checksums: true);
        Assert.Equal(IoError.None, world.Read(offset, length, out _));
        Assert.Equal(splits, world.Space.Counters.Io.Splits);
        world.Write(offset, length);
        Assert.Equal(2 * splits, world.Space.Counters.Io.Splits);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_disk_that_makes_a_hole_of_zeros_has_written_nothing(bool zeroesSlowly)
    {
        SimLane lane = new(1);
        MeteredDisk disk = new(lane, new SimDisk(lane, new SimMedia("d", 1 << 20, 512)) { ZeroesSlowly = zeroesSlowly });
        Assert.Equal(zeroesSlowly ? IoError.NotSupported : IoError.None, lane.Run(disk.WriteZeroes(0, 65536, WriteFlags.Fast)));
        IoCounters counters = disk.Counters;
        Assert.Equal((0, 0L), (counters.WriteOperations, counters.WriteBytes));
        Assert.Equal((zeroesSlowly ? 0 : 1, zeroesSlowly ? 0L : 65536, 0), (counters.UnmapOperations, counters.UnmapBytes, counters.Errors));
        Assert.Equal(IoError.None, lane.Run(disk.WriteZeroes(0, 65536, WriteFlags.None)));
        Assert.Equal((1, 65536L), (counters.WriteOperations, counters.WriteBytes));
    }
}
