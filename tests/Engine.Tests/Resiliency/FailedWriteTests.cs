using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Resiliency;

/// <summary>
/// A write that failed on every copy and arrived on some of them all the same: the block is as before or as written, the same at every read, and no
/// block is lost.
/// </summary>
public sealed class FailedWriteTests
{
    private const int Block = 4096;
    private const byte Value = 0x5A;
    private const long Second = 1_000_000_000;

    private static readonly byte[] s_written = [.. Enumerable.Repeat(Value, Block)];

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_block_that_a_failed_write_reached_everywhere_is_as_written(bool checksums)
    {
        ScrubWorld world = ScrubWorld.New(1, 2, checksums);
        FailWrite(world, 0, 0, 1);
        world.AssertFullOf(Value, 0);   // and so it stays, without the caches of the disks too
        world.Opened((SpaceWorld)world.World.Cut(5, (_, _, _) => false)).AssertFullOf(Value, 0);
        world.Settle();
        world.Opened((SpaceWorld)world.World.Cut(5, (_, _, _) => false)).AssertFullOf(Value, 0);
        Assert.Equal(0, world.Reported(DiskFinding.Lost) + world.Reported(DiskFinding.ChecksumMismatch));
    }

    [Fact]
    public void A_block_that_a_failed_write_reached_on_one_copy_is_as_before()
    {
        ScrubWorld world = ScrubWorld.New(1, 2, checksums: true);
        FailWrite(world, 0, 0);
        world.AssertReads(0, Block);
        world.AssertReads(0, Block);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Copies_are_equal_soon_though_nothing_reads_them(bool checksums)
    {
        ScrubWorld world = ScrubWorld.New(1, 2, checksums);
        FailWrite(world, 0, 0);
        Assert.NotEqual(Copy(world, 0), Copy(world, 1));
        world.Lane.Advance(3 * Second);
        Assert.Equal(Copy(world, 0), Copy(world, 1));
        world.Settle();
        Assert.Equal(0, world.Space.DirtyRegions);
    }

    [Fact]
    public void Without_checksums_every_read_gives_the_same()
    {
        ScrubWorld world = ScrubWorld.New(1, 2, checksums: false);
        FailWrite(world, 0, 1);
        Assert.Equal(IoError.None, world.Read(0, Block, out byte[] first));
        for (int i = 0; i < 4; i++)
        {
            Assert.Equal(IoError.None, world.Read(0, Block, out byte[] again));
            Assert.Equal(first, again);
        }
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_stop_before_the_copies_are_equal_changes_nothing(bool checksums)
    {
        ScrubWorld world = ScrubWorld.New(1, 2, checksums);
        FailWrite(world, 0, 0, 1);
        ScrubWorld next = world.Opened((SpaceWorld)world.World.Cut(5, (_, _, _) => true));
        next.AssertFullOf(Value, 0);
        next.AssertReads(Block, 15 * Block);
    }

    [Fact]
    public void A_scrub_counts_no_block_as_lost_of_which_a_write_has_failed()
    {
        ScrubWorld world = ScrubWorld.New(1, 2, checksums: true);
        FailWrite(world, 0, 0, 1);
        Assert.Equal(0, world.Scrub().BlocksLost);
        world.AssertFullOf(Value, 0);
    }

    [Fact]
    public void A_slab_that_moves_takes_along_what_a_failed_write_has_left()
    {
        ScrubWorld world = ScrubWorld.New(1, 2, checksums: true);
        FailWrite(world, 0, 0, 1);
        Assert.Equal(RepairEnd.Done, world.Lane.Run(world.World.Host.Move(0, 0, 0, new SimPacer(world.Lane))));
        world.AssertFullOf(Value, 0);
        Assert.Equal(Copy(world, 0), Copy(world, 1));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_block_that_is_written_again_or_unmapped_is_what_it_became(bool isWritten)
    {
        ScrubWorld world = ScrubWorld.New(1, 2, checksums: true);
        FailWrite(world, 0, 0, 1);
        if (isWritten)
        {
            world.Put(0, Block);
            world.AssertReads(0, Block);
        }
        else
        {
            world.Unmap(0, Block);
            world.AssertFullOf(0, 0);
        }

        world.Settle();
        Assert.Equal(0, world.Space.DirtyRegions);
    }

    // A block that was rotten before the write is not taken for data, and neither is a block beside it.
    [Fact]
    public void Rot_beside_a_failed_write_stays_an_error()
    {
        ScrubWorld world = ScrubWorld.New(1, 2, checksums: true);
        world.Flip(0, Block);
        world.Flip(1, Block);
        FailWrite(world, 0, 0, 1);
        world.Lane.Advance(3 * Second);
        Assert.Equal(IoError.Io, world.Read(Block, Block, out _));
        world.AssertFullOf(Value, 0);
    }

    // The background has read both copies and writes one of them when a client comes.
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_write_that_comes_while_copies_are_made_equal_comes_after_that(bool checksums)
    {
        ScrubWorld world = ScrubWorld.New(1, 2, checksums);
        FailWrite(world, 0, 0);
        (int number, long place) = world.DataPlace(checksums ? 0 : 1, 0);   // without checksums the first copy is taken
        SimDisk disk = world.Disks[number];
        bool isSlow = false;
        disk.WriteTakesLonger = (offset, _) =>
        {
            if (offset != place || isSlow)
            {
                return 0;
            }

            isSlow = true;
            return Second / 5;
        };
        world.Lane.Advance(Second + (Second / 10));
        Assert.True(isSlow);
        world.Put(0, Block);
        world.Lane.Advance(Second);
        Assert.Equal(Copy(world, 0), Copy(world, 1));
        world.AssertReads(0, Block);
    }

    private static byte[] Copy(ScrubWorld world, int copy)
    {
        byte[] data = new byte[Block];
        (int disk, long offset) = world.DataPlace(copy, 0);
        world.Disks[disk].Media.Read(offset, data);
        return data;
    }

    /// <summary>Both disks refuse a write of a block; some of the copies hold it all the same.</summary>
    private static void FailWrite(ScrubWorld world, int address, params int[] reached)
    {
        for (int copy = 0; copy < 2; copy++)
        {
            (int number, long place) = world.DataPlace(copy, address);
            SimDisk disk = world.Disks[number];
            bool arrives = reached.Contains(copy);
            disk.WriteFails = (offset, _) =>
            {
                if (offset == place && arrives)
                {
                    disk.Media.Write(place, s_written);
                }

                return offset == place;
            };
        }

        Assert.Equal(IoError.Io, world.Lane.Run(world.Overwrite(address, Value)));
        Array.ForEach(world.Disks, static disk => disk.WriteFails = null);
    }
}
