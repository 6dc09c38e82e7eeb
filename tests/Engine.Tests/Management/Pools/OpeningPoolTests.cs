using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>State of a pool that is being opened, and the time that verbs wait for it.</summary>
public sealed class OpeningPoolTests
{
    private readonly SubsystemWorld _world = new();

    [Fact]
    public void A_pool_that_waits_for_a_disk_is_in_service_and_a_change_waits_for_it()
    {
        _world.NewPool(4);
        _world.NewMirror("d", 8 << 20, filled: false);
        Assert.True(_world.Run(_world.Subsystem.StopAsync()));
        _world.Hanging.Add(1);
        _world.Begin();
        _world.Lane.Advance(1_000_000_000);

        StoragePoolStatus pool = Assert.Single(_world.Run(_world.Subsystem.Pools.ListAsync()));
        Assert.Equal((false, HealthStatus.Warning, PoolOperationalStatus.InService), (pool.IsOpen, pool.Health, pool.OperationalStatus));
        Assert.Matches(@"^it is being opened since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC: waiting for physical disk '1'$", pool.StatusReason);
        VirtualDiskStatus disk = Assert.Single(_world.Run(_world.Subsystem.VirtualDisks.ListAsync()));
        Assert.Equal(("d", "In Service", HealthStatus.Warning), (disk.Description.FriendlyName, disk.OperationalStatus, disk.Health));
        Assert.EndsWith(pool.StatusReason, disk.StatusReason, StringComparison.Ordinal);
        Assert.Equal(("Starting", HealthStatus.Healthy), (_world.Physical(1).OperationalStatus, _world.Physical(1).Health));
        Assert.EndsWith(pool.StatusReason, _world.Physical(1).StatusReason, StringComparison.Ordinal);

        Task<StoragePoolStatus> change = _world.Subsystem.Pools.SetAsync(_world.Pool, static pool => pool with { FriendlyName = "q" });
        _world.Lane.Advance(1_000_000_000);
        Assert.False(change.IsCompleted);
        StoragePoolStatus changed = _world.Run(change);   // the disk has not answered in time, and the pool is opened without it
        Assert.Equal(("q", true, PoolOperationalStatus.Degraded), (changed.Description.FriendlyName, changed.IsOpen, changed.OperationalStatus));
        _world.EndHang();
        _world.Advance(TimeSpan.FromSeconds(20));
        Assert.Empty(_world.NotOk());
    }

    [Fact]
    public void A_change_fails_when_a_pool_has_been_opened_for_a_minute_and_says_what_it_does()
    {
        SimLane lane = new(1);
        PoolTable pools = new();
        PoolOpenings openings = new(lane, pools);
        ManagedPool slow = pools.GetOrAdd(new PoolId(Guid.NewGuid()));
        openings.Show(slow, "reading its metadata");
        lane.Advance(20_000_000_000);
        openings.Show(slow, "opening virtual disk 'd'");
        Task<Nothing> waits = lane.InvokeAsync(openings.Wait);
        lane.Advance(39_000_000_000);
        Assert.False(waits.IsCompleted);
        lane.Advance(2_000_000_000);
        ManagementException failure = Assert.IsType<ManagementException>(waits.Exception?.InnerException);
        Assert.Equal(ManagementError.Timeout, failure.Error);
        Assert.Contains("UTC: opening virtual disk 'd'. Nothing was changed.", failure.Message, StringComparison.Ordinal);
        Assert.Contains(pools.NameOf(slow.Id), failure.Message, StringComparison.Ordinal);

        Task<Nothing> late = lane.InvokeAsync(openings.Wait);
        lane.Advance(1_000);
        Assert.True(late.IsFaulted);   // it has been opened for longer than that
        openings.End(slow);
        Task<Nothing> open = lane.InvokeAsync(openings.Wait);
        lane.Advance(1_000);
        Assert.True(open.IsCompletedSuccessfully);
    }

    [Fact]
    public void Changes_that_wait_go_on_when_the_last_pool_is_open()
    {
        SimLane lane = new(1);
        PoolTable pools = new();
        PoolOpenings openings = new(lane, pools);
        ManagedPool[] both = [pools.GetOrAdd(new PoolId(Guid.NewGuid())), pools.GetOrAdd(new PoolId(Guid.NewGuid()))];
        Array.ForEach(both, pool => openings.Show(pool, "reading its metadata"));
        Task<Nothing>[] waits = [lane.InvokeAsync(openings.Wait), lane.InvokeAsync(openings.Wait)];
        lane.Advance(1_000_000_000);
        openings.End(both[0]);
        lane.Advance(1_000_000_000);
        Assert.All(waits, static wait => Assert.False(wait.IsCompleted));
        openings.End(both[1]);
        lane.Advance(1_000);
        Assert.All(waits, static wait => Assert.True(wait.IsCompletedSuccessfully));
    }
}
