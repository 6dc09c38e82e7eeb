using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Verification;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Resiliency;

/// <summary>Rows that are given back while they are read.</summary>
public sealed class SpaceRowTests
{
    private const long Millisecond = 1_000_000;
    private const int Length = 12 << 10;   // no other read has it

    // The read is on its way when the row's lock is taken to free it; it fails, and reads again under that same lock.
    [Fact]
    public void A_read_that_must_read_again_does_not_stop_its_row_from_being_freed()
    {
        int failed = 0;
        for (ulong seed = 1; seed <= 20; seed++)
        {
            ScrubWorld world = ScrubWorld.New(1, 2, checksums: true, seed);
            world.AssertReads(0, 64 << 10);   // its checksum page is in memory
            foreach (SimDisk disk in world.Disks)
            {
                disk.ReadTakesLonger = (_, length) => length == Length ? 20 * Millisecond : 0;
                disk.ReadFails = (_, length) =>
                {
                    failed += length == Length ? 1 : 0;
                    return length == Length;
                };
            }

            IoBuffer target = world.Lane.Buffers.Rent(Length);
            LaneTask<IoError> read = world.Space.Read(0, target);
            LaneTask<IoError> unmap = world.Space.Unmap(0, world.RowLength);
            world.Lane.Advance(1000 * Millisecond);
            Assert.True(unmap.IsCompleted, $"seed {seed}: the range was not given back");
            Assert.True(read.IsCompleted, $"seed {seed}: the read did not come back");
            Assert.Equal(IoError.None, world.Lane.Run(read));
            Assert.Equal(-1, target.Span.IndexOfAnyExcept((byte)0));
            Assert.Equal(1, world.Space.Counters.Rows.RowsFreed);
            world.Lane.Buffers.Return(target);
        }

        Assert.True(failed > 0, "no read was under way");
    }

    [Fact]
    public void Any_place_may_be_expected_and_nothing_comes_of_it()
    {
        ScrubWorld world = ScrubWorld.New(1, 2, checksums: true);
        world.Write(0, 64 << 10);
        long reads = world.Space.Counters.Io.DataBytesRead;
        foreach (long offset in new[] { 0, 1, 4096, 64 << 10, world.RowLength, world.Space.Length - 1, world.Space.Length, long.MaxValue, -1, long.MinValue })
        {
            world.Space.Prefetch(offset);
        }

        Assert.Equal(reads, world.Space.Counters.Io.DataBytesRead);
        world.AssertReads(0, 64 << 10);
    }

    // Entries of the log for the row before must not be taken for the row after, whenever the power goes.
    [Fact]
    public void A_row_that_is_made_anew_has_nothing_of_the_one_before()
    {
        ScrubWorld world = ScrubWorld.New(1, 2, checksums: true);
        world.Write(0, 64 << 10);
        world.Unmap(0, world.RowLength);
        world.Lane.Advance(100 * Millisecond);
        Assert.Equal(1, world.Space.Counters.Rows.RowsFreed);
        world.Forget(0, world.RowLength);
        List<SpaceWorld> cuts = [];
        foreach (SimDisk disk in world.Disks)
        {
            disk.OnRequest = (_, _, _) => cuts.Add((SpaceWorld)world.World.Cut(50 + (ulong)cuts.Count, (_, _, _) => false));
        }

        world.Write(128 << 10, 4096);
        Assert.True(cuts.Count > 4);
        foreach (SpaceWorld cut in cuts)
        {
            ScrubWorld after = world.Opened(cut);
            after.AssertReads(0, 128 << 10);
            after.AssertReads((128 << 10) + 4096, world.RowLength - (128 << 10) - 4096);
        }
    }

    // The disk loses the zeros of the new row, and no mark says that it misses them: reads would return data of the slab's former owner.
    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(2)]
    public void A_disk_that_leaves_while_a_row_is_made_has_no_slab_of_it(int leaving)
    {
        ScrubWorld world = ScrubWorld.New(1, 2, checksums: false);
        SimDisk disk = world.Disks[leaving];
        disk.OnRequest = (operation, _, _) => disk.Pulled |= operation == SimOperation.Flush;
        world.Write(2 * world.RowLength, 4096);
        disk.OnRequest = null;
        Assert.True(disk.Pulled || !world.World.Host.Row(2)!.Places.Any(place => place.Disk == leaving), "nothing was flushed");

        ScrubWorld after = world.Opened((SpaceWorld)world.World.Cut(5, (_, _, _) => false));
        if (disk.Pulled)
        {
            Assert.Equal("", after.Lane.Run(after.World.Return(leaving)));
        }

        Assert.Equal(RepairEnd.Done, after.Lane.Run(after.Space.Resync(new SimPacer(after.Lane))));
        for (int i = 0; i < 4; i++)
        {
            after.AssertReads(2 * world.RowLength, world.RowLength);
        }
    }
}
