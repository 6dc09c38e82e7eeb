using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Resiliency;

/// <summary>
/// A flush after disks have left that held writes alone: it fails, because nothing makes these durable. Of these worlds disks 0 and 1 have the log, row 0
/// is on 2 and 1.
/// </summary>
public sealed class FlushAfterLossTests
{
    private const int Block = 4096;

    [Theory]
    [InlineData(true, false)]
    [InlineData(true, true)]
    [InlineData(false, false)]
    public void A_flush_fails_while_the_last_copy_of_a_write_that_was_not_flushed_is_away(bool checksums, bool isFlushed)
    {
        ScrubWorld world = ScrubWorld.New(1, 2, checksums);
        world.Disks[1].Pulled = true;
        world.Write(0, Block);
        world.Put(0, Block);
        if (isFlushed)
        {
            Assert.Equal(IoError.None, world.Lane.Run(world.Space.Flush()));
        }

        world.Disks[2].Pulled = true;
        Assert.Equal(IoError.None, world.Lane.Run(world.World.Host.Evict(2, "it is gone")));
        Assert.Equal(isFlushed ? IoError.None : IoError.Io, world.Lane.Run(world.Space.Flush()));
    }

    [Fact]
    public void A_flush_succeeds_without_a_disk_whose_writes_another_one_holds()
    {
        ScrubWorld world = ScrubWorld.New(1, 2, checksums: true);
        world.Put(0, Block);
        world.Disks[2].Pulled = true;
        Assert.Equal(IoError.None, world.Lane.Run(world.World.Host.Evict(2, "it is gone")));
        Assert.Equal(IoError.None, world.Lane.Run(world.Space.Flush()));
        world.AssertReads(0, Block);
    }

    // The disk has lost its power meanwhile, and what was in its cache.
    [Fact]
    public void A_flush_fails_although_the_disk_is_back()
    {
        ScrubWorld world = ScrubWorld.New(1, 2, checksums: false);
        world.Disks[1].Pulled = true;
        world.Write(0, Block);
        world.Put(0, Block);
        world.Disks[2].Pulled = true;
        Assert.Equal(IoError.None, world.Lane.Run(world.World.Host.Evict(2, "it is gone")));
        Assert.Equal("", world.Lane.Run(world.World.Return(2)));
        Assert.Equal(IoError.Io, world.Lane.Run(world.Space.Flush()));
    }
}
