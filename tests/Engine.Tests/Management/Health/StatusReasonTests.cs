using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Jobs;
using TierSpaces.Engine.Management;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>
/// An object that is not OK says why, what is done about it and when. That every status has a reason is checked by the world itself, whenever time passes in
/// any of these tests; here it is what the reasons say.
/// </summary>
public sealed class StatusReasonTests
{
    private const long Mebibyte = 1 << 20;

    private readonly SubsystemWorld _world = new(network: new StubNetwork());

    [Fact]
    public void A_missing_disk_is_told_with_the_time_of_the_next_look()
    {
        _world.NewPool(3);
        _world.Run(_world.Subsystem.VirtualDisks.ConnectAsync(_world.NewMirror("d", 8 * Mebibyte)));
        _world.Pull(0);
        _world.Advance(TimeSpan.FromSeconds(2));
        Assert.Matches("^Physical disk '0' with copies of it is missing. It is looked for again in [1-5] s; what it missed is copied when it is back.$",
            Reason("virtual disk Degraded"));
        Assert.Matches("^It is missing. It is looked for again in [1-5] s", Reason("physical disk Lost Communication"));
        Assert.Contains("RetireMissingPhysicalDisks is Auto, and no hot spare is there", Reason("physical disk Lost Communication"), StringComparison.Ordinal);
        Assert.Equal("Physical disk '0' is missing.", Reason("pool Degraded"));
        Assert.Matches("^Warning: physical disk '0' has left storage pool 'p': .+", Assert.Single(_world.Notices, static text => text.Contains("has left")));
    }

    [Theory]
    [InlineData(2, "Physical disks '0', '1' are missing.")]
    [InlineData(4, "Physical disks '0', '1', '2', '3' are missing.")]
    [InlineData(6, "Physical disks '0', '1', '2', '3' and 2 more are missing.")]
    public void A_pool_names_its_missing_disks(int missing, string reason)
    {
        _world.NewPool(14);
        for (int disk = 0; disk < missing; disk++)
        {
            _world.Pull(disk);
        }

        _world.Advance(TimeSpan.FromSeconds(2));
        Assert.Equal(reason, Reason("pool Degraded"));
        _world.PutBack(0);
        _world.Advance(TimeSpan.FromSeconds(20));
        Assert.DoesNotContain("'0'", Reason("pool Degraded"), StringComparison.Ordinal);
    }

    [Fact]
    public void A_pool_that_lacks_its_majority_names_the_disks_that_have_left()
    {
        _world.NewPool(10);
        for (int disk = 0; disk < 6; disk++)
        {
            _world.Pull(disk);
        }

        _world.Advance(TimeSpan.FromSeconds(2));
        Assert.Contains(
            "votes is lost. Physical disks '0', '1', '2', '3' and 2 more are missing or have failed. ", Reason("pool Incomplete"), StringComparison.Ordinal);
        _world.Restart();
        Assert.Contains(" is missing: 0, 1, 2, 3 and 2 more; of 1", Reason("pool Incomplete"), StringComparison.Ordinal);
    }

    [Fact]
    public void A_disk_that_is_removed_from_its_pool_has_not_left_it_by_a_fault()
    {
        _world.NewPool(4);
        Guid removed = _world.Run(_world.Subsystem.SnapshotAsync()).PhysicalDisks[0].UniqueId;
        Assert.True(_world.Run(_world.Subsystem.Pools.RemoveDisksAsync(_world.Pool, [removed])));
        _world.Advance(TimeSpan.FromSeconds(5));
        Assert.DoesNotContain(_world.Notices, static text => text.Contains("has left", StringComparison.Ordinal));
    }

    [Fact]
    public void A_missing_disk_that_will_be_given_up_says_when_and_that_it_was()
    {
        _world.NewPool(3);
        _world.Run(_world.Subsystem.Pools.SetAsync(_world.Pool, static pool => pool with { RetireMissingPhysicalDisks = RetireMissingPhysicalDisks.Always }));
        _world.NewMirror("d", 8 * Mebibyte);
        _world.Pull(0);
        _world.Advance(TimeSpan.FromSeconds(100));
        Assert.Matches("It is given up in (19[5-9]|20[0-2]) s: it is retired then", Reason("physical disk Lost Communication"));
        _world.Advance(TimeSpan.FromSeconds(210));
        Assert.Matches("It is retired: what it held is rebuilt|It holds nothing of a virtual disk", Reason("physical disk Lost Communication"));
    }

    [Fact]
    public void A_repair_that_runs_and_one_that_was_stopped_are_told()
    {
        _world.NewPool(2);
        Guid disk = _world.NewMirror("d", 16 * Mebibyte);
        _world.Run(_world.Subsystem.VirtualDisks.ConnectAsync(disk));
        _world.Pull(1);
        _world.Advance(TimeSpan.FromSeconds(2));
        for (int at = 0; at < 16; at++)
        {
            _world.Write(disk, at * Mebibyte, 1 << 16);
        }

        _world.Disks[0].ReadTakesLonger = static (_, _) => 1_000_000_000;
        _world.PutBack(1);
        _world.Until(() => _world.Jobs.Any(static job => job.State == JobState.Running));
        Assert.Matches(
            "^Copies of up to [0-9.]+ [KM]B are out of date. A repair runs \\([0-9]+ % complete, see Get-StorageJob\\).$", Reason("virtual disk Degraded"));
        _world.Run(_world.Subsystem.Jobs.StopAsync(_world.Jobs.Single(static job => job.State == JobState.Running).UniqueId));
        Assert.Matches("^Copies of up to [0-9.]+ [KM]B are out of date. Their repair was stopped: Repair-VirtualDisk begins another.$",
            Reason("virtual disk Degraded"));
        _world.Advance(TimeSpan.FromMinutes(5));
        Assert.NotEmpty(Reason("virtual disk Degraded"));   // it stays stopped
    }

    [Fact]
    public void A_repair_that_waits_is_told_with_its_time_and_begins_then()
    {
        _world.NewPool(2);
        Guid disk = _world.NewMirror("d", 8 * Mebibyte);
        _world.Run(_world.Subsystem.VirtualDisks.ConnectAsync(disk));
        _world.Pull(1);
        _world.Advance(TimeSpan.FromSeconds(2));
        _world.Write(disk, 0, 1 << 16);
        _world.PutBack(1);
        bool fails = true;
        _world.Until(() => !_world.Disks[1].Pulled);
        _world.Disks[0].ReadFails = (offset, _) => fails && offset > 8 * Mebibyte;
        string waits = "";
        _world.Until(() => (waits = _world.NotOk().Find(static line => line.Contains("A repair begins", StringComparison.Ordinal)) ?? "").Length > 0);
        Assert.Matches(
            "^virtual disk Degraded: Copies of up to [0-9.]+ [KM]B are out of date. "
            + "A repair begins (in [0-9]+ s|within a second); Repair-VirtualDisk begins one at once.$",
            waits);
        fails = false;
        _world.Advance(TimeSpan.FromMinutes(3));
        Assert.Empty(_world.NotOk());
    }

    [Fact]
    public void A_pool_that_is_not_open_is_the_reason_of_its_virtual_disks_and_members()
    {
        _world.NewPool(2);
        _world.NewMirror("d", 8 * Mebibyte);
        _world.Pull(0);
        _world.Pull(1);
        _world.Advance(TimeSpan.FromSeconds(5));
        Assert.Contains("majority", Reason("pool Incomplete"), StringComparison.Ordinal);
        Assert.StartsWith("Its storage pool is not open: ", Reason("virtual disk Detached"), StringComparison.Ordinal);
        Assert.NotEmpty(Reason("physical disk Lost Communication"));
    }

    [Fact]
    public void A_registered_disk_that_is_not_there_says_so()
    {
        _world.NewDisk();
        _world.Away.Add(0);
        _world.Restart();
        Assert.Contains("is not there", Reason("physical disk Lost Communication"), StringComparison.Ordinal);
    }

    private string Reason(string what)
    {
        List<string> found = _world.NotOk();
        string line = found.Find(line => line.StartsWith(what + ": ", StringComparison.Ordinal)) ?? "";
        Assert.True(line.Length > 0, $"nothing is {what}: {string.Join('\n', found)}");
        return line[(what.Length + 2)..];
    }
}
