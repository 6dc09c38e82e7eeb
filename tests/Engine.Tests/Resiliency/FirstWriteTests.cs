using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Verification;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Resiliency;

/// <summary>First writes that no flush covers, and crashes of the process.</summary>
public sealed class FirstWriteTests
{
    private const int Block = 4096;

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void Every_acknowledged_first_write_outlives_a_crash_of_the_process(int copies)
    {
        SpaceScenario scenario = new(1, copies, true, 512, 12);   // 768 blocks; a half of the notes has room for 256 at most
        SpaceWorld world = SpaceWorld.New(scenario, 1);
        Assert.Equal("", world.Lane.Run(world.Open(isNew: true)));
        byte[] model = new byte[scenario.Length];
        new Random(1).NextBytes(model);
        const int chunk = 64 << 10;
        for (int at = 0; at < model.Length; at += chunk)
        {
            IoBuffer buffer = world.Lane.Buffers.Rent(chunk);
            model.AsSpan(at, chunk).CopyTo(buffer.Span);
            Assert.Equal(IoError.None, world.Lane.Run(world.Space.Write(at, buffer, WriteFlags.None)));
            world.Lane.Buffers.Return(buffer);
        }

        SpaceWorld after = (SpaceWorld)world.Kill(2, () => false);
        Assert.Equal("", after.Lane.Run(after.Open(isNew: false)));
        for (int at = 0; at < model.Length; at += chunk)
        {
            IoBuffer buffer = after.Lane.Buffers.Rent(chunk);
            Assert.Equal(IoError.None, after.Lane.Run(after.Space.Read(at, buffer)));
            Assert.True(buffer.Span.SequenceEqual(model.AsSpan(at, chunk)), $"wrong data from {at} on");
            after.Lane.Buffers.Return(buffer);
        }

        world.Release();
        after.Release();
    }

    // The region is dirty already when the second process comes to it: no mark of it is written, and yet its notes must be known as its own.
    [Fact]
    public void A_second_crash_keeps_the_first_writes_of_the_second_process()
    {
        ScrubWorld first = ScrubWorld.New(1, 2, checksums: true);
        first.Unmap(0, 64 << 10);
        first.Write(0, 4096);
        ScrubWorld second = first.Opened((SpaceWorld)first.World.Kill(2, () => false));
        second.Lane.Advance(100_000_000);
        second.Put(8192, 4096);
        ScrubWorld third = second.Opened((SpaceWorld)second.World.Kill(3, () => false));
        third.AssertReads(0, 4096);
        third.AssertReads(8192, 4096);
    }

    // The newest data of a block was in flight to one disk and already on the other when the process died. The chosen data is on both disks before
    // the log describes it: then the power may go, and the disk that had it.
    [Fact]
    public void A_first_write_that_is_believed_is_on_every_copy_before_the_log_says_so()
    {
        ScrubWorld first = ScrubWorld.New(1, 2, checksums: true);
        int at = 2 * first.RowLength;   // a row that is not there yet, on slabs full of another owner's data
        first.Put(at + Block, Block);   // it is there now
        SimDisk slow = Slow(first, 1, at);
        first.Overwrite(at, 0x5A).Forget();
        first.Lane.Advance(5_000_000);
        Assert.Equal(1, slow.InFlight);
        ScrubWorld second = first.Opened((SpaceWorld)first.World.Kill(2, () => false));
        second.AssertFullOf(0x5A, at);
        SpaceWorld cut = (SpaceWorld)second.World.Cut(3, (_, _, _) => false);
        cut.Remove(first.DataPlace(0, at).Disk);
        first.Opened(cut).AssertFullOf(0x5A, at);
    }

    // The same, and the disk that lacks it is full for a minute and longer, as is what would record that: then the log must not say so.
    [Fact]
    public void A_first_write_that_cannot_be_made_equal_is_not_logged()
    {
        ScrubWorld first = ScrubWorld.New(1, 2, checksums: true);
        int at = Enumerable.Range(first.RowLength / Block, first.RowLength / Block).Except(first.Written).First() * Block;
        SimDisk slow = Slow(first, 1, at);
        Assert.Same(first.Disks[2], slow);   // the log is on the others
        first.Overwrite(at, 0x5A).Forget();
        first.Lane.Advance(5_000_000);
        SpaceWorld killed = (SpaceWorld)first.World.Kill(2, () => false);
        killed.Disks[2].Full = true;
        killed.Host.RefusesMarks = true;
        Assert.Equal("", killed.Lane.Run(killed.Open(isNew: false)));
        IoBuffer block = killed.Lane.Buffers.Rent(Block);
        Assert.NotEqual(IoError.None, killed.Lane.Run(killed.Space.Read(at, block)));
        killed.Lane.Buffers.Return(block);
        SpaceWorld later = (SpaceWorld)killed.Kill(3, () => false);
        first.Opened(later).AssertFullOf(0x5A, at);
    }

    // The first write is acknowledged, the second on one disk only when the process dies; the other disk has lost its cache, with the first
    // write in it. So nothing has what was acknowledged, one copy has what was on its way, and one a former owner's data.
    [Fact]
    public void A_write_on_its_way_is_known_beside_the_acknowledged_one()
    {
        ScrubWorld first = ScrubWorld.New(1, 2, checksums: true);
        int at = 2 * first.RowLength;
        first.Put(at, Block);
        SimDisk slow = Slow(first, 0, at);
        first.Overwrite(at, 0x5A).Forget();
        first.Lane.Advance(5_000_000);
        Assert.Equal(1, slow.InFlight);
        SpaceWorld killed = (SpaceWorld)first.World.Kill(2, () => false);
        killed.Disks[Array.IndexOf(first.Disks, slow)].Media.LosePower((_, _) => false);
        first.Opened(killed).AssertFullOf(0x5A, at);
    }

    // The notes are full to the last when a range is unmapped: the flush that makes room for its own covers the others.
    [Fact]
    public void An_unmap_finds_room_for_its_notes()
    {
        ScrubWorld first = ScrubWorld.New(1, 1, checksums: true);
        int at = 2 * first.RowLength;
        first.Put(at + (8 * Block), 4 * Block);  // 12 slots of 1537
        for (int i = 0; i < 127; i++)
        {
            first.Put(at, 4 * Block);            // 12 each
        }

        first.Unmap(at, 4 * Block);
        first.Forget(at, 4 * Block);
        ScrubWorld second = first.Opened((SpaceWorld)first.World.Kill(2, () => false));
        second.AssertReads(at, 12 * Block);
    }

    // The same for blocks that are lost: what a cache in front knew of them goes, and the notes of their first writes with it.
    [Fact]
    public void Blocks_that_are_lost_find_room_for_their_notes()
    {
        ScrubWorld first = ScrubWorld.New(1, 1, checksums: true);
        int at = 2 * first.RowLength;
        first.Put(at + (8 * Block), 4 * Block);
        for (int i = 0; i < 127; i++)
        {
            first.Put(at, 4 * Block);
        }

        Assert.Equal(IoError.None, first.Lane.Run(first.Space.Poison(at, 4 * Block)));
        Assert.Equal(IoError.None, first.Lane.Run(first.Space.Flush()));
        ScrubWorld second = first.Opened((SpaceWorld)first.World.Kill(2, () => false));
        for (int block = 0; block < 4; block++)
        {
            Assert.Equal(IoError.Io, second.Read(at + (block * Block), Block, out _));
        }

        second.AssertReads(at + (8 * Block), 4 * Block);
    }

    // An enclosure loses its power and the machine does not: the notes are there, and the disks hold what a former owner wrote.
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void A_note_that_no_copy_matches_makes_no_block_readable(int copies)
    {
        ScrubWorld first = ScrubWorld.New(1, copies, checksums: true);
        int at = 2 * first.RowLength;
        first.Put(at, 4 * Block);
        SpaceWorld cut = (SpaceWorld)first.World.Cut(2, (_, _, _) => false, keepsMemory: true);
        ScrubWorld second = first.Opened(cut);
        for (int block = 0; block < 4; block++)
        {
            second.AssertFullOf(0, at + (block * Block));
        }
    }

    // The disk loses its power while a write replaces an acknowledged one: each sector is one of the two, and none is lost.
    [Fact]
    public void A_block_of_parts_of_two_recorded_writes_is_kept()
    {
        ScrubWorld first = ScrubWorld.New(1, 1, checksums: true);
        int at = 2 * first.RowLength;
        Assert.Equal(IoError.None, first.Lane.Run(first.Overwrite(at, 0x11)));
        (int disk, long _) = first.DataPlace(0, at);
        Slow(first, 0, at);
        first.Overwrite(at, 0x5A).Forget();
        first.Lane.Advance(5_000_000);
        int newest = first.World.PendingWrites()[disk] - 1;
        SpaceWorld cut = (SpaceWorld)first.World.Cut(
            2, (number, write, sector) => number != disk || write != newest || sector % 2 == 0, keepsMemory: true);
        Assert.Equal(IoError.None, first.Opened(cut).Read(at, Block, out byte[] block));
        Assert.All(block.Chunk(512), (sector, i) => Assert.All(sector, value => Assert.Equal(i % 2 == 0 ? 0x5A : 0x11, value)));
    }

    // An unmap has seen room in the first-write journal and waits for room in the integrity log; a write takes the first meanwhile.
    [Fact]
    public void An_unmap_that_waited_for_the_log_looks_for_room_for_its_notes_again()
    {
        SpaceWorld world = SpaceWorld.New(new SpaceScenario(1, 1, true, 512, 4).WithShortJournal(), 1);   // 13 slots a half; regions of four blocks
        Assert.Equal("", world.Lane.Run(world.Open(isNew: true)));
        Assert.True(Finish(world, Write(world, 0, 4)));
        Assert.True(Finish(world, world.Space.Flush()));
        SlabPlace place = world.Host.Row(0)!.Places[0];
        bool isSlow = false;
        foreach (SimDisk disk in world.Disks)
        {
            // A writeback lasts, so the log fills.
            disk.WriteTakesLonger = (offset, _) => offset == place.PagesOffset ? 9_000_000_000 : isSlow && offset == place.DataOffset ? 1_000_000_000 : 0;
        }

        do
        {
            Assert.True(Finish(world, Write(world, 0, 1)));
        }
        while (Finish(world, world.Space.Flush()));

        isSlow = true;
        LaneTask<IoError> before = Write(world, 0, 1);
        LaneTask<IoError> unmap = world.Space.Unmap(0, 4 * Block);
        Assert.False(Finish(world, before));                      // the unmap waits for it, with room in both
        Assert.True(Finish(world, Write(world, 4 * Block, 1)));   // its dirty mark is the last block of the log
        world.Lane.Advance(1_000_000_000);
        Assert.True(Finish(world, Write(world, 5 * Block, 2)));
        Assert.Equal(IoError.None, world.Lane.Run(unmap));

        SpaceWorld after = (SpaceWorld)world.Kill(2, () => false);
        Assert.Equal("", after.Lane.Run(after.Open(isNew: false)));
        IoBuffer read = after.Lane.Buffers.Rent(8 * Block);
        Assert.Equal(IoError.None, after.Lane.Run(after.Space.Read(0, read)));
        Assert.False(read.Span[..(4 * Block)].ContainsAnyExcept((byte)0));
        Assert.False(read.Span[(4 * Block)..(7 * Block)].ContainsAnyExcept((byte)0x3C));
        after.Lane.Buffers.Return(read);
        world.Release();
        after.Release();
    }

    // Rotating disks: a request takes 10 ms. Blocks to judge are found in the log and in memory, and judged when they are read.
    [Fact]
    public void An_opening_does_not_wait_until_first_writes_are_judged()
    {
        ScrubWorld first = FilledAtLastRow(blocks: 64);
        SpaceWorld killed = (SpaceWorld)first.World.Kill(2, () => false);
        foreach (SimDisk disk in killed.Disks)
        {
            disk.ReadTakesLonger = (_, _) => 10_000_000;
        }

        long before = killed.Lane.NowNs;
        ScrubWorld second = first.Opened(killed);
        Assert.InRange(killed.Lane.NowNs - before, 0, 200_000_000);
        second.AssertReads(2 * first.RowLength, 64 * Block);
    }

    // The first writes of the first process are not judged yet when the second one confirms a flush, or dies too.
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void First_writes_that_are_not_judged_yet_outlive_what_comes_next(bool isPowerCut)
    {
        ScrubWorld first = FilledAtLastRow(blocks: 64);
        ScrubWorld second = first.Opened(Stuck((SpaceWorld)first.World.Kill(2, () => false), first));
        LaneTask<IoError> flush = second.Space.Flush();
        second.Lane.Advance(100_000_000);
        Assert.True(flush.IsCompleted);
        Assert.Equal(IoError.None, second.Lane.Run(flush));
        Assert.Equal(0, second.Space.Counters.Repair.BlocksRecovered);
        SpaceWorld next = isPowerCut ? (SpaceWorld)second.World.Cut(3, (_, _, _) => false) : (SpaceWorld)second.World.Kill(3, () => false);
        first.Opened(next).AssertReads(2 * first.RowLength, 64 * Block);
    }

    // The log has no room for what is not judged: it is judged before the space serves, and owes nothing to the log.
    [Fact]
    public void First_writes_that_the_log_has_no_room_for_are_judged_at_open()
    {
        SpaceWorld world = SpaceWorld.New(new SpaceScenario(1, 1, true, 512, 4), 1);
        Assert.Equal("", world.Lane.Run(world.Open(isNew: true)));
        Assert.True(Finish(world, Write(world, 0, 1)));
        Assert.True(Finish(world, world.Space.Flush()));
        SlabPlace place = world.Host.Row(0)!.Places[0];
        foreach (SimDisk disk in world.Disks)
        {
            disk.WriteTakesLonger = (offset, _) => offset == place.PagesOffset ? 3_600_000_000_000 : 0;   // a writeback lasts, so the log fills
        }

        do
        {
            Assert.True(Finish(world, Write(world, 0, 1)));
        }
        while (Finish(world, world.Space.Flush()));

        Assert.True(Finish(world, Write(world, 1 * Block, 3)));
        SpaceWorld after = (SpaceWorld)world.Kill(2, () => false);
        Assert.Equal("", after.Lane.Run(after.Open(isNew: false)));
        Assert.Equal(3, after.Space.Counters.Repair.BlocksRecovered);
        SpaceWorld cut = (SpaceWorld)after.Cut(3, (_, _, _) => false);
        Assert.Equal("", cut.Lane.Run(cut.Open(isNew: false)));
        IoBuffer read = cut.Lane.Buffers.Rent(4 * Block);
        Assert.Equal(IoError.None, cut.Lane.Run(cut.Space.Read(0, read)));
        Assert.False(read.Span.ContainsAnyExcept((byte)0x3C));
        cut.Lane.Buffers.Return(read);
        world.Release();
        after.Release();
        cut.Release();
    }

    // Flushes fill the log with entries of one block again and again while nothing can be judged: the log is trimmed, and what is not judged stays in it.
    [Fact]
    public void First_writes_that_are_not_judged_yet_stay_in_a_log_that_goes_round()
    {
        ScrubWorld first = FilledAtLastRow(blocks: 16);
        SpaceWorld killed = Stuck((SpaceWorld)first.World.Kill(2, () => false), first);
        ScrubWorld second = first.Opened(killed);
        second.Write(8 * Block, Block);   // the counters know the log once something was committed to it
        int blocks = (int)(2 * second.Space.Counters.Log.Blocks) + 8;
        Assert.True(blocks > 64);
        for (int i = 0; i < blocks; i++)
        {
            second.Write(8 * Block, Block);
        }

        Assert.Equal(0, second.Space.Counters.Repair.BlocksRecovered);
        ScrubWorld third = first.Opened((SpaceWorld)second.World.Cut(3, (_, _, _) => false));
        third.AssertReads(2 * first.RowLength, 16 * Block);
        third.AssertReads(8 * Block, Block);
    }

    [Fact]
    public void First_writes_that_are_not_judged_yet_are_data_to_those_who_skip_what_was_never_written()
    {
        ScrubWorld first = FilledAtLastRow(blocks: 4);
        ScrubWorld second = first.Opened((SpaceWorld)first.World.Kill(2, () => false));
        List<StoreExtent> extents = [];
        Assert.Equal(IoError.None, second.Lane.Run(second.Space.Status(2 * first.RowLength, 4 * Block, extents)));
        Assert.Equal([new StoreExtent(4 * Block, ExtentState.Data)], extents);
    }

    // A block that was found and judged is unmapped; the next crash must not find it again.
    [Fact]
    public void A_first_write_that_was_judged_and_unmapped_does_not_come_back()
    {
        ScrubWorld first = FilledAtLastRow(blocks: 4);
        ScrubWorld second = first.Opened((SpaceWorld)first.World.Kill(2, () => false));
        second.AssertReads(2 * first.RowLength, 4 * Block);
        second.Unmap(2 * first.RowLength, 2 * Block);
        second.Forget(2 * first.RowLength, 2 * Block);
        ScrubWorld third = second.Opened((SpaceWorld)second.World.Kill(3, () => false));
        third.AssertReads(2 * first.RowLength, 4 * Block);
    }

    // Of a region that was dirty only what is asked for is resynced: the rest of it is on a place that takes an hour.
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_block_of_a_dirty_region_does_not_wait_for_the_rest_of_it(bool isWrite)
    {
        ScrubWorld first = FilledAtLastRow(blocks: 4);
        int at = 2 * first.RowLength;
        SpaceWorld killed = Stuck((SpaceWorld)first.World.Kill(2, () => false), first);
        (int disk, long place) = first.DataPlace(1, at + (2 * Block));
        killed.Disks[disk].ReadTakesLonger = (offset, length) => offset <= place && place < offset + length ? 3_600_000_000_000 : 0;
        ScrubWorld second = first.Opened(killed);
        int unresolved = second.Space.UnresolvedRegions;
        long before = second.Lane.NowNs;
        if (isWrite)
        {
            second.Put(at, Block);
        }

        second.AssertReads(at, Block);
        Assert.InRange(second.Lane.NowNs - before, 0, 100_000_000);
        Assert.Equal(unresolved, second.Space.UnresolvedRegions);
        second.AssertReads(at + (2 * Block), Block);
        foreach (SimDisk hung in killed.Disks)
        {
            hung.ReadTakesLonger = null;
        }

        second.Lane.Advance(3_620_000_000_000);   // a disk that does not answer is waited for
        Assert.Equal(0, second.Space.UnresolvedRegions);
    }

    // A region of 512 KiB is resynced in parts of 128 KiB: one is asked for, and then the three others at once, up to the end of a checksum page.
    [Fact]
    public void The_rest_of_a_region_ends_where_the_region_does()
    {
        const int region = 512 << 10;
        SpaceWorld world = SpaceWorld.New(new SpaceScenario(1, 2, true, 512, 1) { SlabSize = 8 << 20 }, 1);
        Assert.Equal("", world.Lane.Run(world.Open(isNew: true)));
        Assert.Equal(IoError.None, world.Lane.Run(Write(world, 0, 1)));
        for (int at = 3 * region; at < 5 * region; at += 4 * Block)
        {
            Assert.Equal(IoError.None, world.Lane.Run(Write(world, at, 4)));
        }

        SlabPlace place = world.Host.Row(0)!.Places[0];
        SpaceWorld after = (SpaceWorld)world.Kill(2, () => false);
        after.Disks[place.Disk].ReadTakesLonger = (offset, _) => offset == place.DataOffset ? 3_600_000_000_000 : 0;   // the background does not get beyond it

        Assert.Equal("", after.Lane.Run(after.Open(isNew: false)));
        IoBuffer read = after.Lane.Buffers.Rent(3 * region / 4);
        Assert.Equal(IoError.None, after.Lane.Run(after.Space.Read(3 * region, read.Slice(0, Block))));
        Assert.Equal(IoError.None, after.Lane.Run(after.Space.Read((3 * region) + (region / 4), read)));
        Assert.False(read.Span.ContainsAnyExcept((byte)0x3C));
        after.Lane.Buffers.Return(read);
        world.Release();
        after.Release();
    }

    // Neither copy of the block can be read when it is judged: it is an error and never zeros, which it was before. A copy that can be read later proves it.
    [Fact]
    public void An_acknowledged_first_write_is_never_undone()
    {
        ScrubWorld first = FilledAtLastRow(blocks: 4);
        int at = 2 * first.RowLength;
        SpaceWorld killed = (SpaceWorld)first.World.Kill(2, () => false);
        for (int copy = 0; copy < 2; copy++)
        {
            (int disk, long place) = first.DataPlace(copy, at);
            killed.Disks[disk].ReadFails = (offset, length) => offset <= place && place < offset + length;
        }

        ScrubWorld second = first.Opened(killed);
        Assert.Equal(IoError.Io, second.Read(at, Block, out _));
        first.Opened((SpaceWorld)second.World.Cut(3, (_, _, _) => false)).AssertReads(at, Block);
    }

    // Entries of many pages are in the log, and the pages are on rotating disks: each is read when it is asked for, or before the log is trimmed.
    [Fact]
    public void An_opening_does_not_read_the_pages_that_the_log_has_entries_of()
    {
        const int rows = 12;
        const int rowLength = 64 * Block;
        SpaceWorld world = SpaceWorld.New(new SpaceScenario(1, 2, true, 512, rows), 1);
        Assert.Equal("", world.Lane.Run(world.Open(isNew: true)));
        for (int row = 0; row < rows; row++)
        {
            Assert.Equal(IoError.None, world.Lane.Run(Write(world, row * rowLength, 1)));
        }

        Assert.Equal(IoError.None, world.Lane.Run(world.Space.Flush()));
        SpaceWorld after = (SpaceWorld)world.Cut(2, (_, _, _) => false);
        foreach (SimDisk disk in after.Disks)
        {
            disk.ReadTakesLonger = (_, _) => 10_000_000;
        }

        long before = after.Lane.NowNs;
        Assert.Equal("", after.Lane.Run(after.Open(isNew: false)));
        Assert.InRange(after.Lane.NowNs - before, 0, 100_000_000);
        for (int i = 0; i < 2 * world.Space.Counters.Log.Blocks; i++)
        {
            Assert.Equal(IoError.None, after.Lane.Run(Write(after, 8 * Block, 1)));
            Assert.Equal(IoError.None, after.Lane.Run(after.Space.Flush()));   // the log goes round
        }

        SpaceWorld cut = (SpaceWorld)after.Cut(3, (_, _, _) => false);
        Assert.Equal("", cut.Lane.Run(cut.Open(isNew: false)));
        IoBuffer read = cut.Lane.Buffers.Rent(Block);
        for (int row = 0; row < rows; row++)
        {
            Assert.Equal(IoError.None, cut.Lane.Run(cut.Space.Read(row * rowLength, read)));
            Assert.False(read.Span.ContainsAnyExcept((byte)0x3C));
        }

        cut.Lane.Buffers.Return(read);
        world.Release();
        after.Release();
        cut.Release();
    }

    /// <summary>A space with first writes at the begin of its last row, acknowledged and not flushed.</summary>
    private static ScrubWorld FilledAtLastRow(int blocks)
    {
        ScrubWorld world = ScrubWorld.New(1, 2, checksums: true);
        world.Put(0, Block);   // the first region that is resynced
        for (int at = 0; at < blocks; at += 4)
        {
            world.Put((2 * world.RowLength) + (at * Block), 4 * Block);
        }

        return world;
    }

    /// <summary>Keeps the resync in the background from getting beyond the first row: a read there takes an hour.</summary>
    private static SpaceWorld Stuck(SpaceWorld killed, ScrubWorld former)
    {
        (int disk, long place) = former.DataPlace(0, 3 * Block);
        killed.Disks[disk].ReadTakesLonger = (offset, length) => offset <= place && place < offset + length ? 3_600_000_000_000 : 0;
        return killed;
    }

    private static async LaneTask<IoError> Write(SpaceWorld world, int offset, int blocks)
    {
        IoBuffer buffer = world.Lane.Buffers.Rent(blocks * Block);
        buffer.Span.Fill(0x3C);
        IoError error = await world.Space.Write(offset, buffer, WriteFlags.None);
        world.Lane.Buffers.Return(buffer);
        return error;
    }

    /// <summary>Waits 50 ms; true when the request has ended without an error by then.</summary>
    private static bool Finish(SpaceWorld world, LaneTask<IoError> request)
    {
        world.Lane.Advance(50_000_000);
        bool ended = request.IsCompleted;
        Forget(request).Forget();
        return ended;

        static async LaneTask Forget(LaneTask<IoError> request) => Assert.Equal(IoError.None, await request);
    }

    /// <summary>Makes the disk of a copy take a second to write a block.</summary>
    private static SimDisk Slow(ScrubWorld world, int copy, int address)
    {
        (int disk, long place) = world.DataPlace(copy, address);
        world.Disks[disk].WriteTakesLonger = (offset, _) => offset == place ? 1_000_000_000 : 0;
        return world.Disks[disk];
    }
}
