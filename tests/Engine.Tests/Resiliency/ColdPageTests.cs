using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Resiliency;

/// <summary>Reads of blocks whose checksum page is not in memory: page and data are read side by side, and the data is judged all the same.</summary>
public sealed class ColdPageTests
{
    private const int Block = 4096;
    private const long Millisecond = 1_000_000;

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void Page_and_data_are_read_in_the_time_of_one_read(int copies)
    {
        ScrubWorld world = ScrubWorld.New(1, copies, checksums: true);
        Array.ForEach(world.Disks, static disk => disk.ReadTakesLonger = (_, _) => 20 * Millisecond);
        long startNs = world.Lane.NowNs;
        world.AssertReadsAtOnce(0, Block);
        Assert.InRange(world.Lane.NowNs - startNs, 20 * Millisecond, 30 * Millisecond);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void A_block_that_was_never_written_reads_as_zeros_though_its_place_cannot_be_read(int copies)
    {
        ScrubWorld world = ScrubWorld.New(1, copies, checksums: true);
        int address = Enumerable.Range(0, world.RowLength / Block).First(block => !world.Written.Contains(block)) * Block;
        for (int copy = 0; copy < copies; copy++)
        {
            (int disk, long place) = world.DataPlace(copy, address);
            world.Disks[disk].ReadFails = (offset, length) => offset < place + Block && place < offset + length;
        }

        world.AssertReadsAtOnce(address, Block);
        Assert.Equal(0, world.Reported(DiskFinding.Lost));
    }

    [Fact]
    public void A_wrong_block_is_healed_though_its_page_came_later()
    {
        ScrubWorld world = ScrubWorld.New(1, 2, checksums: true);
        foreach (int copy in (int[])[0, 1])
        {
            (int disk, long page) = world.PagePlace(copy);
            world.Disks[disk].ReadTakesLonger = (offset, _) => offset == page ? 20 * Millisecond : 0;
        }

        world.Flip(0, 0);
        world.Flip(1, Block);
        world.AssertReadsAtOnce(0, 2 * Block);
        Assert.Equal(2, world.Reported(DiskFinding.Healed));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void The_other_copy_of_a_slow_one_is_judged_by_the_page_too(bool isWrong)
    {
        foreach (int slow in (int[])[0, 1])
        {
            ScrubWorld world = ScrubWorld.New(1, 2, checksums: true);
            (int disk, long place) = world.DataPlace(slow, 0);
            world.Disks[disk].ReadTakesLonger = (offset, _) => offset == place ? 2000 * Millisecond : 0;
            if (isWrong)
            {
                world.Flip(1 - slow, 0);
            }

            long startNs = world.Lane.NowNs;
            world.AssertReadsAtOnce(0, Block);   // whichever copy was asked first
            if (isWrong)
            {
                Assert.True(world.Lane.NowNs - startNs >= 2000 * Millisecond, "a copy was taken that does not match its entry");
            }
        }
    }
}
