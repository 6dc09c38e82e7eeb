using TierSpaces.Engine.Management;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>Two paths to one piece of hardware are one physical disk, which serves as long as one of them works.</summary>
public sealed class DiskPathTests
{
    private const int Mebibyte = 1 << 20;

    private readonly SubsystemWorld _world = new(network: new StubNetwork()) { NamesHardware = true };

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_path_that_fails_under_load_costs_no_error_and_no_member(bool isFirst)
    {
        Guid disk = Pool();
        int other = _world.PathTo(0);
        PhysicalDiskStatus status = _world.Register(other);
        Assert.Equal((_world.Physical(0).UniqueId, "/sim/0 /sim/" + other), (status.UniqueId, PathsOf(status.Uris)));
        Assert.Equal(2, Listed().Length);
        int lost = isFirst ? 0 : other;
        int kept = isFirst ? other : 0;
        Load(disk, 0);
        Assert.True(_world.Disks[0].Requests > 20 && _world.Disks[other].Requests > 20, "The load is not spread over both paths.");

        _world.Pull(lost);
        Load(disk, 1);
        _world.Advance(TimeSpan.FromSeconds(8));
        Assert.Empty(_world.NotOk());
        Assert.Equal($"/sim/{kept}", PathsOf(_world.Physical(0).WorkingUris));
        Assert.Contains(_world.Notices, text => text.Contains($"/sim/{lost} of physical disk '0' has failed", StringComparison.Ordinal));

        _world.PutBack(lost);
        _world.Advance(TimeSpan.FromSeconds(10));
        Assert.Equal(2, _world.Physical(0).WorkingUris.Count);
        Load(disk, 2);
        Assert.True(_world.Disks[lost].Requests > 20, "The path that is back is not used.");
        Assert.Empty(_world.NotOk());

        _world.Pull(kept);
        Load(disk, 3);
        _world.Advance(TimeSpan.FromSeconds(2));
        Assert.Empty(_world.NotOk());
        _world.Pull(lost);   // the last one
        _world.Until(() => _world.Physical(0).OperationalStatus == "Lost Communication");
        _world.PutBack(kept);
        _world.Until(() => _world.NotOk().Count == 0);
    }

    [Fact]
    public void A_disk_is_opened_by_the_path_that_is_there()
    {
        Guid disk = Pool();
        int other = _world.PathTo(0);
        _world.Register(other);
        Load(disk, 0);
        Assert.True(_world.Run(_world.Subsystem.StopAsync()));
        _world.Away.Add(0);
        _world.Start();
        Assert.Empty(_world.NotOk());
        Assert.Equal(($"/sim/0 /sim/{other}", $"/sim/{other}"), (PathsOf(_world.Physical(0).Uris), PathsOf(_world.Physical(0).WorkingUris)));
        Assert.Equal(SubsystemWorld.Written(0, 65536), _world.Read(disk, 0, 65536));
    }

    [Fact]
    public void A_disk_is_not_opened_by_one_path_while_another_process_has_the_other()
    {
        Pool();
        int other = _world.PathTo(0);
        _world.Register(other);
        Assert.True(_world.Run(_world.Subsystem.StopAsync()));
        _world.Held.Add(other);
        _world.Start();
        Assert.NotEqual("OK", _world.Physical(0).OperationalStatus);
        _world.Held.Clear();
        _world.Until(() => _world.NotOk().Count == 0);
        Assert.Equal(2, _world.Physical(0).WorkingUris.Count);
    }

    [Fact]
    public void Paths_that_were_registered_as_two_disks_become_one()
    {
        Guid disk = Pool();
        _world.NewDisk();
        Assert.True(_world.Run(_world.Subsystem.StopAsync()));
        _world.Redirect(2, 0);
        _world.Start();
        Assert.Equal("/sim/0 /sim/2", PathsOf(_world.Physical(0).Uris));
        Assert.Equal(2, Listed().Length);
        Assert.Empty(_world.NotOk());
        _world.Restart();
        Assert.Equal("/sim/0 /sim/2", PathsOf(_world.Physical(0).Uris));
        _world.Advance(TimeSpan.FromSeconds(2));
        Assert.Equal(2, _world.Physical(0).WorkingUris.Count);
        Load(disk, 0);
    }

    [Fact]
    public void A_device_of_other_hardware_behind_a_path_is_not_used()
    {
        Guid disk = Pool();
        int other = _world.PathTo(0);
        _world.Register(other);
        Assert.True(_world.Run(_world.Subsystem.StopAsync()));
        _world.Replace(other, 0);   // a copy
        ulong before = _world.Hash(other);
        _world.Start();
        Load(disk, 0);
        _world.Advance(TimeSpan.FromSeconds(20));
        Assert.Empty(_world.NotOk());
        Assert.Equal("/sim/0", PathsOf(_world.Physical(0).WorkingUris));
        Assert.Equal(before, _world.Hash(other));
    }

    [Fact]
    public void One_path_is_forgotten_and_the_last_that_works_is_not()
    {
        Guid disk = Pool();
        Guid id = _world.Physical(0).UniqueId;
        int other = _world.PathTo(0);
        _world.Register(other);
        Assert.Equal(ManagementError.DuplicateDisk, Assert.Throws<ManagementException>(() => _world.Register(other)).Error);
        Assert.True(_world.Run(_world.Subsystem.PhysicalDisks.UnregisterPathAsync(id, "/sim/0")));
        Assert.Equal($"/sim/{other}", PathsOf(_world.Physical(0).Uris));
        Load(disk, 0);
        Assert.Throws<ManagementException>(() => _world.Run(_world.Subsystem.PhysicalDisks.UnregisterPathAsync(id, $"/sim/{other}")));
        _world.Register(0);
        _world.Advance(TimeSpan.FromMilliseconds(100));
        _world.Pull(other);
        Load(disk, 1);
        Assert.Equal(ManagementError.PhysicalDiskInUse, Assert.Throws<ManagementException>(
            () => _world.Run(_world.Subsystem.PhysicalDisks.UnregisterPathAsync(id, "/sim/0"))).Error);
        Assert.Throws<ManagementException>(() => _world.Run(_world.Subsystem.PhysicalDisks.CheckUnregisterPathAsync(id, "/sim/0")));
        Assert.True(_world.Run(_world.Subsystem.PhysicalDisks.CheckUnregisterPathAsync(id, $"/sim/{other}")));
        _world.Restart();
        Assert.Empty(_world.NotOk());
    }

    [Fact]
    public void A_path_to_a_member_is_not_reset()
    {
        Guid disk = Pool();
        int other = _world.PathTo(0);
        Assert.Equal(ManagementError.PhysicalDiskInUse, Assert.Throws<ManagementException>(
            () => _world.Run(_world.Subsystem.PhysicalDisks.ResetPathAsync($"/sim/{other}"))).Error);
        _world.Restart();
        Assert.Empty(_world.NotOk());
        Load(disk, 0);
    }

    [Fact]
    public void A_path_that_cannot_be_kept_is_not_added()
    {
        Pool();
        int other = _world.PathTo(0);
        _world.State.OnWrite = static _ => throw new IOException("The disk is full.");
        Assert.Throws<ManagementException>(() => _world.Register(other));
        _world.State.OnWrite = null;
        Assert.Equal("/sim/0", PathsOf(_world.Physical(0).Uris));
        _world.Register(other);
        Assert.Equal(2, _world.Physical(0).WorkingUris.Count);
    }

    private static string PathsOf(IEnumerable<string> uris) => string.Join(' ', uris.Select(static uri => uri[(uri.IndexOf(':') + 1)..]));

    private Guid Pool()
    {
        _world.NewPool(2);
        Guid disk = _world.NewMirror("d", 8 * Mebibyte);
        _world.Run(_world.Subsystem.VirtualDisks.ConnectAsync(disk));
        return disk;
    }

    private void Load(Guid disk, int round)
    {
        for (int at = 0; at < 60; at++)
        {
            _world.Write(disk, (round + at) % 64 * 65536, 65536);
            Assert.Equal(SubsystemWorld.Written((round + at) % 64 * 65536, 65536), _world.Read(disk, (round + at) % 64 * 65536, 65536));
        }
    }

    private PhysicalDiskStatus[] Listed() => _world.Run(_world.Subsystem.PhysicalDisks.ListAsync());
}
