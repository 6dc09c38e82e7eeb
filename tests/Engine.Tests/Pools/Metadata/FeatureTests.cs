using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Tests.Formats;

namespace TierSpaces.Engine.Tests.Pools;

/// <summary>A pool names the features that its state needs in every superblock, before the state needs them.</summary>
public sealed class FeatureTests
{
    private const uint Newest = FeatureFlags.MemberVotesFeature | FeatureFlags.LeaseFeature | FeatureFlags.CacheSummariesFeature;

    [Theory]
    [InlineData(FaultDomainLevel.StorageEnclosure, FaultDomainLevel.PhysicalDisk, 1)]
    [InlineData(FaultDomainLevel.PhysicalDisk, FaultDomainLevel.StorageRack, 1)]
    [InlineData(FaultDomainLevel.PhysicalDisk, FaultDomainLevel.PhysicalDisk, 0)]
    public void A_template_with_fault_domains_makes_a_pool_one_that_older_releases_refuse(FaultDomainLevel awareness, FaultDomainLevel isolation, int feature)
    {
        PoolWorld world = new(1, disks: 3);
        Pool pool = world.Create();
        Assert.All(world.Scan(), static scan => Assert.Equal(Newest, scan.Superblock!.Features.Incompatible));
        TierTemplate template = RecordSamples.TierTemplate with { FaultDomainAwareness = awareness, ColumnIsolation = isolation };
        Assert.True(world.Lane.Run(pool.Commit(new TierTemplateSet(template))).Succeeded);
        PoolWorld killed = world.Killed(2);
        Assert.All(killed.Scan(), scan => Assert.Equal(Newest | (uint)feature, scan.Superblock!.Features.Incompatible));
        Pool again = killed.Open(pool.Id).Pool!;
        TierTemplate read = again.State.TierTemplates[template.Id];
        Assert.Equal((awareness, isolation), (read.FaultDomainAwareness, read.ColumnIsolation));
        Assert.True(killed.Lane.Run(again.Commit(new TierTemplateRemoved(template.Id))).Succeeded);
        killed.Lane.Run(again.Close());
        Assert.All(killed.Killed(3).Scan(), static scan => Assert.Equal(ScanKind.Member, scan.Kind));
    }

    [Fact]
    public void An_unknown_feature_is_refused() =>
        Assert.Contains("does not know", new FeatureFlags(1, 0, 1u << 31).UnsupportedReason, StringComparison.Ordinal);
}
