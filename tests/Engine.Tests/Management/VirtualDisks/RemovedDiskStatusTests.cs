using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Devices.Emulated;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Pools;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>Status of a virtual disk while it is made or removed.</summary>
public sealed class RemovedDiskStatusTests
{
    private readonly SubsystemWorld _world = new() { Profiles = static _ => LatencyProfile.Find("HDD7200")!, SlabSize = 16 << 20 };

    [Fact]
    public void One_that_is_made_or_removed_is_no_trouble()
    {
        _world.NewPool([.. Enumerable.Repeat((2L << 30, MediaType.HDD), 2)]);
        List<string> seen = [];
        Task<VirtualDiskStatus> made = _world.Subsystem.VirtualDisks.CreateAsync(
            _world.Pool, new VirtualDiskRequest { FriendlyName = "d", SizeBytes = 32 << 20, NumberOfColumns = 1 });
        _world.Until(() => Look(seen) && made.IsCompleted);
        Task<bool> removed = _world.Subsystem.VirtualDisks.RemoveAsync(_world.Run(made).Description.Id.Value);
        _world.Until(() => Look(seen) && removed.IsCompleted);
        Assert.Contains("Healthy", seen);
        Assert.All(seen, static text => Assert.Equal("Healthy", text));
    }

    private bool Look(List<string> seen)
    {
        seen.AddRange(_world.Run(_world.Subsystem.VirtualDisks.ListAsync()).Select(static disk =>
            disk.Health == HealthStatus.Healthy ? "Healthy" : $"{disk.Health} {disk.OperationalStatus}: {disk.StatusReason}"));
        return true;
    }
}
