using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Pools;

public sealed class PoolFaultTests
{
    private static readonly DiskNumber s_one = new(1);
    private static readonly DiskNumber s_two = new(2);

    // Disks 1, 2 and 3; 3 is lost; the power goes when the new view {1, 2} is on the witness alone. Disk 1 with the witness
    // is a majority of the new view, disks 2 and 3 are one of the old: only one of the two parts may go on.
    [Fact]
    public void A_view_that_only_the_witness_holds_does_not_split_the_pool()
    {
        (PoolWorld world, Pool pool) = WithHalfWrittenView();
        PoolWorld here = world.Cut(2);
        Assert.All(here.Scan(), static scan => Assert.Equal(3, scan.Superblock!.View.Members.Length));

        PoolOpenResult withWitness = here.Open(pool.Id, 0);
        Assert.Equal(PoolOperationalStatus.Incomplete, withWitness.Status);
        Assert.Contains("unfinished change", withWitness.Reason);
        PoolWorld elsewhere = new(new SimLane(3), here.Media, new SimHostState());
        Assert.NotNull(elsewhere.Open(pool.Id, 1, 2).Pool);
    }

    // The same, and then all three disks are opened with the witness. Whenever the power goes meanwhile, and whichever of the disks keeps what
    // was in its cache, again only one part may go on: a half-decided change is decided again before any other.
    [Fact]
    public void A_view_that_was_half_written_is_decided_again_before_the_next()
    {
        (PoolWorld world, Pool pool) = WithHalfWrittenView();
        int opened = 0;
        for (int point = 1; opened == 0; point++)
        {
            PoolWorld here = Cut(world, 0, world.Host.Snapshot(withMemory: false));
            List<PoolScan> scans = here.Scan();
            int requests = 0;
            here.Disks.ForEach(disk => disk.OnRequest = (_, _, _) => requests++);
            Watch(Pool.Open(here.Environment, pool.Id, scans), result => opened += result.Pool is null ? 0 : 1);
            while (opened == 0 && requests < point && here.Lane.Step())
            {
            }

            for (int kept = 0; kept < 8; kept++)
            {
                bool first = Cut(here, kept, here.Host.Snapshot(withMemory: false)).Open(pool.Id, 0).Pool is not null;
                bool others = Cut(here, kept, new SimHostState()).Open(pool.Id, 1, 2).Pool is not null;
                Assert.False(first && others, $"both parts go on: point {point}, kept {kept}");
            }
        }

        static PoolWorld Cut(PoolWorld world, int kept, SimHostState host) => new(
            new SimLane(5), [.. world.Disks.Select((disk, i) => disk.SnapshotWithInFlight().Cut((_, _) => (kept >> i & 1) != 0))], host);
    }

    [Fact]
    public void Two_disks_need_each_other_or_the_witness()
    {
        PoolWorld world = new(1, 2);
        Pool pool = world.Create();
        PoolWorld elsewhere = new(new SimLane(2), world.Killed(2).Media, new SimHostState());
        ulong before = elsewhere.Media[0].Hash();
        PoolOpenResult alone = elsewhere.Open(pool.Id, 0);
        Assert.Equal(PoolOperationalStatus.Incomplete, alone.Status);
        Assert.Contains("disk 2, the witness file", alone.Reason);
        Assert.Equal(s_two, alone.Missing.Single());
        Assert.Equal("p", alone.LastKnownState!.Pool!.FriendlyName);
        Assert.Equal(before, elsewhere.Media[0].Hash());   // nothing was written
        Assert.NotNull(elsewhere.Open(pool.Id).Pool);
        Assert.NotNull(world.Killed(3).Open(pool.Id, 1).Pool);
    }

    [Fact]
    public void Losses_one_after_another_are_survived_to_the_last_disk()
    {
        PoolWorld world = new(1, 6);
        Pool pool = world.Create();
        for (int lost = 5; lost > 0; lost--)
        {
            world.Disks[lost].Pulled = true;
            Assert.True(world.Lane.Run(pool.Commit(PoolWorld.Job(1, lost))).Succeeded);
            world.Lane.Run(pool.Evict(new DiskNumber((ushort)(lost + 1)), "pulled"));
            Assert.Equal(Math.Min(5, lost), pool.View.MetadataDisks.Length);
        }

        PoolOpenResult opened = world.Killed(2).Open(pool.Id, 0);
        Assert.Equal(1, PoolWorld.ValueOf(opened.Pool!.State, 1));
    }

    [Fact]
    public void Losing_the_majority_at_once_stops_the_pool()
    {
        PoolWorld world = new(1, 3);
        Pool pool = world.Create();
        MembershipChange? lost = null;
        pool.MembershipChanged += change => lost = change;
        world.Disks[1].Pulled = world.Disks[2].Pulled = true;
        CommitResult result = world.Lane.Run(pool.Commit(PoolWorld.Job(1, 1)));
        Assert.Equal(CommitStatus.NoQuorum, result.Status);
        Assert.Equal(MembershipChangeKind.QuorumLost, lost!.Kind);
        Assert.Equal((PoolOperationalStatus.Incomplete, HealthStatus.Unhealthy), (pool.OperationalStatus, pool.HealthStatus));
        Assert.Equal(CommitStatus.NoQuorum, world.Lane.Run(pool.Commit(PoolWorld.Job(1, 2))).Status);
        world.Lane.Run(pool.Close());
        Assert.Equal(0, PoolWorld.ValueOf(world.Killed(2).Open(pool.Id, 1, 2).Pool!.State, 1));
    }

    [Fact]
    public void An_old_copy_of_a_disk_is_set_aside_and_joins_with_everything_on_it_stale()
    {
        PoolWorld world = new(1, 3);
        Pool pool = world.Create();
        Map(world, pool);
        SimMedia backup = world.Killed(2).Media[1];
        world.Lane.Run(pool.Close());
        PoolWorld again = world.Killed(3);
        Pool second = again.Open(pool.Id).Pool!;
        again.Lane.Run(second.Commit(PoolWorld.Job(1, 9)));
        again.Lane.Run(second.Close());

        PoolWorld restored = new(new SimLane(4), [again.Killed(4).Media[0], backup, again.Killed(4).Media[2]], again.Host);
        Pool third = restored.Open(pool.Id).Pool!;
        Assert.Equal([s_two], third.OutsideDisks);
        Assert.Null(third.Disk(s_two));
        Assert.Equal(9, PoolWorld.ValueOf(third.State, 1));
        Assert.True(restored.Lane.Run(third.Rejoin(s_two)).Succeeded);
        Assert.Equal(0xFFFF, third.State.Space(new SpaceId(1))!.Row(0)!.Stale(1));
        Assert.Equal(0, third.State.Space(new SpaceId(1))!.Row(0)!.Stale(0));
    }

    [Fact]
    public void A_disk_that_returns_joins_again_only_when_asked()
    {
        PoolWorld world = new(1, 3);
        Pool pool = world.Create();
        Map(world, pool);
        world.Disks[1].Pulled = true;
        Assert.True(world.Lane.Run(pool.Evict(s_two, "pulled")).Succeeded);
        Assert.True(world.Lane.Run(pool.Evict(s_two, "pulled")).Succeeded);   // again: the same
        SimDisk back = new(world.Lane, world.Media[1]);
        Assert.Equal("", pool.Offer(world.Lane.Run(PoolScan.Scan(world.Lane, back))));
        Assert.Null(pool.Disk(s_two));
        Assert.NotEqual("", pool.Offer(world.Lane.Run(PoolScan.Scan(world.Lane, new SimDisk(world.Lane, world.Media[1])))));
        Assert.True(world.Lane.Run(pool.Rejoin(s_two)).Succeeded);
        Assert.Same(back, pool.Disk(s_two));
        Assert.Equal(PoolOperationalStatus.OK, pool.OperationalStatus);
        Assert.True(world.Lane.Run(pool.Commit(PoolWorld.Job(1, 3))).Succeeded);
        Assert.Equal(3, pool.View.MetadataDisks.Length);
    }

    [Fact]
    public void A_full_file_system_is_waited_for_and_is_no_failure_of_the_disk()
    {
        PoolWorld world = new(1, 2);
        Pool pool = world.Create();
        world.Disks[0].Full = true;
        CommitResult? soon = null;
        Watch(pool.Commit(PoolWorld.Job(1, 1)), result => soon = result);
        world.Lane.Advance(20_000_000_000);
        Assert.Null(soon);
        Assert.Contains("full", pool.StatusReason);
        world.Disks[0].Full = false;
        world.Lane.Advance(2_000_000_000);
        Assert.Equal(CommitResult.Committed, soon);

        world.Disks[0].Full = true;
        CommitResult? late = null;
        Watch(pool.Commit(PoolWorld.Job(2, 2)), result => late = result);
        world.Lane.Advance(59_000_000_000);
        Assert.Null(late);
        world.Lane.Advance(3_000_000_000);
        Assert.Equal(CommitStatus.NoSpace, late!.Value.Status);
        world.Disks[0].Full = false;
        world.Lane.Advance(2_000_000_000);
        Assert.Equal(2, PoolWorld.ValueOf(pool.State, 2));   // NoSpace says so: it may still be applied
        Assert.Equal(2, pool.View.Members.Length);
        Assert.True(world.Lane.Run(pool.Commit(PoolWorld.Job(3, 3))).Succeeded);
    }

    [Fact]
    public void A_flush_that_finds_no_space_is_not_repeated_and_believed()
    {
        PoolWorld world = new(1, 3);
        Pool pool = world.Create();
        world.Disks[0].FullAtFlush = true;
        Assert.True(world.Lane.Run(pool.Commit(PoolWorld.Job(1, 5))).Succeeded);
        world.Lane.Advance(5_000_000_000);
        Assert.Equal(2, pool.View.Members.Length);   // what the first disk may have dropped is not counted on

        PoolWorld alone = new(2, 1);
        pool = alone.Create();
        alone.Disks[0].FullAtFlush = true;
        Assert.False(alone.Lane.Run(pool.Commit(PoolWorld.Job(1, 5))).Succeeded);
        Assert.True(pool.HasLostQuorum);
    }

    [Fact]
    public void A_pool_on_a_full_file_system_closes_and_is_not_made()
    {
        PoolWorld world = new(1, 2);
        world.Disks[1].Full = true;
        InvalidOperationException problem = Assert.Throws<InvalidOperationException>(() => world.Create());
        Assert.Contains("NoSpace", problem.Message);
        world.Disks[1].Full = false;
        Pool pool = world.Create();
        world.Disks[1].Full = true;
        CommitResult? result = null;
        Watch(pool.Commit(PoolWorld.Job(1, 1)), ended => result = ended);
        world.Lane.Advance(5_000_000_000);
        world.Lane.Run(pool.Close());
        Assert.Equal(CommitStatus.Closed, result!.Value.Status);
        PoolOpenResult opened = world.Killed(2).Open(pool.Id);
        Assert.Equal(2, opened.Pool!.View.Members.Length);
    }

    // Rot in the journal of one disk heals from the other; then the other may go.
    [Fact]
    public void Damaged_journal_blocks_heal_from_another_disk()
    {
        PoolWorld world = new(1, 2);
        Pool pool = world.Create();
        for (int i = 1; i <= 10; i++)
        {
            world.Lane.Run(pool.Commit(PoolWorld.Job(i, i)));
        }

        PoolWorld after = world.Killed(2);
        for (ulong sequence = 1; sequence <= 10; sequence++)
        {
            PoolScanTests.Damage(after.Media[sequence % 2 == 0 ? 0 : 1], pool.Layout(s_one).JournalBlock(sequence));
        }

        Pool opened = after.Open(pool.Id).Pool!;
        Assert.All(Enumerable.Range(1, 10), i => Assert.Equal(i, PoolWorld.ValueOf(opened.State, i)));
        after.Lane.Run(opened.Close());
        Pool alone = after.Killed(3).Open(pool.Id, 1).Pool!;
        Assert.All(Enumerable.Range(1, 10), i => Assert.Equal(i, PoolWorld.ValueOf(alone.State, i)));
    }

    [Fact]
    public void Lost_on_every_disk_is_refused_and_nothing_is_written()
    {
        PoolWorld world = new(1, 2);
        Pool pool = world.Create();
        for (int i = 1; i <= 10; i++)
        {
            world.Lane.Run(pool.Commit(PoolWorld.Job(i, i)));
        }

        PoolWorld after = world.Killed(2);
        after.Media.ForEach(media => PoolScanTests.Damage(media, pool.Layout(s_one).JournalBlock(5)));
        ulong[] before = [.. after.Media.Select(static media => media.Hash())];
        PoolOpenResult opened = after.Open(pool.Id);
        Assert.Null(opened.Pool);
        Assert.Equal(PoolOperationalStatus.ReadOnly, opened.Status);
        Assert.Contains("unreadable on every metadata disk", opened.Reason);
        Assert.Equal(before, after.Media.Select(static media => media.Hash()));
    }

    // The newest checkpoint is rotten on every disk: the one before it and the journal since lead to the same state.
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void The_checkpoint_before_the_newest_is_good_too(int disks)
    {
        PoolWorld world = new(1, disks);
        Pool pool = world.Create();
        for (int i = 1; i <= 40; i++)
        {
            world.Lane.Run(pool.Commit(PoolWorld.Job(i % 5, i)));
        }

        world.Lane.Advance(1_000_000_000);
        PoolWorld after = world.Killed(2);
        foreach (PoolScan scan in after.Scan())
        {
            Assert.True(scan.Superblock!.PreviousCheckpoint.Generation > 0, "the test needs two checkpoints");
            PoolScanTests.Damage(after.Media[scan.Label!.Number.Value - 1], pool.Layout(s_one).HeapPage(scan.Superblock.Checkpoint.RootPage));
        }

        PoolOpenResult opened = after.Open(pool.Id);
        Assert.Equal("", opened.Reason);
        Assert.Equal(40, PoolWorld.ValueOf(opened.Pool!.State, 0));
        for (int i = 41; i <= 80; i++)
        {
            Assert.True(after.Lane.Run(opened.Pool.Commit(PoolWorld.Job(i % 5, i))).Succeeded);
        }

        Assert.Equal(80, PoolWorld.ValueOf(after.Killed(3).Open(pool.Id).Pool!.State, 0));
    }

    [Fact]
    public void A_checkpoint_writes_what_has_changed()
    {
        PoolWorld world = new(1, 1, 64 << 20);
        Pool pool = world.Create();
        for (int i = 0; i < 40; i++)
        {
            world.Lane.Run(pool.Commit(PoolWorld.LargeJob(i, i)));
        }

        world.Lane.Advance(1_000_000_000);
        long heap = 0;
        DiskLayout layout = pool.Layout(s_one);
        world.Disks[0].OnRequest = (operation, offset, length) =>
            heap += operation == SimOperation.Write && offset >= layout.Heap && offset < layout.SlabArea ? length : 0;
        for (int i = 0; i < 17; i++)
        {
            world.Lane.Run(pool.Commit(PoolWorld.LargeJob(1, i + 100)));
        }

        world.Lane.Advance(1_000_000_000);
        Assert.InRange(heap, 1, 13 * 4096);   // of 44 pages: the job, eight since the last checkpoint, counters, table, root
    }

    [Fact]
    public void A_full_metadata_area_refuses_what_grows_and_nothing_else()
    {
        PoolWorld world = new(1, 1);
        Pool pool = world.Create();
        CommitResult result = CommitResult.Committed;
        int jobs = 0;
        while (result.Succeeded && jobs < 1000)
        {
            result = world.Lane.Run(pool.Commit(PoolWorld.LargeJob(++jobs, 1)));
        }

        Assert.Equal(CommitStatus.NoSpace, result.Status);
        Assert.Contains("metadata area", result.Reason);
        for (int i = 0; i < 100; i++)
        {
            Assert.True(world.Lane.Run(pool.Commit(PoolWorld.LargeJob(1 + (i % 50), i + 2))).Succeeded);   // checkpoints still fit
        }

        PoolWorld again = world.Killed(2);
        Assert.Equal(101, PoolWorld.ValueOf(again.Open(pool.Id).Pool!.State, 50));
    }

    [Fact]
    public void Commits_that_arrive_together_share_one_write()
    {
        PoolWorld world = new(1, 2);
        Pool pool = world.Create();
        int flushes = 0;
        world.Disks[0].OnRequest = (operation, _, _) => flushes += operation == SimOperation.Flush ? 1 : 0;
        int done = 0;
        for (int i = 1; i <= 20; i++)
        {
            Watch(pool.Commit(PoolWorld.Job(i, i)), result => done += result.Succeeded ? 1 : 0);
        }

        world.Lane.PumpWhile(() => done < 20, 1_000_000_000);
        Assert.Equal(2, flushes);   // the first alone, then the nineteen that came meanwhile
    }

    [Fact]
    public void A_refused_record_does_not_harm_its_neighbours()
    {
        PoolWorld world = new(1, 1);
        Pool pool = world.Create();
        List<CommitStatus> ended = [];
        Watch(pool.Commit(PoolWorld.Job(1, 1)), result => ended.Add(result.Status));
        Watch(pool.Commit(PoolWorld.Job(2, 2), new DiskRemoved(new DiskNumber(9))), result => ended.Add(result.Status));
        Watch(pool.Commit(PoolWorld.Job(3, 3)), result => ended.Add(result.Status));
        world.Lane.PumpWhile(() => ended.Count < 3, 1_000_000_000);
        Assert.Equal(2, ended.Count(static status => status == CommitStatus.Committed));
        Assert.Equal((1, 0, 3), (PoolWorld.ValueOf(pool.State, 1), PoolWorld.ValueOf(pool.State, 2), PoolWorld.ValueOf(pool.State, 3)));
    }

    [Fact]
    public void Disks_come_and_go()
    {
        PoolWorld world = new(1, 4);
        Pool pool = world.Create(2);
        CommitResult added = world.Lane.Run(pool.AddDisks([new NewDiskSpec(world.Disks[2], "c"), new NewDiskSpec(world.Disks[3], "d")]));
        Assert.Equal(CommitResult.Committed, added);
        Assert.Equal([1, 2, 3, 4], pool.View.Members.Select(static member => (int)member.Disk.Value));
        world.Lane.Run(pool.Commit(PoolWorld.Job(1, 1)));
        Assert.Equal(4, pool.View.MetadataDisks.Length);
        Map(world, pool);
        CommitResult used = world.Lane.Run(pool.RemoveDisk(s_one));
        Assert.Contains("1 slab in use", used.Reason);
        Assert.True(world.Lane.Run(pool.RemoveDisk(new DiskNumber(4))).Succeeded);
        Assert.Equal(ScanKind.Blank, world.Scan(3)[0].Kind);
        Assert.Equal(CommitStatus.Refused, world.Lane.Run(pool.AddDisks([new NewDiskSpec(world.Disks[0], "again")])).Status);
        Assert.True(world.Lane.Run(pool.AddDisks([new NewDiskSpec(new SimDisk(world.Lane, world.Media[3]), "back")])).Succeeded);
        Assert.Equal(5, pool.View.Members[^1].Disk.Value);
        Assert.Equal(1, PoolWorld.ValueOf(world.Killed(2).Open(pool.Id).Pool!.State, 1));
    }

    [Fact]
    public void A_disk_that_fails_while_it_joins_stays_out()
    {
        for (int failAt = 1; failAt < 60; failAt += 3)
        {
            PoolWorld world = new(1, 3);
            Pool pool = world.Create(2);
            int requests = 0;
            world.Disks[2].OnRequest = (_, _, _) => world.Disks[2].Pulled = ++requests >= failAt;
            CommitResult added = world.Lane.Run(pool.AddDisks([new NewDiskSpec(world.Disks[2], "c")]));
            Assert.True(world.Lane.Run(pool.Commit(PoolWorld.Job(1, failAt))).Succeeded, added.Reason);
            bool isMember = pool.View.Contains(new DiskNumber(3));
            Assert.Equal(isMember || added.Succeeded, pool.State.Disks.ContainsKey(new DiskNumber(3)));
            Assert.Equal(failAt, PoolWorld.ValueOf(world.Killed(2).Open(pool.Id).Pool!.State, 1));
        }
    }

    [Fact]
    public void The_same_seed_gives_the_same_trace()
    {
        ulong[] hashes = [Trace(), Trace()];
        Assert.Equal(hashes[0], hashes[1]);

        static ulong Trace()
        {
            PoolWorld world = new(77, 3);
            Pool pool = world.Create();
            world.Lane.Run(pool.Evict(s_two, "test"));
            world.Lane.Run(pool.Commit(PoolWorld.Job(1, 1)));
            world.Lane.Run(pool.Close());
            return world.Lane.TraceHash;
        }
    }

    // A virtual disk with one two-way mirrored row on disks 1 and 2.
    private static void Map(PoolWorld world, Pool pool)
    {
        VirtualDiskDescription disk = new()
        {
            // It is never opened.
            Id = new VirtualDiskId(new Guid(7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7)), FriendlyName = "v", ResiliencySettingName = "Mirror", SizeBytes = 1 << 20,
                IsBeingCreated = true,
        };
        SpaceDescription space = new(new SpaceId(1), disk.Id, SpaceKind.Data, 1, 2);
        RowMapping row = new([new SlabRef(s_one, 0), new SlabRef(s_two, 0)]);
        CommitResult result = world.Lane.Run(pool.Commit(
            new VirtualDiskCreated(disk), new SpaceCreated(space), new RowsMapped(space.Id, 0, 2, [row])));
        Assert.True(result.Succeeded, result.Reason);
    }

    private static void Watch<T>(LaneTask<T> task, Action<T> ended)
    {
        Wait().Forget();

        async LaneTask Wait() => ended(await task);
    }

    /// <summary>Three disks, of which the third is being taken out: the new view is on the witness, and on no disk yet.</summary>
    private static (PoolWorld World, Pool Pool) WithHalfWrittenView()
    {
        PoolWorld world = new(1, 3);
        Pool pool = world.Create();
        bool isWritten = false;
        world.Host.OnWrite = _ => isWritten = true;
        pool.Evict(new DiskNumber(3), "test").Forget();
        world.Lane.PumpWhile(() => !isWritten, 1_000_000_000);
        return (world, pool);
    }
}
