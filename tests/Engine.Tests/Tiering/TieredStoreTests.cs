using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Tiering;
using TierSpaces.Engine.VirtualDisks;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Tiering;

public sealed class TieredStoreTests
{
    private const int Slice = 256 << 10;

    [Fact]
    public void First_writes_fill_the_fastest_tier_then_the_next()
    {
        PoolWorld world = NewWorld([3, 5]);
        TieredStore tiers = world.VirtualDisk!.Tiers!;
        Assert.Equal((8L * Slice, 0, 0), (world.VirtualDisk.Disk.SizeBytes, tiers.Map.Mapped(0), tiers.Map.Mapped(1)));
        for (int slice = 7; slice >= 0; slice--)
        {
            Write(world, slice * Slice, 4096, (byte)(slice + 1));
        }

        Assert.Equal((3, 5), (tiers.Map.Mapped(0), tiers.Map.Mapped(1)));
        Assert.All(new[] { 7, 6, 5 }, slice => Assert.Equal(0, tiers.Map[slice].Tier));
        Assert.Equal((3L, 5L), (tiers.CountersOf(0)!.WriteOperations, tiers.CountersOf(1)!.WriteOperations));
        CheckAll(world, slice => (byte)(slice + 1));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Slices_change_tiers_with_what_they_hold_and_keep_their_place_over_a_restart(bool checksums)
    {
        PoolWorld world = NewWorld([3, 5], checksums: checksums);
        for (int slice = 0; slice < 8; slice++)
        {
            Write(world, slice * Slice, 4096, (byte)(slice + 1));
        }

        // The disk is full: the last one can only be promoted after the first has made room.
        RepairEnd end = world.Lane.Run(world.VirtualDisk!.Tiers!.Move(
            [new SliceOrder(0, 1, SliceReason.MadeRoom), new SliceOrder(7, 0, SliceReason.Promoted), new SliceOrder(1, 1, SliceReason.MadeRoom),
            new SliceOrder(6, 0, SliceReason.Promoted)],
            new SimPacer(world.Lane)));
        Assert.Equal(RepairEnd.Done, end);
        Assert.Equal(IoError.None, world.Lane.Run(world.Close()));
        PoolWorld again = world.Cut(9, (_, _, _) => false);
        Assert.Equal("", again.Lane.Run(again.Open()));
        TieredStore tiers = again.VirtualDisk!.Tiers!;
        Assert.Equal([1, 1, 0, 1, 1, 1, 0, 0], Enumerable.Range(0, 8).Select(slice => tiers.Map[slice].Tier));
        Assert.Equal(SliceReason.Promoted, tiers.Map[7].Reason);
        CheckAll(again, slice => (byte)(slice + 1));
    }

    [Fact]
    public void Every_slice_moves_to_and_fro_on_a_full_disk_under_load()
    {
        PoolWorld world = NewWorld([4, 4]);
        TieredStore tiers = world.VirtualDisk!.Tiers!;
        byte[] last = new byte[8];
        int running = 8;
        for (int slice = 0; slice < 8; slice++)
        {
            Write(world, slice * Slice, Slice, 1);
            Load(slice).Forget();
        }

        for (int round = 0; round < 10; round++)
        {
            SliceOrder[] orders = [.. Enumerable.Range(0, 8).Select(slice => new SliceOrder(slice, 1 - tiers.Map[slice].Tier, SliceReason.Promoted))
                .OrderBy(order => order.Tier)];
            Assert.Equal(RepairEnd.Done, world.Lane.Run(tiers.Move(orders, new SimPacer(world.Lane))));
        }

        world.Lane.PumpWhile(() => running > 0, 600_000_000_000);
        Assert.Equal(80, tiers.SlicesMoved);
        Assert.Equal((4, 4), (tiers.Map.Mapped(0), tiers.Map.Mapped(1)));
        for (int slice = 0; slice < 8; slice++)
        {
            Assert.All(Read(world, slice * Slice, 4096), value => Assert.Equal(last[slice], value));
        }

        async LaneTask Load(int slice)
        {
            for (int i = 0; i < 200; i++)
            {
                IoBuffer buffer = world.Lane.Buffers.Rent(4096);
                buffer.Span.Fill(last[slice] = (byte)(i + 2));
                Assert.Equal(IoError.None, await world.Store.Write(slice * Slice, buffer, WriteFlags.None));
                Assert.Equal(IoError.None, await world.Store.Read(slice * Slice, buffer));
                Assert.Equal(last[slice], buffer.Span[0]);
                world.Lane.Buffers.Return(buffer);
                await world.Lane.Delay(10_000);
            }

            running--;
        }
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_slice_given_back_leaves_nothing_to_the_next_owner_of_its_slot(bool checksums)
    {
        PoolWorld world = NewWorld([2, 2], checksums: checksums);
        TieredStore tiers = world.VirtualDisk!.Tiers!;
        Write(world, 0, Slice, 7);
        uint slot = tiers.Map[0].Slot;
        Assert.Equal(IoError.None, world.Lane.Run(world.Store.Unmap(0, Slice)));
        Assert.False(tiers.Map[0].IsMapped);
        Assert.All(Read(world, 0, Slice), value => Assert.Equal(0, value));
        world.Lane.PumpWhile(() => tiers.IsVacating, 600_000_000_000);
        Write(world, 3 * Slice, 4096, 9);
        Assert.Equal((0, slot), (tiers.Map[3].Tier, tiers.Map[3].Slot));
        Assert.All(Read(world, (3 * Slice) + 4096, Slice - 4096), value => Assert.Equal(0, value));
    }

    // The content of a slot before a power cut between its move and its vacating must not show through either.
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_slot_left_by_a_move_that_a_power_cut_stopped_is_cleaned_before_it_is_used(bool checksums)
    {
        PoolWorld world = NewWorld([1, 3], checksums: checksums);
        TieredStore tiers = world.VirtualDisk!.Tiers!;
        Write(world, 0, Slice, 7);
        Assert.Equal(IoError.None, world.Lane.Run(world.Store.Flush()));
        PoolWorld? cut = null;
        tiers.StepBegins += step => cut ??= step == 6 ? world.Cut(5, (_, _, _) => true) : null;
        Assert.Equal(RepairEnd.Done, world.Lane.Run(tiers.Move([new SliceOrder(0, 1, SliceReason.MadeRoom)], new SimPacer(world.Lane))));
        Assert.Equal("", cut!.Lane.Run(cut.Open()));
        Assert.Equal(1, cut.VirtualDisk!.Tiers!.Map[0].Tier);
        Write(cut, Slice, 4096, 9);
        Assert.Equal((0, 0u), (cut.VirtualDisk.Tiers.Map[1].Tier, cut.VirtualDisk.Tiers.Map[1].Slot));
        Assert.All(Read(cut, Slice + 4096, Slice - 4096), value => Assert.Equal(0, value));
        Assert.All(Read(cut, 0, Slice), value => Assert.Equal(7, value));
    }

    [Fact]
    public void Zeroing_with_no_hole_gives_a_place_as_a_write_does_and_without_takes_it_away()
    {
        PoolWorld world = NewWorld([2, 2]);
        TieredStore tiers = world.VirtualDisk!.Tiers!;
        Assert.Equal(IoError.None, world.Lane.Run(world.Store.WriteZeroes(0, 2 * Slice, WriteFlags.NoHole)));
        Assert.Equal(2, tiers.Map.Mapped(0));
        Assert.Equal(IoError.None, world.Lane.Run(world.Store.WriteZeroes(0, Slice, WriteFlags.None)));
        Assert.Equal(1, tiers.Map.Mapped(0));
        List<StoreExtent> extents = [];
        Assert.Equal(IoError.None, world.Lane.Run(world.Store.Status(0, 3 * Slice, extents)));
        Assert.Equal([new StoreExtent(Slice, ExtentState.Hole | ExtentState.Zero), new StoreExtent(Slice, ExtentState.Zero),
            new StoreExtent(Slice, ExtentState.Hole | ExtentState.Zero)], extents);
    }

    [Fact]
    public void A_move_that_cannot_read_its_source_leaves_the_slice_where_it_is()
    {
        PoolWorld world = NewWorld([2, 2]);
        TieredStore tiers = world.VirtualDisk!.Tiers!;
        Write(world, 0, Slice, 7);
        Array.ForEach(world.Disks, disk => disk.ReadFails = (_, _) => true);
        Assert.Equal(RepairEnd.Incomplete, world.Lane.Run(tiers.Move([new SliceOrder(0, 1, SliceReason.MadeRoom)], new SimPacer(world.Lane))));
        Array.ForEach(world.Disks, disk => disk.ReadFails = null);
        Assert.Equal(0, tiers.Map[0].Tier);
        Assert.All(Read(world, 0, Slice), value => Assert.Equal(7, value));
        Assert.Equal(RepairEnd.Done, world.Lane.Run(tiers.Move([new SliceOrder(0, 1, SliceReason.MadeRoom)], new SimPacer(world.Lane))));
        Assert.All(Read(world, 0, Slice), value => Assert.Equal(7, value));
    }

    [Fact]
    public void A_tier_grows_and_the_disk_with_it()
    {
        PoolWorld world = NewWorld([2, 2]);
        for (int slice = 0; slice < 4; slice++)
        {
            Write(world, slice * Slice, 4096, (byte)(slice + 1));
        }

        Assert.True(world.Lane.Run(VirtualDiskGrowth.GrowTier(world.Pool!, world.VirtualDisk!, 0, 20 * Slice)).Succeeded);
        Assert.Equal(22 * Slice, world.VirtualDisk!.Disk.SizeBytes);
        for (int slice = 4; slice < 22; slice++)
        {
            Write(world, slice * Slice, 4096, (byte)(slice + 1));
        }

        Assert.Equal((20, 2), (world.VirtualDisk.Tiers!.Map.Mapped(0), world.VirtualDisk.Tiers.Map.Mapped(1)));
        Assert.Equal(IoError.None, world.Lane.Run(world.Close()));
        PoolWorld again = world.Cut(9, (_, _, _) => false);
        Assert.Equal("", again.Lane.Run(again.Open()));
        CheckAll(again, slice => (byte)(slice + 1));
    }

    [Fact]
    public void A_thin_tier_gives_rows_without_slices_back()
    {
        PoolWorld world = NewWorld([8, 8], thin: true);
        Assert.Equal(0, Rows(0) + Rows(1));
        for (int slice = 0; slice < 8; slice++)
        {
            Write(world, slice * Slice, 4096, 1);
        }

        int full = Rows(0);
        Assert.True(full > 1);
        Assert.Equal(IoError.None, world.Lane.Run(world.Store.Unmap(0, 8 * Slice)));
        world.Lane.PumpWhile(() => Rows(0) > 0, 600_000_000_000);
        Assert.Equal(0, Rows(0));

        int Rows(int tier) => world.Pool!.State.Space(world.VirtualDisk!.Description.Tiers[tier].DataSpace)!.MappedRows;
    }

    // A slice that something in front holds data for, or that moves, cannot be given back at once; one that was given room for good never.
    [Theory]
    [InlineData(false, false, false)]
    [InlineData(false, true, false)]
    [InlineData(true, false, false)]
    [InlineData(true, true, false)]
    [InlineData(false, false, true)]
    [InlineData(true, false, true)]
    public void A_slice_unmapped_while_it_is_in_use_is_given_back_afterwards_unless_it_is_written_or_given_room_again(bool moves, bool isWritten, bool hasRoom)
    {
        PoolWorld world = NewWorld([2, 4]);
        TieredStore tiers = world.VirtualDisk!.Tiers!;
        Write(world, 0, Slice, 7);
        bool isInUse = true;
        tiers.KeepUnits(slice => isInUse && !moves && slice == 0);
        tiers.StepBegins += step => isInUse &= step != 6;
        LaneTask<RepairEnd> moving =
            moves ? tiers.Move([new SliceOrder(0, 1, SliceReason.MadeRoom)], new SimPacer(world.Lane)) : LaneTask.FromResult(RepairEnd.Done);
        Assert.Equal(IoError.None, world.Lane.Run(tiers.Unmap(0, Slice)));
        Assert.True(isInUse && tiers.Map[0].IsMapped);
        if (isWritten)
        {
            Write(world, 8192, 4096, 9);
        }

        if (hasRoom)
        {
            Assert.Equal(IoError.None, world.Lane.Run(tiers.WriteZeroes(0, Slice, WriteFlags.NoHole)));
        }

        Assert.Equal(RepairEnd.Done, world.Lane.Run(moving));
        isInUse = false;
        tiers.UnitReleased(0);
        world.Lane.Advance(5_000_000_000);
        Assert.Equal(isWritten || hasRoom, tiers.Map[0].IsMapped);
        Assert.All(Read(world, 0, 8192), value => Assert.Equal(0, value));
        Assert.All(Read(world, 8192, 4096), value => Assert.Equal(isWritten ? 9 : 0, value));
    }

    // A write cache passes on the parts of an unmap that it holds nothing of, and the others later, perhaps while the slice moves.
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_slice_unmapped_in_parts_by_a_write_cache_is_given_back_in_the_end(bool isReleasedDuringMove)
    {
        PoolWorld world = NewWorld([2, 4]);
        TieredStore tiers = world.VirtualDisk!.Tiers!;
        Write(world, 0, Slice, 7);
        bool isHeld = true;
        tiers.KeepUnits(slice => isHeld && slice == 0);
        Assert.Equal(IoError.None, world.Lane.Run(tiers.Unmap(4096, Slice - 4096)));
        tiers.UnitUnmapped(0);
        bool released = false;
        tiers.StepBegins += step => released |= step == 3 && isReleasedDuringMove && Release(tiers.Unmap(0, 4096));
        Assert.Equal(RepairEnd.Done, world.Lane.Run(tiers.Move([new SliceOrder(0, 1, SliceReason.MadeRoom)], new SimPacer(world.Lane))));
        Assert.Equal(isReleasedDuringMove, released);
        world.Lane.Advance(5_000_000_000);
        Assert.Equal(!isReleasedDuringMove, tiers.Map[0].IsMapped);
        Assert.True(released || Release(tiers.Unmap(0, 4096)));
        world.Lane.Advance(5_000_000_000);
        Assert.False(tiers.Map[0].IsMapped);

        bool Release(LaneTask<IoError> unmap)
        {
            After(unmap).Forget();
            return true;
        }

        async LaneTask After(LaneTask<IoError> unmap)
        {
            Assert.Equal(IoError.None, await unmap);
            isHeld = false;
            tiers.UnitReleased(0);
        }
    }

    // A row that a move was to leave, or to come to, when the power went.
    [Theory]
    [InlineData(5)]
    [InlineData(6)]
    public void A_thin_tier_gives_back_the_rows_that_a_power_cut_left_without_slices(int atStep)
    {
        PoolWorld world = NewWorld([8, 8], thin: true);
        TieredStore tiers = world.VirtualDisk!.Tiers!;
        Write(world, 0, Slice, 7);
        Assert.Equal(IoError.None, world.Lane.Run(world.Store.Flush()));
        PoolWorld? cut = null;
        tiers.StepBegins += step => cut ??= step == atStep ? world.Cut(5, (_, _, _) => true) : null;
        Assert.Equal(RepairEnd.Done, world.Lane.Run(tiers.Move([new SliceOrder(0, 1, SliceReason.MadeRoom)], new SimPacer(world.Lane))));
        Assert.Equal("", cut!.Lane.Run(cut.Open()));
        cut.Lane.PumpWhile(() => Rows(0) + Rows(1) > 1, 600_000_000_000);
        Assert.Equal((atStep - 5, 1), (Rows(1), Rows(0) + Rows(1)));
        Assert.All(Read(cut, 0, Slice), value => Assert.Equal(7, value));

        int Rows(int tier) => cut.Pool!.State.Space(cut.VirtualDisk!.Description.Tiers[tier].DataSpace)!.MappedRows;
    }

    // A slice that a move left in a row with others keeps the row when they have gone.
    [Fact]
    public void A_thin_tier_gives_a_row_back_although_a_power_cut_left_something_in_it()
    {
        PoolWorld world = NewWorld([8, 8], thin: true);
        TieredStore tiers = world.VirtualDisk!.Tiers!;
        Write(world, 0, 2 * Slice, 7);
        Assert.Equal(IoError.None, world.Lane.Run(world.Store.Flush()));
        PoolWorld? cut = null;
        tiers.StepBegins += step => cut ??= step == 6 ? world.Cut(5, (_, _, _) => true) : null;
        Assert.Equal(RepairEnd.Done, world.Lane.Run(tiers.Move([new SliceOrder(0, 1, SliceReason.MadeRoom)], new SimPacer(world.Lane))));
        Assert.Equal("", cut!.Lane.Run(cut.Open()));
        Assert.Equal((1, 1), (Rows(0), Rows(1)));
        Assert.Equal(IoError.None, cut.Lane.Run(cut.Store.Unmap(0, 2 * Slice)));
        cut.Lane.PumpWhile(() => Rows(0) + Rows(1) > 0, 600_000_000_000);

        int Rows(int tier) => cut.Pool!.State.Space(cut.VirtualDisk!.Description.Tiers[tier].DataSpace)!.MappedRows;
    }

    // Whole slices are given back, others zeroed where they are; a slice may begin to move after it was decided which.
    [Fact]
    public void Zeroing_whole_slices_while_they_begin_to_move_zeroes_them()
    {
        int met = 0;
        for (int delay = 0; delay < 20; delay++)
        {
            PoolWorld world = NewWorld([2, 4]);
            TieredStore tiers = world.VirtualDisk!.Tiers!;
            Write(world, 0, 2 * Slice, 7);
            Assert.Equal(IoError.None, world.Lane.Run(world.Store.Flush()));
            int running = 2;
            bool zeroing = false;
            tiers.StepBegins += step => met += step == 2 && zeroing ? 1 : 0;
            Zero().Forget();
            Move(delay * 6_000L).Forget();
            world.Lane.PumpWhile(() => running > 0, 600_000_000_000);
            Assert.All(Read(world, 0, Slice + 4096), value => Assert.Equal(0, value));
            Assert.All(Read(world, Slice + 4096, Slice - 4096), value => Assert.Equal(7, value));

            async LaneTask Zero()
            {
                zeroing = true;
                Assert.Equal(IoError.None, await world.Store.WriteZeroes(0, Slice + 4096, WriteFlags.None));
                zeroing = false;
                running--;
            }

            async LaneTask Move(long after)
            {
                await world.Lane.Delay(after);
                await tiers.Move([new SliceOrder(0, 1, SliceReason.MadeRoom)], new SimPacer(world.Lane));
                running--;
            }
        }

        Assert.True(met > 0, "no move began while slices were zeroed");
    }

    [Fact]
    public void Slices_given_back_can_be_written_again_at_once_on_a_full_disk()
    {
        PoolWorld world = NewWorld([16, 16]);
        TieredStore tiers = world.VirtualDisk!.Tiers!;
        for (int round = 0; round < 3; round++)
        {
            Write(world, 0, 32 * Slice, (byte)(round + 1));
            Assert.Equal((16, 16), (tiers.Map.Mapped(0), tiers.Map.Mapped(1)));
            Assert.Equal(IoError.None, world.Lane.Run(world.Store.Unmap(0, 32 * Slice)));
        }
    }

    [Fact]
    public void A_first_write_that_the_metadata_have_no_room_for_keeps_one_slot_and_is_repeated_there()
    {
        PoolWorld world = NewWorld([3, 5]);
        (TieredStore store, Host host) = StoreOf(world);
        IoBuffer buffer = world.Lane.Buffers.Rent(4096);
        host.IsFull = true;
        for (int i = 0; i < 50; i++)
        {
            Assert.Equal(IoError.NoSpace, world.Lane.Run(store.Write(0, buffer, WriteFlags.None)));
        }

        Assert.Single(host.Asked.Distinct());
        host.IsFull = false;
        Assert.Equal(IoError.None, world.Lane.Run(store.Write(0, buffer, WriteFlags.None)));
        Assert.Equal(host.Asked[0].Entry.Slot, store.Map[0].Slot);
        Assert.Equal(0, store.Map[0].Tier);
        for (int slice = 1; slice < 8; slice++)
        {
            Assert.Equal(IoError.None, world.Lane.Run(store.Write(slice * Slice, buffer, WriteFlags.None)));
        }

        Assert.Equal((3, 5), (store.Map.Mapped(0), store.Map.Mapped(1)));
        world.Lane.Buffers.Return(buffer);
    }

    // A slice that was unmapped while it was held is freed later, if the metadata has room for that. If it has none, neither
    // writes nor moves wait for it, whether the commit was applied all the same or not.
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_slice_that_the_metadata_have_no_room_to_give_back_keeps_its_place_and_holds_nothing_up(bool comesAbout)
    {
        PoolWorld world = NewWorld([3, 5]);
        (TieredStore store, Host host) = StoreOf(world);
        for (int slice = 0; slice < 8; slice++)
        {
            Assert.Equal(IoError.None, Fill(slice, 1));
        }

        bool isHeld = true;
        store.KeepUnits(slice => isHeld && slice == 0);
        Assert.Equal(IoError.None, world.Lane.Run(store.Unmap(0, Slice)));
        Assert.True(store.Map[0].IsMapped);
        SliceEntry place = store.Map[0];
        isHeld = false;
        (host.IsFull, host.ComesAbout) = (true, comesAbout);
        store.UnitReleased(0);
        Assert.Equal(IoError.None, world.Lane.Run(store.Unmap(Slice / 2, 4096)));
        world.Lane.PumpWhile(() => store.IsVacating, 10_000_000_000);
        Assert.Equal(IoError.NoSpace, world.Lane.Run(store.Write(0, world.Lane.Buffers.Rent(4096), WriteFlags.None), 10_000_000_000));
        Assert.Equal(RepairEnd.Done, world.Lane.Run(store.Move([new SliceOrder(0, 1, SliceReason.Demoted)], new SimPacer(world.Lane)), 10_000_000_000));
        Assert.Equal(IoError.None, world.Lane.Run(store.Unmap(0, Slice), 10_000_000_000));
        Assert.All(Zeros(), value => Assert.Equal(0, value));

        (host.IsFull, host.ComesAbout) = (false, false);
        Assert.Equal(RepairEnd.Done,
            world.Lane.Run(store.Move([new SliceOrder(1, 1, SliceReason.Demoted), new SliceOrder(7, 0, SliceReason.Promoted)], new SimPacer(world.Lane))));
        for (int slice = 0; slice < 8; slice++)
        {
            Assert.Equal(IoError.None, Fill(slice, 9));
        }

        Assert.Equal((place.Tier, place.Slot), (store.Map[0].Tier, store.Map[0].Slot));
        Assert.Equal(8, store.Map.Enumerate().Count(static slice => slice.Slice < 8));

        IoError Fill(int slice, byte value)
        {
            IoBuffer buffer = world.Lane.Buffers.Rent(4096);
            buffer.Span.Fill(value);
            IoError error = world.Lane.Run(store.Write(slice * Slice, buffer, WriteFlags.None));
            world.Lane.Buffers.Return(buffer);
            return error;
        }

        byte[] Zeros()
        {
            IoBuffer buffer = world.Lane.Buffers.Rent(4096);
            Assert.Equal(IoError.None, world.Lane.Run(store.Read(0, buffer)));
            return buffer.Span.ToArray();
        }
    }

    private static (TieredStore Store, Host Host) StoreOf(PoolWorld world)
    {
        VirtualDiskDescription disk = world.VirtualDisk!.Description;
        Host host = new(new PoolSliceHost(world.Pool!.LinkTo(world.Lane), disk.Id));
        return (new TieredStore(
            world.Lane, host, [.. world.VirtualDisk.Parts.Select(
                part => new StorageTierStore(part.Space, disk.Part(part.Number)!.SizeBytes, Slice, isThin: false))],
            [0, 1], Slice, 8 * Slice), host);
    }

    /// <summary>The pool's host, whose metadata are full at times.</summary>
    private sealed class Host(PoolSliceHost pool) : ISliceHost
    {
        internal bool IsFull { get; set; }

        internal bool ComesAbout { get; set; }

        internal List<SliceChange> Asked { get; } = [];

        public SliceMapState Map => pool.Map;

        public int WindowSlices { get; init; } = 1;

        public async LaneTask<SliceCommit> Commit(IReadOnlyList<SliceChange> changes)
        {
            Asked.AddRange(IsFull ? changes : []);
            SliceCommit end = IsFull && !ComesAbout ? SliceCommit.NoRoom : await pool.Commit(changes);
            return IsFull ? SliceCommit.NoRoom : end;
        }
    }

    // While its slice moves, and has been copied already: lost at both places, whichever becomes the true one.
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_lost_block_is_an_error_wherever_its_slice_goes(bool moves)
    {
        PoolWorld world = NewWorld([2, 2]);
        TieredStore tiers = world.VirtualDisk!.Tiers!;
        Write(world, 0, 2 * Slice, 7);
        LaneTask<IoError>? poisoned = null;
        tiers.StepBegins += step => poisoned ??= step == 4 ? tiers.Poison(Slice - 4096, 8192) : null;
        RepairEnd end = moves ? world.Lane.Run(tiers.Move([new SliceOrder(0, 1, SliceReason.MadeRoom)], new SimPacer(world.Lane))) : RepairEnd.Done;
        Assert.Equal((RepairEnd.Done, IoError.None), (end, world.Lane.Run(poisoned ?? tiers.Poison(Slice - 4096, 8192))));
        Assert.Equal(moves ? 1 : 0, tiers.Map[0].Tier);
        Assert.Equal(IoError.None, world.Lane.Run(world.Store.Flush()));
        world = world.Cut(5, (_, _, _) => false);
        Assert.Equal("", world.Lane.Run(world.Open()));
        foreach (long offset in (long[])[Slice - 4096, Slice])
        {
            IoBuffer buffer = world.Lane.Buffers.Rent(4096);
            Assert.Equal(IoError.Io, world.Lane.Run(world.Store.Read(offset, buffer)));
            Write(world, offset, 4096, 7);
        }

        Assert.All(Read(world, 0, 2 * Slice), value => Assert.Equal(7, value));
    }

    private static PoolWorld NewWorld(int[] tiers, bool checksums = true, bool thin = false)
    {
        SpaceScenario scenario = new(1, 1, checksums, 4096, 0, IsWholePool: true) { TierSlices = tiers };
        PoolWorld world = PoolWorld.New(4, 64 << 20, 4096, thin ? 4UL : 3UL, scenario.Spec(thin ? 4UL : 3UL));
        Assert.Equal("", world.Lane.Run(world.Open(isNew: true)));
        return world;
    }

    private static void Write(PoolWorld world, long offset, int length, byte value)
    {
        IoBuffer buffer = world.Lane.Buffers.Rent(length);
        buffer.Span.Fill(value);
        Assert.Equal(IoError.None, world.Lane.Run(world.Store.Write(offset, buffer, WriteFlags.None)));
        world.Lane.Buffers.Return(buffer);
    }

    private static byte[] Read(PoolWorld world, long offset, int length)
    {
        IoBuffer buffer = world.Lane.Buffers.Rent(length);
        Assert.Equal(IoError.None, world.Lane.Run(world.Store.Read(offset, buffer)));
        byte[] bytes = buffer.Span.ToArray();
        world.Lane.Buffers.Return(buffer);
        return bytes;
    }

    private static void CheckAll(PoolWorld world, Func<int, byte> expected)
    {
        for (int slice = 0; slice < world.VirtualDisk!.Tiers!.Slices; slice++)
        {
            Assert.All(Read(world, slice * Slice, 4096), value => Assert.Equal(expected(slice), value));
        }
    }
}
