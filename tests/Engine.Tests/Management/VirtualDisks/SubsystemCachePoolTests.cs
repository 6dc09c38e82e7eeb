using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>Write caches in another pool, as verbs make, show, limit and take them away.</summary>
public sealed class SubsystemCachePoolTests
{
    private const long Mebibyte = 1 << 20;
    private const int Length = 64 << 10;
    private const int Home = 0;       // disks 0 to 3, in that order of registration
    private const int CachePool = 4;     // disks 4 to 6

    private readonly SubsystemWorld _world = new();
    private readonly Guid _cachePool;

    public SubsystemCachePoolTests()
    {
        _world.NewPool([.. Enumerable.Repeat((64 * Mebibyte, MediaType.HDD), 4)], "home");
        Guid owner = _world.Pool;
        _world.NewPool([.. Enumerable.Repeat((64 * Mebibyte, MediaType.SSD), 3)], "fast");
        (OwnerPool, _cachePool) = (owner, _world.Pool);
    }

    private Guid OwnerPool { get; }

    [Fact]
    public void It_takes_room_of_the_other_pool_alone()
    {
        Guid id = NewCached();
        VirtualDiskStatus disk = Status(id);
        Assert.Equal((4 * Mebibyte, "fast", "Active"), (disk.Description.WriteCacheSize, disk.CachePoolName, disk.WriteCache!.State));
        Assert.Equal((8 * Mebibyte, 8 * Mebibyte), (Pool(_cachePool).RemoteCacheBytes, Pool(_cachePool).AllocatedBytes));
        Assert.Equal((0, disk.FootprintBytes), (Pool(OwnerPool).RemoteCacheBytes, Pool(OwnerPool).AllocatedBytes));
        _world.Write(id, 0, Length);
        Assert.Equal(new WriteCount(1, Length), Status(id).WriteCache!.Cached);
        VirtualDiskPlacement placement = _world.Run(_world.Subsystem.Placements.GetAsync(id));
        Assert.Equal(8, placement.Cache.Length);
        Assert.All(placement.Cache, extent =>
            Assert.Equal(_cachePool, _world.Run(_world.Subsystem.PhysicalDisks.ListAsync()).Single(one => one.UniqueId == extent.PhysicalDisk).PoolId));
        Assert.Equal(8, _world.Run(_world.Subsystem.Placements.PlanNewAsync(OwnerPool, Request("e"))).Cache.Length);
    }

    [Fact]
    public void Its_own_pool_named_for_it_is_no_other()
    {
        Guid id = _world.Run(_world.Subsystem.VirtualDisks.CreateAsync(
            _cachePool, Request("d") with { CachePool = _cachePool })).Description.Id.Value;
        Assert.Equal(("fast", 0L), (Status(id).CachePoolName, Pool(_cachePool).RemoteCacheBytes));
        Assert.False(Status(id).Description.IsCacheElsewhere);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void What_it_holds_is_there_after_a_restart_whichever_pool_opens_first(bool ownerFirst)
    {
        Guid id = NewCached();
        _world.Write(id, 0, Length);
        Set(id, new DestageSettings { Hold = true });
        _world.Write(id, Length, Length);
        (int first, int count) = ownerFirst ? (CachePool, 3) : (Home, 4);
        for (int disk = first; disk < first + count; disk++)
        {
            _world.Away.Add(disk);   // the host starts without them
        }

        _world.Restart();
        if (ownerFirst)
        {
            Assert.Equal(("Absent", "Detached"), (Status(id).WriteCache!.State, Status(id).OperationalStatus));
            Assert.Contains("storage pool", Status(id).StatusReason, StringComparison.Ordinal);
            ManagementException rejected = Assert.Throws<ManagementException>(() => _world.Run(_world.Subsystem.VirtualDisks.ConnectAsync(id)));
            Assert.Contains("Update-StoragePool", rejected.Action, StringComparison.Ordinal);
            _world.Advance(TimeSpan.FromSeconds(30));
            Assert.Equal("Absent", Status(id).WriteCache!.State);
        }
        else
        {
            _world.Advance(TimeSpan.FromSeconds(30));
            Assert.Equal(8 * Mebibyte, Pool(_cachePool).RemoteCacheBytes);   // kept: the owner pool, which decides, is not open
        }

        _world.Away.Clear();
        _world.Until(() => _world.Run(_world.Subsystem.Pools.ListAsync()).Length == 2 && Status(id).WriteCache is { State: "Active" });
        Assert.Equal(Expected(0), Read(id, 0));
        Assert.Equal(Expected(Length), Read(id, Length));
        Assert.True(Status(id).WriteCache!.DirtyBytes > 0);
    }

    [Fact]
    public void Another_size_none_and_one_again_stay_in_that_pool()
    {
        Guid id = NewCached();
        Set(id, new DestageSettings { Hold = true });
        int at = 0;
        foreach (long size in (long[])[8 * Mebibyte, 2 * Mebibyte, 0, 4 * Mebibyte])
        {
            _world.Write(id, at++ * Length, Length);
            Assert.Equal(size, _world.Run(_world.Subsystem.WriteCaches.ResizeAsync(id, size)).Description.WriteCacheSize);
            Assert.Equal((2 * size, 2 * size), (Pool(_cachePool).RemoteCacheBytes, Pool(_cachePool).AllocatedBytes));
            Assert.All(Enumerable.Range(0, at), i => Assert.Equal(Expected(i * Length), Read(id, i * Length)));
        }

        _world.Restart();
        Assert.Equal("fast", Status(id).CachePoolName);
        Assert.All(Enumerable.Range(0, at), i => Assert.Equal(Expected(i * Length), Read(id, i * Length)));
        ManagementException rejected = Assert.Throws<ManagementException>(() => _world.Run(_world.Subsystem.WriteCaches.ResizeAsync(id, 1L << 40)));
        Assert.Equal(ManagementError.WriteCacheSizeRange, rejected.Error);
        Assert.Contains("at most", rejected.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_pool_lends_no_more_than_it_is_set_to()
    {
        SetLimit(12 * Mebibyte);
        Guid id = NewCached();
        ManagementException rejected = Assert.Throws<ManagementException>(() => _world.Run(_world.Subsystem.VirtualDisks.CreateAsync(OwnerPool, Request("e"))));
        Assert.Equal(ManagementError.WriteCacheSizeRange, rejected.Error);
        foreach (long named in (long[])[8 * Mebibyte, 8 * Mebibyte, 12 * Mebibyte])   // requested, in use, limit
        {
            Assert.Contains($" {ByteText.Exact(named)}", rejected.Message, StringComparison.Ordinal);
        }

        Assert.Throws<ManagementException>(() => _world.Run(_world.Subsystem.WriteCaches.ResizeAsync(id, 7 * Mebibyte)));
        Assert.Equal(6 * Mebibyte, _world.Run(_world.Subsystem.WriteCaches.ResizeAsync(id, 6 * Mebibyte)).Description.WriteCacheSize);
        SetLimit(0);
        Assert.Throws<ManagementException>(() =>
            _world.Run(_world.Subsystem.Placements.PlanNewAsync(OwnerPool, Request("e") with { WriteCacheSize = null, AutoWriteCacheSize = true })));
        Assert.Equal("Active", Status(id).WriteCache!.State);   // caches in use stay
        SetLimit(ulong.MaxValue);
        Assert.True(_world.Run(_world.Subsystem.VirtualDisks.CreateAsync(
            OwnerPool, Request("e") with { WriteCacheSize = null, AutoWriteCacheSize = true })).Description.WriteCacheSize > 0);
    }

    [Fact]
    public void What_cannot_be_is_refused_and_changes_nothing()
    {
        Refuses(ManagementError.WriteCacheSizeRange, Request("d") with { WriteCacheSize = 0 }, "contradicts -CachePool");
        Refuses(ManagementError.ObjectNotFound, Request("d") with { CachePool = Guid.NewGuid() }, "no storage pool");
        Refuses(ManagementError.NotEnoughPhysicalDisks, Request("d") with { CachePool = OwnerPool }, "usage Journal or flash");
        Refuses(ManagementError.WriteCacheSizeRange, Request("d") with { WriteCacheSize = 1L << 40 }, "at most");
        _world.Run(_world.Subsystem.Pools.SetAsync(_cachePool, pool => pool with { IsReadOnly = true }));
        Refuses(ManagementError.PoolReadOnly, Request("d"), "'fast' is read-only");
        Assert.Equal((0L, 0L), (Pool(_cachePool).AllocatedBytes, Pool(OwnerPool).AllocatedBytes));
    }

    [Fact]
    public void A_pool_that_lends_is_not_removed_nor_its_disks()
    {
        Guid id = NewCached();
        ManagementException rejected = Assert.Throws<ManagementException>(() => _world.Run(_world.Subsystem.Pools.RemoveAsync(_cachePool)));
        Assert.Equal(ManagementError.PoolHasVirtualDisks, rejected.Error);
        Assert.Contains("virtual disk 'd' of storage pool 'home'", rejected.Message, StringComparison.Ordinal);
        Assert.Throws<ManagementException>(() => _world.Run(_world.Subsystem.Pools.CheckRemoveAsync(_cachePool)));
        Guid member = _world.Run(_world.Subsystem.Placements.GetAsync(id)).Cache[0].PhysicalDisk;
        rejected = Assert.Throws<ManagementException>(() => _world.Run(_world.Subsystem.Pools.RemoveDisksAsync(_cachePool, [member])));
        Assert.Contains("write cache of virtual disk 'd'", rejected.Message, StringComparison.Ordinal);

        Assert.True(_world.Run(_world.Subsystem.VirtualDisks.RemoveAsync(id)));
        Assert.Equal(0, Pool(_cachePool).AllocatedBytes);
        Assert.True(_world.Run(_world.Subsystem.Pools.RemoveAsync(_cachePool)));
    }

    [Fact]
    public void Room_of_a_virtual_disk_removed_without_its_pool_is_given_back_when_that_opens()
    {
        Guid id = NewCached();
        for (int disk = CachePool; disk < CachePool + 3; disk++)
        {
            _world.Away.Add(disk);
        }

        _world.Restart();
        Assert.True(_world.Run(_world.Subsystem.VirtualDisks.RemoveAsync(id)));
        _world.Away.Clear();
        _world.Until(() => _world.Run(_world.Subsystem.Pools.ListAsync())
            .Any(pool => pool.UniqueId == _cachePool && pool is { IsOpen: true, AllocatedBytes: 0 }));
        Assert.Equal((0L, 0L), (Pool(_cachePool).AllocatedBytes, Pool(_cachePool).RemoteCacheBytes));
        Assert.True(_world.Run(_world.Subsystem.Pools.RemoveAsync(_cachePool)));
    }

    [Fact]
    public void A_cache_whose_pool_is_gone_is_given_up_only_by_force()
    {
        Guid id = NewCached();
        _world.Write(id, 0, Length);
        _world.Until(() => _world.Disk(id).Cache!.DirtyBytes == 0);
        Set(id, new DestageSettings { Hold = true });
        _world.Write(id, Length, Length);
        for (int disk = CachePool; disk < CachePool + 3; disk++)
        {
            _world.Away.Add(disk);
        }

        _world.Restart();
        // This host exports nothing.
        Assert.Equal(ManagementError.NotSupported,
            Assert.Throws<ManagementException>(() => _world.Run(_world.Subsystem.VirtualDisks.ConnectAsync(id, force: true))).Error);
        Assert.Contains(_world.Notices, notice => notice.Contains("given up: What it held cannot be known", StringComparison.Ordinal));
        Assert.Equal((0L, IoError.None), (Status(id).Description.WriteCacheSize, _world.Opened(id).Fault));
        Assert.Equal(Expected(0), Read(id, 0));   // as it was home
        Assert.Equal(new byte[Length], Read(id, Length));
        _world.Write(id, 2 * Length, Length);
        _world.Away.Clear();
        _world.Until(() => _world.Run(_world.Subsystem.Pools.ListAsync())
            .Any(pool => pool.UniqueId == _cachePool && pool is { IsOpen: true, AllocatedBytes: 0 }));
        Assert.Equal((0, "fast"), (Pool(_cachePool).AllocatedBytes, Pool(_cachePool).Description.FriendlyName));
        Assert.Equal(Expected(0), Read(id, 0));
        Assert.Equal(new byte[Length], Read(id, Length));
        Assert.Equal(4 * Mebibyte, _world.Run(_world.Subsystem.WriteCaches.ResizeAsync(id, 4 * Mebibyte)).Description.WriteCacheSize);
        Assert.Equal("fast", Status(id).CachePoolName);
    }

    // The commit that gives a row of another virtual disk back waits for room in the owner pool while the remote cache pool is lost and comes back.
    [Fact]
    public void It_is_not_opened_again_with_its_cache_while_a_commit_of_its_own_pool_is_undecided()
    {
        Guid id = NewCached();
        Guid other = _world.Run(_world.Subsystem.VirtualDisks.CreateAsync(OwnerPool, new VirtualDiskRequest
        {
            FriendlyName = "other", SizeBytes = 8 * Mebibyte, NumberOfColumns = 1, ProvisioningType = ProvisioningType.Thin,
        })).Description.Id.Value;
        _world.Write(other, 0, (int)Mebibyte);
        Set(id, new DestageSettings { Hold = true });
        _world.Write(id, 0, Length);
        OpenVirtualDisk before = _world.Opened(id);
        SimDisk[] owner = _world.Disks[Home..CachePool];
        Array.ForEach(owner, one => one.WriteFails = FillsUp);   // at the first write of metadata: the others find no room
        LaneTask<IoError> unmap = _world.Disk(other).Unmap(0, Mebibyte);
        _world.Advance(TimeSpan.FromMinutes(5));
        _world.Lane.Run(unmap);
        Assert.Contains("not known", _world.Opened(other).FaultReason, StringComparison.Ordinal);

        for (int disk = CachePool; disk < CachePool + 3; disk++)
        {
            _world.Pull(disk);
        }

        _world.Advance(TimeSpan.FromSeconds(5));
        Assert.Equal(PoolOperationalStatus.Incomplete, Pool(_cachePool).OperationalStatus);
        Assert.Same(before, _world.Opened(id));
        for (int disk = CachePool; disk < CachePool + 3; disk++)
        {
            _world.PutBack(disk);
        }

        _world.Advance(TimeSpan.FromSeconds(10));
        Assert.Equal(PoolOperationalStatus.OK, Pool(_cachePool).OperationalStatus);
        Assert.Same(before, _world.Opened(id));

        Array.ForEach(owner, static one => one.Full = false);
        _world.Advance(TimeSpan.FromSeconds(5));
        Assert.NotSame(before, _world.Opened(id));
        Assert.Equal("Active", Status(id).WriteCache!.State);
        Assert.Equal(SubsystemWorld.Written(0, Length), _world.Read(id, 0, Length));

        bool FillsUp(long offset, int length)
        {
            if (offset < Mebibyte)
            {
                Array.ForEach(owner, static one => (one.Full, one.WriteFails) = (true, null));
            }

            return false;
        }
    }

    [Fact]
    public void A_disk_of_the_other_pool_that_was_away_is_brought_up_to_date_and_a_retired_one_drained()
    {
        Guid id = NewCached();
        Set(id, new DestageSettings { Hold = true });
        Guid member = _world.Run(_world.Subsystem.Placements.GetAsync(id)).Cache[0].PhysicalDisk;
        int number = _world.Run(_world.Subsystem.PhysicalDisks.ListAsync()).Single(disk => disk.UniqueId == member).DeviceId;
        _world.Pull(number);
        _world.Write(id, 0, Length);
        Assert.True(_world.Opened(id).Cache!.IsDegraded);
        Assert.Equal(HealthStatus.Warning, Status(id).Health);
        _world.PutBack(number);
        _world.Until(() => !_world.Opened(id).Cache!.IsDegraded);
        Assert.Equal("Active", Status(id).WriteCache!.State);

        _world.Run(_world.Subsystem.PhysicalDisks.SetAsync(member, null, null, null, DiskUsage.Retired));
        _world.Until(() => _world.Run(_world.Subsystem.PhysicalDisks.ListAsync()).Single(disk => disk.UniqueId == member).VirtualDiskBytes == 0);
        Assert.True(_world.Run(_world.Subsystem.Pools.RemoveDisksAsync(_cachePool, [member])));
        Assert.Equal(Expected(0), Read(id, 0));
        _world.Restart();
        Assert.Equal(Expected(0), Read(id, 0));
    }

    private Guid NewCached(string name = "d") => _world.Run(_world.Subsystem.VirtualDisks.CreateAsync(OwnerPool, Request(name))).Description.Id.Value;

    private VirtualDiskRequest Request(string name) =>
        new() { FriendlyName = name, SizeBytes = 8 * Mebibyte, NumberOfColumns = 1, CachePool = _cachePool, WriteCacheSize = 4 * Mebibyte };

    private void Refuses(ManagementError why, VirtualDiskRequest request, string says)
    {
        ManagementException rejected = Assert.Throws<ManagementException>(() => _world.Run(_world.Subsystem.VirtualDisks.CreateAsync(OwnerPool, request)));
        Assert.Equal(why, rejected.Error);
        Assert.Contains(says, rejected.Message, StringComparison.Ordinal);
    }

    private void SetLimit(ulong bytes) => _world.Run(_world.Subsystem.Pools.SetAsync(_cachePool, pool => pool with { LentWriteCacheSizeMax = bytes }));

    private void Set(Guid id, DestageSettings destage) => _world.Run(_world.Subsystem.VirtualDisks.SetAsync(id, disk => disk with { Destage = destage }));

    private StoragePoolStatus Pool(Guid id) => _world.Run(_world.Subsystem.Pools.ListAsync()).Single(pool => pool.UniqueId == id);

    private VirtualDiskStatus Status(Guid id) => _world.Run(_world.Subsystem.VirtualDisks.ListAsync()).Single(disk => disk.Description.Id.Value == id);

    private static byte[] Expected(int offset) => SubsystemWorld.Written(offset, Length);

    private byte[] Read(Guid id, long offset) => _world.Read(id, offset, Length);
}
