using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Tests.Devices;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>Disks that belong to another storage system, as sysfs tells of them, are listed and never pooled.</summary>
public sealed class SystemManagedDiskTests : IDisposable
{
    private readonly FakeSystem _system = new();
    private readonly SubsystemWorld _world = new();

    public void Dispose() => _system.Dispose();

    [Theory]
    [InlineData("virtual/block/md0", "md0 is a Linux software RAID (md)")]
    [InlineData("virtual/block/dm-3", "dm-3 is a device-mapper volume")]
    [InlineData("platform/host5/session2/target5:0:0/5:0:0:1/block/sde", "sde is reached over iSCSI")]
    public void They_are_refused_and_listed_with_the_reason(string device, string reason)
    {
        _world.NewPool(3);
        _world.Obstacles[3] = _system.Disk("8:64", device).Describe(8, 64).Identity.CannotPoolReason;
        Guid disk = _world.NewDisk();

        IsRejected(() => _world.Run(_world.Subsystem.Pools.AddDisksAsync(_world.Pool, [disk], DiskUsage.AutoSelect)), reason);
        IsRejected(() => _world.Run(_world.Subsystem.Pools.CheckAddDisksAsync(_world.Pool, [disk])), reason);
        IsRejected(() => _world.Run(
            _world.Subsystem.Pools.CreateAsync(
                new PoolDescription { FriendlyName = "q", Slabs = new SlabGeometry(SlabGeometry.SmallestSlab) }, [disk], DiskUsage.AutoSelect)), reason);
        PhysicalDiskStatus listed = _world.Physical(3);
        Assert.Equal(ManagementError.SystemManagedDisk, listed.CannotPool);
        Assert.StartsWith(reason, listed.CannotPoolReason, StringComparison.Ordinal);
        Assert.Single(_world.Run(_world.Subsystem.Pools.ListAsync()));
    }

    private static void IsRejected(Action verb, string reason)
    {
        ManagementException rejected = Assert.Throws<ManagementException>(verb);
        Assert.Equal(ManagementError.SystemManagedDisk, rejected.Error);
        Assert.Contains(reason, rejected.Message, StringComparison.Ordinal);
    }
}
