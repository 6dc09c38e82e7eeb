using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>The write cache of a virtual disk as verbs show and change it while it is in use.</summary>
public sealed class SubsystemWriteCacheTests
{
    private const long Mebibyte = 1 << 20;
    private const int Length = 64 << 10;

    private readonly SubsystemWorld _world = new();

    [Fact]
    public void What_it_holds_and_did_is_seen_at_once()
    {
        Guid id = NewCached(4 * Mebibyte);
        Assert.Equal(("Active", "", 0L), (Cache(id).State, Cache(id).StateReason, Cache(id).DirtyBytes));
        _world.Write(id, 0, Length);
        WriteCacheStatus cache = Cache(id);
        Assert.Equal(new WriteCount(1, Length), cache.Cached);
        Assert.InRange(cache.DirtyBytes, Length, 2 * Length);
        Assert.InRange(cache.AvailableBytes, 1, (4 * Mebibyte) - cache.DirtyBytes);
        _world.Until(() => _world.Disk(id).Cache!.DirtyBytes == 0);   // it is idle for two seconds
        Assert.Equal((0, Length), (Cache(id).DirtyBytes, Cache(id).DestagedBytes));
        _world.Write(id, Mebibyte, 1 << 20);
        Assert.Equal(new WriteCount(1, 1 << 20), Cache(id).BypassLarge);
    }

    [Fact]
    public void How_it_is_destaged_changes_at_once_and_survives_a_restart()
    {
        Guid id = NewCached(4 * Mebibyte);
        Set(id, new DestageSettings { Hold = true });
        _world.Write(id, 0, Length);
        _world.Advance(TimeSpan.FromSeconds(60));
        Assert.InRange(Cache(id).DirtyBytes, Length, 2 * Length);
        _world.Restart();
        Assert.True(Status(id).Description.Destage.Hold);
        _world.Write(id, Length, Length);
        _world.Advance(TimeSpan.FromSeconds(60));
        Assert.InRange(Cache(id).DirtyBytes, Length, 4 * Length);
        Set(id, DestageSettings.Default);
        _world.Until(() => _world.Disk(id).Cache!.DirtyBytes == 0);
        Assert.Equal(0, Cache(id).DirtyBytes);
    }

    [Fact]
    public void A_hold_ends_a_destaging_under_way()
    {
        Guid id = NewCached(4 * Mebibyte);
        DestageSettings slow = new() { StartPercent = 60, StopPercent = 1, IdleNs = DestageSettings.IdleNsMax, BytesPerSecond = 1 << 20 };
        Set(id, slow with { Hold = true });
        for (int i = 0; i < 44; i++)
        {
            _world.Write(id, i * Length, Length);
        }

        Set(id, slow);
        long full = Cache(id).DirtyBytes;
        _world.Until(() => Cache(id).DirtyBytes < full);
        Set(id, slow with { Hold = true });
        long held = Cache(id).DirtyBytes;
        _world.Advance(TimeSpan.FromSeconds(60));
        Assert.InRange(Cache(id).DirtyBytes, held - Mebibyte, held);   // what was on its way may end
        Assert.InRange(Cache(id).DirtyBytes, Mebibyte / 2, full);
    }

    [Fact]
    public void It_is_made_larger_smaller_and_taken_away_while_it_holds_data()
    {
        Guid id = NewCached(4 * Mebibyte);
        long footprint = Status(id).FootprintBytes;
        Set(id, new DestageSettings { Hold = true });
        int at = 0;
        foreach (long size in (long[])[(8 * Mebibyte) - 1, 2 * Mebibyte, 0, 0, 4 * Mebibyte])
        {
            _world.Write(id, at++ * Length, Length);
            VirtualDiskStatus resized = _world.Run(_world.Subsystem.WriteCaches.ResizeAsync(id, size));
            long whole = (size + Mebibyte - 1) / Mebibyte * Mebibyte;
            Assert.Equal(whole, resized.Description.WriteCacheSize);
            Assert.Equal(whole > 0, resized.WriteCache is not null);
            Assert.Equal(footprint + ((whole - (4 * Mebibyte)) * 2), resized.FootprintBytes);
            Assert.True(resized.Description.Destage.Hold);
            Assert.All(Enumerable.Range(0, at), i => Assert.Equal(Expected(i * Length), Read(id, i * Length)));
        }

        _world.Restart();
        Assert.All(Enumerable.Range(0, at), i => Assert.Equal(Expected(i * Length), Read(id, i * Length)));
    }

    [Fact]
    public void The_largest_one_is_named_and_obtained()
    {
        Guid id = NewCached(4 * Mebibyte);
        ManagementException rejected = Assert.Throws<ManagementException>(() => _world.Run(_world.Subsystem.WriteCaches.ResizeAsync(id, 1L << 40)));
        Assert.Equal(ManagementError.WriteCacheSizeRange, rejected.Error);
        long largest = NamedSize.Largest(rejected.Message);
        Assert.Throws<ManagementException>(() => _world.Run(_world.Subsystem.WriteCaches.PlanResizeAsync(id, largest + 1)));
        Assert.Equal(4 * Mebibyte, Status(id).Description.WriteCacheSize);
        Assert.Equal(largest, _world.Run(_world.Subsystem.WriteCaches.PlanResizeAsync(id, largest)).SizeBytes);
        Assert.Equal(largest, _world.Run(_world.Subsystem.WriteCaches.ResizeAsync(id, largest)).Description.WriteCacheSize);
    }

    [Fact]
    public void Without_flash_there_is_none()
    {
        _world.NewPool([(64 * Mebibyte, MediaType.HDD), (64 * Mebibyte, MediaType.HDD)]);
        Guid id = _world.NewMirror("d", 8 * Mebibyte, filled: false);
        ManagementException rejected = Assert.Throws<ManagementException>(() => _world.Run(_world.Subsystem.WriteCaches.ResizeAsync(id, Mebibyte)));
        Assert.Equal(ManagementError.NotEnoughPhysicalDisks, rejected.Error);
        Assert.Contains("needs 2 disks of usage Journal or flash", rejected.Message, StringComparison.Ordinal);
        Assert.Null(Status(id).WriteCache);
    }

    [Fact]
    public void All_of_it_lost_while_it_holds_data_is_refused_and_given_up_only_by_force()
    {
        _world.NewPool([(64 * Mebibyte, MediaType.SSD), .. Enumerable.Repeat((64 * Mebibyte, MediaType.HDD), 3)]);
        Guid id = _world.Run(_world.Subsystem.VirtualDisks.CreateAsync(_world.Pool, new VirtualDiskRequest
        {
            FriendlyName = "d", ResiliencySettingName = "Simple", NumberOfColumns = 1, SizeBytes = 8 * Mebibyte, MediaType = MediaType.HDD,
                WriteCacheSize = 4 * Mebibyte,
        })).Description.Id.Value;
        Set(id, new DestageSettings { Hold = true });
        _world.Write(id, 3 * Length, Length);
        _world.Pull(0);
        Assert.True(_world.Run(_world.Subsystem.StopAsync()) || true);   // it cannot be clean
        _world.Start();
        Assert.Equal(("Lost", "Detached"), (Cache(id).State, Status(id).OperationalStatus));

        ManagementException rejected = Assert.Throws<ManagementException>(() => _world.Run(_world.Subsystem.VirtualDisks.ConnectAsync(id)));
        Assert.Equal(ManagementError.VirtualDiskStateForbids, rejected.Error);
        Assert.Contains("no copy of it could be read", rejected.Message, StringComparison.Ordinal);
        Assert.Contains("Connect-VirtualDisk -Force", rejected.Action, StringComparison.Ordinal);
        Assert.Equal("Lost", Cache(id).State);

        // This host exports nothing.
        Assert.Equal(ManagementError.NotSupported,
            Assert.Throws<ManagementException>(() => _world.Run(_world.Subsystem.VirtualDisks.ConnectAsync(id, force: true))).Error);
        Assert.Contains(_world.Notices, notice => notice.Contains("given up: What it held cannot be known", StringComparison.Ordinal));
        Assert.Equal(("WriteThrough", 0L), (Cache(id).State, Status(id).Description.WriteCacheSize));
        Assert.Equal(HealthStatus.Warning, Status(id).Health);
        Assert.Contains("takes no writes", Status(id).StatusReason, StringComparison.Ordinal);
        Assert.Equal(new byte[Length], Read(id, 3 * Length));
        _world.Write(id, 3 * Length, Length);
        _world.Restart();
        Assert.Equal(Expected(3 * Length), Read(id, 3 * Length));
        Assert.Null(Status(id).WriteCache);
    }

    private Guid NewCached(long cache)
    {
        _world.NewPool([.. Enumerable.Repeat((64 * Mebibyte, MediaType.SSD), 2), .. Enumerable.Repeat((64 * Mebibyte, MediaType.HDD), 2)]);
        return _world.Run(_world.Subsystem.VirtualDisks.CreateAsync(
            _world.Pool, new VirtualDiskRequest { FriendlyName = "d", SizeBytes = 8 * Mebibyte, MediaType = MediaType.HDD,
            WriteCacheSize = cache })).Description.Id.Value;
    }

    private void Set(Guid id, DestageSettings destage) => _world.Run(_world.Subsystem.VirtualDisks.SetAsync(id, disk => disk with { Destage = destage }));

    private VirtualDiskStatus Status(Guid id) => _world.Run(_world.Subsystem.VirtualDisks.ListAsync()).Single(disk => disk.Description.Id.Value == id);

    private WriteCacheStatus Cache(Guid id) => Status(id).WriteCache!;

    private static byte[] Expected(int offset) => SubsystemWorld.Written(offset, Length);

    private byte[] Read(Guid id, long offset) => _world.Read(id, offset, Length);
}
