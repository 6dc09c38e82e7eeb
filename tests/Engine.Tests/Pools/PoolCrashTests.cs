using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Pools;

/// <summary>
/// Every operation is stopped before each of its requests in turn, by a power cut (several subsets of what was cached) and by
/// a kill. The pool then opens, holds everything acknowledged, and opens again to the same state.
/// </summary>
public sealed class PoolCrashTests
{
    private const int CutsPerPoint = 5;

    [Fact]
    public void A_commit() => Sweep(2, static world => world.Create(), static (_, pool) => AsTask(pool.Commit(PoolWorld.Job(2, 2))));

    [Fact]
    public void Commits_that_cross_a_checkpoint() => Sweep(
        3,
        static world =>
        {
            Pool pool = world.Create();
            for (int i = 0; i < 14; i++)
            {
                world.Lane.Run(pool.Commit(PoolWorld.Job(3, i + 1)));
            }

            return pool;
        },
        static (_, pool) => CommitMany(pool, 10));

    // Stopped while a checkpoint is being made and the journal runs on at full speed, and the newest complete checkpoint turns
    // out rotten: the one before it is untouched, and the journal still reaches back to it.
    [Fact]
    public void A_checkpoint_in_the_making_spares_the_newest_two()
    {
        PoolWorld whole = new(1, 1);
        int requests = 0;
        Pool pool = whole.Create();
        whole.Disks[0].OnRequest = (_, _, _) => requests++;
        whole.Lane.Run(CommitLarge(pool));
        int used = 0;
        for (int point = requests / 3; point <= requests; point += 1 + (requests / 80))
        {
            PoolWorld world = new(1, 1);
            pool = world.Create();
            StopAt(world, point, CommitLarge(pool));
            int acknowledged = PoolWorld.ValueOf(pool.State, 1);
            PoolWorld after = world.Cut((ulong)point);
            Superblock superblock = after.Scan()[0].Superblock!;
            if (superblock.PreviousCheckpoint.Generation > 0)
            {
                PoolScanTests.Damage(after.Media[0], pool.Layout(new DiskNumber(1)).HeapPage(superblock.Checkpoint.RootPage));
                used++;
                PoolOpenResult opened = after.Open(pool.Id);
                Assert.True(opened.Pool is not null, $"point {point}: {opened.Reason}");
                Assert.InRange(PoolWorld.ValueOf(opened.Pool.State, 1), acknowledged, acknowledged + 40);
            }
        }

        Assert.True(used > 10, "the test needs two checkpoints");
    }

    // Of what the disk had cached only the superblock arrives, and the checkpoint before the one it names has rotted.
    [Fact]
    public void A_checkpoint_is_on_the_disk_before_a_superblock_names_it()
    {
        PoolWorld whole = new(1, 1);
        List<int> points = [];
        int requests = 0;
        long last = 0;
        Pool pool = whole.Create();
        LaneTask load = CommitLarge(pool);   // what it asks for at once is not counted below either
        whole.Disks[0].OnRequest = (operation, offset, _) =>
        {
            requests++;
            if (operation == SimOperation.Flush && last is >= DiskLayout.SuperblockRingA and < DiskLayout.Journal)
            {
                points.Add(requests);
            }

            last = operation == SimOperation.Write ? offset : last;
        };
        whole.Lane.Run(load);
        int used = 0;
        foreach (int point in points)
        {
            PoolWorld world = new(1, 1);
            pool = world.Create();
            StopAt(world, point, CommitLarge(pool));
            ulong durable = After(world, kept: 0).Scan()[0].Superblock!.Checkpoint.Generation;
            PoolWorld after = After(world, kept: 1);
            Superblock superblock = after.Scan()[0].Superblock!;
            if (superblock.Checkpoint.Generation > durable && superblock.PreviousCheckpoint.Generation > 0)
            {
                PoolScanTests.Damage(after.Media[0], pool.Layout(new DiskNumber(1)).HeapPage(superblock.PreviousCheckpoint.RootPage));
                used++;
                PoolOpenResult opened = after.Open(pool.Id);
                Assert.True(opened.Pool is not null, $"point {point}: {opened.Reason}");
            }
        }

        Assert.True(used > 0, "no superblock named a new checkpoint");

        static PoolWorld After(PoolWorld world, int kept)
        {
            SimMedia medium = world.Disks[0].SnapshotWithInFlight();
            int first = medium.CachedWrites - kept;
            return new PoolWorld(new SimLane(7), [medium.Cut((write, _) => write >= first)], world.Host.Snapshot(withMemory: false));
        }
    }

    [Fact]
    public void An_eviction() => Sweep(3, static world => world.Create(), static (_, pool) => AsTask(pool.Evict(new DiskNumber(2), "test")));

    [Fact]
    public void Evict_one_of_two() => Sweep(2, static world => world.Create(), static (_, pool) => AsTask(pool.Evict(new DiskNumber(1), "test")));

    [Fact]
    public void Evict_and_elect_another() =>
        Sweep(6, static world => world.Create(), static (_, pool) => AsTask(pool.Evict(new DiskNumber(2), "test")), points: 60);

    [Fact]
    public void Add_disks() => Sweep(
        3,
        static world => world.Create(2),
        static (world, pool) => AsTask(pool.AddDisks([new NewDiskSpec(world.Disks[2], "new")])),
        points: 150,
        static (after, opened) =>
        {
            bool isKnown = opened.Pool!.State.Disks.ContainsKey(new DiskNumber(3));
            Assert.Equal(isKnown, opened.Pool.View.Contains(new DiskNumber(3)));   // known and empty: it joins at open
            Assert.True(isKnown || after.Scan(2)[0].Kind is ScanKind.Blank or ScanKind.Forming, "a disk no pool knows may be added again");
        });

    [Fact]
    public void Remove_a_disk() =>
        Sweep(3, static world => world.Create(), static (_, pool) => AsTask(pool.RemoveDisk(new DiskNumber(2))), points: 150);

    [Fact]
    public void A_close() => Sweep(2, static world => world.Create(), static (_, pool) => CloseTask(pool));

    [Fact]
    public void An_opening()
    {
        PoolId id = default;
        Sweep(
            3,
            world =>
            {
                Pool pool = world.Create();
                id = pool.Id;
                return pool;
            },
            (world, pool) => Reopen(world, pool),
            points: 200);
    }

    [Fact]
    public void A_creation()
    {
        int requests = Count(static world => world.Create());
        for (int point = 1; point <= requests; point += 1 + (requests / 150))
        {
            PoolWorld world = new(1, 2);
            Pool? made = null;
            StopAt(world, point, Make());
            for (ulong cut = 0; cut < CutsPerPoint; cut++)
            {
                PoolWorld after = cut == 0 ? world.Killed(9) : world.Cut(cut);
                List<PoolScan> scans = after.Scan();
                PoolId? id = scans.Find(static scan => scan.Label is not null)?.Label!.Pool;
                PoolOpenResult? opened = id is { } found ? after.Lane.Run(Pool.Open(after.Environment, found, scans)) : null;
                if (opened?.Pool is null)
                {
                    Assert.Null(made);
                    Assert.True(scans.TrueForAll(static scan => scan.Kind is ScanKind.Blank or ScanKind.Forming or ScanKind.Damaged),
                        $"point {point}, cut {cut}");
                }
            }

            async LaneTask Make() => made = await Pool.Create(
                world.Environment, new NewPoolSpec { FriendlyName = "p" }, [.. world.Disks.Select(static disk => new NewDiskSpec(disk, "d"))]);
        }
    }

    private static LaneTask AsTask(LaneTask<CommitResult> operation) => Wait(operation);

    private static async LaneTask Wait(LaneTask<CommitResult> operation)
    {
        CommitResult result = await operation;
        Assert.True(result.Succeeded, result.Reason);
    }

    private static async LaneTask CloseTask(Pool pool) => await pool.Close();

    private static async LaneTask CommitMany(Pool pool, int count)
    {
        for (int i = 0; i < count; i++)
        {
            await Wait(pool.Commit(PoolWorld.Job(4, i + 1)));
        }
    }

    // Many commits at once, each as large as may be: the journal goes round while checkpoints are written.
    private static async LaneTask CommitLarge(Pool pool)
    {
        JobRecord padding = new(new Guid(9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), new byte[JobRecord.MaxStateBytes]);
        MetadataRecord[] filling = [.. Enumerable.Repeat<MetadataRecord>(padding, 22)];
        LaneTask<CommitResult>[] commits = [.. Enumerable.Range(1, 40).Select(i => pool.Commit([PoolWorld.Job(1, i), .. filling]))];
        foreach (LaneTask<CommitResult> commit in commits)
        {
            await Wait(commit);
        }
    }

    private static async LaneTask Reopen(PoolWorld world, Pool pool)
    {
        PoolId id = pool.Id;
        await pool.Close(clean: false);
        List<PoolScan> scans = [];
        foreach (SimDisk disk in world.Disks)
        {
            scans.Add(await PoolScan.Scan(world.Lane, disk));
        }

        PoolOpenResult opened = await Pool.Open(world.Environment, id, scans);
        Assert.NotNull(opened.Pool);
    }

    private static int Count(Action<PoolWorld> operation)
    {
        PoolWorld world = new(1, 2);
        int requests = 0;
        world.Disks.ForEach(disk => disk.OnRequest = (_, _, _) => requests++);
        operation(world);
        return requests;
    }

    private static void Sweep(int disks, Func<PoolWorld, Pool> prepare, Func<PoolWorld, Pool, LaneTask> operation, int points = 400,
        Action<PoolWorld, PoolOpenResult>? check = null)
    {
        PoolWorld whole = new(1, disks);
        Pool pool = prepare(whole);
        whole.Lane.Run(pool.Commit(PoolWorld.Job(1, 77)));
        int requests = 0;
        whole.Disks.ForEach(disk => disk.OnRequest = (_, _, _) => requests++);
        whole.Lane.Run(operation(whole, pool));
        Assert.True(requests > 0);
        for (int point = 1; point <= requests; point += 1 + (requests / points))
        {
            PoolWorld world = new(1, disks);
            pool = prepare(world);
            world.Lane.Run(pool.Commit(PoolWorld.Job(1, 77)));
            StopAt(world, point, operation(world, pool));
            for (ulong cut = 0; cut < CutsPerPoint; cut++)
            {
                PoolWorld after = cut == 0 ? world.Killed((ulong)point) : world.Cut((cut * 1000) + (ulong)point);
                Verify(after, pool, $"point {point}, cut {cut}", check);
            }
        }
    }

    private static void StopAt(PoolWorld world, int point, LaneTask operation)
    {
        int requests = 0;
        bool ended = false;
        world.Disks.ForEach(disk => disk.OnRequest = (_, _, _) => requests++);
        Watch().Forget();
        while (!ended && requests < point && world.Lane.Step())
        {
        }

        async LaneTask Watch()
        {
            await operation;
            ended = true;
        }
    }

    private static void Verify(PoolWorld after, Pool before, string where, Action<PoolWorld, PoolOpenResult>? check)
    {
        PoolOpenResult opened = after.Open(before.Id);
        Assert.True(opened.Pool is not null, $"{where}: {opened.Status} {opened.Reason}");
        PoolState state = opened.Pool.State;
        Assert.True(PoolWorld.ValueOf(state, 1) == 77, $"{where}: an acknowledged commit is lost");
        foreach (int number in (int[])[2, 3, 4])
        {
            int acknowledged = PoolWorld.ValueOf(before.State, number);
            Assert.True(PoolWorld.ValueOf(state, number) >= acknowledged, $"{where}: commit {acknowledged} of job {number} is lost");
        }

        check?.Invoke(after, opened);
        PoolWorld again = after.Killed(99);
        PoolOpenResult second = again.Open(before.Id);
        Assert.True(second.Pool is not null, $"{where}, second open: {second.Status} {second.Reason}");
        Assert.Equal(Pages(state), Pages(second.Pool.State));
    }

    // The state without the session record, which every opening changes.
    private static string Pages(PoolState state)
    {
        System.Text.StringBuilder text = new();
        foreach (StatePage page in CheckpointPages.Enumerate(state).Where(static page => page.Key.Kind != PageKind.Counters))
        {
            ByteWriter to = new();
            page.Encode(to);
            text.AppendLine($"{page.Key} {Convert.ToHexString(to.Written)}");
        }

        return text.ToString();
    }
}
