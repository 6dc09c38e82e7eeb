using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Tests.Resiliency;

/// <summary>Reads that find something else than the entries say.</summary>
public sealed class HealingTests
{
    private const int Block = 4096;

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public void A_flipped_byte_is_put_right_by_the_read_that_finds_it(int copy)
    {
        ScrubWorld world = ScrubWorld.New(1, 2, checksums: true);
        world.Flip(copy, 0);
        for (int i = 0; i < 4; i++)
        {
            world.AssertReads(0, Block);
        }

        world.AssertCopy(copy);
        Assert.Equal(1, world.Reported(DiskFinding.Healed));
    }

    // A write has reached one disk and not the other. A read meanwhile finds one block that does not match its entry, and one that does.
    [Fact]
    public void What_a_write_has_left_half_way_is_not_healed_from_the_other_copy()
    {
        ScrubWorld world = ScrubWorld.New(1, 2, checksums: true);
        (int slow, long place) = world.DataPlace(1, 0);
        world.Disks[slow].WriteTakesLonger = (offset, _) => offset == place ? 20_000_000 : 0;
        LaneTask<IoError> write = world.Overwrite(0, 0x5A);
        world.Lane.Advance(1_000_000);
        for (int i = 0; i < 4; i++)
        {
            Assert.Equal(IoError.None, world.Read(0, Block, out _));
        }

        Assert.Equal(IoError.None, world.Lane.Run(write));
        Assert.True(world.Scrub().IsClean);
        world.AssertFullOf(0x5A, 0);
    }
}
