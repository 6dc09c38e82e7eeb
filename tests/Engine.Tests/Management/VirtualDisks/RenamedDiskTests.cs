using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Management;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>A virtual disk that is renamed while it is exported.</summary>
public sealed class RenamedDiskTests
{
    private readonly SubsystemWorld _world = new(network: new StubNetwork(), dataLanes: 2);
    private readonly Guid _id;

    public RenamedDiskTests()
    {
        _world.NewPool(3);
        _id = _world.NewMirror("d", 2 << 20);
        _world.Run(Disks.ConnectAsync(_id));
    }

    private VirtualDiskService Disks => _world.Subsystem.VirtualDisks;

    [Fact]
    public void It_stays_exported_under_its_new_name_and_keeps_it_over_a_restart()
    {
        VirtualDiskStatus renamed = _world.Run(Disks.SetAsync(_id, disk => disk with { FriendlyName = "e" }));
        Assert.Equal(("e", true), (renamed.Description.FriendlyName, renamed.SocketPath.Length > 0));

        _world.Restart();
        VirtualDiskStatus after = _world.Run(Disks.ListAsync()).Single();
        Assert.Equal(("e", true), (after.Description.FriendlyName, after.SocketPath.Length > 0));
        Assert.Equal(SubsystemWorld.Written(1 << 20, 1 << 20), _world.Read(_id, 1 << 20, 1 << 20));
    }

    // Links of devices and exports have friendly names, which are unique in a pool only.
    [Fact]
    public void A_name_under_which_a_virtual_disk_of_another_pool_is_exported_is_refused()
    {
        _world.NewPool([(64 << 20, MediaType.SSD), (64 << 20, MediaType.SSD), (64 << 20, MediaType.SSD)], "q");
        Guid other = _world.NewMirror("other", 1 << 20, filled: false);
        _world.Run(Disks.ConnectAsync(other));

        ManagementException refusal = Assert.Throws<ManagementException>(
            () => _world.Run(Disks.SetAsync(_id, disk => disk with { FriendlyName = "OTHER" })));
        Assert.Equal((ManagementError.NameTaken, "Another virtual disk 'OTHER' is connected."), (refusal.Error, refusal.Message));
        Assert.Contains("d", _world.Run(Disks.ListAsync()).Select(disk => disk.Description.FriendlyName));

        _world.Run(Disks.DisconnectAsync(other));
        _world.Run(Disks.SetAsync(_id, disk => disk with { FriendlyName = "OTHER" }));
    }
}
