using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Verification;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Resiliency;

/// <summary>Copies of the integrity log whose disk fails one request and works again.</summary>
public sealed class LogFaultTests
{
    [Fact]
    public void A_copy_that_missed_a_block_leaves_before_the_log_goes_on()
    {
        ScrubWorld world = ScrubWorld.New(1, 2, checksums: true);
        bool hasFailed = false;
        world.Disks[1].WriteFails = (offset, _) => !hasFailed && (hasFailed = offset < world.RowLength);   // its first slab is the log's
        world.Write(0, 4096);
        Assert.True(hasFailed);
        Assert.Equal(1, world.World.MissingDisks);
        world.AssertReads(0, world.RowLength);
    }

    // The dirty mark of the region is the first thing to be flushed.
    [Fact]
    public void A_copy_that_could_not_be_flushed_is_not_believed_the_next_time()
    {
        ScrubWorld world = ScrubWorld.New(1, 2, checksums: true);
        world.Disks[1].FailFlushes = 1;
        world.Write(0, 4096);
        Assert.Equal(0, world.Disks[1].FailFlushes);
        Assert.Equal(1, world.World.MissingDisks);
    }

    [Fact]
    public void The_log_goes_round_under_many_flushes_and_loses_nothing()
    {
        ScrubWorld world = ScrubWorld.New(1, 2, checksums: true);
        for (int i = 0; i < 250; i++)
        {
            world.Write(i % 48 * 4096, 4096);   // a block of the log each, of 56
        }

        world.AssertReads(0, world.RowLength);
    }

    // A block was written over since the last flush, and its region is dirty in the log alone. Writing back the pages moves the tail past
    // that mark: whatever part of the log arrives, the mark is there in the old place or in the new one, and the block can be read.
    [Fact]
    public void The_tail_moves_past_a_mark_only_when_the_mark_is_durable_again()
    {
        ScrubWorld world = ScrubWorld.New(1, 1, checksums: true);
        world.Write(0, 4096);
        world.Put(0, 4096);
        List<SpaceWorld> cuts = [];
        foreach (SimDisk disk in world.Disks)
        {
            disk.OnRequest = (_, _, _) =>
            {
                int[] pending = world.World.PendingWrites();
                for (int one = 0; one < pending.Sum(); one++)
                {
                    Func<int, int, int, bool> isIt = KeptWrites.OnlyOne(one, pending);
                    cuts.Add((SpaceWorld)world.World.Cut((ulong)cuts.Count, isIt));
                    cuts.Add((SpaceWorld)world.World.Cut((ulong)cuts.Count, (disk, write, sector) => sector >= 8 && isIt(disk, write, sector)));
                }
            };
        }

        world.Stride(long.MaxValue / 2, new ScrubFindings());   // past the end: nothing but the writeback
        Assert.True(cuts.Count > 4);
        foreach (SpaceWorld cut in cuts)
        {
            Assert.Equal(IoError.None, world.Opened(cut).Read(0, 4096, out _));
        }
    }

    [Fact]
    public void A_checksum_page_that_did_not_arrive_puts_its_disk_out()
    {
        ScrubWorld world = ScrubWorld.New(1, 2, checksums: true);
        world.Write(0, 4096);
        (int disk, long page) = world.PagePlace(1);
        world.Disks[disk].WriteLost = (offset, _) => offset == page;
        world.Stride(long.MaxValue / 2, new ScrubFindings());
        Assert.Equal(1, world.World.MissingDisks);
        world.AssertReads(0, world.RowLength);
    }

    // Copies that differ where a power cut left them are no damage.
    [Fact]
    public void A_scrub_judges_a_region_only_when_its_copies_agree()
    {
        ScrubWorld world = ScrubWorld.New(1, 2, checksums: true);
        world.Write(0, 4096);
        world.Write(world.RowLength, 4096);
        int disk = world.DataPlace(0, world.RowLength).Disk;
        world.Put(0, 4096);
        world.Put(world.RowLength, 4096);
        ScrubWorld after = world.Opened((SpaceWorld)world.World.Cut(7, (number, _, _) => number == disk));
        ScrubFindings findings = new();
        after.Stride(world.RowLength, findings);
        Assert.True(findings.IsClean, findings.ToString());
    }

    // A space that is being opened gets no notice that a disk has left. The writes that the disk missed are recorded all the same: it comes back soon.
    [Fact]
    public void A_disk_that_fails_while_the_space_is_opened_is_stale_where_it_may_differ()
    {
        ScrubWorld before = ScrubWorld.New(1, 2, checksums: false);
        before.Write(before.RowLength, 4096);
        int good = before.DataPlace(1, before.RowLength).Disk;
        int behind = before.DataPlace(0, before.RowLength).Disk;
        Assert.Equal(0, behind);   // a copy of the log is on it
        Assert.Equal(IoError.None, before.Lane.Run(before.Overwrite(before.RowLength, 2)));
        SpaceWorld cut = (SpaceWorld)before.World.Cut(5, (number, _, _) => number == good);
        bool hasFailed = false;
        cut.Disks[behind].WriteFails = (_, _) => !hasFailed && (hasFailed = true);   // the first block of the new session
        ScrubWorld world = before.Opened(cut);
        Assert.Equal(1, cut.MissingDisks);
        world.AssertFullOf(2, world.RowLength);
        world.Settle();
        Assert.Equal("", world.Lane.Run(cut.Return(behind)));
        world.AssertFullOf(2, world.RowLength);
    }

    // The last block is on one copy only. It is on the other, durably, before a block is appended that calls it durable.
    [Fact]
    public void The_end_of_the_log_is_whole_on_every_copy_before_it_goes_on()
    {
        ScrubWorld before = ScrubWorld.New(1, 2, checksums: true);
        before.Unmap(0, 4096);
        SpaceWorld cut = (SpaceWorld)before.World.Cut(5, (number, _, _) => number == 0);
        List<SpaceWorld> alone = [];
        cut.Disks[1].OnRequest = (_, _, _) =>
        {
            int last = cut.PendingWrites()[1] - 1;
            alone.Add((SpaceWorld)cut.Cut((ulong)alone.Count, (number, write, _) => number == 1 && write == last));
        };
        before.Opened(cut).Lane.Advance(1_000_000);
        Assert.True(alone.Count > 2);
        foreach (SpaceWorld world in alone)
        {
            world.Remove(0);
            Assert.Equal("", world.Lane.Run(world.Open(isNew: false)));
        }
    }
}
