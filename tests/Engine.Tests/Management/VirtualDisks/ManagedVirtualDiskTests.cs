using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>A virtual disk on a lane of its own, as the control lane sees it, and snapshots of it while that lane does not answer.</summary>
public sealed class ManagedVirtualDiskTests
{
    private readonly SubsystemWorld _world = new(dataLanes: 1);
    private readonly SimLane _lane;
    private readonly SubsystemCore _core;
    private readonly Snapshots _snapshots;
    private readonly OpenVirtualDisk _open;
    private readonly ManagedPool _managed;
    private readonly ManagedVirtualDisk _disk;

    public ManagedVirtualDiskTests()
    {
        _world.NewPool(3);
        _open = _world.Opened(_world.NewMirror("d", 4 << 20));
        _core = new SubsystemCore(new SubsystemOptions(_world.Lane, null, _world, new SimHostState(), "", Guid.Empty, static _ => { }));
        _snapshots = new Snapshots(_core, new JobRunner(_core), new ReliabilityRecords(_core));
        _managed = _core.Pools.GetOrAdd(_open.Pool.Id);
        _managed.SetOpen(_world.PoolOf(_open));
        _disk = _world.Lane.Run(ManagedVirtualDisk.Take(_open, _world.Lane));
        _managed.Add(_disk);
        _lane = (SimLane)_open.Lane;
        _lane.IsStuck = true;
    }

    private VirtualDiskSnapshot Seen => Assert.Single(Assert.Single(Take().ManagedPools).VirtualDisks.Values);

    [Fact]
    public void An_action_runs_on_the_lane_of_the_disk_and_its_result_or_error_is_there_on_the_control_lane()
    {
        List<string> order = [];
        Follow(_disk.Ask(open => Note(order, open)), order).Forget();
        Follow(_disk.Ask<string>(static _ => throw new IOException("broken")), order).Forget();
        _world.Lane.Advance(1_000_000_000);
        Assert.Empty(order);

        LetAnswer();
        Assert.Equal(["disk", "d", "broken"], order);
    }

    [Fact]
    public void A_new_description_is_there_before_a_later_action_begins()
    {
        _disk.Redescribe(_disk.Description with { FriendlyName = "new" });
        Assert.Equal(("new", "d"), (_disk.Description.FriendlyName, _open.Description.FriendlyName));

        LaneTask<string> seen = _disk.Ask(static open => open.Description.FriendlyName);
        LetAnswer();

        Assert.Equal("new", _world.Lane.Run(seen));
    }

    [Fact]
    public void A_snapshot_waits_a_quarter_of_a_second_for_a_lane_and_has_the_last_part_of_its_disks_then()
    {
        long beginNs = _world.Lane.NowNs;
        VirtualDiskSnapshot seen = Seen;

        Assert.Equal(LanePatience.LimitNs, _world.Lane.NowNs - beginNs);
        Assert.Equal(
            ("d", IoError.None, _disk.LastSnapshot.Counters.WriteOperations), (seen.Description.FriendlyName, seen.Fault, seen.Counters.WriteOperations));
    }

    [Fact]
    public void A_snapshot_has_the_last_part_of_a_lane_that_does_not_answer_and_asks_it_no_more_until_it_does()
    {
        LaneTask<SubsystemSnapshot> first = _snapshots.Take();
        LetAnswer();
        _world.Lane.Run(first);
        long writes = _disk.LastSnapshot.Counters.WriteOperations;
        Assert.True(writes > 0);
        _lane.IsStuck = false;
        _world.Write(_open.Description.Id.Value, 0, 4096);
        _lane.IsStuck = true;

        Assert.Equal(writes, Seen.Counters.WriteOperations);
        long silentNs = _world.Lane.NowNs;
        Assert.Equal(writes, Seen.Counters.WriteOperations);
        Assert.Equal(silentNs, _world.Lane.NowNs);

        LetAnswer();   // what it was asked first
        Assert.Equal(_open.Disk.Counters.WriteOperations, _disk.LastSnapshot.Counters.WriteOperations);
        LaneTask<SubsystemSnapshot> last = _snapshots.Take();
        LetAnswer();
        long answeredNs = _world.Lane.NowNs;
        _world.Lane.Run(last);
        Assert.Equal(answeredNs, _world.Lane.NowNs);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_disk_that_is_opened_or_closed_while_a_snapshot_waits_is_in_it_as_it_is_then(bool isOpened)
    {
        if (isOpened)
        {
            _managed.Remove(_disk.Description.Id);
            _lane.IsStuck = false;
            _managed.Add(_world.Lane.Run(ManagedVirtualDisk.Take(_open, _world.Lane)));
            _lane.IsStuck = true;
        }

        LaneTask<SubsystemSnapshot> taken = _snapshots.Take();
        _managed.Remove(_disk.Description.Id);
        if (isOpened)
        {
            _managed.Add(_disk);
        }

        LetAnswer();
        SubsystemSnapshot now = _world.Lane.Run(taken);

        Assert.Equal(isOpened ? 1 : 0, Assert.Single(now.ManagedPools).VirtualDisks.Count);
        Assert.Equal("d", Assert.Single(now.VirtualDisks).Description.FriendlyName);
    }

    /// <summary>Lets the lane of the disk answer what it was asked.</summary>
    private void LetAnswer()
    {
        _lane.IsStuck = false;
        _world.Lane.Advance(20_000_000);
        _lane.IsStuck = true;
    }

    private SubsystemSnapshot Take() => _world.Lane.Run(_snapshots.Take());

    private static string Note(List<string> order, OpenVirtualDisk open)
    {
        order.Add("disk");
        return open.Description.FriendlyName;
    }

    private static async LaneTask Follow(LaneTask<string> answer, List<string> order)
    {
        try
        {
            order.Add(await answer);
        }
        catch (IOException failure)
        {
            order.Add(failure.Message);
        }
    }
}
