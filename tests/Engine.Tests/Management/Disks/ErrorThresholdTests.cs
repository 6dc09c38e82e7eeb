using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>Disks that are retired because of their errors.</summary>
public sealed class ErrorThresholdTests
{
    private const long Mebibyte = 1 << 20;
    private readonly SubsystemWorld _world = new();

    [Fact]
    public void A_disk_with_ten_bad_places_within_a_day_is_retired_and_drained()
    {
        (Guid disk, int bad) = NewMirrorWithBadDisk(3);
        ReadWithErrors(disk, bad, 0, FailingDisks.BadPlacesMax - 1);
        Assert.Equal((DiskUsage.AutoSelect, "OK"), (_world.Physical(bad).Usage, _world.Physical(bad).OperationalStatus));

        ReadWithErrors(disk, bad, FailingDisks.BadPlacesMax - 1, 1);
        _world.Advance(TimeSpan.FromMinutes(2));

        PhysicalDiskStatus physical = _world.Physical(bad);
        Assert.Equal((DiskUsage.Retired, "Predictive Failure", HealthStatus.Warning, 0L), (physical.Usage, physical.OperationalStatus, physical.Health,
            physical.VirtualDiskBytes));
        Assert.Contains(_world.Notices, notice => notice.Contains("is expected to fail: 10 distinct places of 64 KB were bad within 24 hours"));
        _world.Restart();
        Assert.Equal("Predictive Failure", _world.Physical(bad).OperationalStatus);
    }

    [Fact]
    public void Few_places_that_are_bad_again_and_again_retire_nothing()
    {
        (Guid disk, int bad) = NewMirrorWithBadDisk(3);
        for (int i = 0; i < 10; i++)
        {
            ReadWithErrors(disk, bad, 0, FailingDisks.BadPlacesMax - 1);
            _world.Advance(TimeSpan.FromMinutes(3));
        }

        Assert.True(_world.Run(_world.Subsystem.Reliability.GetAsync(_world.Physical(bad).UniqueId)).ReadErrors >= 90);
        Assert.Equal((DiskUsage.AutoSelect, "OK"), (_world.Physical(bad).Usage, _world.Physical(bad).OperationalStatus));
    }

    [Fact]
    public void Bad_places_that_come_slowly_count_against_the_reads()
    {
        const int places = 12;
        (Guid disk, int bad) = NewMirrorWithBadDisk(3);
        for (int i = 0; i < places; i++)
        {
            ReadWithErrors(disk, bad, i, 1);
            _world.Advance(TimeSpan.FromHours(3));   // at most nine in a day
        }

        Assert.Equal("OK", _world.Physical(bad).OperationalStatus);
        while (_world.Physical(bad).Counters!.ReadOperations < FailingDisks.BadPlacesReadsMin)
        {
            Read(disk, 0);
        }

        _world.Advance(TimeSpan.FromSeconds(3));
        Assert.Equal("Predictive Failure", _world.Physical(bad).OperationalStatus);
        Assert.Contains(_world.Notices, notice => notice.Contains($"is expected to fail: {places} distinct places were bad in 1"));
    }

    [Fact]
    public void A_block_that_no_copy_has_is_a_fault_of_the_virtual_disk_and_counts_once()
    {
        const long offset = (3 * Mebibyte) + (20 * 4096);
        _world.NewPool(4);
        Guid disk = _world.NewMirror("d", 8 * Mebibyte);
        _world.Restart();
        PhysicalExtent[] extents = [.. _world.Run(_world.Subsystem.Placements.ExtentsAsync(disk, null)).Where(extent => extent.VirtualOffset == 3 * Mebibyte)];
        Assert.Equal(2, extents.Length);
        int[] disks = [.. extents.Select(
            extent => _world.Run(_world.Subsystem.PhysicalDisks.ListAsync()).Single(physical => physical.UniqueId == extent.PhysicalDisk).DeviceId)];
        for (int copy = 0; copy < 2; copy++)
        {
            _world.Disks[disks[copy]].Media.Corrupt(extents[copy].PhysicalOffset + (20 * 4096), static sector =>
            {
                sector[7] ^= 1;
                return sector;
            });
        }

        for (int second = 0; second < 30; second++)
        {
            Assert.Equal(IoError.Io, TryRead(disk, offset));
            _world.Advance(TimeSpan.FromSeconds(1));
        }

        Assert.All(_world.Run(_world.Subsystem.PhysicalDisks.ListAsync()), physical =>
            Assert.Equal((DiskUsage.AutoSelect, "OK"), (physical.Usage, physical.OperationalStatus)));
        DiskReliability counted = _world.Run(_world.Subsystem.Reliability.GetAsync(_world.Physical(disks[0]).UniqueId));
        Assert.Equal((1, 1), (counted.ChecksumMismatches, counted.BlocksLost));
        VirtualDiskStatus status = Status(disk);
        Assert.Equal(HealthStatus.Warning, status.Health);
        Assert.Contains($"{ByteText.Exact(4096)} at offset {ByteText.Offset(offset)}", status.StatusReason, StringComparison.Ordinal);

        _world.Write(disk, offset, 4096);
        Assert.Equal((HealthStatus.Healthy, "", IoError.None), (Status(disk).Health, Status(disk).StatusReason, TryRead(disk, offset)));
    }

    [Fact]
    public void Without_room_elsewhere_it_stays_in_use_until_there_is_room()
    {
        (Guid disk, int bad) = NewMirrorWithBadDisk(2);
        ReadWithErrors(disk, bad, 0, FailingDisks.BadPlacesMax);
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
        ReadWithErrors(disk, bad, 0, FailingDisks.BadPlacesMax);
        _world.Advance(TimeSpan.FromMinutes(1));
        Assert.Equal(DiskUsage.Retired, _world.Physical(bad).Usage);

        _world.Run(_world.Subsystem.PhysicalDisks.SetAsync(_world.Physical(bad).UniqueId, null, null, null, DiskUsage.AutoSelect));
        _world.Advance(TimeSpan.FromMinutes(1));

        Assert.Equal((DiskUsage.AutoSelect, "OK"), (_world.Physical(bad).Usage, _world.Physical(bad).OperationalStatus));
    }

    private (Guid Disk, int Bad) NewMirrorWithBadDisk(int disks)
    {
        _world.NewPool(disks);
        Guid disk = _world.NewMirror("d", 8 * Mebibyte);
        Guid id = _world.Run(_world.Subsystem.Placements.ExtentsAsync(disk, null))[0].PhysicalDisk;
        return (disk, _world.Run(_world.Subsystem.PhysicalDisks.ListAsync()).Single(physical => physical.UniqueId == id).DeviceId);
    }

    /// <summary>The disk fails reads at so many places of 64 KiB of the first row, a second each.</summary>
    private void ReadWithErrors(Guid disk, int bad, int first, int places)
    {
        for (int place = first; place < first + places; place++)
        {
            _world.Disks[bad].ReadFails = (_, _) => true;
            for (int times = 0; times < 4; times++)   // of either copy
            {
                Read(disk, place * 65536L);
            }

            _world.Disks[bad].ReadFails = null;
            _world.Advance(TimeSpan.FromSeconds(1.1));
        }
    }

    private void Read(Guid disk, long offset) => Assert.Equal(IoError.None, TryRead(disk, offset));

    private IoError TryRead(Guid disk, long offset)
    {
        IoBuffer buffer = _world.Lane.Buffers.Rent(4096);
        IoError error = _world.Lane.Run(_world.Disk(disk).Read(offset, buffer));
        _world.Lane.Buffers.Return(buffer);
        return error;
    }

    private VirtualDiskStatus Status(Guid disk) => _world.Run(_world.Subsystem.VirtualDisks.ListAsync()).Single(one => one.Description.Id.Value == disk);
}
