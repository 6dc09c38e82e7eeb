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
    private readonly IDisk[] _members = new IDisk[2];   // as the host has them
    private DiskWatch? _watch;
    private SimSpaceHost _host = null!;
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

    // The work is not paced: it takes what the disks give.
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void No_disk_leaves_while_sixteen_clients_write_beside_work_on_everything(bool resyncs)
    {
        Open(zeroesSlowly: false);
        Assert.All(Write(16), error => Assert.Equal(IoError.None, error));
        if (resyncs)
        {
            Assert.Equal(IoError.None, _lane.Run(_host.Evict(1, "test")));
            Assert.All(Write(16, 1 << 20), error => Assert.Equal(IoError.None, error));
            _members[1] = _disks[1] = NewDisk(zeroesSlowly: false);
            _map.Return(1);
            _space.OnDiskJoined();
            Assert.True(_space.BytesToResync >= 16 << 20);
        }

        bool isRunning = true;
        bool hasEnded = false;
        Work().Forget();
        LaneTask<IoError>[] clients = [.. Enumerable.Range(0, 16).Select(Client)];
        Assert.All(Array.ConvertAll(clients, client => _lane.Run(client)), error => Assert.Equal(IoError.None, error));
        isRunning = false;
        _lane.PumpWhile(() => !hasEnded, 3600 * Second);
        Assert.True(hasEnded);
        AssertNoneLeft();

        async LaneTask Work()
        {
            ScrubStride stride = new(0, 0, false, IoError.None);
            while (isRunning && !resyncs && stride is { IsDone: false, Error: IoError.None })
            {
                stride = await _space.Scrub(stride.Cursor, new ScrubFindings());
            }

            RepairEnd end = resyncs ? await _space.Resync(new SimPacer(_lane)) : RepairEnd.Done;
            Assert.Equal((IoError.None, RepairEnd.Done, 0), (stride.Error, end, _space.BytesToResync));
            hasEnded = true;
        }
    }

    private async LaneTask<IoError> Client(int number)
    {
        Random random = new(number);
        IoError error = IoError.None;
        for (int i = 0; i < 60 && error == IoError.None; i++)
        {
            error = await WriteOne(random.NextInt64(16 * _space.Shape.RowSize / 4096) * 4096);
        }

        return error;
    }

    private MeteredDisk NewDisk(bool zeroesSlowly) =>
        new(_lane, new EmulatedDisk(_lane, new NullDisk(40L << 30) { ZeroesSlowly = zeroesSlowly }, LatencyProfile.Find("HDD7200")!), _watch!);

    private void AssertNoneLeft()
    {
        Assert.Empty(_map.Evicted);
        Assert.All(_disks, disk => Assert.Equal((0, 0), (disk.Overdue, disk.Counters.MediaErrors)));
        Assert.Equal(IoError.None, _space.Fault);
    }

    private IoError[] Write(int count, int length = 4096)
    {
        LaneTask<IoError>[] writes = [.. Enumerable.Range(0, count).Select(row => WriteOne(row * _space.Shape.RowSize, length))];
        return Array.ConvertAll(writes, write => _lane.Run(write));
    }

    private async LaneTask<IoError> WriteOne(long offset, int length = 4096)
    {
        IoBuffer buffer = _lane.Buffers.Rent(length);
        IoError error = await _space.Write(offset, buffer, WriteFlags.None);
        _lane.Buffers.Return(buffer);
        return error;
    }

    private void Open(bool zeroesSlowly)
    {
        SpaceShape shape = new(1, 2, 256 << 10, 128 << 20, Checksums: false);
        _watch = new DiskWatch(_lane);
        for (int i = 0; i < _disks.Length; i++)
        {
            _members[i] = _disks[i] = NewDisk(zeroesSlowly);
        }

        _host = new SimSpaceHost(_lane, shape, _members, _map);
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
        _space = _lane.Run(Space.Create(_host, options));
        _host.Space = _space;
        Assert.Equal("", _space.FaultReason);
    }
}
