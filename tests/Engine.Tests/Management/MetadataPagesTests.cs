using TierSpaces.Engine.Management;
using TierSpaces.Engine.Pools;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>A pool of small disks whose metadata area fills up with virtual disks.</summary>
public sealed class MetadataPagesTests
{
    private readonly SubsystemWorld _world = new();

    [Fact]
    public void The_pool_says_how_full_it_is_before_a_virtual_disk_is_refused()
    {
        _world.NewPool(4);
        int made = 0;
        RefusedException? refused = null;
        bool wasStressed = false;
        while (refused is null)
        {
            try
            {
                _world.NewMirror($"d{made}", 1 << 20, filled: false);
                made++;
            }
            catch (RefusedException full)
            {
                refused = full;
            }

            wasStressed |= refused is null && Pool.OperationalStatus == PoolOperationalStatus.Stressed;
            Assert.Equal(wasStressed ? HealthStatus.Warning : HealthStatus.Healthy, Pool.Health);
        }

        Assert.True(wasStressed);
        Assert.Contains("The metadata area is ", Pool.StatusReason, StringComparison.Ordinal);
        Assert.Contains("first writes of thin ones fail with ENOSPC; everything else works.", Pool.StatusReason, StringComparison.Ordinal);
        Assert.Contains("metadata area", refused.Message, StringComparison.Ordinal);

        Guid last = _world.Run(_world.Subsystem.VirtualDisksAsync())[^1].Description.Id.Value;
        while (Pool.Health != HealthStatus.Healthy)
        {
            Assert.True(_world.Run(_world.Subsystem.RemoveVirtualDiskAsync(last)));
            last = _world.Run(_world.Subsystem.VirtualDisksAsync())[^1].Description.Id.Value;
        }

        Assert.Equal("", Pool.StatusReason);
    }

    private StoragePoolStatus Pool => Assert.Single(_world.Run(_world.Subsystem.PoolsAsync()));
}
