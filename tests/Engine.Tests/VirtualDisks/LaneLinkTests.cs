using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Verification;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.VirtualDisks;

/// <summary>A mirror on a lane of its own whose disks leave and return.</summary>
public class LaneLinkTests
{
    private const int Block = 4096;
    private const long Second = 1_000_000_000;

    private readonly SpaceScenario _scenario = new(1, 2, true, 4096, 2, IsWholePool: true);
    private readonly PoolWorld _world;

    public LaneLinkTests() => _world = PoolWorld.New(
        3, 48L << 20, 4096, 3, _scenario.Spec(3) with { ProvisioningType = ProvisioningType.Fixed }, hasDataLane: true);

    private Pool Pool => _world.Pool!;

    [Fact]
    public void A_stuck_lane_keeps_a_disk_out_and_holds_up_neither_its_leaving_nor_commits()
    {
        Open();
        DiskNumber disk = MirrorDisk(0);
        _world.Lane.IsStuck = true;
        Assert.True(_world.PoolLane.Run(Pool.Evict(disk, "a test")).Succeeded);
        Assert.True(_world.PoolLane.Run(Pool.Commit(new JobRecord(new Guid(1, 0, 0, new byte[8]), [1]))).Succeeded);
        _world.PoolLane.Advance(60 * Second);
        Assert.True(Pool.IsOwed(disk));
        Assert.True(_world.VirtualDisk!.Pool.IsBehind);

        _world.Lane.IsStuck = false;
        _world.PoolLane.Advance(Second);
        Assert.False(Pool.IsOwed(disk));
        Assert.False(_world.VirtualDisk.Pool.IsBehind);
        Assert.Equal("", _world.Lane.Run(_world.Return(disk.Value - 1)));
    }

    // Its slabs would not be known as outdated.
    [Fact]
    public void A_disk_does_not_come_back_before_what_it_misses_is_recorded()
    {
        Open();
        DiskNumber disk = MirrorDisk(0);
        Pool.MembershipChanged += _ => Array.ForEach(_world.Disks, static member => member.WriteTakesLonger = static (_, _) => 5 * Second);
        Assert.True(_world.PoolLane.Run(Pool.Evict(disk, "a test")).Succeeded);
        _world.PoolLane.Advance(2 * Second);
        Assert.False(IsStaleOn(disk));
        Assert.True(Pool.IsOwed(disk));
        CommitResult early = _world.Lane.Run(_world.TryReturn(disk.Value - 1, hasLostPower: false));
        Assert.Equal(CommitStatus.Refused, early.Status);
        Assert.Contains("still record what it misses", early.Reason);

        _world.PoolLane.Advance(60 * Second);
        Assert.True(IsStaleOn(disk));
        Assert.False(Pool.IsOwed(disk));
    }

    [Fact]
    public void A_disk_of_which_the_lane_gets_no_handle_is_out_for_it_and_misses_what_is_recorded()
    {
        Open();
        DiskNumber disk = MirrorDisk(0);
        Assert.True(_world.PoolLane.Run(Pool.Evict(disk, "a test")).Succeeded);
        _world.PoolLane.Advance(Second);
        _world.Disks[disk.Value - 1].CannotShare = true;
        Assert.Equal("", _world.Lane.Run(_world.Return(disk.Value - 1)));
        _world.PoolLane.Advance(Second);
        Assert.True(Pool.View.Contains(disk));
        Assert.Null(_world.VirtualDisk!.Pool.Members.Disk(disk.Value));

        Assert.Equal(IoError.None, Write(2));
        Assert.True(IsStaleOn(disk));
    }

    [Fact]
    public void A_virtual_disk_is_opened_without_the_disk_of_which_its_lane_gets_no_handle()
    {
        _world.Disks[0].CannotShare = true;
        Open();
        Assert.Null(_world.VirtualDisk!.Pool.Members.Disk(1));
        Assert.NotNull(_world.VirtualDisk.Pool.Members.Disk(2));
        Assert.Equal(IoError.None, _world.VirtualDisk.Fault);
    }

    private SpaceState Data => Pool.State.Space(_world.VirtualDisk!.Description.Part(0)!.DataSpace)!;

    private bool IsStaleOn(DiskNumber disk) => Data.EnumerateRows().Any(row => Enumerable.Range(0, 2).Any(
        position => row.Row.Mapping.Sources[position].Disk == disk && row.Row.Stale(position) != 0));

    private void Open()
    {
        Assert.Equal("", _world.Lane.Run(_world.Open(isNew: true)));
        Assert.Equal(IoError.None, Write(1));
    }

    /// <summary>The disk of a copy of the first row.</summary>
    private DiskNumber MirrorDisk(int copy) => Data.Row(0)!.Mapping.Sources[copy].Disk;

    private IoError Write(byte value)
    {
        IoBuffer buffer = _world.Lane.Buffers.Rent(Block);
        buffer.Span.Fill(value);
        IoError error = _world.Lane.Run(_world.Store.Write(0, buffer, WriteFlags.None));
        error = error == IoError.None ? _world.Lane.Run(_world.Store.Flush()) : error;
        _world.Lane.Buffers.Return(buffer);
        return error;
    }
}
