using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Pools;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>Disks that are retired because of their errors.</summary>
public sealed class ErrorThresholdTests
{
    private const long Mebibyte = 1 << 20;
    private readonly SubsystemWorld _world = new();

    [Fact]
    public void A_disk_with_errors_in_ten_seconds_is_retired_and_drained()
    {
        (Guid disk, int bad) = NewMirrorWithBadDisk(3);
        ReadWithErrors(disk, bad, StorageSubsystem.ErrorSecondsMax - 1);
        Assert.Equal((DiskUsage.AutoSelect, "OK"), (_world.Physical(bad).Usage, _world.Physical(bad).OperationalStatus));

        ReadWithErrors(disk, bad, 1);
        _world.Advance(TimeSpan.FromMinutes(2));

        PhysicalDiskStatus physical = _world.Physical(bad);
        Assert.Equal((DiskUsage.Retired, "Predictive Failure", HealthStatus.Warning, 0L), (physical.Usage, physical.OperationalStatus, physical.Health, physical.VirtualDiskBytes));
        Assert.Contains(_world.Notices, notice => notice.Contains("is expected to fail: errors in 10 seconds within 10 minutes"));
        _world.Restart();
        Assert.Equal("Predictive Failure", _world.Physical(bad).OperationalStatus);
    }

    [Fact]
    public void Many_errors_at_once_and_few_over_a_long_time_retire_nothing()
    {
        (Guid disk, int bad) = NewMirrorWithBadDisk(3);
        _world.Disks[bad].ReadFails = (_, _) => true;
        for (int i = 0; i < 200; i++)
        {
            Read(disk, i * 4096L);
        }

        _world.Disks[bad].ReadFails = null;
        Assert.True(_world.Run(_world.Subsystem.ReliabilityAsync(_world.Physical(bad).UniqueId)).ReadErrors > 50);
        for (int i = 0; i < 2 * StorageSubsystem.ErrorSecondsMax; i++)
        {
            ReadWithErrors(disk, bad, 1);
            _world.Advance(TimeSpan.FromMinutes(3));
        }

        Assert.Equal((DiskUsage.AutoSelect, "OK"), (_world.Physical(bad).Usage, _world.Physical(bad).OperationalStatus));
    }

    [Fact]
    public void Without_room_elsewhere_it_stays_in_use_until_there_is_room()
    {
        (Guid disk, int bad) = NewMirrorWithBadDisk(2);
        ReadWithErrors(disk, bad, 2 * StorageSubsystem.ErrorSecondsMax);
        _world.Advance(TimeSpan.FromMinutes(5));
        Assert.Equal((DiskUsage.AutoSelect, "Predictive Failure"), (_world.Physical(bad).Usage, _world.Physical(bad).OperationalStatus));
        Assert.Empty(_world.Jobs);

        _world.AddDisk(DiskUsage.AutoSelect);
        _world.Advance(TimeSpan.FromMinutes(3));

        Assert.Equal((DiskUsage.Retired, 0L), (_world.Physical(bad).Usage, _world.Physical(bad).VirtualDiskBytes));
    }

    [Fact]
    public void A_user_who_wants_it_used_gets_it_used_and_counted_anew()
    {
        (Guid disk, int bad) = NewMirrorWithBadDisk(3);
        ReadWithErrors(disk, bad, StorageSubsystem.ErrorSecondsMax);
        _world.Advance(TimeSpan.FromMinutes(1));
        Assert.Equal(DiskUsage.Retired, _world.Physical(bad).Usage);

        _world.Run(_world.Subsystem.SetPhysicalDiskAsync(_world.Physical(bad).UniqueId, null, null, null, DiskUsage.AutoSelect));
        _world.Advance(TimeSpan.FromMinutes(1));

        Assert.Equal((DiskUsage.AutoSelect, "OK"), (_world.Physical(bad).Usage, _world.Physical(bad).OperationalStatus));
    }

    private (Guid Disk, int Bad) NewMirrorWithBadDisk(int disks)
    {
        _world.NewPool(disks);
        Guid disk = _world.NewMirror("d", 8 * Mebibyte);
        Guid id = _world.Run(_world.Subsystem.PhysicalExtentsAsync(disk, null))[0].PhysicalDisk;
        return (disk, _world.Run(_world.Subsystem.PhysicalDisksAsync()).Single(physical => physical.UniqueId == id).DeviceId);
    }

    /// <summary>So many seconds, in each of which the disk fails reads.</summary>
    private void ReadWithErrors(Guid disk, int bad, int seconds)
    {
        for (int i = 0; i < seconds; i++)
        {
            _world.Disks[bad].ReadFails = (_, _) => true;
            for (int block = 0; block < 8; block++)
            {
                Read(disk, ((i * 8) + block) * 4096L);
            }

            _world.Disks[bad].ReadFails = null;
            _world.Advance(TimeSpan.FromSeconds(1.1));
        }
    }

    private void Read(Guid disk, long offset)
    {
        IoBuffer buffer = _world.Lane.Buffers.Rent(4096);
        Assert.Equal(IoError.None, _world.Lane.Run(_world.Disk(disk).Read(offset, buffer)));
        _world.Lane.Buffers.Return(buffer);
    }
}
