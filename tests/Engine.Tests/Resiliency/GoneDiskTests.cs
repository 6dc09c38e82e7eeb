using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Verification;
using TierSpaces.Simulation;

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

    // After an unclean stop nothing is answered from a region before its copies have been judged: the judging finds the disk gone.
    [Fact]
    public void The_disk_of_the_only_copy_leaves_when_the_first_read_of_a_dirty_region_finds_it_gone()
    {
        const int region = 16 << 10;
        ScrubWorld before = ScrubWorld.New(1, 1, checksums: true);
        for (int at = 0; at < before.RowLength; at += region)
        {
            before.Write(at, Block);
        }

        ScrubWorld world = before.Opened((SpaceWorld)before.World.Cut(5, (_, _, _) => true));
        int disk = world.DataPlace(0, 0).Disk;
        world.Disks[disk].ReadTakesLonger = static (_, _) => 1_000_000;
        world.AssertReads(15 * region, Block);   // the checksum page of the row is in memory now, and the background at its first regions
        Assert.InRange(world.Space.UnresolvedRegions, 8, 15);
        world.Disks[disk].Pulled = true;

        Assert.NotEqual(IoError.None, world.Read(14 * region, Block, out _));

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

    // The rows of the disk are copied after the copy of the log, without a fault: the disk leaves for what the log found, or stays.
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_disk_leaves_when_a_step_or_the_flush_of_a_copy_of_the_log_fails_on_it(bool isStep)
    {
        ScrubWorld world = ScrubWorld.New(1, 2, checksums: true);
        world.Disks[0].Pulled = true;
        world.Write(0, Block);
        Assert.Equal("", world.Lane.Run(world.World.Return(0)));
        SimDisk disk = world.Disks[0];
        disk.FailFlushes = isStep ? 0 : 1;
        disk.WriteFails = (_, _) =>
        {
            disk.WriteFails = null;
            return isStep;
        };

        Assert.NotEqual(RepairEnd.Done, world.Lane.Run(world.Space.Resync(new PacerAfter(static () => { }))));

        Assert.Null(world.World.Host.Members.Disk(0));
        Assert.Equal(0, world.Space.Counters.Repair.LogCopiesRepaired);
        world.AssertReads(0, Block);
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
