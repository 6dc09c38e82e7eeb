using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Tests.Resiliency;

/// <summary>Disks that are found gone by a write or a flush that no other copy makes up for: they leave before it ends.</summary>
public sealed class GoneDiskTests
{
    private const int Block = 4096;

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void The_disk_of_the_only_copy_leaves_when_a_write_finds_it_gone(bool checksums)
    {
        ScrubWorld world = ScrubWorld.New(1, 1, checksums);
        world.Put(0, Block);   // its region is dirty and its checksum page in memory: the write below is the first request to the disk
        int disk = world.DataPlace(0, 0).Disk;
        world.Disks[disk].Pulled = true;

        Assert.NotEqual(IoError.None, world.Lane.Run(world.Overwrite(0, 0x5A)));

        Assert.Null(world.World.Host.Members.Disk(disk));
    }

    // The data that was copied to it may be in its cache only.
    [Fact]
    public void A_disk_that_is_made_whole_leaves_when_its_flush_at_the_end_fails()
    {
        ScrubWorld world = ScrubWorld.New(1, 2, checksums: false);
        world.Disks[2].Pulled = true;
        world.Write(0, Block);
        Assert.Equal("", world.Lane.Run(world.World.Return(2)));
        int stale = world.Space.StaleRegions;
        Assert.NotEqual(0, stale);

        RepairEnd end = world.Lane.Run(world.Space.Resync(new PacerAfter(() => world.Disks[2].Pulled = true)));

        Assert.NotEqual(RepairEnd.Done, end);
        Assert.Null(world.World.Host.Members.Disk(2));
        Assert.Equal(stale, world.Space.StaleRegions);
    }

    private sealed class PacerAfter(Action copied) : IWorkPacer
    {
        public bool IsYielding => true;

        public LaneTask<bool> Done(long bytes)
        {
            copied();
            return LaneTask.FromResult(true);
        }
    }
}
