using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Jobs;
using TierSpaces.Engine.Management;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>Spreading what a pool holds evenly over its disks.</summary>
public sealed class SubsystemOptimizeTests
{
    private const long Mebibyte = 1 << 20;
    private readonly SubsystemWorld _world = new();
    private readonly Guid _disk;

    public SubsystemOptimizeTests()
    {
        _world.NewPool(2);
        _disk = _world.NewMirror("d", 16 * Mebibyte);
        _world.AddDisk(DiskUsage.AutoSelect);
        _world.AddDisk(DiskUsage.AutoSelect);
    }

    [Fact]
    public void New_disks_get_their_share()
    {
        JobStatus job = _world.Run(_world.Subsystem.Rebalance.OptimizeAsync(_world.Pool));

        Assert.Equal(("Optimize", JobState.Completed, _world.Pool, Guid.Empty), (job.Name, job.State, job.PoolId, job.VirtualDisk));
        Assert.Contains("slabs moved", job.Status);
        long[] held = [.. Enumerable.Range(0, 4).Select(i => _world.Physical(i).VirtualDiskBytes)];
        Assert.InRange(held.Max() - held.Min(), 0, 2 * Mebibyte);
        Assert.Contains("as evenly full as they can be", _world.Run(_world.Subsystem.Rebalance.OptimizeAsync(_world.Pool)).Status);
    }

    [Fact]
    public void It_goes_on_after_a_restart_and_a_stop_ends_it()
    {
        Task<JobStatus> optimize = _world.Subsystem.Rebalance.OptimizeAsync(_world.Pool);
        Guid id = UntilMoved(2);
        _world.Restart();
        Assert.Equal(JobState.Suspended, _world.Run(optimize).State);
        JobStatus resumed = Assert.Single(_world.Jobs);
        Assert.Equal((id, "Optimize", JobState.Running), (resumed.UniqueId, resumed.Name, resumed.State));

        Task<JobStatus> joined = _world.Subsystem.Rebalance.OptimizeAsync(_world.Pool);
        _world.Run(_world.Subsystem.Jobs.StopAsync(id));

        Assert.Equal((id, JobState.Terminated), (_world.Run(joined).UniqueId, _world.Run(joined).State));
        _world.Restart();
        Assert.Empty(_world.Jobs);
    }

    [Fact]
    public void A_virtual_disk_may_be_removed_meanwhile()
    {
        Task<JobStatus> optimize = _world.Subsystem.Rebalance.OptimizeAsync(_world.Pool);
        UntilMoved(1);

        _world.Run(_world.Subsystem.VirtualDisks.RemoveAsync(_disk));

        Assert.Equal(JobState.Completed, _world.Run(optimize).State);
        Assert.All(Enumerable.Range(0, 4), i => Assert.Equal(0, _world.Physical(i).VirtualDiskBytes));
        Assert.True(_world.Run(_world.Subsystem.Pools.RemoveAsync(_world.Pool)));
    }

    [Fact]
    public void A_pool_that_is_read_only_or_not_there_is_refused()
    {
        _world.Run(_world.Subsystem.Pools.SetAsync(_world.Pool, pool => pool with { IsReadOnly = true }));
        Assert.Equal(ManagementError.PoolReadOnly,
            Assert.Throws<ManagementException>(() => _world.Run(_world.Subsystem.Rebalance.OptimizeAsync(_world.Pool))).Error);
        Assert.Equal(ManagementError.ObjectNotFound,
            Assert.Throws<ManagementException>(() => _world.Run(_world.Subsystem.Rebalance.OptimizeAsync(Guid.Empty))).Error);
        Assert.Empty(_world.Jobs);
    }

    private Guid UntilMoved(int slabs)
    {
        _world.Until(() => _world.Subsystem.Jobs.Listed.Any(job => job.BytesProcessed >= slabs * Mebibyte));
        return _world.Jobs[0].UniqueId;
    }
}
