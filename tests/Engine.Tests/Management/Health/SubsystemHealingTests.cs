using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Devices.Emulated;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Jobs;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>Pools that do something about their disks without a command.</summary>
public sealed class SubsystemHealingTests
{
    private const long Mebibyte = 1 << 20;
    private readonly SubsystemWorld _world = new();

    public SubsystemHealingTests() => _world.NewPool(3);

    [Theory]
    [InlineData(RetireMissingPhysicalDisks.Auto, true, true)]
    [InlineData(RetireMissingPhysicalDisks.Auto, false, false)]
    [InlineData(RetireMissingPhysicalDisks.Always, false, true)]
    [InlineData(RetireMissingPhysicalDisks.Never, true, false)]
    public void A_missing_disk_is_given_up_after_five_minutes_as_the_policy_says(RetireMissingPhysicalDisks policy, bool hasSpare, bool isGivenUp)
    {
        Guid disk = _world.NewMirror("d", 8 * Mebibyte);
        _world.Run(_world.Subsystem.Pools.SetAsync(_world.Pool, pool => pool with { RetireMissingPhysicalDisks = policy }));
        if (hasSpare)
        {
            _world.AddDisk(DiskUsage.HotSpare);
        }

        int lost = DiskOf(disk);
        _world.Pull(lost);
        _world.Advance(TimeSpan.FromSeconds(298));
        Assert.Equal(DiskUsage.AutoSelect, _world.Physical(lost).Usage);
        Assert.Empty(_world.Jobs);

        _world.Advance(TimeSpan.FromMinutes(3));

        Assert.Equal(isGivenUp ? DiskUsage.Retired : DiskUsage.AutoSelect, _world.Physical(lost).Usage);
        Assert.Equal(isGivenUp, IsWhole(disk));
        Assert.Equal(isGivenUp ? 1 : 0, _world.Jobs.Count(job => job is { Name: "Regeneration", VirtualDiskName: "d", State: JobState.Completed }));
        Assert.Equal(isGivenUp, _world.Notices.Any(notice => notice.Contains("it is retired, and what it held is rebuilt")));
    }

    [Fact]
    public void A_disk_that_is_given_up_while_a_repair_verifies_is_left_at_once()
    {
        SubsystemWorld world = new() { Profiles = static _ => LatencyProfile.Find("HDD5400")!, SlabSize = 64 * Mebibyte };
        world.NewPool([.. Enumerable.Repeat((16L << 30, MediaType.HDD), 4)]);
        Guid disk = world.NewMirror("d", 512 * Mebibyte);
        Retire(0);
        Task<JobStatus> repair = world.Subsystem.Repairs.RepairAsync(disk);
        world.Until(() => world.Jobs.Any(static job => job.Status.Contains("erif")));
        Retire(1);
        bool isLeft = false;
        for (int i = 0; i < 30 && !isLeft; i++)   // 3 s; all of it may be moved by then
        {
            world.Advance(TimeSpan.FromMilliseconds(100));
            isLeft = world.Jobs.Any(static job => job.Status.Contains("egenerat"));
        }

        Assert.True(isLeft);
        world.Until(() => world.Run(world.Subsystem.PhysicalDisks.ListAsync()).Count(static one => one.VirtualDiskBytes > 0) == 2);
        world.Until(() => world.Run(world.Subsystem.PhysicalDisks.ListAsync()).Where(static one => one.Usage == DiskUsage.Retired)
            .All(static one => one.VirtualDiskBytes == 0));
        Assert.Equal(JobState.Completed, world.Run(repair).State);

        void Retire(int copy)
        {
            Guid id = world.Run(world.Subsystem.Placements.ExtentsAsync(disk, null)).First(extent => extent.Copy == copy).PhysicalDisk;
            world.Run(world.Subsystem.PhysicalDisks.SetAsync(id, null, null, null, DiskUsage.Retired));
        }
    }

    [Fact]
    public void A_member_that_is_away_when_the_host_starts_is_listed_once()
    {
        Guid[] before = Ids();
        Assert.True(_world.Run(_world.Subsystem.StopAsync()));
        _world.Away.Add(1);
        _world.Start();

        Assert.Equal(before.Order(), Ids().Order());
        PhysicalDiskStatus away = Assert.Single(_world.Run(_world.Subsystem.PhysicalDisks.ListAsync()), disk => disk.OperationalStatus == "Lost Communication");
        Assert.Equal(1, away.DeviceId);
        _world.Away.Clear();
        _world.Advance(TimeSpan.FromSeconds(30));
        Assert.All(_world.Run(_world.Subsystem.PhysicalDisks.ListAsync()), disk => Assert.Equal("OK", disk.OperationalStatus));
        Assert.Equal(before.Order(), Ids().Order());

        Guid[] Ids() => [.. _world.Run(_world.Subsystem.PhysicalDisks.ListAsync()).Select(disk => disk.UniqueId)];
    }

    [Fact]
    public void An_update_takes_back_at_once_a_member_that_was_away_when_the_host_started()
    {
        Assert.True(_world.Run(_world.Subsystem.StopAsync()));
        _world.Away.Add(1);
        _world.Start();
        _world.Away.Clear();

        _world.Run(_world.Subsystem.Pools.UpdateAsync());

        Assert.All(_world.Run(_world.Subsystem.PhysicalDisks.ListAsync()), disk => Assert.Equal("OK", disk.OperationalStatus));
    }

    [Theory]
    [InlineData(2, 2, false)]
    [InlineData(3, 3, false)]
    [InlineData(3, 2, false)]
    [InlineData(3, 3, true)]
    public void A_pool_whose_disks_vanish_and_come_back_serves_again_by_itself(int disks, int back, bool hasNames)
    {
        Guid other = _world.NewMirror("other", 8 * Mebibyte);
        OpenVirtualDisk undisturbed = _world.Opened(other);
        int first = _world.Disks.Length;
        _world.NewPool([.. Enumerable.Repeat((64L << 20, MediaType.SSD), disks)], "lost");
        Guid disk = _world.NewMirror("d", 8 * Mebibyte);
        Guid[] ids = [.. Enumerable.Range(first, disks).Select(number => _world.Physical(number).UniqueId)];
        for (int i = 0; i < disks; i++)
        {
            _world.Pull(first + i);
            if (hasNames)
            {
                _world.PutBack(first + i);
                _world.Silent.Add(first + i);
            }
        }

        IoBuffer buffer = _world.Lane.Buffers.Rent(4096);
        Assert.NotEqual(IoError.None, _world.Lane.Run(_world.Disk(disk).Write(0, buffer, WriteFlags.None)));
        _world.Advance(TimeSpan.FromSeconds(3));
        StoragePoolStatus lost = _world.Run(_world.Subsystem.Pools.ListAsync()).Single(pool => pool.UniqueId == _world.Pool);
        Assert.Equal((PoolOperationalStatus.Incomplete, "lost"), (lost.OperationalStatus, lost.Description.FriendlyName));
        Assert.Contains("majority", lost.StatusReason, StringComparison.Ordinal);
        Assert.Equal(ids, Enumerable.Range(first, disks).Select(number => _world.Physical(number).UniqueId));
        _world.Silent.Clear();
        for (int i = 0; i < back; i++)
        {
            _world.PutBack(first + i);
        }

        _world.Advance(TimeSpan.FromSeconds(10));

        StoragePoolStatus again = _world.Run(_world.Subsystem.Pools.ListAsync()).Single(pool => pool.UniqueId == _world.Pool);
        Assert.Equal(back == disks ? PoolOperationalStatus.OK : PoolOperationalStatus.Degraded, again.OperationalStatus);
        Assert.Equal(SubsystemWorld.Written(0, (int)Mebibyte), _world.Read(disk, 0, (int)Mebibyte));
        _world.Write(disk, 0, (int)Mebibyte);
        Assert.Same(undisturbed, _world.Opened(other));
        Assert.Equal(SubsystemWorld.Written(0, (int)Mebibyte), _world.Read(other, 0, (int)Mebibyte));
        for (int i = back; i < disks; i++)
        {
            _world.PutBack(first + i);
        }

        _world.Advance(TimeSpan.FromSeconds(60));
        Assert.Equal(PoolOperationalStatus.OK, _world.Run(_world.Subsystem.Pools.ListAsync()).Single(pool => pool.UniqueId == _world.Pool).OperationalStatus);
        Assert.Equal(HealthStatus.Healthy, Health(disk));
    }

    // The second disk takes writes with it that it alone had and had not flushed; three more disks keep the pool open.
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_virtual_disk_that_lost_its_last_copy_serves_again_when_that_is_back(bool byCommand)
    {
        (Guid disk, int first, int second) = MirrorOnTwo();
        _world.Pull(first);
        _world.Write(disk, 0, (int)Mebibyte);
        WriteUnflushed(disk, Mebibyte);
        _world.Pull(second);
        Assert.NotEqual(IoError.None, _world.Lane.Run(_world.Disk(disk).Flush()));
        VirtualDiskStatus lost = Status(disk);
        Assert.Equal(("Detached", HealthStatus.Unhealthy), (lost.OperationalStatus, lost.Health));
        Assert.Contains("no redundancy is left", lost.StatusReason, StringComparison.Ordinal);
        Assert.Throws<ManagementException>(() => _world.Run(_world.Subsystem.VirtualDisks.ConnectAsync(disk)));

        _world.PutBack(first);
        _world.Advance(TimeSpan.FromSeconds(20));
        _world.PutBack(second);
        if (byCommand)
        {
            _world.Run(_world.Subsystem.Pools.UpdateAsync());
        }
        else
        {
            _world.Advance(TimeSpan.FromSeconds(10));
        }

        Assert.Equal(IoError.None, _world.Opened(disk).Fault);
        Assert.Equal(SubsystemWorld.Written(0, (int)Mebibyte), _world.Read(disk, 0, (int)Mebibyte));
        _world.Write(disk, 2 * Mebibyte, (int)Mebibyte);
        _world.Advance(TimeSpan.FromMinutes(1));
        Assert.Equal((HealthStatus.Healthy, true), (Health(disk), IsWhole(disk)));
    }

    // The commit that gives a row back waits for room: it may be applied after a virtual disk has been opened without it.
    [Fact]
    public void A_virtual_disk_that_failed_is_not_opened_again_while_a_commit_of_its_pool_is_undecided()
    {
        Guid disk = _world.Run(_world.Subsystem.VirtualDisks.CreateAsync(_world.Pool, new VirtualDiskRequest
        {
            FriendlyName = "d", SizeBytes = 8 * Mebibyte, NumberOfColumns = 1, ProvisioningType = ProvisioningType.Thin,
        })).Description.Id.Value;
        _world.Write(disk, 0, (int)Mebibyte);
        OpenVirtualDisk failed = _world.Opened(disk);
        Array.ForEach(_world.Disks, one => one.WriteFails = FillsUp);   // at the first write of metadata: the others find no room
        LaneTask<IoError> unmap = _world.Disk(disk).Unmap(0, Mebibyte);
        _world.Advance(TimeSpan.FromMinutes(5));
        _world.Lane.Run(unmap);
        Assert.Contains("not known", failed.FaultReason, StringComparison.Ordinal);

        ManagementException rejected = Assert.Throws<ManagementException>(() => _world.Run(_world.Subsystem.VirtualDisks.ConnectAsync(disk)));
        Assert.Contains("not known", rejected.Message, StringComparison.Ordinal);
        Assert.Same(failed, _world.Opened(disk));
        Array.ForEach(_world.Disks, static one => one.Full = false);
        _world.Advance(TimeSpan.FromSeconds(5));
        Assert.Throws<ManagementException>(() => _world.Run(_world.Subsystem.VirtualDisks.ConnectAsync(disk)));   // nothing to export it to
        Assert.Equal(IoError.None, _world.Opened(disk).Fault);
        _world.Write(disk, 0, (int)Mebibyte);
        Assert.Equal(SubsystemWorld.Written(0, (int)Mebibyte), _world.Read(disk, 0, (int)Mebibyte));

        bool FillsUp(long offset, int length)
        {
            if (offset < Mebibyte)
            {
                Array.ForEach(_world.Disks, static one => (one.Full, one.WriteFails) = (true, null));
            }

            return false;
        }
    }

    // The good copy of what the first disk missed is away: nothing can be made whole, and nothing tries to.
    [Fact]
    public void No_repair_runs_for_what_no_disk_that_is_there_can_give()
    {
        (Guid disk, int first, int second) = MirrorOnTwo();
        _world.Advance(TimeSpan.FromMinutes(2));   // what was written is clean by then
        _world.Pull(first);
        _world.Write(disk, 0, (int)Mebibyte);
        _world.Pull(second);
        _world.Advance(TimeSpan.FromSeconds(3));
        _world.PutBack(first);
        _world.Advance(TimeSpan.FromMinutes(10));

        VirtualDiskStatus status = Status(disk);
        Assert.Equal(("No Redundancy", HealthStatus.Unhealthy), (status.OperationalStatus, status.Health));
        Assert.Contains("1 MB is there, at offset 0 to 1 MB.", status.StatusReason, StringComparison.Ordinal);
        Assert.InRange(_world.Jobs.Length, 0, 1);
        _world.PutBack(second);
        _world.Advance(TimeSpan.FromMinutes(1));
        Assert.Equal((HealthStatus.Healthy, true), (Health(disk), IsWhole(disk)));
        Assert.Equal(SubsystemWorld.Written(0, (int)Mebibyte), _world.Read(disk, 0, (int)Mebibyte));
    }

    [Fact]
    public void A_disk_that_returns_in_time_is_noticed_and_copies_only_what_it_missed()
    {
        Guid disk = _world.NewMirror("d", 16 * Mebibyte);
        _world.AddDisk(DiskUsage.HotSpare);
        int lost = DiskOf(disk);
        _world.Advance(TimeSpan.FromMinutes(2));   // what was written is clean by then
        _world.Pull(lost);
        _world.Advance(TimeSpan.FromSeconds(60));
        _world.Write(disk, 0, 4096);
        Assert.Equal("Lost Communication", _world.Physical(lost).OperationalStatus);
        _world.PutBack(lost);

        _world.Advance(TimeSpan.FromSeconds(30));

        Assert.Equal(("OK", DiskUsage.AutoSelect), (_world.Physical(lost).OperationalStatus, _world.Physical(lost).Usage));
        JobStatus job = Assert.Single(_world.Jobs);
        Assert.Equal((JobState.Completed, HealthStatus.Healthy), (job.State, Health(disk)));
        Assert.Equal(0, _world.Opened(disk).Space.Counters.Rows.SlabsMoved);
        Assert.Equal(4096, _world.Opened(disk).Space.Counters.Repair.RepairBytesWritten);
        Assert.Null(job.Found);   // that is the work of a scrub
        Assert.InRange(job.BytesProcessed, 4096, _world.Opened(disk).Space.RingBytesToResync + (4 * Mebibyte));
        _world.Advance(TimeSpan.FromMinutes(10));
        Assert.DoesNotContain(_world.Jobs, later => later.UniqueId != job.UniqueId);
    }

    [Fact]
    public void A_repair_that_began_by_itself_verifies_when_one_is_asked_for_meanwhile()
    {
        Guid disk = _world.NewMirror("d", 16 * Mebibyte);
        int lost = DiskOf(disk);
        _world.Pull(lost);
        _world.Write(disk, 0, (int)Mebibyte);
        _world.PutBack(lost);
        _world.Until(() => _world.Jobs.Any(static job => job.State == JobState.Running));
        Guid began = Assert.Single(_world.Jobs).UniqueId;

        JobStatus repaired = _world.Run(_world.Subsystem.Repairs.RepairAsync(disk));

        Assert.Equal((JobState.Completed, began), (repaired.State, repaired.UniqueId));
        Assert.True(repaired.Found!.Verified > 0);
    }

    [Fact]
    public void Nothing_is_given_up_where_nothing_could_be_made_anew_and_a_new_disk_changes_that()
    {
        Guid disk = NewFullMirror();
        _world.Run(_world.Subsystem.Pools.SetAsync(_world.Pool, pool => pool with { RetireMissingPhysicalDisks = RetireMissingPhysicalDisks.Always }));
        int lost = DiskOf(disk);
        _world.Pull(lost);
        _world.Advance(TimeSpan.FromMinutes(20));
        Assert.Equal(DiskUsage.AutoSelect, _world.Physical(lost).Usage);
        Assert.Empty(_world.Jobs);

        _world.AddDisk(DiskUsage.AutoSelect);
        _world.Advance(TimeSpan.FromMinutes(2));

        Assert.Equal(DiskUsage.Retired, _world.Physical(lost).Usage);
        Assert.True(IsWhole(disk));
    }

    [Fact]
    public void The_time_of_a_missing_disk_counts_anew_after_a_restart_and_what_was_given_up_stays_so()
    {
        Guid disk = _world.NewMirror("d", 8 * Mebibyte);
        _world.AddDisk(DiskUsage.HotSpare);
        int lost = DiskOf(disk);
        _world.Pull(lost);
        _world.Advance(TimeSpan.FromMinutes(4));
        _world.Restart();
        _world.Advance(TimeSpan.FromMinutes(4));
        Assert.Equal(DiskUsage.AutoSelect, Missing().Usage);
        _world.Advance(TimeSpan.FromMinutes(3));
        Assert.True(IsWhole(disk));
        Assert.Equal(DiskUsage.Retired, Missing().Usage);

        _world.PutBack(lost);
        _world.Advance(TimeSpan.FromMinutes(1));

        Assert.Equal((DiskUsage.Retired, "OK", 0L), (_world.Physical(lost).Usage, _world.Physical(lost).OperationalStatus,
            _world.Physical(lost).VirtualDiskBytes));
        Assert.True(_world.Run(_world.Subsystem.Pools.RemoveDisksAsync(_world.Pool, [_world.Physical(lost).UniqueId])));

        PhysicalDiskStatus Missing() => _world.Run(_world.Subsystem.PhysicalDisks.ListAsync())
            .Single(physical => physical is { OperationalStatus: "Lost Communication", PoolId: not null });
    }

    [Fact]
    public void A_pool_that_could_not_be_opened_opens_when_its_disks_are_back()
    {
        Guid disk = _world.NewMirror("d", 8 * Mebibyte);
        _world.Away.UnionWith([0, 1]);
        _world.Restart();
        Assert.Equal(PoolOperationalStatus.Incomplete, Assert.Single(_world.Run(_world.Subsystem.Pools.ListAsync())).OperationalStatus);
        _world.Away.Clear();

        _world.Advance(TimeSpan.FromSeconds(30));

        Assert.Equal(PoolOperationalStatus.OK, Assert.Single(_world.Run(_world.Subsystem.Pools.ListAsync())).OperationalStatus);
        Assert.Equal((HealthStatus.Healthy, 0L), (Health(disk), _world.Opened(disk).Space.BytesToResync));
    }

    // Each disk in turn, so that one of them has a copy of the integrity log, which is longer than any piece of other work.
    [Fact]
    public void Whichever_disk_was_away_the_repair_ends_and_copies_nothing_twice()
    {
        Guid disk = _world.NewMirror("d", 8 * Mebibyte);
        for (int lost = 0; lost < 3; lost++)
        {
            _world.Pull(lost);
            _world.Write(disk, 0, 4096);
            _world.PutBack(lost);
            _world.Advance(TimeSpan.FromSeconds(60));
            Assert.Equal((0L, true), (_world.Opened(disk).Space.BytesToResync, IsWhole(disk)));
        }

        Assert.Equal(2, _world.Opened(disk).Space.Counters.Repair.LogCopiesRepaired);
        Assert.All(_world.Jobs, job => Assert.Equal((JobState.Completed, job.BytesTotal), (job.State, job.BytesProcessed)));
        Assert.All(_world.Jobs, job => Assert.InRange(job.BytesProcessed, 0, 40 * Mebibyte));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_disk_that_could_not_take_part_when_it_came_back_is_tried_again(bool leavesInBetween)
    {
        Guid disk = _world.NewMirror("d", 8 * Mebibyte);
        int lost = DiskOf(disk);
        _world.Pull(lost);
        _world.Write(disk, 0, 4096);
        _world.Refusing.Add(lost);
        _world.PutBack(lost);
        _world.Until(() => _world.Notices.Any(notice => notice.Contains("cannot take part")));
        Assert.Equal("Lost Communication", _world.Physical(lost).OperationalStatus);
        if (leavesInBetween)
        {
            _world.Pull(lost);
            _world.Advance(TimeSpan.FromSeconds(30));
            _world.PutBack(lost);
        }

        _world.Refusing.Clear();
        _world.Advance(TimeSpan.FromSeconds(90));

        Assert.Equal("OK", _world.Physical(lost).OperationalStatus);
        Assert.True(IsWhole(disk));
    }

    [Fact]
    public void A_disk_that_never_takes_part_again_is_given_up_in_the_end()
    {
        Guid disk = _world.NewMirror("d", 8 * Mebibyte);
        _world.AddDisk(DiskUsage.HotSpare);
        int lost = DiskOf(disk);
        _world.Pull(lost);
        _world.Refusing.Add(lost);
        _world.PutBack(lost);

        _world.Advance(TimeSpan.FromMinutes(7));

        Assert.Equal(DiskUsage.Retired, _world.Physical(lost).Usage);
        Assert.True(IsWhole(disk));
        Assert.InRange(_world.Notices.Count(notice => notice.Contains("cannot take part")), 3, 9);
    }

    [Fact]
    public void A_retired_disk_is_drained_without_a_command_and_may_then_be_removed()
    {
        Guid one = _world.NewMirror("one", 8 * Mebibyte);
        Guid two = _world.NewMirror("two", 8 * Mebibyte);
        int retired = DiskOf(one);
        Guid member = _world.Physical(retired).UniqueId;
        ManagementException rejected = Assert.Throws<ManagementException>(() => _world.Run(_world.Subsystem.Pools.RemoveDisksAsync(_world.Pool, [member])));
        Assert.Equal(ManagementError.PhysicalDiskStillInUse, rejected.Error);
        Assert.Contains("MB of virtual disk 'one'", rejected.Message);
        Assert.Contains("-Usage Retired", rejected.Action);

        _world.Run(_world.Subsystem.PhysicalDisks.SetAsync(member, null, null, null, DiskUsage.Retired));
        _world.Advance(TimeSpan.FromMinutes(1));

        Assert.Equal(0, _world.Physical(retired).VirtualDiskBytes);
        Assert.True(IsWhole(one) && IsWhole(two));
        Assert.All(_world.Jobs.GroupBy(job => job.VirtualDisk), jobs => Assert.Single(jobs));
        Assert.True(_world.Run(_world.Subsystem.Pools.RemoveDisksAsync(_world.Pool, [member])));
    }

    [Fact]
    public void A_disk_that_is_retired_while_a_repair_verifies_is_drained_by_that_repair()
    {
        Guid disk = _world.NewMirror("d", 20 * Mebibyte);
        Task<JobStatus> repair = _world.Subsystem.Repairs.RepairAsync(disk);
        _world.Until(() => _world.Subsystem.Jobs.Listed.Any(job => job.Status == "Verify" && job.BytesProcessed > Mebibyte));
        int retired = DiskOf(disk);

        Task<PhysicalDiskStatus> set = _world.Subsystem.PhysicalDisks.SetAsync(_world.Physical(retired).UniqueId, null, null, null, DiskUsage.Retired);
        _world.Run(set);
        JobStatus ended = _world.Run(repair);
        _world.Advance(TimeSpan.FromMinutes(2));

        Assert.Equal((JobState.Completed, 0L), (ended.State, _world.Physical(retired).VirtualDiskBytes));
        Assert.All(_world.Jobs, job => Assert.Equal(JobState.Completed, job.State));
    }

    [Fact]
    public void A_drain_that_a_user_stops_is_not_begun_again_until_another_disk_is_to_be_left()
    {
        _world.AddDisk(DiskUsage.AutoSelect);
        Guid disk = _world.NewMirror("d", 20 * Mebibyte);
        (int first, int second) = (DiskOf(disk), DiskOf(disk, copy: 1));
        _world.Run(_world.Subsystem.PhysicalDisks.SetAsync(_world.Physical(first).UniqueId, null, null, null, DiskUsage.Retired));
        _world.Until(() => _world.Subsystem.Jobs.Listed.Any(job => job.BytesProcessed >= Mebibyte));
        _world.Run(_world.Subsystem.Jobs.StopAsync(_world.Jobs[0].UniqueId));
        _world.Advance(TimeSpan.FromMinutes(5));
        Assert.Single(_world.Jobs);
        Assert.NotEqual(0, _world.Physical(first).VirtualDiskBytes);

        _world.Run(_world.Subsystem.PhysicalDisks.SetAsync(_world.Physical(second).UniqueId, null, null, null, DiskUsage.Retired));
        _world.Advance(TimeSpan.FromMinutes(1));

        Assert.Equal((0L, 0L), (_world.Physical(first).VirtualDiskBytes, _world.Physical(second).VirtualDiskBytes));
    }

    [Fact]
    public void A_disk_that_comes_and_goes_is_taken_back_later_each_time_and_given_up_in_the_end()
    {
        Guid disk = _world.NewMirror("d", 8 * Mebibyte);
        _world.AddDisk(DiskUsage.HotSpare);
        int lost = DiskOf(disk);
        List<TimeSpan> away = [];
        for (int i = 0; i < 12 && _world.Physical(lost).Usage != DiskUsage.Retired; i++)
        {
            _world.Disks[lost].Pulled = true;   // what is there can be opened again all the same
            long since = _world.Lane.NowNs;
            _world.Until(() => _world.Notices.Count(notice => notice.Contains("is back;")) == i + 1);
            away.Add(TimeSpan.FromTicks((_world.Lane.NowNs - since) / 100));
        }

        Assert.Equal(DiskUsage.Retired, _world.Physical(lost).Usage);
        Assert.InRange(away[0], TimeSpan.FromSeconds(4), TimeSpan.FromSeconds(8));
        Assert.Equal(away.Order(), away);
        Assert.InRange(away.Count, 5, 9);
    }

    [Theory]
    [InlineData("0", 0L)]
    [InlineData("300", 300_000_000_000L)]
    [InlineData("604800", 604_800_000_000_000L)]
    public void The_time_is_read_in_seconds(string text, long expectedNs) => Assert.Equal(expectedNs, HealingTimes.ParseGrace(text).MissingGraceNs);

    [Theory]
    [InlineData("")]
    [InlineData("-1")]
    [InlineData("5m")]
    [InlineData("604801")]
    public void Anything_else_is_refused(string text) =>
        Assert.Contains("from 0 to 604800", Assert.Throws<FormatException>(() => HealingTimes.ParseGrace(text)).Message);

    /// <summary>The number of a disk that holds a copy of everything, or of much, of a virtual disk.</summary>
    private int DiskOf(Guid virtualDisk, int copy = 0)
    {
        Guid id = _world.Run(_world.Subsystem.Placements.ExtentsAsync(virtualDisk, null)).First(extent => extent.Copy == copy).PhysicalDisk;
        return _world.Run(_world.Subsystem.PhysicalDisks.ListAsync()).Single(disk => disk.UniqueId == id).DeviceId;
    }

    /// <summary>A mirror with all slabs on two disks; three more disks keep a majority of their pool without these.</summary>
    private (Guid Disk, int First, int Second) MirrorOnTwo()
    {
        int first = _world.Disks.Length;
        _world.NewPool([(64 << 20, MediaType.SSD), (64 << 20, MediaType.SSD)], "two");
        for (int i = 0; i < 3; i++)
        {
            _world.AddDisk(DiskUsage.ManualSelect);
        }

        _world.Run(_world.Subsystem.Pools.SetAsync(_world.Pool, static pool => pool with { RetireMissingPhysicalDisks = RetireMissingPhysicalDisks.Never }));
        return (_world.NewMirror("d", 8 * Mebibyte), first, first + 1);
    }

    private void WriteUnflushed(Guid disk, long offset)
    {
        IoBuffer buffer = _world.Lane.Buffers.Rent(4096);
        Assert.Equal(IoError.None, _world.Lane.Run(_world.Disk(disk).Write(offset, buffer, WriteFlags.None)));
        _world.Lane.Buffers.Return(buffer);
    }

    private VirtualDiskStatus Status(Guid virtualDisk) =>
        _world.Run(_world.Subsystem.VirtualDisks.ListAsync()).Single(disk => disk.Description.Id.Value == virtualDisk);

    private Guid NewFullMirror()
    {
        SupportedSize size = _world.Run(_world.Subsystem.Placements.SupportedSizeAsync(_world.Pool, "Mirror"));
        return _world.NewMirror("d", size.Max, filled: false);
    }

    private bool IsWhole(Guid virtualDisk) => _world.Run(_world.Subsystem.Placements.ExtentsAsync(virtualDisk, null))
        .All(extent => !extent.IsMissing && !extent.IsStale);

    private HealthStatus Health(Guid virtualDisk) => Status(virtualDisk).Health;
}
