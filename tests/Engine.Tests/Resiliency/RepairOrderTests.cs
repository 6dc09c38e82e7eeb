using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Verification;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Resiliency;

/// <summary>
/// Events beside a move or a repair at the worst moment. Of these worlds disks 0 and 1 have the log, row 0 is on 2 and 1, row 1 on 0 and 2.
/// </summary>
public sealed class RepairOrderTests
{
    private const int Block = 4096;
    private const long Millisecond = 1_000_000;

    // The copies are not what the log says, and the move comes before they have been made equal: there is nothing yet that it could copy.
    [Fact]
    public void A_move_right_after_a_power_cut_copies_what_the_region_is_made_to_be()
    {
        ScrubWorld before = ScrubWorld.New(1, 2, checksums: true);
        before.Write(before.RowLength, Block);
        for (int region = 0; region < 16; region++)
        {
            before.Put(region * (before.RowLength / 16), Block);   // the background is at these for a while
        }

        before.Put(before.RowLength, Block);
        ScrubWorld world = before.Opened((SpaceWorld)before.World.Cut(5, (_, _, _) => true));
        Assert.Equal(RepairEnd.Done, world.Lane.Run(world.World.Host.Move(1, 0, 1, new SimPacer(world.Lane))));
        world.Lane.Advance(100 * Millisecond);
        world.AssertReads(world.RowLength, Block);
    }

    // The page of the target is on its way, with what the log had by then, when a flush logs an entry and the log is to be trimmed of it.
    [Fact]
    public void The_log_is_not_trimmed_of_what_the_page_of_a_moving_slab_lacks()
    {
        ScrubWorld world = ScrubWorld.New(1, 1, checksums: true);
        world.Write(0, Block);
        world.Put(0, Block);
        int to = 1 - world.DataPlace(0, 0).Disk;
        FlushBesideFirstPage(world, to);
        Assert.Equal(RepairEnd.Done, world.Lane.Run(world.World.Host.Move(0, 0, to, new SimPacer(world.Lane))));
        Assert.Null(world.Disks[to].WriteTakesLonger);
        world.Opened(CutWhenClean(world)).AssertReads(0, Block);
    }

    // The same with a copy that is made whole, and is alone afterwards.
    [Fact]
    public void The_log_is_not_trimmed_of_what_the_page_of_a_repaired_copy_lacks()
    {
        ScrubWorld world = Returned(2, checksums: true);
        world.Put(0, Block);
        FlushBesideFirstPage(world, 2);
        Assert.Equal(RepairEnd.Done, world.Lane.Run(world.Space.Resync(new SimPacer(world.Lane))));
        Assert.Null(world.Disks[2].WriteTakesLonger);
        SpaceWorld alone = CutWhenClean(world);
        alone.Remove(1);
        world.Opened(alone).AssertReads(0, Block);
    }

    // A write that comes while the map is committed goes to the new place, which is in force by then, or counts for nothing.
    [Fact]
    public void What_the_target_of_a_move_misses_while_the_map_is_committed_is_not_acknowledged()
    {
        ScrubWorld world = ScrubWorld.New(1, 2, checksums: false);
        world.Write(0, Block);
        LaneTask<IoError> write = default;
        Assert.Equal(RepairEnd.Done, world.Lane.Run(world.World.Host.Move(0, 0, 0, new SimPacer(world.Lane), WriteMeanwhile)));
        Assert.Equal(IoError.None, world.Lane.Run(write));
        Assert.Null(world.Disks[0].WriteFails);
        world.AssertFullOf(0x5A, 0);

        async LaneTask WriteMeanwhile()
        {
            world.Disks[0].WriteFails = (offset, _) =>
            {
                bool isLog = offset < world.RowLength;
                world.Disks[0].WriteFails = isLog ? world.Disks[0].WriteFails : null;
                return !isLog;
            };
            write = world.Overwrite(0, 0x5A);
            await world.Lane.Delay(5 * Millisecond);
        }
    }

    // The caller gives the target to another row at once: a write that came later would be in that row.
    [Fact]
    public void A_move_that_stops_ends_when_no_write_is_on_its_way_to_the_target()
    {
        ScrubWorld world = ScrubWorld.New(1, 2, checksums: false);
        world.Write(0, Block);
        LaneTask<IoError> write = default;
        world.Disks[0].WriteTakesLonger = (_, length) => length == Block ? 50 * Millisecond : 0;
        Assert.Equal(RepairEnd.Stopped, world.Lane.Run(world.World.Host.Move(0, 0, 0, new StoppingPacer(() => write = world.Overwrite(0, 0x5A)))));
        Assert.True(write.IsCompleted);
        Assert.Equal(IoError.None, world.Lane.Run(write));
        world.AssertFullOf(0x5A, 0);
    }

    // The power goes when the map names the new slab: nothing but the move has flushed it.
    [Fact]
    public void A_moved_slab_without_checksums_is_flushed_before_the_map_names_it()
    {
        ScrubWorld world = ScrubWorld.New(1, 1, checksums: false);
        int to = 1 - world.DataPlace(0, 0).Disk;
        Assert.Equal(RepairEnd.Done, world.Lane.Run(world.World.Host.Move(0, 0, to, new SimPacer(world.Lane))));
        world.Opened((SpaceWorld)world.World.Cut(5, (_, _, _) => false)).AssertReads(0, world.RowLength);
    }

    // The copying passes over an unmapped block. Should the power take the unmapping back, its former data is not at the new place. Disk 2 has no
    // log: to flush it says nothing of that.
    [Fact]
    public void What_a_move_passes_over_as_unmapped_is_durably_so_before_the_map_names_the_new_slab()
    {
        ScrubWorld world = ScrubWorld.New(2, 1, checksums: true);
        int position = Array.FindIndex(world.World.Host.Row(0)!.Places, place => place.Disk == 2);
        int other = 3 - world.World.Host.Row(0)!.Places.Sum(place => place.Disk);
        Assert.Equal(RepairEnd.Done, world.Lane.Run(world.World.Host.Move(0, position, other, new SimPacer(world.Lane))));
        int block = world.DataPlace(0, 0).Disk == other ? 0 : 4 * Block;   // of its column
        world.Settle();
        world.Unmap(block, Block);
        Assert.Equal(RepairEnd.Done, world.Lane.Run(world.World.Host.Move(0, position, 2, new SimPacer(world.Lane))));
        world.Opened((SpaceWorld)world.World.Cut(5, (_, _, _) => false)).AssertFullOf(0, block);
    }

    // The copies are being made equal, and what they hold has been taken as it is, when the block is called lost: that comes after it, and stays.
    [Fact]
    public void A_block_that_is_called_lost_while_its_region_is_resolved_stays_so()
    {
        ScrubWorld before = ScrubWorld.New(1, 2, checksums: true, slabSize: 512 << 10);   // a part of a region that is resolved is two blocks
        before.Write(before.RowLength, 2 * Block);
        for (int region = 0; region < 16; region++)
        {
            before.Put(region * (before.RowLength / 16), Block);   // the background is at these for a while
        }

        before.Put(before.RowLength, 2 * Block);
        ScrubWorld world = before.Opened((SpaceWorld)before.World.Cut(5, (_, _, _) => true));
        world.Flip(0, world.RowLength);   // no copy is what the log says: the first is taken as an unflushed write
        world.Flip(1, world.RowLength);
        (int disk, long offset) = world.DataPlace(1, world.RowLength + Block);
        world.FlipByte(disk, offset);
        world.Disks[disk].WriteTakesLonger = (at, _) => at == offset ? 20 * Millisecond : 0;
        IoBuffer buffer = world.Lane.Buffers.Rent(Block);
        LaneTask<IoError> read = world.Space.Read(world.RowLength + Block, buffer);
        world.Lane.Advance(10 * Millisecond);
        Assert.False(read.IsCompleted);
        Assert.Equal(IoError.None, world.Lane.Run(world.Space.Poison(world.RowLength, Block)));
        Assert.Equal(IoError.None, world.Lane.Run(read));
        Assert.Equal(IoError.Io, world.Read(world.RowLength, Block, out _));
    }

    // It is not known whether the mark was taken off. It is there for certain again before anything relies on it.
    [Fact]
    public void A_stale_mark_that_may_have_been_taken_off_is_made_again()
    {
        ScrubWorld world = Returned(2, checksums: false);
        world.World.Host.ClearsInDoubt = true;
        Assert.Equal(RepairEnd.Incomplete, world.Lane.Run(world.Space.Resync(new SimPacer(world.Lane))));
        world.Disks[2].Pulled = true;
        world.Write(0, Block);
        ScrubWorld again = world.Opened(CutWhenClean(world));
        Assert.Equal("", again.Lane.Run(again.World.Return(2)));
        for (int i = 0; i < 4; i++)
        {
            again.AssertReads(0, Block);
        }
    }

    // The power goes when the copy of the log counts as whole, and with it the only other one.
    [Fact]
    public void A_copy_of_the_log_is_flushed_before_it_counts_as_whole()
    {
        ScrubWorld world = Returned(0, checksums: true);
        world.Space.Resync(new SimPacer(world.Lane)).Forget();
        world.Lane.PumpWhile(() => world.Space.Counters.Repair.LogCopiesRepaired == 0, 1000 * Millisecond);
        SpaceWorld alone = (SpaceWorld)world.World.Cut(5, (_, _, _) => false);
        alone.Remove(1);
        world.Opened(alone).AssertReads(0, Block);
    }

    // The same of a copy of the log: it is not known whether its mark was taken off, and it is there again before the log goes on without that copy.
    [Fact]
    public void A_stale_mark_of_a_copy_of_the_log_that_may_have_been_taken_off_is_made_again()
    {
        ScrubWorld world = Returned(0, checksums: true);
        world.World.Host.ClearsInDoubt = true;
        Assert.Equal(RepairEnd.Incomplete, world.Lane.Run(world.Space.Resync(new SimPacer(world.Lane))));
        world.World.Host.ClearsInDoubt = false;
        Assert.Equal(1, world.World.StaleLogCopies);
        world.Write(0, Block);
        Assert.Equal(IoError.None, world.Lane.Run(world.Space.Flush()));
        SpaceWorld alone = (SpaceWorld)world.World.Cut(5, (_, _, _) => false);
        alone.Remove(1);
        Assert.NotEqual("", alone.Lane.Run(alone.Open(isNew: false)));
    }

    /// <summary>A disk was away while a block of row 0 was written and flushed, and is back.</summary>
    private static ScrubWorld Returned(int disk, bool checksums)
    {
        ScrubWorld world = ScrubWorld.New(1, 2, checksums);
        world.Disks[disk].Pulled = true;
        world.Write(0, Block);
        Assert.Equal(1, world.World.MissingDisks);
        Assert.Equal("", world.Lane.Run(world.World.Return(disk)));
        return world;
    }

    /// <summary>The power goes when every region is clean, durably: from then on copies are right or damaged, and nothing is made equal.</summary>
    private static SpaceWorld CutWhenClean(ScrubWorld world)
    {
        world.Settle();
        Assert.Equal(IoError.None, world.Lane.Run(world.Space.Flush()));
        return (SpaceWorld)world.World.Cut(5, (_, _, _) => false);
    }

    /// <summary>The next page that is written to a disk takes long, and meanwhile everything is flushed and written back.</summary>
    private static void FlushBesideFirstPage(ScrubWorld world, int number)
    {
        SimDisk disk = world.Disks[number];
        disk.WriteTakesLonger = (offset, length) =>
        {
            if (length != Block || offset % (world.RowLength + Block) != 0)
            {
                return 0;
            }

            disk.WriteTakesLonger = null;
            world.Lane.Post(() => FlushAndWriteBack().Forget());
            return 50 * Millisecond;
        };

        async LaneTask FlushAndWriteBack()
        {
            Assert.Equal(IoError.None, await world.Space.Flush());
            await world.Space.Scrub(long.MaxValue / 2, new ScrubFindings());   // past the end: nothing but the writeback
        }
    }

    /// <summary>Stops the work after its first piece, when something else has begun.</summary>
    private sealed class StoppingPacer(Action begin) : IWorkPacer
    {
        public bool IsYielding => true;

        public LaneTask<bool> Done(long bytes)
        {
            begin();
            return LaneTask.FromResult(false);
        }
    }
}
