using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Devices.Emulated;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>Changes by the events of a registered disk: its record, its device and its condition.</summary>
public sealed class RegisteredDiskTests
{
    private static readonly Guid s_member = new("0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0");

    private readonly SimLane _lane = new(1);
    private readonly SimDisk _device;
    private readonly RegisteredDisk _disk = NewDisk();

    public RegisteredDiskTests() => _device = NewDevice();

    [Fact]
    public void A_disk_that_cannot_be_read_is_the_member_that_it_was()
    {
        Assert.True(_disk.Saw(Member()));
        Assert.False(_disk.Saw(Member()));
        Assert.False(_disk.Saw(Scan(ScanKind.Unreadable)));
        Assert.Equal((s_member, ScanKind.Unreadable), (_disk.Stored.LastMember, _disk.Condition.Scan!.Kind));
        Assert.True(_disk.Saw(Scan(ScanKind.Blank)));
        Assert.Equal(Guid.Empty, _disk.Stored.LastMember);
    }

    [Fact]
    public void A_disk_that_holds_another_identity_has_not_served_with_it()
    {
        _disk.Device.Opened(_device);
        _disk.Saw(Member());
        _disk.GivenToPool();
        Assert.True(_disk.HasServed);
        Assert.Null(_disk.Device.Open);
        _disk.Saw(Scan(ScanKind.Blank));
        Assert.False(_disk.HasServed);
    }

    [Fact]
    public void Of_devices_with_one_identity_the_one_that_serves_has_served_last()
    {
        RegisteredDisk other = NewDisk();
        _disk.GivenToPool();
        _disk.ServedBy(other);
        other.ServedBy(other);
        Assert.Equal((false, true), (_disk.HasServed, other.HasServed));
    }

    [Fact]
    public void A_disk_counts_as_held_until_it_is_opened_again()
    {
        _disk.Lost("held", CannotPoolKind.Starting);
        _disk.Found(_device);
        Assert.Equal(("", true), (_disk.Condition.Problem, _disk.Condition.IsStillHeld));
        _disk.Lost("gone", CannotPoolKind.Offline);
        Assert.Equal(("gone", true), (_disk.Condition.Problem, _disk.Condition.IsStillHeld));
        _disk.BeginOpening();
        Assert.Equal(("", false), (_disk.Condition.Problem, _disk.Condition.IsStillHeld));
    }

    [Fact]
    public void A_copy_that_is_released_is_used_once_and_not_at_all_if_it_is_refused_again()
    {
        _disk.Device.Opened(_device);
        _disk.Release();
        Assert.False(_disk.TakeRelease());   // it was never refused
        Assert.True(_disk.Refuse(CopyState.Refused, "copy"));
        Assert.False(_disk.Refuse(CopyState.Refused, "copy"));
        _disk.Release();
        Assert.Equal((CopyState.None, ""), (_disk.Condition.Copy, _disk.Condition.Problem));
        Assert.True(_disk.TakeRelease());
        Assert.False(_disk.TakeRelease());
        _disk.Refuse(CopyState.Undecided, "copies");
        _disk.Release();
        _disk.Refuse(CopyState.Refused, "copy");
        Assert.False(_disk.TakeRelease());
    }

    [Fact]
    public void A_disk_that_is_refused_while_it_is_away_keeps_the_reason_why_it_is()
    {
        _disk.RefuseAbsent();
        Assert.Equal((CopyState.Refused, "file:/a is not there."), (_disk.Condition.Copy, _disk.Condition.Problem));
        _disk.Lost("hangs", CannotPoolKind.Offline);
        _disk.RefuseAbsent();
        _disk.Release();
        Assert.Equal("hangs", _disk.Condition.Problem);
    }

    [Fact]
    public void A_snapshot_stays_as_the_disk_was()
    {
        _disk.Device.PathsOpened(_lane, new MultipathDisk(_lane, "file:/a", _device), new DiskWatch(_lane));
        _disk.Found(_device);
        _disk.Saw(Member());
        RegisteredDiskSnapshot before = _disk.Snapshot();
        _disk.GivenToPool();
        _disk.Amend(_disk.Stored.WithPaths(["file:/b"]));
        _disk.Saw(Scan(ScanKind.Blank));
        _disk.Search.End(5);
        Assert.Equal(
            (true, "file:/a", s_member, ScanKind.Member, 0L),
            (before.IsOpen, before.Stored.Uri, before.Stored.LastMember, before.Condition.Scan!.Kind, before.NextLookNs));
        Assert.Equal(["file:/a"], before.WorkingUris);
        Assert.NotNull(before.Counters);
        RegisteredDiskSnapshot after = _disk.Snapshot();
        Assert.Equal((false, "file:/b", 5L), (after.IsOpen, after.Stored.Uri, after.NextLookNs));
    }

    [Fact]
    public void A_path_is_reported_when_it_fails_and_when_it_works_again()
    {
        _disk.Device.PathsOpened(_lane, new MultipathDisk(_lane, "file:/a", _device), new DiskWatch(_lane));
        Assert.Null(_disk.Device.WatchPath("file:/a"));
        Assert.False(_disk.Device.WatchPath("file:/b"));
        Assert.Null(_disk.Device.WatchPath("file:/b"));
        _disk.Device.PathNamed("file:/b", isAlias: true);
        Assert.True(_disk.Device.WatchPath("file:/b"));
        _disk.Device.RemovePath("file:/b");
        Assert.Equal(["file:/a"], _disk.Device.Working(["file:/a", "file:/b"]));
    }

    [Fact]
    public void An_emulated_disk_shows_its_fault_after_it_is_reopened()
    {
        EmulatedFault fault = EmulatedFault.None with { SlowFactor = 3 };
        _disk.Device.Show(fault);
        EmulatedDisk emulated = new(_lane, _device, LatencyProfile.All[0]);
        _disk.Device.PathsOpened(_lane, new MultipathDisk(_lane, "emulated:/a", emulated), new DiskWatch(_lane));
        Assert.Equal(3, emulated.Fault.SlowFactor);
    }

    private static RegisteredDisk NewDisk() => new(new StoredDisk { Id = s_member, DeviceId = 0, Uri = "file:/a", FriendlyName = "d" });

    private SimDisk NewDevice() => new(_lane, new SimMedia("d", 1 << 20, 512));

    private PoolScan Scan(ScanKind kind) => new(_device, kind, "");

    private PoolScan Member() => Scan(ScanKind.Member) with
    {
        Label = new DiskLabel(new PoolId(s_member), new DiskId(s_member), new DiskNumber(1), 1 << 20, new SlabGeometry(1 << 16), 0, default),
    };
}
