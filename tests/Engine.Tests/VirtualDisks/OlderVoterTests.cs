using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;
using TierSpaces.Engine.Verification;

namespace TierSpaces.Engine.Tests.VirtualDisks;

public class OlderVoterTests
{
    private const int Block = 4096;

    /// <summary>
    /// The machine stops when a view without a disk is in force and not settled, so that the disk still has a vote on it. If the disk comes back as an older
    /// copy of itself, everything on it is stale, although the opening writes to all who have votes.
    /// </summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_disk_that_has_just_left_and_comes_back_older_is_judged_before_it_is_written(bool isOlder)
    {
        PoolWorld world = PoolWorld.New(3, 64 << 20, Block, 1, new VirtualDiskDescription
        {
            FriendlyName = "disk", ResiliencySettingName = "Mirror", SizeBytes = 8 << 20, NumberOfColumns = 1, NumberOfDataCopies = 2, Interleave = 64 << 10,
        });
        Assert.Equal("", world.Lane.Run(world.Open(isNew: true)));
        SimMedia older = world.Disks[1].Media.Snapshot();
        IoBuffer block = world.Lane.Buffers.Rent(Block);
        block.Span.Fill(1);
        for (long at = 0; at < 8 << 20; at += 1 << 20)
        {
            Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk!.Disk.Write(at, block, WriteFlags.None)));
        }

        Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk!.Disk.Flush()));
        world.Lane.Advance(60_000_000_000);   // no region is dirty any more
        PoolWorld? stopped = null;
        world.Pool!.MembershipChanged += _ => stopped ??= isOlder ? world.Restart(2, (1, older)) : world.Restart(2);
        Assert.True(world.Lane.Run(world.Pool.Evict(new DiskNumber(2), "it is taken out")).Succeeded);

        Assert.Equal("", stopped!.Lane.Run(stopped.Open(isNew: false)));
        Assert.True(stopped.Pool!.View.Contains(new DiskNumber(2)));
        int regions = SpaceShape.RegionsPerSlab * stopped.VirtualDisks[0].Slabs().Count(static slab => slab.From.Value == 2);
        Assert.True(regions > 0);
        Assert.Equal(isOlder, stopped.Spaces.StaleRegions == regions);
    }
}
