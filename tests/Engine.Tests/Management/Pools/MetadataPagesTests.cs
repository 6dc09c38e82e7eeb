using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Pools;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>A pool of small disks whose metadata area fills up with long descriptions.</summary>
public sealed class MetadataPagesTests
{
    private readonly SubsystemWorld _world = new();

    [Fact]
    public void The_pool_says_how_full_it_is_before_a_virtual_disk_is_refused()
    {
        _world.NewPool(4);
        List<Guid> templates = [];
        ManagementException? full = null;
        bool wasStressed = false;
        while (full is null)
        {
            try
            {
                templates.Add(_world.Run(_world.Subsystem.Tiers.CreateTemplateAsync(_world.Pool, new TierTemplateRequest
                {
                    FriendlyName = $"t{templates.Count}", MediaType = MediaType.SSD, Description = new string('d', TierTemplate.MaxDescriptionLength),
                })).UniqueId);
            }
            catch (ManagementException rejected)
            {
                full = rejected;
            }

            wasStressed |= full is null && Pool.OperationalStatus == PoolOperationalStatus.Stressed;
            Assert.Equal(wasStressed ? HealthStatus.Warning : HealthStatus.Healthy, Pool.Health);
        }

        Assert.True(wasStressed);
        Assert.Equal((83, 83), Pool.MetadataPages);
        Assert.Contains("The metadata area is ", Pool.StatusReason, StringComparison.Ordinal);
        Assert.Contains("first writes of thin ones fail with ENOSPC; everything else works.", Pool.StatusReason, StringComparison.Ordinal);
        Assert.Contains("metadata area", full.Message, StringComparison.Ordinal);

        ManagementException disk = Assert.Throws<ManagementException>(() => _world.NewMirror("d", 1 << 20, filled: false));
        Assert.Contains("has 83 pages, of which 83 are in use", disk.Message, StringComparison.Ordinal);
        Assert.Empty(_world.Run(_world.Subsystem.VirtualDisks.ListAsync()));
        Assert.Equal(0, Pool.AllocatedBytes);

        while (Pool.Health != HealthStatus.Healthy)
        {
            Assert.True(_world.Run(_world.Subsystem.Tiers.RemoveTemplateAsync(templates[^1])));
            templates.RemoveAt(templates.Count - 1);
        }

        Assert.Equal("", Pool.StatusReason);
        _world.NewMirror("d", 1 << 20);
    }

    private StoragePoolStatus Pool => Assert.Single(_world.Run(_world.Subsystem.Pools.ListAsync()));
}
