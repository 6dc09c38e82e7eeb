using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Jobs;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Primitives;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Management;

public sealed class SubsystemJobsTests
{
    private const long Mebibyte = 1 << 20;
    private readonly SubsystemWorld _world = new();

    public SubsystemJobsTests() => _world.NewPool(3);

    [Fact]
    public void A_virtual_disk_is_verified_when_the_interval_is_over_across_restarts()
    {
        Guid disk = _world.NewMirror("d", 4 * Mebibyte);
        _world.Run(_world.Subsystem.Scrubs.SetIntervalAsync(_world.Pool, TimeSpan.FromHours(2)));
        _world.Advance(TimeSpan.FromMinutes(80));
        _world.Restart();
        _world.Advance(TimeSpan.FromMinutes(39));
        Assert.Empty(_world.Jobs);

        _world.Advance(TimeSpan.FromMinutes(4));

        JobStatus job = Assert.Single(_world.Jobs);
        Assert.Equal(("Scrub", JobState.Completed, disk), (job.Name, job.State, job.VirtualDisk));
        Assert.Equal(2 * 1024, job.Found!.Verified);
        _world.Advance(TimeSpan.FromMinutes(115));
        Assert.Empty(_world.Jobs);
        _world.Advance(TimeSpan.FromMinutes(7));
        Assert.Single(_world.Jobs);
    }

    [Fact]
    public void The_interval_is_kept_with_the_pool_and_zero_ends_the_schedule()
    {
        _world.NewMirror("d", 4 * Mebibyte);
        Assert.Equal(TimeSpan.FromDays(14), _world.Run(_world.Subsystem.Scrubs.IntervalAsync(_world.Pool)));
        ManagementException rejected = Assert.Throws<ManagementException>(
            () => _world.Run(_world.Subsystem.Scrubs.SetIntervalAsync(_world.Pool, TimeSpan.FromSeconds(59))));
        Assert.Equal(ManagementError.InvalidParameter, rejected.Error);
        Assert.True(_world.Run(_world.Subsystem.Scrubs.SetIntervalAsync(_world.Pool, TimeSpan.FromHours(2))));
        _world.Restart();
        Assert.Equal(TimeSpan.FromHours(2), _world.Run(_world.Subsystem.Scrubs.IntervalAsync(_world.Pool)));

        _world.Advance(TimeSpan.FromHours(2.1));
        Assert.Single(_world.Jobs);

        _world.Run(_world.Subsystem.Scrubs.SetIntervalAsync(_world.Pool, TimeSpan.Zero));
        _world.Advance(TimeSpan.FromHours(6));
        Assert.Empty(_world.Jobs);
    }

    [Fact]
    public void Virtual_disks_of_a_pool_are_verified_one_at_a_time()
    {
        _world.NewMirror("one", 4 * Mebibyte);
        _world.NewMirror("two", 4 * Mebibyte);
        _world.Run(_world.Subsystem.Scrubs.SetIntervalAsync(_world.Pool, TimeSpan.FromMinutes(30)));
        int most = 0;
        HashSet<Guid> seen = [];

        for (int i = 0; i < 2500; i++)
        {
            _world.Advance(TimeSpan.FromSeconds(1));
            most = Math.Max(most, _world.Jobs.Count(job => job.State == JobState.Running));
            seen.UnionWith(_world.Jobs.Select(job => job.VirtualDisk));
        }

        Assert.True(most <= 1, $"{most} at once");
        Assert.Equal(2, seen.Count);
    }

    [Fact]
    public void A_repair_heals_what_has_rotted_and_says_so()
    {
        Guid disk = _world.NewMirror("d", 4 * Mebibyte);
        _world.Restart();
        PhysicalExtent extent = _world.Run(_world.Subsystem.Placements.ExtentsAsync(disk, null)).First(extent => extent.Copy == 1);
        int number = Array.FindIndex(_world.Run(_world.Subsystem.PhysicalDisks.ListAsync()), physical => physical.UniqueId == extent.PhysicalDisk);
        Flip(number, extent.PhysicalOffset + 5000);
        Flip(number, extent.PhysicalOffset + 90_000);

        JobStatus job = _world.Run(_world.Subsystem.Repairs.RepairAsync(disk));

        Assert.Equal(("Repair", JobState.Completed, 2L, 0L), (job.Name, job.State, job.Found!.Healed, job.Found.Lost));
        Assert.Contains("2 healed", job.Status);
        Assert.Contains(_world.Notices, notice => notice.Contains("2 healed"));
        Assert.Equal(0, _world.Run(_world.Subsystem.Repairs.RepairAsync(disk)).Found!.Healed);
    }

    [Fact]
    public void A_job_that_was_under_way_goes_on_after_a_restart()
    {
        Guid disk = _world.NewMirror("d", 20 * Mebibyte);
        Task<JobStatus> repair = _world.Subsystem.Repairs.RepairAsync(disk);
        _world.Until(() => _world.Subsystem.Jobs.Listed.Any(job => job.BytesProcessed >= 8 * Mebibyte));
        Guid id = _world.Jobs[0].UniqueId;

        _world.Restart();

        Assert.Equal(JobState.Suspended, _world.Run(repair).State);
        JobStatus resumed = Assert.Single(_world.Jobs);
        Assert.Equal((id, "Repair"), (resumed.UniqueId, resumed.Name));
        Assert.True(resumed.BytesProcessed >= 8 * Mebibyte, $"{resumed.BytesProcessed}");
        JobStatus joined = _world.Run(_world.Subsystem.Repairs.RepairAsync(disk));
        Assert.Equal((id, JobState.Completed), (joined.UniqueId, joined.State));
        Assert.InRange(joined.Found!.Verified, 1, 2 * 12 * 256);
        _world.Restart();
        Assert.Empty(_world.Jobs);
    }

    [Fact]
    public void A_stopped_job_does_not_come_back()
    {
        Guid disk = _world.NewMirror("d", 20 * Mebibyte);
        Task<JobStatus> repair = _world.Subsystem.Repairs.RepairAsync(disk);
        _world.Until(() => _world.Subsystem.Jobs.Listed.Any(job => job.BytesProcessed >= Mebibyte));
        Guid id = _world.Jobs[0].UniqueId;

        JobStatus stopped = _world.Run(_world.Subsystem.Jobs.StopAsync(id));

        Assert.Equal((JobState.Terminated, JobState.Terminated), (stopped.State, _world.Run(repair).State));
        Assert.Equal(ManagementError.InvalidParameter, Assert.Throws<ManagementException>(() => _world.Run(_world.Subsystem.Jobs.StopAsync(id))).Error);
        Assert.Equal(ManagementError.ObjectNotFound, Assert.Throws<ManagementException>(() => _world.Run(_world.Subsystem.Jobs.StopAsync(Guid.Empty))).Error);
        _world.Restart();
        Assert.Empty(_world.Jobs);
    }

    [Fact]
    public void A_virtual_disk_can_be_removed_under_its_job()
    {
        Guid disk = _world.NewMirror("d", 20 * Mebibyte);
        Task<JobStatus> repair = _world.Subsystem.Repairs.RepairAsync(disk);
        _world.Until(() => _world.Subsystem.Jobs.Listed.Any(job => job.BytesProcessed >= Mebibyte));

        _world.Run(_world.Subsystem.VirtualDisks.RemoveAsync(disk));

        Assert.Equal(JobState.Terminated, _world.Run(repair).State);
        _world.Restart();
        Assert.Empty(_world.Jobs);
        Assert.Empty(_world.Run(_world.Subsystem.VirtualDisks.ListAsync()));
    }

    [Fact]
    public void Two_repairs_of_one_virtual_disk_are_one()
    {
        Guid disk = _world.NewMirror("d", 4 * Mebibyte);
        Task<JobStatus> one = _world.Subsystem.Repairs.RepairAsync(disk);
        Task<JobStatus> two = _world.Subsystem.Repairs.RepairAsync(disk);

        Assert.Equal(_world.Run(one).UniqueId, _world.Run(two).UniqueId);
        Assert.Single(_world.Jobs);
    }

    [Fact]
    public void Clients_lose_at_most_a_tenth_to_a_repair()
    {
        Guid disk = _world.NewMirror("d", 20 * Mebibyte);
        long alone = Requests(disk, TimeSpan.FromSeconds(8));
        Task<JobStatus> repair = _world.Subsystem.Repairs.RepairAsync(disk);
        long beside = Requests(disk, TimeSpan.FromSeconds(8));

        Assert.True(beside >= alone * 0.9, $"{beside} beside the repair, {alone} alone");
        Assert.True(repair.IsCompleted || _world.Jobs[0].BytesProcessed > Mebibyte, "the repair does not get on");
    }

    [Fact]
    public void Clients_lose_at_most_a_tenth_to_a_drain_at_any_time()
    {
        Guid disk = _world.NewMirror("d", 20 * Mebibyte);
        long alone = Requests(disk, TimeSpan.FromSeconds(8));
        _world.Run(_world.Subsystem.PhysicalDisks.SetAsync(
            _world.Run(_world.Subsystem.Placements.ExtentsAsync(disk, null))[0].PhysicalDisk, null, null, null, DiskUsage.Retired));
        _world.Until(() => _world.Subsystem.Jobs.Listed.Count > 0);

        long before = _world.Subsystem.Jobs.Listed[0].BytesProcessed;
        long beside = Requests(disk, TimeSpan.FromSeconds(2));

        Assert.True(beside >= alone / 4.0 * 0.9, $"{beside} beside the drain in 2 s, {alone} alone in 8 s");
        Assert.InRange(_world.Subsystem.Jobs.Listed[0].BytesProcessed, before + 1, long.MaxValue);
    }

    // Four clients that read and write at random, one request at a time each; every 32nd write is followed by a flush, as a file system does.
    private long Requests(Guid disk, TimeSpan time)
    {
        long done = 0;
        bool isOver = false;
        for (int i = 0; i < 4; i++)
        {
            Client(i).Forget();
        }

        _world.Advance(time);
        isOver = true;
        _world.Advance(TimeSpan.FromSeconds(1));
        return done;

        async LaneTask Client(int number)
        {
            IoBuffer buffer = _world.Lane.Buffers.Rent(8192);
            int written = 0;
            while (!isOver)
            {
                long offset = _world.Lane.Next(2560) * 8192L;
                IoError error = number % 2 == 0
                    ? await _world.Disk(disk).Read(offset, buffer) : await _world.Disk(disk).Write(offset, buffer, WriteFlags.None);
                Assert.Equal(IoError.None, error);
                done += isOver ? 0 : 1;
                if (number % 2 == 1 && ++written % 32 == 0)
                {
                    Assert.Equal(IoError.None, await _world.Disk(disk).Flush());
                }
            }

            _world.Lane.Buffers.Return(buffer);
        }
    }

    private void Flip(int disk, long offset) => _world.Disks[disk].Media.Corrupt(offset, sector =>
    {
        sector[offset % 4096] ^= 1;
        return sector;
    });
}
