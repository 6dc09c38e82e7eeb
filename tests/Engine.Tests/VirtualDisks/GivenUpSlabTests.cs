using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Verification;
using TierSpaces.Engine.VirtualDisks;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.VirtualDisks;

/// <summary>
/// Requests that were given up end late. A disk without another copy stays in the view while it does not answer. No slab of it gets another owner before
/// its late requests have ended: one of them would change what the next owner wrote.
/// </summary>
public class GivenUpSlabTests
{
    private const int Members = 7;   // two of them hold no metadata
    private const int Rows = 9;
    private const long Second = 1_000_000_000;
    private const long Minute = 60 * Second;

    private PoolWorld _world = null!;
    private int _disk;               // counted from 0
    private int[] _rows = [];        // on it

    private Pool Pool => _world.Pool!;

    private SpaceState Data => Pool.State.Space(_world.VirtualDisk!.Description.Part(0)!.DataSpace)!;

    private DiskNumber Number => new((ushort)(_disk + 1));

    [Fact]
    public void A_row_is_freed_when_late_requests_to_its_disk_have_ended()
    {
        Open(ProvisioningType.Thin, Rows);
        HangUnderRead();
        Assert.Equal(IoError.None, _world.Lane.Run(_world.Store.Unmap(_rows[0] * RowBytes, RowBytes)));
        _world.Lane.Advance(Minute);
        Assert.NotNull(Data.Row(_rows[0]));

        _world.Disks[_disk].Wake();
        _world.Lane.Advance(Minute);
        Assert.Null(Data.Row(_rows[0]));
    }

    [Fact]
    public void A_reserved_slab_is_released_when_late_requests_to_its_disk_have_ended()
    {
        Open(ProvisioningType.Thin, Rows);
        Assert.Equal(IoError.None, _world.Lane.Run(_world.Store.Unmap(_rows[0] * RowBytes, RowBytes)));
        _world.Lane.Advance(Minute);
        long free = Pool.Allocator.FreeSlabs(Number);
        _world.Disks[_disk].Hang();
        Assert.NotEqual(IoError.None, Write(_rows[0]));
        _world.Lane.Advance(Minute);
        Assert.Equal(free - 1, Pool.Allocator.FreeSlabs(Number));

        _world.Disks[_disk].Wake();
        _world.Lane.Advance(Minute);
        Assert.Equal(free, Pool.Allocator.FreeSlabs(Number));
    }

    [Fact]
    public void The_source_of_a_move_is_given_back_when_late_requests_to_its_disk_have_ended()
    {
        Open(ProvisioningType.Fixed, written: Members);   // the rows behind them hold nothing yet: they move without a request
        HangUnderRead();
        int unused = Data.EnumerateRows().First(row => row.Row.Mapping is { IsInitialized: false } map && map.Sources[0].Disk == Number).Index;
        long free = Pool.Allocator.FreeSlabs(Number);
        SlabMover mover = new(Pool, _world.VirtualDisk!);
        LaneTask<RepairEnd> move = mover.Move(new SlabMove(unused, 0, Number), [], new SimPacer(_world.Lane));
        _world.Lane.Advance(Minute);
        Assert.NotEqual(Number, Data.Row(unused)!.Mapping.Sources[0].Disk);
        Assert.Equal(free, Pool.Allocator.FreeSlabs(Number));

        _world.Disks[_disk].Wake();
        Assert.Equal(RepairEnd.Done, _world.Lane.Run(move));
        Assert.Equal(free + 1, Pool.Allocator.FreeSlabs(Number));
    }

    [Fact]
    public void A_disk_that_has_left_joins_when_late_requests_to_it_have_ended()
    {
        SpaceScenario scenario = new(1, 2, true, 4096, 2, IsWholePool: true);
        _world = PoolWorld.New(scenario.Disks, 48L << 20, 4096, 5, scenario.Spec(5), hasDataLane: true);
        Assert.Equal("", _world.Lane.Run(_world.Open(isNew: true)));
        Assert.Equal(IoError.None, Write(0));
        _disk = Data.Row(0)!.Mapping.Sources[0].Disk.Value - 1;
        _world.Disks[_disk].Hang();
        Assert.Equal(IoError.None, Write(0));
        _world.Lane.Advance(Second);
        Assert.False(Pool.View.Contains(Number));
        Assert.True(Pool.IsOwed(Number));

        _world.Disks[_disk].Wake();
        _world.Lane.Advance(Second);
        Assert.False(Pool.IsOwed(Number));
    }

    [Fact]
    public void A_disk_that_has_left_joins_when_what_it_misses_is_recorded()
    {
        SpaceScenario scenario = new(1, 2, false, 4096, 2, IsWholePool: true);
        _world = PoolWorld.New(scenario.Disks, 48L << 20, 4096, 5, scenario.Spec(5), hasDataLane: true);
        Assert.Equal("", _world.Lane.Run(_world.Open(isNew: true)));
        Assert.Equal(IoError.None, Write(0));
        _disk = Data.Row(0)!.Mapping.Sources[0].Disk.Value - 1;
        Array.ForEach(_world.Disks, static disk => disk.WriteTakesLonger = static (_, _) => Second / 20);
        _world.Lane.LateNs = Second;
        _world.PoolLane.Post(() => Pool.Evict(Number, "it is taken out").Forget());
        _world.Lane.PumpWhile(() => Pool.View.Contains(Number), Minute);
        LaneTask<CommitResult> early = _world.TryReturn(_disk, hasLostPower: false);
        for (long waitedNs = 0; waitedNs < Second / 2; waitedNs += Second / 100)
        {
            Assert.True(Pool.IsOwed(Number));   // its lane has not taken the table yet
            _world.Lane.Advance(Second / 100);
        }

        Assert.Equal(CommitStatus.Refused, _world.Lane.Run(early).Status);
        _world.Lane.PumpWhile(() => Pool.IsOwed(Number), Minute);
        Assert.NotEqual(0, Data.Row(0)!.Stale(0));
    }

    private long RowBytes => Pool.Slabs.DataBytes;

    /// <summary>A virtual disk without redundancy on a lane of its own, with rows on a disk that holds neither metadata nor the integrity log.</summary>
    private void Open(ProvisioningType provisioning, int written)
    {
        SpaceScenario scenario = new(1, 1, true, 4096, Rows + Members, IsWholePool: true);
        _world = PoolWorld.New(
            Members, 48L << 20, 4096, 5, scenario.Spec(5) with { ProvisioningType = provisioning }, hasDataLane: true);
        Assert.Equal("", _world.Lane.Run(_world.Open(isNew: true)));
        for (int row = 0; row < written; row++)
        {
            Assert.Equal(IoError.None, Write(row));
        }

        Assert.Equal(IoError.None, _world.Lane.Run(_world.Store.Flush()));
        DiskNumber log = Pool.State.Space(_world.VirtualDisk!.Description.Part(0)!.LogSpace)!.Row(0)!.Mapping.Sources[0].Disk;
        _disk = Enumerable.Range(0, Members).First(disk => new DiskNumber((ushort)(disk + 1)) is var number && number != log && !Pool.View.IsMetadata(number));
        _rows = [.. Data.EnumerateRows().Where(row => row.Row.Mapping.Sources[0].Disk == Number).Select(static row => row.Index)];
    }

    /// <summary>The disk stops answering; a read of it is given up.</summary>
    private void HangUnderRead()
    {
        _world.Disks[_disk].Hang();
        IoBuffer buffer = _world.Lane.Buffers.Rent(4096);
        Assert.NotEqual(IoError.None, _world.Lane.Run(_world.Store.Read(_rows[0] * RowBytes, buffer)));
        _world.Lane.Buffers.Return(buffer);
        Assert.True(Pool.View.Contains(Number));
    }

    private IoError Write(int row)
    {
        IoBuffer buffer = _world.Lane.Buffers.Rent(4096);
        BlockOracle.Fill(buffer.Span, row * RowBytes, 7);
        IoError error = _world.Lane.Run(_world.Store.Write(row * RowBytes, buffer, WriteFlags.None));
        _world.Lane.Buffers.Return(buffer);
        return error;
    }
}
