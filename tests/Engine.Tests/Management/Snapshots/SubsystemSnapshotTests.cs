using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>A snapshot has every object, and stays as it is.</summary>
public sealed class SubsystemSnapshotTests
{
    private readonly SubsystemWorld _world = new();

    [Fact]
    public void A_snapshot_has_what_the_lists_answer()
    {
        _world.NewPool(3);
        Guid disk = _world.NewMirror("d", 1 << 20, filled: false);
        _world.Run(_world.Subsystem.Tiers.CreateTemplateAsync(_world.Pool, new TierTemplateRequest { FriendlyName = "t" }));

        SubsystemSnapshot now = _world.Run(_world.Subsystem.SnapshotAsync());

        Assert.Equal(_world.Run(_world.Subsystem.PhysicalDisks.ListAsync()).Select(static one => one.UniqueId),
            now.PhysicalDisks.Select(static one => one.UniqueId));
        Assert.Equal(_world.Pool, Assert.Single(now.Pools).UniqueId);
        Assert.Equal(disk, Assert.Single(now.VirtualDisks).Description.Id.Value);
        Assert.Equal("t", Assert.Single(now.Tiers).FriendlyName);
        Assert.Empty(now.Jobs);
    }

    [Fact]
    public void A_snapshot_does_not_change_with_the_subsystem()
    {
        _world.NewPool(3);
        Guid disk = _world.NewMirror("d", 1 << 20, filled: false);
        SubsystemSnapshot before = _world.Run(_world.Subsystem.SnapshotAsync());

        Assert.True(_world.Run(_world.Subsystem.VirtualDisks.RemoveAsync(disk)));
        _world.NewDisk();

        Assert.Equal("d", Assert.Single(before.VirtualDisks).Description.FriendlyName);
        Assert.Equal(3, before.PhysicalDisks.Count);
        Assert.Empty(_world.Run(_world.Subsystem.SnapshotAsync()).VirtualDisks);
    }
}
