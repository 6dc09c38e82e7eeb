using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Tiering;
using TierSpaces.Engine.Verification;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Tiering;

/// <summary>Slices of a pool on rotating disks, which get their places with the first write of a neighbour.</summary>
public sealed class SlicesAheadTests
{
    private const int Slice = 256 << 10;
    private const long AMinute = SlicesAhead.KeptNs + 5_000_000_000;

    [Fact]
    public void A_neighbour_has_a_place_and_reads_as_one_that_is_nowhere()
    {
        PoolWorld world = NewWorld([10, 10]);
        TieredStore tiers = TiersOf(world);
        Write(world, 4, 7);
        Assert.Equal([4, 5, 6, 7, 8], Mapped(tiers));   // half of the nine that were free
        Assert.Equal((4L, 1L), (tiers.CountersOf(0)!.SlicesAhead, tiers.CountersOf(0)!.SlicesAllocated));
        Assert.All(Read(world, 5), value => Assert.Equal(0, value));
        Assert.Equal(0, tiers.CountersOf(0)!.ReadOperations);
        List<StoreExtent> extents = [];
        Assert.Equal(IoError.None, world.Lane.Run(tiers.Status(5 * Slice, 2 * Slice, extents)));
        Assert.Equal([new StoreExtent(2 * Slice, ExtentState.Zero | ExtentState.Hole)], extents);

        Assert.False(tiers.PlaceOf(5).IsMapped);
        Write(world, 5, 8);
        Assert.Equal((0, SliceReason.FirstWrite), (tiers.PlaceOf(5).Tier, tiers.PlaceOf(5).Reason));
        Assert.Equal((3L, 2L, 2L), (tiers.CountersOf(0)!.SlicesAhead, tiers.CountersOf(0)!.SlicesAllocated, tiers.CountersOf(0)!.FirstWrites));
        Assert.All(Read(world, 5), value => Assert.Equal(8, value));
    }

    // Commits of several windows go in one group: the map has the places of all of them when the first of these writes goes on.
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void Windows_that_are_entered_together_lose_no_write(int seed)
    {
        PoolWorld world = NewWorld([200, 200]);
        int[] order = [.. Enumerable.Range(0, 256)];
        new Random(seed).Shuffle(order);
        int next = 0;
        int running = 32;
        for (int i = 0; i < 32; i++)
        {
            Work().Forget();
        }

        world.Lane.PumpWhile(() => running > 0, 600_000_000_000);
        Check(world, [.. order.Select(static slice => (slice, 1 + (slice % 250)))]);

        async LaneTask Work()
        {
            IoBuffer buffer = world.Lane.Buffers.Rent(4096);
            while (next < order.Length)
            {
                int slice = order[next++];
                buffer.Span.Fill((byte)(1 + (slice % 250)));
                Assert.Equal(IoError.None, await world.Store.Write((long)slice * Slice, buffer, WriteFlags.None));
                Assert.Equal(IoError.None, await world.Store.Read((long)slice * Slice, buffer));
                Assert.Equal(1 + (slice % 250), buffer.Span[0]);
            }

            world.Lane.Buffers.Return(buffer);
            running--;
        }
    }

    [Fact]
    public void What_is_not_written_within_a_minute_loses_its_place()
    {
        PoolWorld world = NewWorld([10, 10]);
        TieredStore tiers = TiersOf(world);
        Write(world, 4, 7);
        Write(world, 6, 8);
        world.Lane.Advance(AMinute);
        Assert.Equal([4, 6], Mapped(tiers));
        Assert.Equal(0, tiers.CountersOf(0)!.SlicesAhead);
        Assert.Equal(SliceReason.FirstWrite, tiers.Map[6].Reason);
        Write(world, 5, 9);
        Check(world, (4, 7), (5, 9), (6, 8), (7, 0));
    }

    [Fact]
    public void A_tier_that_is_full_but_for_them_takes_writes_before_the_next_one_does()
    {
        PoolWorld world = NewWorld([8, 8]);
        TieredStore tiers = TiersOf(world);
        int[] order = [0, 8, 9, 10, 11, 12, 13, 14];   // 1 to 3 are given places, and are not written
        foreach (int slice in order)
        {
            Write(world, slice, (byte)(slice + 1));
        }

        Assert.All(order, slice => Assert.Equal(0, tiers.Map[slice].Tier));
        Write(world, 1, 2);
        Assert.Equal(1, tiers.Map[1].Tier);
        Check(world, [(1, 2), (2, 0), .. order.Select(static slice => (slice, slice + 1))]);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_crash_leaves_what_was_written_and_the_opening_takes_the_rest_back(bool hadTime)
    {
        PoolWorld world = NewWorld([10, 10]);
        Write(world, 4, 7);
        Write(world, 6, 8);
        world.Lane.Advance(hadTime ? 20_000_000_000 : 0);
        Assert.Equal(IoError.None, world.Lane.Run(world.Store.Flush()));
        world = world.Cut(5, (_, _, _) => false);
        Assert.Equal("", world.Lane.Run(world.Open()));
        Check(world, (4, 7), (5, 0), (6, 8), (7, 0));
        world.Lane.Advance(10_000_000_000);
        Assert.Equal([4, 6], Mapped(TiersOf(world)));
        Assert.Equal(SliceReason.FirstWrite, TiersOf(world).Map[6].Reason);
        Check(world, (4, 7), (5, 0), (6, 8), (7, 0));
    }

    [Fact]
    public void A_clean_stop_leaves_them_to_the_next_opening()
    {
        PoolWorld world = NewWorld([10, 10]);
        Write(world, 4, 7);
        Assert.Equal(IoError.None, world.Lane.Run(world.Close()));
        world = world.Cut(5, (_, _, _) => false);
        Assert.Equal("", world.Lane.Run(world.Open()));
        world.Lane.Advance(10_000_000_000);
        Assert.Equal([4], Mapped(TiersOf(world)));
    }

    // Some hundred places are taken back in several commits, and during them their minute ends.
    [Theory]
    [InlineData(100_000)]
    [InlineData(200_000)]
    [InlineData(400_000)]
    [InlineData(800_000)]
    [InlineData(1_600_000)]
    [InlineData(3_200_000)]
    public void Those_that_are_taken_back_are_not_entered_as_written_meanwhile(long beforeNs)
    {
        PoolWorld world = NewWorld([400, 400]);
        TieredStore tiers = TiersOf(world);
        int[] written = [192, 128, 64, 0];
        long first = 0;
        foreach (int slice in written)
        {
            Write(world, slice, 7);
            first = first == 0 ? world.Lane.NowNs : first;
        }

        Assert.True(tiers.CountersOf(0)!.SlicesAhead > 128);
        world.Lane.Advance(first + SlicesAhead.KeptNs - beforeNs - world.Lane.NowNs);
        LaneTask<Nothing> back = tiers.GiveAheadBack();
        world.Lane.Run(back);
        world.Lane.Advance(AMinute);
        Assert.Equal(written.Order(), Mapped(tiers));
    }

    [Fact]
    public void A_plan_right_after_the_opening_has_the_room_of_those_that_were_left()
    {
        PoolWorld world = NewWorld([10, 10]);
        Write(world, 4, 7);
        world = world.Cut(5, (_, _, _) => false);
        Assert.Equal("", world.Lane.Run(world.Open()));
        Assert.NotEqual([4], Mapped(TiersOf(world)));
        world.Lane.Run(TiersOf(world).GiveAheadBack());
        Assert.Equal([4], Mapped(TiersOf(world)));
    }

    // Zeroes that are to keep their room keep the place, over a crash too.
    [Fact]
    public void Room_that_is_to_be_kept_is_kept()
    {
        PoolWorld world = NewWorld([10, 10]);
        TieredStore tiers = TiersOf(world);
        Write(world, 4, 7);
        Assert.Equal(IoError.None, world.Lane.Run(tiers.WriteZeroes(5 * Slice, Slice, WriteFlags.NoHole)));
        Assert.Equal(IoError.None, world.Lane.Run(tiers.WriteZeroes(6 * Slice, Slice, WriteFlags.None)));
        Assert.True(tiers.IsReserved(5));
        Assert.False(tiers.IsReserved(7));
        Assert.Equal(IoError.None, world.Lane.Run(tiers.Reserve(7)));
        Assert.True(tiers.IsReserved(7));
        PoolWorld cut = world.Cut(5, (_, _, _) => false);
        world.Lane.Advance(AMinute);
        Assert.Equal([4, 5, 7], Mapped(tiers));
        Assert.Equal("", cut.Lane.Run(cut.Open()));
        cut.Lane.Advance(10_000_000_000);
        Assert.Contains(5, Mapped(TiersOf(cut)));
    }

    [Fact]
    public void They_move_with_no_plan_and_a_plan_has_their_room()
    {
        PoolWorld world = NewWorld([10, 10]);
        TieredStore tiers = TiersOf(world);
        Write(world, 4, 7);
        Assert.Equal(RepairEnd.Done, world.Lane.Run(tiers.Move([new SliceOrder(5, 1, SliceReason.Demoted)], new SimPacer(world.Lane))));
        Assert.Equal(0, tiers.Map[5].Tier);
        world.Lane.Run(tiers.GiveAheadBack());
        Assert.Equal([4], Mapped(tiers));
    }

    [Fact]
    public void A_whole_slice_that_is_unmapped_leaves_at_once()
    {
        PoolWorld world = NewWorld([10, 10]);
        TieredStore tiers = TiersOf(world);
        Write(world, 4, 7);
        Assert.Equal(IoError.None, world.Lane.Run(tiers.Unmap(5 * Slice, Slice)));
        Assert.Equal([4, 6, 7, 8], Mapped(tiers));
        Assert.Equal(3, tiers.CountersOf(0)!.SlicesAhead);
    }

    [Theory]
    [InlineData(false, true)]
    [InlineData(true, false)]
    public void Without_checksums_or_on_fast_disks_there_are_none(bool checksums, bool rotates)
    {
        PoolWorld world = NewWorld([10, 10], checksums, rotates);
        Write(world, 4, 7);
        Assert.Equal([4], Mapped(TiersOf(world)));
    }

    private static PoolWorld NewWorld(int[] tiers, bool checksums = true, bool rotates = true)
    {
        SpaceScenario scenario = new(1, 1, checksums, 4096, 0, IsWholePool: true) { TierSlices = tiers };
        PoolWorld world = PoolWorld.New(4, tiers.Sum() > 100 ? 256 << 20 : 64 << 20, 4096, 3, scenario.Spec(3), rotates: rotates);
        Assert.Equal("", world.Lane.Run(world.Open(isNew: true)));
        return world;
    }

    private static TieredStore TiersOf(PoolWorld world) => world.VirtualDisk!.Tiers!;

    /// <summary>The slices of the disk that are in the map.</summary>
    private static int[] Mapped(TieredStore tiers) =>
        [.. tiers.Map.Enumerate().Select(static place => place.Slice).Where(static slice => slice < SlicesMapped.SystemSlices).Order()];

    private static void Write(PoolWorld world, int slice, byte value)
    {
        IoBuffer buffer = world.Lane.Buffers.Rent(4096);
        buffer.Span.Fill(value);
        Assert.Equal(IoError.None, world.Lane.Run(world.Store.Write((long)slice * Slice, buffer, WriteFlags.None)));
        world.Lane.Buffers.Return(buffer);
    }

    private static byte[] Read(PoolWorld world, int slice)
    {
        IoBuffer buffer = world.Lane.Buffers.Rent(4096);
        Assert.Equal(IoError.None, world.Lane.Run(world.Store.Read((long)slice * Slice, buffer)));
        byte[] bytes = buffer.Span.ToArray();
        world.Lane.Buffers.Return(buffer);
        return bytes;
    }

    private static void Check(PoolWorld world, params (int Slice, int Value)[] expected) =>
        Assert.All(expected, one => Assert.All(Read(world, one.Slice), value => Assert.Equal(one.Value, value)));
}
