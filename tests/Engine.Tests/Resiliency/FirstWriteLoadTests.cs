using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Devices.Emulated;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Resiliency.Layouts;
using TierSpaces.Engine.Tests.Devices;
using TierSpaces.Engine.VirtualDisks;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Resiliency;

/// <summary>First writes to rows of a space without checksums, on slow disks.</summary>
public sealed class FirstWriteLoadTests
{
    private const int Rows = 80;
    private const long Second = 1_000_000_000;

    private readonly SimLane _lane = new(1);
    private readonly SimSpaceMap _map = new();
    private readonly MeteredDisk[] _disks = new MeteredDisk[2];
    private Space _space = null!;

    // A row has 128 MiB on each disk: one that is written whole takes a second.
    [Fact]
    public void A_first_write_costs_its_own_size_where_the_disk_can_make_holes()
    {
        Open(zeroesSlowly: false);
        long startNs = _lane.NowNs;
        Assert.All(Write(16), error => Assert.Equal(IoError.None, error));
        Assert.InRange(_lane.NowNs - startNs, 0, 3 * Second);
        AssertNoneLeft();
    }

    [Fact]
    public void Where_zeroing_writes_the_slabs_no_disk_is_taken_for_hung()
    {
        Open(zeroesSlowly: true);
        Assert.All(Write(16), error => Assert.Equal(IoError.None, error));
        AssertNoneLeft();
    }

    private void AssertNoneLeft()
    {
        Assert.Empty(_map.Evicted);
        Assert.All(_disks, disk => Assert.Equal((0, 0), (disk.Overdue, disk.Counters.MediaErrors)));
        Assert.Equal(IoError.None, _space.Fault);
    }

    private IoError[] Write(int count)
    {
        LaneTask<IoError>[] writes = [.. Enumerable.Range(0, count).Select(row => WriteOne(row * _space.Shape.RowSize))];
        return Array.ConvertAll(writes, write => _lane.Run(write));
    }

    private async LaneTask<IoError> WriteOne(long offset)
    {
        IoBuffer buffer = _lane.Buffers.Rent(4096);
        IoError error = await _space.Write(offset, buffer, WriteFlags.None);
        _lane.Buffers.Return(buffer);
        return error;
    }

    private void Open(bool zeroesSlowly)
    {
        SpaceShape shape = new(1, 2, 256 << 10, 128 << 20, Checksums: false);
        DiskWatch watch = new(_lane);
        for (int i = 0; i < _disks.Length; i++)
        {
            NullDisk below = new(40L << 30) { ZeroesSlowly = zeroesSlowly };
            _disks[i] = new MeteredDisk(_lane, new EmulatedDisk(_lane, below, LatencyProfile.Find("HDD7200")!), watch);
        }

        SimSpaceHost host = new(_lane, shape, Array.ConvertAll(_disks, static disk => (IDisk)disk), _map);
        _map.Used.UnionWith([(0, 0), (1, 0)]);
        SpaceOptions options = new()
        {
            Space = 7,
            PoolTag = 1,
            Shape = shape,
            Length = Rows * shape.RowSize,
            IsThin = true,
            Rows = [],
            LogCopies = [[SimSpaceHost.Place(shape, 0, 0)], [SimSpaceHost.Place(shape, 1, 0)]],
            LogOwner = new Guid(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11),
            LogBlocksMax = 256,
        };
        _space = _lane.Run(Space.Create(host, options));
        host.Space = _space;
        Assert.Equal("", _space.FaultReason);
    }
}
