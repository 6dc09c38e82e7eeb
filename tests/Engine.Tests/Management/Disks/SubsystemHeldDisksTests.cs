using TierSpaces.Engine.Management;
using TierSpaces.Engine.Pools;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>Disks that a killed host holds still when the next one starts: their pool waits for them, however few they are.</summary>
public class SubsystemHeldDisksTests
{
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(4)]
    public void A_pool_opens_whole_when_its_disks_are_let_go_of(int held)
    {
        SubsystemWorld world = new();
        world.NewPool(4);
        Guid id = world.NewMirror("d", 4 << 20);
        Hold(world, held);
        world.Restart();
        world.Advance(TimeSpan.FromSeconds(60));
        Assert.DoesNotContain(world.Run(world.Subsystem.VirtualDisks.ListAsync()), disk => disk.Health == HealthStatus.Healthy);
        for (int disk = 0; disk < held; disk++)
        {
            world.Held.Remove(disk);
            world.Advance(TimeSpan.FromSeconds(1));   // one after another
        }

        VirtualDiskStatus status = Assert.Single(world.Run(world.Subsystem.VirtualDisks.ListAsync()));
        Assert.Equal((id, HealthStatus.Healthy, ""), (status.Description.Id.Value, status.Health, status.StatusReason));
        Assert.Equal(0, world.Opened(id).Parts[0].Space.StaleRegions);
        world.Write(id, 0, 4096);
    }

    [Fact]
    public void One_that_is_never_let_go_of_is_left_out_in_the_end()
    {
        SubsystemWorld world = new();
        world.NewPool(4);
        Guid id = world.NewMirror("d", 4 << 20);
        Hold(world, 1);
        world.Restart();
        world.Advance(TimeSpan.FromMinutes(6));
        Assert.Equal(id, Assert.Single(world.Run(world.Subsystem.VirtualDisks.ListAsync())).Description.Id.Value);
        world.Write(id, 0, 4096);
    }

    private static void Hold(SubsystemWorld world, int disks)
    {
        for (int disk = 0; disk < disks; disk++)
        {
            world.Held.Add(disk);
        }
    }
}
