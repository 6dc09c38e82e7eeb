using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tests.Lanes;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Devices;

/// <summary>A disk with several paths: load, failures of a path and of the medium, paths that come and go, on the owner's lane and on another.</summary>
public sealed class MultipathDiskTests
{
    private const int Block = 4096;

    private readonly TwinLanes _lanes = new(1);
    private readonly SimMedia _media = new("m", 1 << 20, 512);
    private readonly SimDisk _first;
    private readonly SimDisk _second;
    private readonly MultipathDisk _disk;

    public MultipathDiskTests()
    {
        _first = new SimDisk(_lanes.First, _media, name: "a");
        _second = new SimDisk(_lanes.First, _media, name: "b");
        _disk = new MultipathDisk(_lanes.First, "block:/dev/a", _first);
        Assert.True(_disk.Add("block:/dev/b", _second));
    }

    [Fact]
    public void The_load_is_spread_over_both_paths()
    {
        for (int at = 0; at < 100; at++)
        {
            Assert.Equal(IoError.None, Write(_disk, at, 1));
            Assert.Equal(1, Read(_disk, at));
        }

        Assert.InRange(_first.Requests, 90, 110);
        Assert.InRange(_second.Requests, 90, 110);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_path_that_is_lost_costs_no_error(bool isFirst)
    {
        SimDisk lost = isFirst ? _first : _second;
        for (int at = 0; at < 200; at++)
        {
            lost.Pulled = at >= 100;
            Assert.Equal(IoError.None, Write(_disk, at, at));
            Assert.Equal(IoError.None, _lanes.Run(_disk.Flush()));
            Assert.Equal(at % 256, Read(_disk, at));
        }

        Assert.True(_disk.IsPresent);
        Assert.Equal(IoError.None, _lanes.Run(_disk.CheckPresence()));
        long requests = lost.Requests;
        lost.Pulled = false;
        for (int at = 0; at < 20; at++)
        {
            Assert.Equal(at + 100, Read(_disk, at + 100));
        }

        Assert.True(lost.Requests > requests + 5, "The path that is back is not used.");
        _first.Pulled = _second.Pulled = true;
        Assert.Equal(IoError.DeviceGone, Write(_disk, 0, 1));
        Assert.False(_disk.IsPresent);
    }

    [Fact]
    public void A_bad_place_is_an_error_of_the_disk_and_both_paths_go_on()
    {
        _first.ReadFails = _second.ReadFails = static (offset, _) => offset == 3 * Block;
        Assert.Equal(IoError.Io, _lanes.Run(_disk.Read(3 * Block, Buffer(_lanes.First))));
        Assert.All(_disk.Paths, static path => Assert.True(path.IsUsable));
    }

    [Fact]
    public void A_path_that_alone_fails_is_not_used_until_it_is_tried()
    {
        _first.WriteFails = static (_, _) => true;
        for (int at = 0; at < 20; at++)
        {
            Assert.Equal(IoError.None, Write(_disk, at, at));
        }

        Assert.Equal([false, true], _disk.Paths.Select(static path => path.IsUsable));
        Assert.All(Enumerable.Range(0, 20), at => Assert.Equal(at, Read(_disk, at)));
        _first.ReadFails = static (_, _) => true;
        Try();
        Assert.False(_disk.Paths[0].IsUsable);
        _first.ReadFails = null;
        Try();
        Assert.True(_disk.Paths[0].IsUsable);
    }

    [Fact]
    public void A_flush_that_failed_is_not_repeated_and_fails_once_on_every_lane()
    {
        MultipathDisk handle = Handle();
        _first.FailFlushes = 1;
        Assert.Equal(IoError.Io, _lanes.Run(_disk.Flush()));
        Assert.Equal(IoError.Io, _lanes.Run(handle.Flush()));
        Assert.Equal(IoError.None, _lanes.Run(_disk.Flush()));
        Assert.Equal(IoError.None, _lanes.Run(handle.Flush()));
    }

    [Fact]
    public void A_lane_without_requests_takes_over_a_path_before_the_others_fail()
    {
        MultipathDisk handle = Handle();
        SimDisk third = new(_lanes.First, _media, name: "c");
        Assert.True(_disk.Add("block:/dev/c", third));
        _lanes.Advance(20_000_000);
        _disk.Remove(_disk.Paths[0]);
        _lanes.Advance(20_000_000);
        Assert.Equal(0, _first.Handles);
        _second.Pulled = true;
        Assert.Equal(IoError.None, Write(handle, 0, 5));
        Assert.Equal(5, Read(handle, 0));
    }

    [Fact]
    public void Another_lane_uses_paths_that_are_added_and_leaves_those_that_are_removed()
    {
        MultipathDisk handle = Handle();
        SimDisk third = new(_lanes.First, _media, name: "c");
        Assert.True(_disk.Add("block:/dev/c", third));
        _disk.Remove(_disk.Paths[0]);
        for (int at = 0; at < 30; at++)
        {
            Assert.Equal(IoError.None, Write(handle, at, at));
        }

        long before = _first.Requests;
        Assert.All(Enumerable.Range(0, 30), at => Assert.Equal(at, Read(handle, at)));
        Assert.Equal(before, _first.Requests);
        Assert.True(third.Requests > 10 && _second.Requests > 10, $"{third.Requests} and {_second.Requests} requests");
        _second.Pulled = third.Pulled = true;
        Assert.Equal(IoError.DeviceGone, Write(handle, 0, 0));
        _lanes.Run(handle.Close());
        _lanes.Run(_disk.Close());
        Assert.Equal(0, _first.Handles + _second.Handles + third.Handles);
    }

    [Fact]
    public void Writes_that_share_a_block_take_one_path()
    {
        IoBuffer half = _lanes.First.Buffers.Rent(512);
        for (int at = 0; at < 8; at++)
        {
            Assert.Equal(IoError.None, _lanes.Run(_disk.Write(at * 512, half, WriteFlags.None)));
        }

        Assert.Equal((8, 0), (_first.Requests, _second.Requests));
    }

    [Fact]
    public void A_device_of_another_size_is_no_path() =>
        Assert.False(_disk.Add("block:/dev/c", new SimDisk(_lanes.First, new SimMedia("other", 2 << 20, 512))));

    [Fact]
    public void Requests_allocate_nothing()
    {
        NullDisk first = new(1 << 20);
        MultipathDisk disk = new(_lanes.First, "block:/dev/a", first);
        Assert.True(disk.Add("block:/dev/b", new NullDisk(1 << 20)));
        IoBuffer buffer = Buffer(_lanes.First);
        AllocationMeter meter = new();
        for (int window = 0; window < 5; window++)
        {
            meter.Begin();
            for (int at = 0; at < 1000; at++)
            {
                disk.Read(at % 256 * Block, buffer).GetAwaiter().GetResult();
                disk.Write(at % 256 * Block, buffer, WriteFlags.None).GetAwaiter().GetResult();
                disk.Flush().GetAwaiter().GetResult();
            }

            meter.End();
        }

        Assert.Equal(0, meter.Least);
    }

    [Fact]
    public void A_device_that_became_smaller_is_a_failed_path_and_a_full_one_is_full()
    {
        _first.Full = true;
        Assert.Equal(IoError.None, Write(_disk, 1, 1));
        Assert.Equal(IoError.None, Write(_disk, 2, 2));
        Assert.Equal([false, true], _disk.Paths.Select(static path => path.IsUsable));
        _second.Full = true;
        Assert.Equal(IoError.NoSpace, Write(_disk, 3, 3));
        Assert.All(_disk.Paths, static path => Assert.True(path.IsUsable));
    }

    private void Try()
    {
        foreach (DiskPath path in _disk.Paths)
        {
            _lanes.Run(_disk.Try(path));
        }
    }

    private static IoBuffer Buffer(SimLane lane) => lane.Buffers.Rent(Block);

    private MultipathDisk Handle()
    {
        using DiskShare share = _disk.Share();
        MultipathDisk? handle = null;
        _lanes.Second.Post(() => handle = (MultipathDisk)share.Open(_lanes.Second));
        _lanes.Advance(20_000_000);
        return handle!;
    }

    private IoError Write(MultipathDisk disk, int at, int value)
    {
        IoBuffer buffer = Buffer(disk == _disk ? _lanes.First : _lanes.Second);
        buffer.Span.Fill((byte)value);
        return _lanes.Run(disk.Write(at % 256 * Block, buffer, WriteFlags.None));
    }

    private int Read(MultipathDisk disk, int at)
    {
        IoBuffer buffer = Buffer(disk == _disk ? _lanes.First : _lanes.Second);
        Assert.Equal(IoError.None, _lanes.Run(disk.Read(at % 256 * Block, buffer)));
        return buffer.Span[0];
    }
}
