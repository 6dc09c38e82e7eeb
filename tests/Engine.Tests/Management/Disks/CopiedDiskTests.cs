using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Pools;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>Two devices that carry one disk identity: at most one of them is used, and both are named.</summary>
public sealed class CopiedDiskTests
{
    private const int Mebibyte = 1 << 20;

    private readonly SubsystemWorld _world = new(network: new StubNetwork());

    [Fact]
    public void A_copy_of_a_member_is_not_registered_and_the_member_serves_on()
    {
        Guid disk = Pool(3);
        int copy = _world.CopyOf(1);
        ulong before = _world.Hash(copy);
        ManagementException refused = Assert.Throws<ManagementException>(() => _world.Register(copy));
        Assert.Equal(ManagementError.CloneDisk, refused.Error);
        Assert.Contains("/sim/1", refused.Message, StringComparison.Ordinal);
        Assert.Contains($"/sim/{copy}", refused.Message, StringComparison.Ordinal);
        Assert.Contains($"Reset-PhysicalDisk -Path '/sim/{copy}'", refused.Action, StringComparison.Ordinal);
        Assert.Equal(ManagementError.CloneDisk, Assert.Throws<ManagementException>(() =>
            _world.Run(_world.Subsystem.PhysicalDisks.CheckRegisterAsync(new RegistrationSpec { Path = $"/sim/{copy}" }))).Error);
        Assert.Equal(3, Listed().Length);
        Assert.Empty(_world.NotOk());
        Assert.Equal(before, _world.Hash(copy));
        Assert.Equal(SubsystemWorld.Written(0, 4096), _world.Read(disk, 0, 4096));
    }

    [Fact]
    public void A_copy_of_a_disk_of_a_closed_pool_is_not_registered()
    {
        Pool(3);
        _world.Away.UnionWith([0, 1]);
        _world.Restart();
        int copy = _world.CopyOf(2);
        Assert.Equal(ManagementError.CloneDisk, Assert.Throws<ManagementException>(() => _world.Register(copy)).Error);
        Assert.Equal(3, Listed().Length);
    }

    [Fact]
    public void A_copy_takes_the_place_of_a_member_that_is_not_there()
    {
        Guid disk = Pool(3);
        int copy = _world.CopyOf(1);
        _world.Pull(1);
        _world.Advance(TimeSpan.FromSeconds(2));
        Assert.Equal("OK", _world.Register(copy).OperationalStatus);
        _world.Until(() => _world.NotOk() is [var only] && only.Contains("/sim/1 is not there", StringComparison.Ordinal));   // the former one is listed still
        _world.PutBack(1);
        _world.Run(_world.Subsystem.Pools.UpdateAsync());
        PhysicalDiskStatus former = At(1);
        Assert.Equal("Split", former.OperationalStatus);
        Assert.Contains("/sim/1", former.StatusReason, StringComparison.Ordinal);
        Assert.Contains($"/sim/{copy}", former.StatusReason, StringComparison.Ordinal);
        Assert.Equal(SubsystemWorld.Written(0, 4096), _world.Read(disk, 0, 4096));
    }

    [Theory]
    [InlineData(2)]
    [InlineData(3)]
    public void Two_copies_at_the_start_are_both_refused_and_the_one_that_is_left_is_used(int members)
    {
        Guid disk = Pool(members);
        int other = TwoAtStart(members);
        RequireRefused(1, other);

        _world.Pull(other);
        _world.Advance(TimeSpan.FromSeconds(10));
        RequireUsed(disk, 1);
        _world.Until(() => _world.NotOk() is [var only] && only.Contains($"/sim/{other} is not there", StringComparison.Ordinal));

        _world.PutBack(other);   // it is looked for, and refused: the member serves
        _world.Advance(TimeSpan.FromSeconds(10));
        Assert.Contains("in use", At(other).StatusReason, StringComparison.Ordinal);
        Assert.Equal("OK", At(1).OperationalStatus);
        _world.Run(_world.Subsystem.PhysicalDisks.UnregisterAsync(At(other).UniqueId));
        Assert.Empty(_world.NotOk());
    }

    [Fact]
    public void Unregistering_the_path_of_a_copy_forgets_that_path_alone_and_the_pool_opens()
    {
        Guid disk = Pool(2);
        int other = TwoAtStart(2);
        Assert.True(_world.Run(_world.Subsystem.PhysicalDisks.UnregisterAsync(At(other).UniqueId)));
        Assert.DoesNotContain(Listed(), status => status.Uri.EndsWith($"/{other}", StringComparison.Ordinal));
        RequireUsed(disk, 1);
        _world.Until(() => _world.NotOk().Count == 0);
    }

    [Fact]
    public void Resetting_a_copy_leaves_the_member_as_it_is_and_the_pool_opens()
    {
        Guid disk = Pool(2);
        int other = TwoAtStart(2);
        ulong member = _world.Hash(1);
        Guid id = At(other).UniqueId;
        Assert.Empty(_world.Run(_world.Subsystem.PhysicalDisks.PlanResetAsync(id)).Signatures);
        Assert.Equal(member, _world.Hash(1));
        Assert.Equal("OK", _world.Run(_world.Subsystem.PhysicalDisks.ResetAsync(id)).OperationalStatus);
        Assert.Null(At(other).CannotPool);
        RequireUsed(disk, 1);
        _world.Until(() => _world.NotOk().Count == 0);
        _world.Run(_world.Subsystem.Pools.AddDisksAsync(_world.Pool, [At(other).UniqueId], DiskUsage.AutoSelect));   // a disk like any other
    }

    [Fact]
    public void A_copy_in_place_of_another_member_leaves_both_out()
    {
        Guid disk = Pool(5);
        Assert.True(_world.Run(_world.Subsystem.StopAsync()));
        _world.Replace(2, 1);
        _world.Start();
        RequireRefused(1, 2);
        _world.Run(_world.Subsystem.PhysicalDisks.UnregisterAsync(At(2).UniqueId));
        _world.Until(() => At(1).OperationalStatus == "OK");
        Assert.Equal(SubsystemWorld.Written(0, 4096), _world.Read(disk, 0, 4096));
    }

    [Fact]
    public void A_refused_copy_is_not_used_when_the_member_that_served_leaves()
    {
        Pool(2);
        int other = TwoAtStart(2);
        _world.Pull(other);
        _world.Advance(TimeSpan.FromSeconds(10));
        _world.PutBack(other);
        _world.Advance(TimeSpan.FromSeconds(10));
        ulong before = _world.Hash(other);
        _world.Pull(1);
        _world.Advance(TimeSpan.FromSeconds(30));
        Assert.Contains("served last", At(other).StatusReason, StringComparison.Ordinal);
        Assert.Equal(before, _world.Hash(other));
        _world.PutBack(1);
        _world.Until(() => At(1).OperationalStatus == "OK");
    }

    [Fact]
    public void Resetting_a_path_that_is_not_registered_erases_that_device_alone()
    {
        Guid disk = Pool(3);
        int copy = _world.CopyOf(1);
        ulong member = _world.Hash(1);
        _world.Run(_world.Subsystem.PhysicalDisks.PlanResetPathAsync($"/sim/{copy}"));
        Assert.Throws<ManagementException>(() => _world.Register(copy));   // the plan changed nothing
        _world.Run(_world.Subsystem.PhysicalDisks.ResetPathAsync($"/sim/{copy}"));
        Assert.Equal(member, _world.Hash(1));
        Assert.Null(_world.Register(copy).CannotPool);
        Assert.Equal(SubsystemWorld.Written(0, 4096), _world.Read(disk, 0, 4096));
        Assert.Equal(ManagementError.PhysicalDiskInUse, Assert.Throws<ManagementException>(() =>
            _world.Run(_world.Subsystem.PhysicalDisks.ResetPathAsync("/sim/1"))).Error);
        Assert.Empty(_world.NotOk());
    }

    private Guid Pool(int members)
    {
        _world.NewPool(members);
        Guid disk = _world.NewMirror("d", 8 * Mebibyte);
        _world.Run(_world.Subsystem.VirtualDisks.ConnectAsync(disk));
        return disk;
    }

    /// <summary>Restarts with a copy of disk 1 behind a further registered path.</summary>
    private int TwoAtStart(int members)
    {
        _world.NewDisk();
        Assert.True(_world.Run(_world.Subsystem.StopAsync()));
        _world.Replace(members, 1);
        _world.Start();
        return members;
    }

    private void RequireRefused(params int[] numbers)
    {
        foreach (int number in numbers)
        {
            PhysicalDiskStatus refused = At(number);
            Assert.Equal("Split", refused.OperationalStatus);
            Assert.Equal(ManagementError.CloneDisk, refused.CannotPool);
            Assert.All(numbers, other => Assert.Contains($"/sim/{other}", refused.StatusReason, StringComparison.Ordinal));
        }

        StoragePoolStatus pool = Assert.Single(_world.Run(_world.Subsystem.Pools.ListAsync()));
        Assert.NotEqual(PoolOperationalStatus.OK, pool.OperationalStatus);
        Assert.All(numbers, other => Assert.Contains($"/sim/{other}", pool.StatusReason, StringComparison.Ordinal));
        PhysicalDiskStatus member = Listed().First(static status => status is { DeviceId: -1 });
        Assert.All(numbers, other => Assert.Contains($"/sim/{other}", member.StatusReason, StringComparison.Ordinal));
    }

    private void RequireUsed(Guid disk, int number)
    {
        Assert.Equal(_world.Pool, At(number).PoolId);
        _world.Until(() => At(number).OperationalStatus == "OK");
        Assert.Equal(SubsystemWorld.Written(0, 4096), _world.Read(disk, 0, 4096));
    }

    private PhysicalDiskStatus[] Listed() => _world.Run(_world.Subsystem.PhysicalDisks.ListAsync());

    private PhysicalDiskStatus At(int number) => Listed().Single(status => status.Uri.EndsWith($"/{number}", StringComparison.Ordinal));
}
