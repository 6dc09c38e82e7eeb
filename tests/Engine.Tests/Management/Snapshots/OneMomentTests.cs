using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>Every value of one snapshot is of one moment, however late it is computed.</summary>
public sealed class OneMomentTests
{
    private readonly SubsystemWorld _world = new();

    [Fact]
    public void A_disk_that_leaves_later_is_there_in_every_part_of_a_reply()
    {
        _world.NewPool(3);
        Guid disk = _world.NewMirror("d", 4 << 20);
        SubsystemSnapshot before = _world.Run(_world.Subsystem.SnapshotAsync());
        Assert.Equal(HealthStatus.Healthy, Assert.Single(before.Pools).Health);   // one part before, the others after

        Lose(disk);
        SubsystemSnapshot after = _world.Run(_world.Subsystem.SnapshotAsync());

        Assert.All(before.PhysicalDisks, static one => Assert.Equal("OK", one.OperationalStatus));
        Assert.Equal((HealthStatus.Healthy, ""), (Assert.Single(before.VirtualDisks).Health, before.VirtualDisks[0].StatusReason));
        Assert.All(before.Extents(), static extent => Assert.False(extent.IsMissing || extent.IsStale));
        Assert.Contains(after.PhysicalDisks, static one => one.OperationalStatus == "Lost Communication");
        Assert.Equal(HealthStatus.Warning, Assert.Single(after.VirtualDisks).Health);
        Assert.Contains(after.Extents(), static extent => extent.IsMissing);
    }

    [Fact]
    public void Writes_that_come_later_are_in_no_part_of_a_reply()
    {
        _world.NewPool(3);
        Guid disk = _world.NewMirror("d", 4 << 20);
        SubsystemSnapshot before = _world.Run(_world.Subsystem.SnapshotAsync());
        long writes = _world.Disk(disk).Counters.WriteOperations;
        long ofDisks = _world.Run(_world.Subsystem.PhysicalDisks.ListAsync()).Sum(static one => one.Counters!.WriteOperations);

        _world.Write(disk, 0, 1 << 20);

        Assert.Equal(writes, Assert.Single(before.VirtualDisks).Counters!.WriteOperations);
        Assert.Equal(ofDisks, before.PhysicalDisks.Sum(static one => one.Counters!.WriteOperations));
        Assert.True(_world.Run(_world.Subsystem.PhysicalDisks.ListAsync()).Sum(static one => one.Counters!.WriteOperations) > ofDisks);
    }

    [Fact]
    public void A_virtual_disk_that_is_made_later_takes_no_room_in_a_reply()
    {
        _world.NewPool(3);
        SubsystemSnapshot before = _world.Run(_world.Subsystem.SnapshotAsync());
        SupportedSize room = _world.Run(_world.Subsystem.Placements.SupportedSizeAsync(_world.Pool, "Mirror"));

        _world.NewMirror("d", 4 << 20, filled: false);

        Assert.Equal(room, before.SupportedSize(_world.Pool, "Mirror"));
        Assert.True(_world.Run(_world.Subsystem.Placements.SupportedSizeAsync(_world.Pool, "Mirror")).Max < room.Max);
        Assert.Equal(0, Assert.Single(before.Pools).AllocatedBytes);
    }

    [Fact]
    public void A_reply_says_the_bytes_that_copies_are_behind()
    {
        _world.NewPool(3);
        Guid disk = _world.NewMirror("d", 4 << 20);
        int number = Lose(disk);
        _world.Write(disk, 0, 1 << 20);
        _world.PutBack(number);
        _world.Until(() => _world.Run(_world.Subsystem.SnapshotAsync()).PhysicalDisks.All(static one => one.OperationalStatus == "OK"));
        SubsystemSnapshot behind = _world.Run(_world.Subsystem.SnapshotAsync());
        OpenVirtualDisk open = _world.Opened(disk);
        long bytes = (open.Space.StaleRegions * open.Space.Shape.RegionSize) + open.RingBytesToResync;   // of the marks: what they lack of that the lane knows

        Assert.InRange(open.BytesToResync, 1 << 20, bytes);
        Assert.Contains($"Copies of up to {ByteText.Exact(bytes)} are out of date.", Assert.Single(behind.VirtualDisks).StatusReason, StringComparison.Ordinal);
    }

    [Fact]
    public void A_verb_checks_on_the_lane_again_what_a_snapshot_has_shown()
    {
        _world.NewPool(3);
        Guid disk = _world.NewMirror("d", 4 << 20, filled: false);
        VirtualDiskRequest request = new() { FriendlyName = "e", ResiliencySettingName = "Mirror", NumberOfColumns = 1, UseMaximumSize = true };
        VirtualDiskPlacement planned = _world.Run(_world.Subsystem.Placements.PlanNewAsync(_world.Pool, request));
        request = request with { SizeBytes = planned.Disk.SizeBytes, UseMaximumSize = false };
        SubsystemSnapshot shown = _world.Run(_world.Subsystem.SnapshotAsync());
        Assert.Equal(planned.Disk.SizeBytes, shown.SupportedSize(_world.Pool, "Mirror").Max);

        _world.NewMirror("f", 8 << 20, filled: false);
        Assert.True(_world.Run(_world.Subsystem.VirtualDisks.RemoveAsync(disk)));
        _world.NewMirror("g", 4 << 20, filled: false);

        Assert.Equal(ManagementError.NotEnoughCapacity, Refused(_world.Subsystem.VirtualDisks.CreateAsync(_world.Pool, request)));
        Assert.Equal(ManagementError.ObjectNotFound, Refused(_world.Subsystem.VirtualDisks.ResizeAsync(shown.VirtualDisks[0].Description.Id.Value, 8 << 20)));
        Assert.Equal(["f", "g"], _world.Run(_world.Subsystem.VirtualDisks.ListAsync()).Select(static one => one.Description.FriendlyName).Order());
    }

    private ManagementError Refused(Task<VirtualDiskStatus> verb) => Assert.Throws<ManagementException>(() => _world.Run(verb)).Error;

    /// <summary>Takes out a disk with data of a virtual disk, and writes what it misses.</summary>
    private int Lose(Guid disk)
    {
        Guid holder = _world.Run(_world.Subsystem.Placements.ExtentsAsync(disk, null))[0].PhysicalDisk;
        int number = _world.Run(_world.Subsystem.PhysicalDisks.ListAsync()).First(one => one.UniqueId == holder).DeviceId;
        _world.Pull(number);
        _world.Write(disk, 0, 1 << 20);
        return number;
    }
}
