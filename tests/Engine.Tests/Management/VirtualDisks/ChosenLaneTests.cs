using TierSpaces.Engine.Management;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>Virtual disks on two data lanes, and the choice of one of them.</summary>
public sealed class ChosenLaneTests
{
    private readonly SubsystemWorld _world = new(network: new StubNetwork(), dataLanes: 2);
    private readonly Guid _id;

    public ChosenLaneTests()
    {
        _world.NewPool(3);
        _id = _world.NewMirror("d", 2 << 20);
    }

    private VirtualDiskService Disks => _world.Subsystem.VirtualDisks;

    private VirtualDiskStatus Status => Of(_id);

    [Fact]
    public void New_disks_go_to_the_lane_with_the_least_load()
    {
        Guid[] more = [.. ((string[])["e", "f", "g"]).Select(name => _world.NewMirror(name, 1 << 20, filled: false))];

        Assert.Equal([1, 2, 1, 2], more.Prepend(_id).Select(id => Of(id).Lane));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void A_disk_is_connected_on_the_lane_that_was_chosen_with_its_data(int lane)
    {
        VirtualDiskStatus connected = _world.Run(Disks.ConnectAsync(_id, lane: lane));

        Assert.Equal((lane, true), (connected.Lane, connected.SocketPath.Length > 0));
        Assert.Equal(SubsystemWorld.Written(1 << 20, 1 << 20), _world.Read(_id, 1 << 20, 1 << 20));
        _world.Write(_id, 0, 4096);
        Assert.Equal(SubsystemWorld.Written(0, 4096), _world.Read(_id, 0, 4096));
        Assert.Equal(lane, _world.Run(Disks.ConnectAsync(_id)).Lane);
        _world.Run(Disks.DisconnectAsync(_id));
        Assert.Equal(lane, Status.Lane);
    }

    [Fact]
    public void A_restart_keeps_the_data_and_not_the_lane()
    {
        _world.Run(Disks.ConnectAsync(_id, lane: 2));
        _world.Restart();

        Assert.Equal((1, true), (Status.Lane, Status.SocketPath.Length > 0));
        Assert.Equal(SubsystemWorld.Written(1 << 20, 1 << 20), _world.Read(_id, 1 << 20, 1 << 20));
    }

    [Theory]
    [InlineData(int.MinValue)]
    [InlineData(0)]
    [InlineData(3)]
    public void A_lane_that_the_host_does_not_have_is_refused(int lane)
    {
        ManagementException refusal = Refusal(() => Disks.ConnectAsync(_id, lane: lane));

        Assert.Equal(ManagementError.InvalidParameter, refusal.Error);
        Assert.StartsWith($"-Lane {lane}: out of range. Valid: 1 to 2", refusal.Message);
        Assert.Contains("TIERSPACES_LANES", refusal.Action);
        Assert.Equal(refusal.Message, Refusal(() => Disks.CheckConnectAsync(_id, lane: lane)).Message);
        Assert.Equal((1, ""), (Status.Lane, Status.SocketPath));
    }

    [Fact]
    public void A_disk_that_is_connected_stays_on_its_lane_until_it_is_disconnected()
    {
        _world.Run(Disks.ConnectAsync(_id, lane: 1));
        ManagementException refusal = Refusal(() => Disks.ConnectAsync(_id, lane: 2));

        Assert.Equal(ManagementError.VirtualDiskStateForbids, refusal.Error);
        Assert.StartsWith("-Lane 2: virtual disk 'd' is connected on another lane. Valid: 1,", refusal.Message);
        Assert.Equal(refusal.Message, Refusal(() => Disks.CheckConnectAsync(_id, lane: 2)).Message);
        Assert.True(_world.Run(Disks.CheckConnectAsync(_id, lane: 1)));
        Assert.Equal((1, true), (_world.Run(Disks.ConnectAsync(_id, lane: 1)).Lane, Status.SocketPath.Length > 0));

        _world.Run(Disks.DisconnectAsync(_id));
        Assert.Equal(2, _world.Run(Disks.ConnectAsync(_id, lane: 2)).Lane);
    }

    [Fact]
    public void A_check_changes_nothing()
    {
        Assert.True(_world.Run(Disks.CheckConnectAsync(_id, lane: 2)));

        Assert.Equal((1, ""), (Status.Lane, Status.SocketPath));
    }

    [Fact]
    public void A_disk_that_is_not_open_has_no_lane()
    {
        for (int disk = 0; disk < 3; disk++)
        {
            _world.Away.Add(disk);
        }

        _world.Restart();

        Assert.All(_world.Run(Disks.ListAsync()), static disk => Assert.Equal(0, disk.Lane));
    }

    private VirtualDiskStatus Of(Guid id) => _world.Run(Disks.ListAsync()).Single(disk => disk.Description.Id.Value == id);

    private ManagementException Refusal<T>(Func<Task<T>> verb) => Assert.Throws<ManagementException>(() => _world.Run(verb()));
}
