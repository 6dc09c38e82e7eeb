using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Pools;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>Pools that do not open are shown with what the host knew of them, and why they do not.</summary>
public sealed class KnownPoolsTests
{
    private const string File = "known-pools";
    private readonly SubsystemWorld _world = new(network: new StubNetwork());

    public KnownPoolsTests()
    {
        _world.NewPool(4);
        _world.NewMirror("d", 2 << 20, filled: false);
    }

    private StoragePoolStatus[] Pools => _world.Run(_world.Subsystem.Pools.ListAsync());

    private VirtualDiskStatus[] VirtualDisks => _world.Run(_world.Subsystem.VirtualDisks.ListAsync());

    [Fact]
    public void A_pool_without_its_majority_is_shown_with_its_disks_and_virtual_disks_and_opens_by_itself()
    {
        RestartWithout(0, 1, 2);

        StoragePoolStatus pool = Assert.Single(Pools);
        Assert.Equal(("p", false, HealthStatus.Unhealthy, PoolOperationalStatus.Incomplete),
            (pool.Description.FriendlyName, pool.IsOpen, pool.Health, pool.OperationalStatus));
        Assert.Equal(
            "the majority of the votes is missing: 0, 1, 2; of 5 votes 3 are needed, and there are 2", pool.StatusReason);
        Assert.Equal((HealthStatus.Healthy, "OK"), (_world.Physical(3).Health, _world.Physical(3).OperationalStatus));
        Assert.Equal($"Its storage pool is not open: {pool.StatusReason}", _world.Physical(3).StatusReason);
        for (int number = 0; number < 3; number++)
        {
            PhysicalDiskStatus missing = _world.Physical(number);
            Assert.Equal(("Lost Communication", HealthStatus.Warning, $"{number}"), (missing.OperationalStatus, missing.Health, missing.FriendlyName));
            Assert.Equal(_world.Pool, missing.PoolId);
            Assert.StartsWith($"file:/sim/{number} is not there.", missing.StatusReason, StringComparison.Ordinal);
        }

        VirtualDiskStatus disk = Assert.Single(VirtualDisks);
        Assert.Equal(("d", "Detached", HealthStatus.Unhealthy), (disk.Description.FriendlyName, disk.OperationalStatus, disk.Health));
        Assert.Contains(pool.StatusReason, disk.StatusReason, StringComparison.Ordinal);

        Array.ForEach([0, 1, 2], _world.PutBack);
        _world.Advance(TimeSpan.FromSeconds(10));
        Assert.True(Assert.Single(Pools).IsOpen);
        Assert.Empty(_world.NotOk());
    }

    [Fact]
    public void A_pool_of_which_no_disk_is_there_is_shown()
    {
        RestartWithout(0, 1, 2, 3);

        StoragePoolStatus pool = Assert.Single(Pools);
        Assert.Equal(("p", false, "none of its disks is there"), (pool.Description.FriendlyName, pool.IsOpen, pool.StatusReason));
        Assert.Equal("Detached", Assert.Single(VirtualDisks).OperationalStatus);
        _ = _world.NotOk();   // everything has a reason
    }

    [Fact]
    public void It_is_forgotten_when_no_disk_of_it_is_registered_any_more()
    {
        RestartWithout(0, 1, 2, 3);
        for (int number = 0; number < 4; number++)
        {
            Assert.Single(Pools);
            Assert.True(_world.Run(_world.Subsystem.PhysicalDisks.UnregisterAsync(_world.Physical(number).UniqueId)));
        }

        Assert.Empty(Pools);
        Assert.Empty(VirtualDisks);
        _world.Restart();
        Assert.Empty(Pools);
    }

    [Fact]
    public void A_pool_that_was_removed_is_not_shown_after_a_kill()
    {
        _world.Run(_world.Subsystem.VirtualDisks.RemoveAsync(Assert.Single(VirtualDisks).Description.Id.Value));
        _world.Advance(TimeSpan.FromSeconds(3));
        byte[] before = _world.State.ReadFile(File)!;
        Assert.True(_world.Run(_world.Subsystem.Pools.RemoveAsync(_world.Pool)));
        Assert.True(_world.Run(_world.Subsystem.StopAsync()));
        _world.State.WriteFile(File, before);   // as a host leaves it that is killed right after the removal
        _world.Start();
        _world.Advance(TimeSpan.FromSeconds(3));
        Assert.Empty(Pools);
    }

    [Fact]
    public void What_has_changed_is_known_after_a_kill()
    {
        _world.Advance(TimeSpan.FromSeconds(3));
        _world.Run(_world.Subsystem.Pools.SetAsync(_world.Pool, static pool => pool with { FriendlyName = "other" }));
        _world.NewMirror("e", 1 << 20, filled: false);
        _world.Advance(TimeSpan.FromSeconds(3));
        byte[] file = _world.State.ReadFile(File)!;
        Assert.True(_world.Run(_world.Subsystem.StopAsync()));
        _world.State.WriteFile(File, file);
        Array.ForEach([0, 1, 2, 3], number => _world.Away.Add(number));
        _world.Start();

        Assert.Equal("other", Assert.Single(Pools).Description.FriendlyName);
        Assert.Equal(["d", "e"], VirtualDisks.Select(static disk => disk.Description.FriendlyName).Order());
    }

    // As on a machine to which only some disks of a pool were brought.
    [Fact]
    public void A_pool_of_which_nothing_is_known_is_called_by_its_identity()
    {
        _world.NewPool([.. Enumerable.Repeat((64L << 20, MediaType.SSD), 9)], "q");
        Assert.True(_world.Run(_world.Subsystem.StopAsync()));
        _world.State.DeleteFile(File);
        Array.ForEach([4, 5, 6, 7, 8], number => _world.Away.Add(number));   // the first five hold the metadata
        _world.Start();

        StoragePoolStatus pool = Pools.Single(static pool => !pool.IsOpen);
        Assert.Equal(_world.Pool.ToString("B"), pool.Description.FriendlyName);
        Assert.Equal((_world.Pool, "OK"), (_world.Physical(12).PoolId, _world.Physical(12).OperationalStatus));
        _ = _world.NotOk();
    }

    [Fact]
    public void A_file_that_cannot_be_read_is_reported_and_costs_only_the_display()
    {
        Assert.True(_world.Run(_world.Subsystem.StopAsync()));
        byte[] file = _world.State.ReadFile(File)!;
        foreach (byte[] damaged in (byte[][])[[1], file[..^5], [.. file, 0], [.. file[..16], 0xFF, 0xFF, 0xFF, 0x7F]])
        {
            _world.Notices.Clear();
            _world.State.WriteFile(File, damaged);
            _world.Start();
            Assert.Contains(_world.Notices, static notice => notice.StartsWith("What was known of pools that may not open cannot be read: ", StringComparison.Ordinal));
            Assert.True(Assert.Single(Pools).IsOpen);
            Assert.True(_world.Run(_world.Subsystem.StopAsync()));
            Assert.Equal(file, _world.State.ReadFile(File));
        }
    }

    private void RestartWithout(params int[] disks)
    {
        Assert.True(_world.Run(_world.Subsystem.StopAsync()));
        Array.ForEach(disks, disk => _world.Away.Add(disk));
        _world.Start();
    }
}
