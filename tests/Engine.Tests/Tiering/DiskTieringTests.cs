using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Jobs;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tiering;
using TierSpaces.Engine.VirtualDisks;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Tiering;

public sealed class DiskTieringTests
{
    private const int Slice = 256 << 10;

    [Fact]
    public void What_is_used_most_comes_to_the_fastest_tier_and_stays()
    {
        PoolWorld world = NewWorld();
        Read(world, [5, 6, 7], times: 60);
        OptimizeTiersStep step = new(world.VirtualDisk!, TierPlanSettings.Default);
        Run(world, step);
        Assert.All(new[] { 5, 6, 7 }, slice => Assert.Equal(0, world.VirtualDisk!.Tiers!.Map[slice].Tier));
        Assert.All(new[] { 0, 1, 2 }, slice => Assert.Equal(1, world.VirtualDisk!.Tiers!.Map[slice].Tier));
        Assert.Equal((3L * Slice, 3L * Slice), (step.BytesPromoted, step.BytesDemoted));
        Assert.Empty(world.Lane.Run(world.VirtualDisk!.Tiering!.Plan(TierPlanSettings.Default)).Moves);
        Assert.InRange(world.Lane.Run(world.VirtualDisk.Tiering.Report()).Tiers[0].PercentOfIo, 90, 100);
    }

    [Fact]
    public void Moves_and_saving_heat_heat_nothing()
    {
        PoolWorld world = NewWorld();
        Read(world, [5, 6, 7], times: 60);
        double before = world.VirtualDisk!.Tiering!.Heat.Total(world.Lane.NowNs);
        Run(world, new OptimizeTiersStep(world.VirtualDisk, TierPlanSettings.Default));
        Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk.Tiering.SaveHeat()));
        Assert.InRange(world.VirtualDisk.Tiering.Heat.Total(world.Lane.NowNs), before * 0.99, before);
    }

    [Fact]
    public void Heat_is_there_after_a_stop_and_the_one_saved_last_after_a_power_cut()
    {
        PoolWorld world = NewWorld();
        Read(world, [5], times: 60);
        Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk!.Tiering!.SaveHeat()));
        Read(world, [6], times: 60);
        PoolWorld cut = world.Cut(3, (_, _, _) => false);
        Assert.Equal("", cut.Lane.Run(cut.Open()));
        Assert.InRange(HeatOf(cut, 5), 50, 61);
        Assert.InRange(HeatOf(cut, 6), 0, 2);

        Assert.Equal(IoError.None, world.Lane.Run(world.Close()));
        PoolWorld again = world.Cut(4, (_, _, _) => false);
        Assert.Equal("", again.Lane.Run(again.Open()));
        Assert.InRange(HeatOf(again, 5), 50, 61);
        Assert.InRange(HeatOf(again, 6), 50, 61);
        Read(again, [7], times: 60);
        Assert.Equal(IoError.None, again.Lane.Run(again.VirtualDisk!.Tiering!.SaveHeat()));   // over the older one, not the newer
        PoolWorld third = again.Cut(5, (_, _, _) => false);
        Assert.Equal("", third.Lane.Run(third.Open()));
        Assert.InRange(HeatOf(third, 7), 50, 61);
    }

    [Fact]
    public void A_pinned_slice_goes_to_its_tier_whatever_its_heat()
    {
        PoolWorld world = NewWorld();
        Read(world, [5, 6, 7], times: 60);
        VirtualDiskDescription disk = world.VirtualDisk!.Description;
        Pin pin = new(new Guid(7, 0, 0, new byte[8]), 0, "", [new PinnedRange(4L * Slice, Slice)]);
        Assert.True(world.Lane.Run(world.Pool!.Commit([.. pin.ToRecords(disk.Id, disk.Tiers[0].Id)])).Succeeded);
        world.VirtualDisk.Tiering!.LoadPins();
        Run(world, new OptimizeTiersStep(world.VirtualDisk, TierPlanSettings.Default));
        Assert.Equal((0, SliceReason.Pinned), (world.VirtualDisk.Tiers!.Map[4].Tier, world.VirtualDisk.Tiers.Map[4].Reason));
        Assert.Equal(3, world.VirtualDisk.Tiers.Map.Enumerate().Count(slice => slice.Slice < 8 && slice.Entry.Tier == 0));
    }

    private static PoolWorld NewWorld()
    {
        PoolWorld world = PoolWorld.New(4, 64 << 20, 4096, 3, new SpaceScenario(1, 1, true, 4096, 0, IsWholePool: true) { TierSlices = [3, 5] }.Spec(3));
        Assert.Equal("", world.Lane.Run(world.Open(isNew: true)));
        IoBuffer buffer = world.Lane.Buffers.Rent(4096);
        for (int slice = 0; slice < 8; slice++)
        {
            Assert.Equal(IoError.None, world.Lane.Run(world.Store.Write(slice * Slice, buffer, WriteFlags.None)));
        }

        world.Lane.Buffers.Return(buffer);
        return world;
    }

    private static void Read(PoolWorld world, int[] slices, int times)
    {
        IoBuffer buffer = world.Lane.Buffers.Rent(4096);
        for (int i = 0; i < times; i++)
        {
            foreach (int slice in slices)
            {
                Assert.Equal(IoError.None, world.Lane.Run(world.Store.Read((slice * Slice) + (world.Lane.Next(Slice / 4096) * 4096), buffer)));
            }
        }

        world.Lane.Buffers.Return(buffer);
    }

    private static double HeatOf(PoolWorld world, int slice) => world.VirtualDisk!.Tiering!.Heat.Heat(slice, world.Lane.NowNs);

    private static void Run(PoolWorld world, OptimizeTiersStep step)
    {
        JobAdvance advance = default;
        do
        {
            advance = world.Lane.Run(step.Advance(advance.Cursor));
            Assert.Equal(IoError.None, advance.Error);
        }
        while (!advance.IsDone);
    }
}
