using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Verification;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Resiliency;

/// <summary>Rules of order that a random load seldom puts to the test.</summary>
public sealed class OrderTests
{
    private const int Block = 4096;

    // A row is freed, the power goes, the row is created again, the power goes again: log entries of the former row do not apply to the new one.
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void Zeros_of_a_row_are_durable_before_it_is_given_back(int copies)
    {
        ScrubWorld first = ScrubWorld.New(1, copies, checksums: true);
        first.Write(first.RowLength + (5 * Block), Block);
        first.Unmap(first.RowLength, first.RowLength);
        first.Forget(first.RowLength, first.RowLength);
        first.Lane.Advance(50_000_000);
        Assert.Null(first.World.Host.Row(1));
        ScrubWorld second = first.Opened((SpaceWorld)first.World.Cut(2, (_, _, _) => false));
        second.Write(second.RowLength + (6 * Block), Block);
        ScrubWorld third = second.Opened((SpaceWorld)second.World.Cut(3, (_, _, _) => false));
        third.AssertReads(third.RowLength, third.RowLength);
    }

    // The row is empty but for a first write that is on its way to a slow disk.
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void A_row_with_a_first_write_on_its_way_is_not_given_back(int copies)
    {
        ScrubWorld world = ScrubWorld.New(1, copies, checksums: true);
        int row = 2 * world.RowLength;
        world.Put(row, Block);
        (int number, long place) = world.DataPlace(0, row + Block);
        world.Disks[number].WriteTakesLonger = (offset, _) => offset == place ? 50_000_000 : 0;
        LaneTask<IoError> write = world.Overwrite(row + Block, 0x5A);
        world.Lane.Advance(5_000_000);
        world.Unmap(row, Block);
        Assert.False(write.IsCompleted);
        Assert.Equal(IoError.None, world.Lane.Run(write));
        world.Lane.Advance(100_000_000);
        world.AssertFullOf(0x5A, row + Block);
    }

    // Nothing of them is ever flushed: the log has to see to it by itself that it can be trimmed.
    [Fact]
    public void Unmaps_alone_go_round_the_log()
    {
        ScrubWorld world = ScrubWorld.New(1, 2, checksums: true);
        for (int i = 0; i < 250; i++)
        {
            world.Put(0, Block);
            world.Unmap(0, Block);
        }

        world.Forget(0, Block);
        world.AssertReads(0, world.RowLength);
    }

    // No copy is what the log says, so one is taken for what was written last; what clients ask for meanwhile comes after that.
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void What_comes_while_a_region_is_made_equal_is_not_undone_by_it(bool isUnmap)
    {
        for (int step = 0; step < 12; step++)
        {
            ScrubWorld before = ScrubWorld.New(1, 2, checksums: true);
            before.Write(before.RowLength, 4 * Block);
            before.Put(before.RowLength, Block);
            ScrubWorld world = before.Opened((SpaceWorld)before.World.Cut((ulong)step, (_, _, _) => true));
            world.Lane.Advance(step * 100_000);
            if (isUnmap)
            {
                world.Unmap(world.RowLength, Block);
                world.Forget(world.RowLength, Block);
            }
            else
            {
                world.Put(world.RowLength, Block);
            }

            world.AssertReads(world.RowLength, 4 * Block);
            world.Lane.Advance(50_000_000);
            world.AssertReads(world.RowLength, 4 * Block);
            world.Reopen().AssertReads(world.RowLength, 4 * Block);
        }
    }

    // The two copies have neither what the log says nor the same: between the choice of one and its entry in the log lie a write and a flush.
    [Fact]
    public void An_unmap_while_a_choice_is_being_made_durable_is_not_undone_by_it()
    {
        for (int step = 0; step < 24; step++)
        {
            ScrubWorld before = ScrubWorld.New(1, 2, checksums: true);
            before.Write(before.RowLength, 4 * Block);
            int disk = before.DataPlace(1, before.RowLength).Disk;
            Assert.Equal(IoError.None, before.Lane.Run(before.Overwrite(before.RowLength, 2)));
            Assert.Equal(IoError.None, before.Lane.Run(before.Overwrite(before.RowLength, 3)));
            ScrubWorld world = before.Opened((SpaceWorld)before.World.Cut((ulong)step, (number, write, _) => number != disk || write == 0));
            world.Lane.Advance(step * 50_000);
            world.Unmap(world.RowLength, Block);
            world.Lane.Advance(50_000_000);
            world.AssertFullOf(0, world.RowLength);
        }
    }

    // A copy that had something newer was made equal to the one that the log confirms, and the block was read: it stays what it is, although
    // the power goes again and the copy that was right from the start goes with it.
    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public void What_was_read_after_a_power_cut_stays_so_without_either_copy(int newer)
    {
        ScrubWorld before = ScrubWorld.New(1, 2, checksums: true);
        before.Write(before.RowLength, Block);
        int disk = before.DataPlace(newer, before.RowLength).Disk;
        Assert.Equal(IoError.None, before.Lane.Run(before.Overwrite(before.RowLength, 2)));
        ScrubWorld world = before.Opened((SpaceWorld)before.World.Cut(5, (number, _, _) => number == disk));
        world.AssertReads(world.RowLength, Block);
        SpaceWorld again = (SpaceWorld)world.World.Cut(6, (_, _, _) => false);
        again.Remove(before.DataPlace(1 - newer, before.RowLength).Disk);
        before.Opened(again).AssertReads(before.RowLength, Block);
    }

    // The file system below a disk is full, and stays so, while its copy is to be made equal to the other: it is recorded as stale.
    [Fact]
    public void A_copy_that_cannot_take_what_was_chosen_is_not_asked()
    {
        ScrubWorld before = ScrubWorld.New(1, 2, checksums: false);
        before.Write(before.RowLength, Block);
        (int first, int second) = (before.DataPlace(0, before.RowLength).Disk, before.DataPlace(1, before.RowLength).Disk);
        Assert.Equal(IoError.None, before.Lane.Run(before.Overwrite(before.RowLength, 2)));
        SpaceWorld cut = (SpaceWorld)before.World.Cut(5, (number, _, _) => number == first);
        cut.Disks[second].Full = true;
        ScrubWorld world = before.Opened(cut);
        world.AssertFullOf(2, world.RowLength);
        cut.Disks[second].Full = false;
        world.AssertFullOf(2, world.RowLength);
    }

    // Of two copies that differ neither may be asked alone, whatever else of their region is written first.
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_write_does_not_make_a_region_count_as_equal(bool checksums)
    {
        ScrubWorld before = ScrubWorld.New(1, 2, checksums);
        before.Write(before.RowLength, 4 * Block);
        int disk = before.DataPlace(0, before.RowLength).Disk;
        before.Put(before.RowLength, Block);
        ScrubWorld world = before.Opened((SpaceWorld)before.World.Cut(5, (number, _, _) => number == disk));
        world.Put(world.RowLength + Block, Block);
        Assert.Equal(IoError.None, world.Read((int)world.RowLength, Block, out byte[] one));
        for (int i = 0; i < 4; i++)
        {
            Assert.Equal(IoError.None, world.Read((int)world.RowLength, Block, out byte[] again));
            Assert.Equal(one, again);
        }
    }

    // Slow: the pages take so long to be read back that the log is full before its tail moves.
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void More_blocks_than_the_log_has_room_for_may_be_written_between_two_flushes(bool isSlow)
    {
        SpaceScenario scenario = new(2, 1, true, 512, 80) { CachedPagesMax = 200 };
        SpaceWorld world = SpaceWorld.New(scenario, 1);
        Assert.Equal("", world.Lane.Run(world.Open(isNew: true)));
        const int chunk = 256 << 10;
        IoBuffer buffer = world.Lane.Buffers.Rent(chunk);
        for (long at = 0; at < 2 * scenario.Length; at += chunk)   // the second time none of them is a first write, which would be flushed earlier
        {
            Func<long, int, long>? delay = isSlow && at >= scenario.Length ? (_, length) => length == Block ? 5_000_000 : 0 : null;
            Array.ForEach(world.Disks, disk => disk.ReadTakesLonger = delay);
            buffer.Span.Fill((byte)(1 + (at / chunk % 250)));
            Assert.Equal(IoError.None, world.Lane.Run(world.Space.Write(at % scenario.Length, buffer, WriteFlags.None)));
        }

        Assert.Equal(IoError.None, world.Lane.Run(world.Space.Flush()));
        SpaceWorld after = (SpaceWorld)world.Cut(2, (_, _, _) => false);
        Assert.Equal("", after.Lane.Run(after.Open(isNew: false)));
        for (long at = 0; at < scenario.Length; at += chunk)
        {
            Assert.Equal(IoError.None, after.Lane.Run(after.Space.Read(at, buffer)));
            Assert.False(buffer.Span.ContainsAnyExcept((byte)(1 + ((scenario.Length + at) / chunk % 250))), $"wrong data from {at} on");
        }

        world.Release();
        after.Release();
    }

    // All of them are written and logged already: the log has nothing else to flush for.
    [Fact]
    public void More_blocks_than_the_log_has_room_for_may_be_lost_between_two_flushes()
    {
        SpaceScenario scenario = new(2, 1, true, 512, 80) { CachedPagesMax = 200 };
        SpaceWorld world = SpaceWorld.New(scenario, 1);
        Assert.Equal("", world.Lane.Run(world.Open(isNew: true)));
        const int chunk = 256 << 10;
        IoBuffer buffer = world.Lane.Buffers.Rent(chunk);
        for (long at = 0; at < scenario.Length; at += chunk)
        {
            Assert.Equal(IoError.None, world.Lane.Run(world.Space.Write(at, buffer, WriteFlags.None)));
        }

        Assert.Equal(IoError.None, world.Lane.Run(world.Space.Flush()));
        Assert.Equal(IoError.None, world.Lane.Run(world.Space.Poison(0, scenario.Length)));
        Assert.Equal(IoError.None, world.Lane.Run(world.Space.Flush()));
        SpaceWorld after = (SpaceWorld)world.Cut(2, (_, _, _) => false);
        Assert.Equal("", after.Lane.Run(after.Open(isNew: false)));
        for (long at = 0; at < scenario.Length; at += chunk)
        {
            Assert.Equal(IoError.Io, after.Lane.Run(after.Space.Read(at, buffer.Slice(0, Block))));
        }

        world.Release();
        after.Release();
    }
}
