using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Pools;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>Disks of which the call that opens them does not return, and disks that hang while no client uses them.</summary>
public sealed class HungOpeningTests
{
    private const long Second = 1_000_000_000;

    private readonly SubsystemWorld _world = new();

    [Fact]
    public void A_host_starts_without_a_disk_that_cannot_be_opened_in_time_and_takes_it_when_it_answers()
    {
        _world.NewPool([(64 << 20, MediaType.SSD)], "hung");
        Guid hung = _world.Pool;
        _world.NewPool([(64 << 20, MediaType.SSD), (64 << 20, MediaType.SSD)], "other");
        Assert.True(_world.Run(_world.Subsystem.StopAsync()));
        int openings = _world.Openings[0];
        _world.Hanging.Add(0);
        long startNs = _world.Lane.NowNs;
        _world.Start();

        Assert.InRange(_world.Lane.NowNs - startNs, 5 * Second, 6 * Second);
        Assert.Equal(PoolOperationalStatus.OK, Status(_world.Pool).OperationalStatus);
        Assert.Contains("does not answer", _world.Physical(0).StatusReason, StringComparison.Ordinal);
        Assert.Single(_world.Notices, static notice => notice.Contains("does not answer", StringComparison.Ordinal));

        _world.Advance(TimeSpan.FromMinutes(1));
        Assert.Equal(openings + 1, _world.Openings[0]);   // one call is under way, however often the disk was looked for
        _world.EndHang();
        _world.Until(() => IsOpen(hung));
        Assert.Single(_world.Notices, static notice => notice.Contains("answers again", StringComparison.Ordinal));
    }

    [Fact]
    public void A_disk_that_was_opened_too_late_for_its_verb_is_closed()
    {
        _world.Hanging.Add(0);
        long startNs = _world.Lane.NowNs;
        ManagementException rejected = Assert.Throws<ManagementException>(() => { _world.NewDisk(); });
        Assert.Equal(ManagementError.Timeout, rejected.Error);
        Assert.Contains("-Path '/sim/0'", rejected.Message, StringComparison.Ordinal);
        Assert.InRange(_world.Lane.NowNs - startNs, 5 * Second, 6 * Second);
        Assert.Empty(_world.Run(_world.Subsystem.PhysicalDisks.ListAsync()));

        _world.EndHang();
        _world.Advance(TimeSpan.FromSeconds(1));
        Assert.True(_world.Disks[0].IsClosed);
    }

    [Fact]
    public void A_member_that_hangs_is_found_although_no_client_uses_it()
    {
        _world.NewPool(4);
        _world.NewMirror("d", 16 << 20);
        _world.Disks[1].Hang();
        _world.Advance(TimeSpan.FromSeconds(15));
        Assert.Equal("Lost Communication", _world.Physical(1).OperationalStatus);
        _world.Disks[1].Wake();
        _world.Until(() => _world.NotOk().Count == 0);
    }

    private StoragePoolStatus Status(Guid pool) => _world.Run(_world.Subsystem.Pools.ListAsync()).Single(status => status.UniqueId == pool);

    private bool IsOpen(Guid pool) => _world.Run(_world.Subsystem.Pools.ListAsync())
        .Any(status => status.UniqueId == pool && status.OperationalStatus == PoolOperationalStatus.OK);
}
