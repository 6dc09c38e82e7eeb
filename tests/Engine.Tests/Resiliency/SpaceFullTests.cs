using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Resiliency;

/// <summary>Host file systems that are full for a while.</summary>
public sealed class SpaceFullTests
{
    private const long Second = 1_000_000_000;

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void A_write_that_found_no_space_is_on_every_copy_when_it_is_acknowledged(int copies)
    {
        ScrubWorld world = ScrubWorld.New(1, copies, checksums: true);
        foreach (int copy in Enumerable.Range(0, copies))
        {
            Verification.SimDisk disk = world.Disks[world.DataPlace(copy, 0).Disk];
            world.Write(64 << 10, 4096);   // its region is dirty: nothing but the data is written next
            disk.Full = true;
            world.Lane.Schedule(3 * Second, () => disk.Full = false);
            world.Write(64 << 10, 8192);
            Assert.False(disk.Full);
        }

        Enumerable.Range(0, copies).ToList().ForEach(world.AssertCopy);
    }
}
