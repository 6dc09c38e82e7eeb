using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Tiering;
using TierSpaces.Engine.VirtualDisks;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Tiering;

/// <summary>Ordering constraints where slices get and change their places, each case made to happen.</summary>
public sealed class TierOrderTests
{
    private const int Slice = 256 << 10;

    // A move left the slot, and a power cut came before it was vacated. Power fails again when the map that gives it to another slice has arrived
    // on the disks, of what was not flushed before nothing.
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_slot_cleaned_for_its_next_owner_is_so_durably_before_the_map_says_whose_it_is(bool checksums)
    {
        PoolWorld first = NewWorld(checksums: checksums);
        TieredStore tiers = first.VirtualDisk!.Tiers!;
        Write(first, 0, Slice, 7);
        Flush(first);
        PoolWorld? world = null;
        tiers.StepBegins += step => world ??= step == 6 ? first.Cut(5, (_, _, _) => true) : null;
        Assert.Equal(RepairEnd.Done, first.Lane.Run(tiers.Move([new SliceOrder(0, 1, SliceReason.MadeRoom)], new SimPacer(first.Lane))));
        Assert.Equal("", world!.Lane.Run(world.Open()));
        CheckNextOwner(world, StoreOf(world));
    }

    // The same where the slot was vacated in time: nothing is left to be cleaned.
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_slot_vacated_by_a_move_is_empty_durably_before_it_is_free(bool checksums)
    {
        PoolWorld world = NewWorld(checksums: checksums);
        (TieredStore store, CuttingHost host) = StoreOf(world);
        Write(world, store, 0, Slice, 7);
        Flush(world);
        Assert.Equal(RepairEnd.Done, world.Lane.Run(store.Move([new SliceOrder(0, 1, SliceReason.MadeRoom)], new SimPacer(world.Lane))));
        world.Lane.PumpWhile(() => store.IsVacating, 10_000_000_000);
        CheckNextOwner(world, (store, host));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Zeroing_that_is_to_be_durable_is_so_when_it_is_answered(bool checksums)
    {
        PoolWorld world = NewWorld(checksums: checksums);
        Write(world, 0, Slice, 7);
        Flush(world);
        Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk!.Tiers!.WriteZeroes(4096, 8192, WriteFlags.ForceUnitAccess)));
        PoolWorld after = world.Cut(5, (_, _, _) => false);
        Assert.Equal("", after.Lane.Run(after.Open()));
        Assert.All(Read(after, 4096, 8192), value => Assert.Equal(0, value));
        Assert.All(Read(after, 12288, Slice - 12288), value => Assert.Equal(7, value));
    }

    // Nowhere yet, or on its way out: it is given a place, and the block is lost there.
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_block_is_lost_also_in_a_slice_that_has_no_place(bool isLeaving)
    {
        PoolWorld world = NewWorld();
        TieredStore tiers = world.VirtualDisk!.Tiers!;
        LaneTask<IoError> leaving = LaneTask.FromResult(IoError.None);
        if (isLeaving)
        {
            Write(world, 0, Slice, 7);
            leaving = tiers.Unmap(0, Slice);
            Assert.False(leaving.IsCompleted);
        }

        Assert.Equal(IoError.None, world.Lane.Run(tiers.Poison(4096, 4096)));
        Assert.Equal(IoError.None, world.Lane.Run(leaving));
        Assert.Equal(IoError.Io, world.Lane.Run(tiers.Read(4096, world.Lane.Buffers.Rent(4096))));
        Assert.All(Read(world, 8192, Slice - 8192), value => Assert.Equal(0, value));
    }

    // The range has been read in part when a block of it is lost: what was read of that block must not come to the other tier after the loss.
    [Fact]
    public void A_block_that_is_lost_while_its_range_is_copied_does_not_come_back()
    {
        PoolWorld world = NewWorld(columns: 2);
        TieredStore tiers = world.VirtualDisk!.Tiers!;
        Write(world, 0, Slice, 7);
        SlabRef[] row = world.Pool!.State.Space(world.VirtualDisk.Description.Tiers[0].DataSpace)!.Row(0)!.Mapping.Sources.ToArray();
        LaneTask<IoError>? lost = null;
        SimDisk second = world.Disks[row[1].Disk.Value - 1];
        second.ReadTakesLonger = (_, _) => 100_000_000;
        second.OnRequest = (operation, _, length) => lost ??= operation == SimOperation.Read && length == 64 << 10 ? LoseSoon() : null;
        Assert.Equal(RepairEnd.Done, world.Lane.Run(tiers.Move([new SliceOrder(0, 1, SliceReason.MadeRoom)], new SimPacer(world.Lane))));
        Assert.Equal(IoError.None, world.Lane.Run(lost!.Value));
        Assert.Equal(1, tiers.Map[0].Tier);
        Assert.Equal(IoError.Io, world.Lane.Run(world.Store.Read(0, world.Lane.Buffers.Rent(4096))));
        Assert.All(Read(world, 4096, Slice - 4096), value => Assert.Equal(7, value));

        async LaneTask<IoError> LoseSoon()
        {
            await world.Lane.Delay(10_000_000);   // the first column has been read by then
            return await tiers.Poison(0, 4096);
        }
    }

    // A client writes into the slice while the move is paced, and the target does not take the write.
    [Fact]
    public void A_write_that_the_target_missed_while_the_move_was_paced_keeps_the_slice_at_its_source()
    {
        PoolWorld world = NewWorld();
        TieredStore tiers = world.VirtualDisk!.Tiers!;
        Write(world, 0, Slice, 7);
        SlabRef[] places = [.. Enumerable.Range(0, 2)
            .Select(tier => world.Pool!.State.Space(world.VirtualDisk.Description.Tiers[tier].DataSpace)!.Row(0)!.Mapping.Sources[0])];
        Assert.NotEqual(places[0].Disk, places[1].Disk);
        SimDisk target = world.Disks[places[1].Disk.Value - 1];
        RepairEnd end = world.Lane.Run(tiers.Move([new SliceOrder(0, 1, SliceReason.MadeRoom)], new WritingPacer(WriteMissingTarget)));
        Assert.Equal((RepairEnd.Incomplete, 0), (end, tiers.Map[0].Tier));
        Assert.All(Read(world, 0, 4096), value => Assert.Equal(9, value));
        Assert.All(Read(world, 4096, Slice - 4096), value => Assert.Equal(7, value));

        async LaneTask<Nothing> WriteMissingTarget()
        {
            IoBuffer buffer = world.Lane.Buffers.Rent(4096);
            buffer.Span.Fill(9);
            target.WriteFails = (_, _) => true;
            Assert.Equal(IoError.None, await tiers.Write(0, buffer, WriteFlags.None));
            target.WriteFails = null;
            world.Lane.Buffers.Return(buffer);
            return default;
        }
    }

    // A power cut left the copies of a block different. While the virtual disk is opened again a member disk leaves, at any request: the tiers that are
    // already open decide the content of the block without it, and the disk has missed that when it is back.
    [Fact]
    public void A_disk_that_leaves_while_tiers_are_opened_comes_back_with_nothing_that_was_decided_otherwise()
    {
        PoolWorld first = NewWorld(checksums: false, copies: 2);
        Write(first, 0, Slice, 7);
        Flush(first);
        SlabRef[] row = first.Pool!.State.Space(first.VirtualDisk!.Description.Tiers[0].DataSpace)!.Row(0)!.Mapping.Sources.ToArray();
        (int stays, int leaves) = (row[0].Disk.Value - 1, row[1].Disk.Value - 1);
        Write(first, 0, 4096, 8);
        first = first.Cut(5, (disk, _, _) => disk == stays);
        int left = 0;
        bool isOver = false;
        for (int point = 1; !isOver; point++)
        {
            PoolWorld world = first.Cut((ulong)point, (_, _, _) => false);
            int requests = 0;
            Array.ForEach(world.Disks, disk => disk.OnRequest = (_, _, _) => world.Disks[leaves].Pulled |= ++requests == point);
            string rejected = world.Lane.Run(world.Open());
            isOver = requests < point;
            Array.ForEach(world.Disks, disk => disk.OnRequest = null);
            if (rejected.Length == 0 && world.Pool!.Disk(row[1].Disk) is null)
            {
                left++;
                world.Lane.Advance(1_000_000_000);
                Assert.Equal("", world.Lane.Run(world.Return(leaves)));
                Assert.Single(Enumerable.Range(0, 4).Select(_ => Read(world, 0, 4096)[0]).Distinct());
            }
        }

        Assert.True(left > 10, $"{left}");
    }

    /// <summary>Slice 1 gets the slot that slice 0 had and power fails: nothing of slice 0 shows through, and that is where it is.</summary>
    private static void CheckNextOwner(PoolWorld world, (TieredStore Store, CuttingHost Host) tiers)
    {
        tiers.Host.CutsNext = true;
        Write(world, tiers.Store, Slice, 4096, 9);
        PoolWorld after = tiers.Host.World!;
        Assert.Equal("", after.Lane.Run(after.Open()));
        SliceMapState map = after.VirtualDisk!.Tiers!.Map;
        Assert.Equal((0, 0u, 1), (map[1].Tier, map[1].Slot, map[0].Tier));
        Assert.All(Read(after, Slice, Slice), value => Assert.Equal(0, value));
        Assert.All(Read(after, 0, Slice), value => Assert.Equal(7, value));
    }

    private static (TieredStore Store, CuttingHost Host) StoreOf(PoolWorld world)
    {
        OpenVirtualDisk disk = world.VirtualDisk!;
        CuttingHost host = new(world);
        StorageTierStore[] tiers =
            [.. disk.Parts.Select(part => new StorageTierStore(part.Space, disk.Description.Part(part.Number)!.SizeBytes, Slice, isThin: false))];
        return (new TieredStore(world.Lane, host, tiers, [0, 1], Slice, disk.Disk.SizeBytes), host);
    }

    private static PoolWorld NewWorld(bool checksums = true, int columns = 1, int copies = 1)
    {
        SpaceScenario scenario = new(columns, copies, checksums, 4096, 0, IsWholePool: true) { TierSlices = [1, 3] };
        PoolWorld world = PoolWorld.New(4, 64 << 20, 4096, 3, scenario.Spec(3));
        Assert.Equal("", world.Lane.Run(world.Open(isNew: true)));
        return world;
    }

    private static void Flush(PoolWorld world) => Assert.Equal(IoError.None, world.Lane.Run(world.Store.Flush()));

    private static void Write(PoolWorld world, long offset, int length, byte value) => Write(world, world.Store, offset, length, value);

    private static void Write(PoolWorld world, IBlockStore store, long offset, int length, byte value)
    {
        IoBuffer buffer = world.Lane.Buffers.Rent(length);
        buffer.Span.Fill(value);
        Assert.Equal(IoError.None, world.Lane.Run(store.Write(offset, buffer, WriteFlags.None)));
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

    /// <summary>Has a client's write done whenever work is paced.</summary>
    private sealed class WritingPacer(Func<LaneTask<Nothing>> write) : IWorkPacer
    {
        public bool IsYielding => true;

        public async LaneTask<bool> Done(long bytes)
        {
            await write();
            return true;
        }
    }

    /// <summary>The pool's host; power fails during a commit, at its first flush: its own writes have arrived, of unflushed ones before it none.</summary>
    private sealed class CuttingHost(PoolWorld world) : ISliceHost
    {
        private readonly PoolSliceHost _pool = new(world.Pool!.LinkTo(world.Lane), world.VirtualDisk!.Description.Id);

        internal bool CutsNext { get; set; }

        internal PoolWorld? World { get; private set; }

        public SliceMapState Map => _pool.Map;

        public int WindowSlices => _pool.WindowSlices;

        public LaneTask<SliceCommit> Commit(IReadOnlyList<SliceChange> changes)
        {
            int[] before = world.PendingWrites();
            if (CutsNext)
            {
                Array.ForEach(world.Disks, disk => disk.OnRequest = (operation, _, _) =>
                    World ??= operation == SimOperation.Flush ? world.Cut(3, (disk, write, _) => write >= before[disk]) : null);
            }

            return _pool.Commit(changes);
        }
    }
}
