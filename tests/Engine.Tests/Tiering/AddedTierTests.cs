using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Jobs;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Tiering;
using TierSpaces.Engine.VirtualDisks;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Tiering;

/// <summary>
/// A disk of a tier of three slices and one of five is given another: on disks of SCM, which is faster than both, or on any, which is slower.
/// </summary>
public sealed class AddedTierTests
{
    private const int Slice = 256 << 10;
    private const int Scm = 5;

    [Theory]
    [InlineData(Scm, false)]
    [InlineData(Scm, true)]
    [InlineData(0, false)]
    [InlineData(0, true)]
    public void It_serves_at_once_under_load_and_after_a_restart(int medium, bool thin)
    {
        PoolWorld world = NewWorld(thin: thin);
        int[] order = medium == Scm ? [2, 0, 1] : [0, 1, 2];
        TieredStore tiers = world.VirtualDisk!.Tiers!;
        byte[] last = new byte[8];
        bool isOver = false;
        int running = 8;
        for (int slice = 0; slice < 8; slice++)
        {
            Load(slice).Forget();
        }

        Add(world, medium, 4);
        Assert.Equal(12L * Slice, world.VirtualDisk.Disk.SizeBytes);
        Assert.Equal(order, tiers.Order);
        SliceOrder[] orders = [new SliceOrder(0, 2, SliceReason.Promoted), new SliceOrder(7, 2, SliceReason.Promoted)];
        Assert.Equal(RepairEnd.Done, world.Lane.Run(tiers.Move(orders, new SimPacer(world.Lane))));
        world.Lane.PumpWhile(() => tiers.IsVacating, 600_000_000_000);
        for (int slice = 8; slice < 12; slice++)
        {
            Write(world, slice, (byte)(slice + 1));
        }

        Assert.Equal((3, 5, 4), (tiers.Map.Mapped(0), tiers.Map.Mapped(1), tiers.Map.Mapped(2)));
        isOver = true;
        world.Lane.PumpWhile(() => running > 0, 600_000_000_000);
        Assert.Equal(IoError.None, world.Lane.Run(world.Close()));
        PoolWorld again = world.Cut(9, (_, _, _) => false);
        Assert.Equal("", again.Lane.Run(again.Open()));
        Assert.Equal(order, again.VirtualDisk!.Tiers!.Order);
        Assert.Equal([2, 2], new[] { again.VirtualDisk.Tiers.Map[0].Tier, again.VirtualDisk.Tiers.Map[7].Tier });
        for (int slice = 0; slice < 12; slice++)
        {
            byte expected = slice < 8 ? last[slice] : (byte)(slice + 1);
            Assert.All(Read(again, slice), value => Assert.Equal(expected, value));
        }

        async LaneTask Load(int slice)
        {
            for (int i = 0; !isOver; i++)
            {
                IoBuffer buffer = world.Lane.Buffers.Rent(4096);
                buffer.Span.Fill(last[slice] = (byte)(i + 2));
                Assert.Equal(IoError.None, await world.Store.Write(slice * (long)Slice, buffer, WriteFlags.None));
                Assert.Equal(IoError.None, await world.Store.Read(slice * (long)Slice, buffer));
                Assert.Equal(last[slice], buffer.Span[0]);
                world.Lane.Buffers.Return(buffer);
                await world.Lane.Delay(100_000);
            }

            running--;
        }
    }

    [Theory]
    [InlineData(Scm, new[] { 2, 2, 2, 2, 0, 0, 0, 1, 1, 1, 1, 1 })]
    [InlineData(0, new[] { 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2 })]
    public void First_writes_fill_it_before_slower_tiers_and_after_faster_ones(int medium, int[] expected)
    {
        PoolWorld world = NewWorld();
        Add(world, medium, 4);
        for (int slice = 0; slice < 12; slice++)
        {
            Write(world, slice, 1);
        }

        Assert.Equal(expected, Enumerable.Range(0, 12).Select(slice => world.VirtualDisk!.Tiers!.Map[slice].Tier));
    }

    [Fact]
    public void Heat_pins_plans_and_the_report_count_it_as_the_fastest()
    {
        PoolWorld world = NewWorld();
        Fill(world);
        DiskTiering tiering = world.VirtualDisk!.Tiering!;
        for (int i = 0; i < 60; i++)
        {
            Read(world, 1);
            Read(world, 6);
        }

        TierDescription slow = world.VirtualDisk.Description.Tiers[1];
        Pin pin = new(new Guid(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11), 1, "", [new PinnedRange(Slice, 1)]);
        Assert.True(world.Lane.Run(world.Pool!.Commit([.. pin.ToRecords(world.VirtualDisk.Description.Id, slow.Id)])).Succeeded);
        tiering.LoadPins();
        double before = tiering.Heat.Total(tiering.Now);
        Add(world, Scm, 2);
        Assert.InRange(tiering.Heat.Total(tiering.Now), before * 0.99, before);
        Assert.Equal((2, 10L), (tiering.Pins.TierOf(1), tiering.Heat.Slices));   // the same tier, of which two others are faster now
        Assert.Equal(["scm", "t0", "t1"], tiering.Tiers.Select(static tier => tier.FriendlyName));
        Assert.Equal(["Performance", "t0", "Capacity"], world.Lane.Run(tiering.Report()).Tiers.Select(static tier => tier.Name));

        OptimizeTiersStep step = new(world.VirtualDisk, TierPlanSettings.Default);
        while (!world.Lane.Run(step.Advance(0)).IsDone)
        {
        }

        Assert.Equal((0, 2), (tiering.PlaceOf(6).Tier, tiering.PlaceOf(1).Tier));
        Assert.Equal(2, world.VirtualDisk.Tiers!.Map[6].Tier);
        Assert.InRange(world.Lane.Run(tiering.Report()).Tiers[0].PercentOfIo, 40, 60);
        Assert.Empty(world.Lane.Run(tiering.Plan(TierPlanSettings.Default)).Moves);
    }

    [Fact]
    public void An_optimization_under_way_plans_again_for_it()
    {
        PoolWorld world = NewWorld();
        Fill(world);
        for (int i = 0; i < 60; i++)
        {
            Read(world, 7);
        }

        OptimizeTiersStep step = new(world.VirtualDisk!, TierPlanSettings.Default);
        Assert.False(world.Lane.Run(step.Advance(0)).IsDone);
        Assert.Equal(2, step.Plan!.ShareAfter.Length);
        Add(world, Scm, 2);
        while (!world.Lane.Run(step.Advance(0)).IsDone)
        {
        }

        Assert.Equal(3, step.Plan!.ShareAfter.Length);
        Assert.Equal(2, world.VirtualDisk!.Tiers!.Map[7].Tier);
    }

    [Fact]
    public void What_has_no_room_changes_nothing()
    {
        PoolWorld world = NewWorld();
        Fill(world);
        long[] free = Free(world);
        CommitResult result = world.Lane.Run(AddedTier.AddTier(world.Pool!, world.VirtualDisk!, Spec(Scm, 100_000), []));
        Assert.Equal(CommitStatus.NoSpace, result.Status);
        Assert.Equal(free, Free(world));
        Assert.Equal(2, world.Pool!.State.VirtualDisks.Values.Single().Tiers.Length);
        Check(world, 8);
    }

    // A crash or a power cut before each request to a disk: the disk has the tier or has not, with all its data, and no slab is lost.
    [Theory]
    [InlineData(Scm, false, false)]
    [InlineData(Scm, true, false)]
    [InlineData(0, false, true)]
    public void It_is_there_or_it_is_not_whenever_power_fails(int medium, bool thin, bool isKill)
    {
        PoolWorld first = NewWorld(thin: thin);
        Fill(first);
        Assert.Equal(IoError.None, first.Lane.Run(first.VirtualDisk!.Close()));
        first.Lane.Run(first.Pool!.Close());
        (long[] without, long[] with) = ([], []);
        (int has, int hasNot) = (0, 0);
        bool ends = false;
        for (int point = 1; !ends; point++)
        {
            PoolWorld world = first.Cut(7, (_, _, _) => false);
            Assert.Equal("", world.Lane.Run(world.Open()));
            without = Free(world);
            ends = StopBefore(world, point, AddedTier.AddTier(world.Pool!, world.VirtualDisk!, Spec(medium, 4), []));
            with = ends ? Free(world) : with;
            for (int kept = 0; kept < 3; kept++)   // of what the disks had cached: nothing, every other sector, all
            {
                PoolWorld after = isKill ? world.Kill((ulong)point, () => (kept & 1) == 0)
                    : world.Cut((ulong)point, (disk, write, sector) => ((disk + write + sector + point) & 1) < kept);
                Assert.Equal("", after.Lane.Run(after.Open()));
                VirtualDiskDescription disk = after.VirtualDisk!.Description;
                bool isThere = disk.Tiers.Length == 3;
                Assert.True(isThere || !ends);
                Assert.True(after.Pool!.State.IsConsistent(out string why), why);
                Assert.Equal(disk.Spaces.Order(), after.Pool.State.Spaces.Keys.Order());
                Assert.Equal((isThere ? 12L : 8L) * Slice, after.VirtualDisk.Disk.SizeBytes);
                Check(after, isThere ? 12 : 8);
                Assert.Equal(isThere ? [] : without, isThere ? [] : Free(after));
                (has, hasNot) = (has + (isThere ? 1 : 0), hasNot + (isThere ? 0 : 1));
                if (!isThere && kept == 0)
                {
                    Add(after, medium, 4);
                }

                if (isThere || kept == 0)
                {
                    Write(after, 11, 12);
                    Assert.All(Read(after, 11), value => Assert.Equal(12, value));
                    Check(after, 11);
                }
            }
        }

        Assert.NotEqual(without, with);
        Assert.True(has > 3 && hasNot > 10, $"{has} with it, {hasNot} without it");
    }

    /// <summary>Lets an operation go on until so many requests have reached the disks; whether it has ended before.</summary>
    private static bool StopBefore(PoolWorld world, int point, LaneTask<CommitResult> operation)
    {
        int requests = 0;
        bool ended = false;
        Array.ForEach(world.Disks, disk => disk.OnRequest = (_, _, _) => requests++);
        Watch().Forget();
        world.Lane.PumpWhile(() => requests < point && !ended, 600_000_000_000);
        return ended;

        async LaneTask Watch()
        {
            CommitResult result = await operation;
            Assert.True(result.Succeeded, result.Reason);
            ended = true;
        }
    }

    private static TierDescription Spec(int medium, int slices) => new()
    {
        FriendlyName = medium == Scm ? "scm" : "last", MediaTypeCode = (ushort)medium, ResiliencySettingName = "Simple", SizeBytes = slices * (long)Slice,
        NumberOfColumns = 1, NumberOfDataCopies = 1, Interleave = 64 << 10,
    };

    private static void Add(PoolWorld world, int medium, int slices)
    {
        CommitResult result = world.Lane.Run(AddedTier.AddTier(world.Pool!, world.VirtualDisk!, Spec(medium, slices), []));
        Assert.True(result.Succeeded, result.Reason);
        Assert.True(world.Pool!.State.IsConsistent(out string why), why);
    }

    private static PoolWorld NewWorld(bool thin = false)
    {
        SpaceScenario scenario = new(1, 1, true, 4096, 0, IsWholePool: true) { TierSlices = [3, 5] };
        PoolWorld world = PoolWorld.New(4, 64 << 20, 4096, thin ? 4UL : 3UL, scenario.Spec(thin ? 4UL : 3UL));
        Assert.Equal("", world.Lane.Run(world.Open(isNew: true)));
        Assert.Equal(thin ? ProvisioningType.Thin : ProvisioningType.Fixed, world.VirtualDisk!.Description.ProvisioningType);
        foreach (DiskState disk in world.Pool!.State.Disks.Values.TakeLast(2).ToArray())
        {
            Assert.True(world.Lane.Run(world.Pool.Commit(new DiskChanged(disk.Description with { MediaTypeCode = Scm }))).Succeeded);
        }

        return world;
    }

    private static long[] Free(PoolWorld world) => [.. world.Pool!.State.Disks.Keys.Order().Select(world.Pool.Allocator.FreeSlabs)];

    private static void Fill(PoolWorld world)
    {
        for (int slice = 0; slice < 8; slice++)
        {
            Write(world, slice, (byte)(slice + 1));
        }
    }

    /// <summary>Data that <see cref="Fill"/> has written is there, and nothing behind it.</summary>
    private static void Check(PoolWorld world, int slices)
    {
        for (int slice = 0; slice < slices; slice++)
        {
            Assert.All(Read(world, slice), value => Assert.Equal(slice < 8 ? slice + 1 : 0, value));
        }
    }

    private static void Write(PoolWorld world, int slice, byte value)
    {
        IoBuffer buffer = world.Lane.Buffers.Rent(4096);
        buffer.Span.Fill(value);
        Assert.Equal(IoError.None, world.Lane.Run(world.Store.Write(slice * (long)Slice, buffer, WriteFlags.None)));
        world.Lane.Buffers.Return(buffer);
    }

    private static byte[] Read(PoolWorld world, int slice)
    {
        IoBuffer buffer = world.Lane.Buffers.Rent(4096);
        Assert.Equal(IoError.None, world.Lane.Run(world.Store.Read(slice * (long)Slice, buffer)));
        byte[] bytes = buffer.Span.ToArray();
        world.Lane.Buffers.Return(buffer);
        return bytes;
    }
}
