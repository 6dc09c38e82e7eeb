using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>A plan and its run are the same, slab for slab, and planning changes nothing.</summary>
public sealed class SubsystemPlansTests
{
    private readonly SubsystemWorld _world = new();

    [Theory]
    [InlineData("Mirror", 2, null, 20)]
    [InlineData("Mirror", 1, 3, 10)]
    [InlineData("Simple", 5, null, 33)]
    [InlineData("Mirror", null, null, null)]
    public void A_virtual_disk_lies_where_it_was_planned(string layout, int? columns, int? copies, int? mebibytes)
    {
        _world.NewPool(6);
        _world.NewMirror("other", 4 << 20, filled: false);
        VirtualDiskRequest request = new()
        {
            FriendlyName = "d", ResiliencySettingName = layout, NumberOfColumns = columns, NumberOfDataCopies = copies, SizeBytes = (long?)mebibytes << 20,
            UseMaximumSize = mebibytes is null,
        };

        VirtualDiskPlacement plan = _world.Run(_world.Subsystem.Placements.PlanNewAsync(_world.Pool, request));
        Assert.Equal(Places(plan), Places(_world.Run(_world.Subsystem.Placements.PlanNewAsync(_world.Pool, request))));
        VirtualDiskStatus made = _world.Run(_world.Subsystem.VirtualDisks.CreateAsync(_world.Pool, request));

        Assert.Equal(Places(plan), Places(_world.Run(_world.Subsystem.Placements.GetAsync(made.Description.Id.Value))));
        Assert.Equal(plan.Disk.SizeBytes, made.Description.SizeBytes);
        Assert.Equal(plan.Disk.SizeBytes * plan.Disk.NumberOfDataCopies, plan.Data.Sum(extent => extent.Size));
    }

    [Fact]
    public void A_virtual_disk_grows_where_it_was_planned()
    {
        _world.NewPool(5);
        Guid id = _world.NewMirror("d", 8 << 20, filled: false);
        VirtualDiskPlacement before = _world.Run(_world.Subsystem.Placements.GetAsync(id));
        VirtualDiskPlacement plan = _world.Run(_world.Subsystem.Placements.PlanResizeAsync(id, 20 << 20));

        _world.Run(_world.Subsystem.VirtualDisks.ResizeAsync(id, 20 << 20));

        Assert.Equal(Places(before).Concat(Places(plan)).Order(), Places(_world.Run(_world.Subsystem.Placements.GetAsync(id))).Order());
    }

    [Theory]
    [InlineData("Simple", 8, 8, 1)]
    [InlineData("Mirror", 2, 5, 1)]
    [InlineData("Simple", 1, 2, 3)]
    public void A_size_that_does_not_fit_names_as_many_disks_as_it_takes(string layout, int columns, int disks, int rowsBeyond)
    {
        _world.NewPool(disks);
        Guid id = _world.Run(_world.Subsystem.VirtualDisks.CreateAsync(_world.Pool, new()
        {
            FriendlyName = "d", ResiliencySettingName = layout, NumberOfColumns = columns, SizeBytes = (long)columns << 20, WriteCacheSize = 0,
        })).Description.Id.Value;
        long row = (long)columns << 20;
        long rows = 2;
        while (Refusal(id, rows * row) is null)
        {
            rows++;
        }

        long size = (rows - 1 + rowsBeyond) * row;
        Assert.StartsWith("Add 1 disk like the smallest", Refusal(id, size)!.Action, StringComparison.Ordinal);
        _world.AddDisk(DiskUsage.AutoSelect);
        Assert.Null(Refusal(id, size));
    }

    [Fact]
    public void More_disks_than_a_pool_can_have_are_no_advice()
    {
        _world.NewPool(3);
        Guid id = _world.NewMirror("d", 1 << 20);

        string action = Refusal(id, 1L << 40)!.Action;

        Assert.StartsWith("Give a smaller size: a pool has at most 512 disks, and ", action, StringComparison.Ordinal);
        Assert.DoesNotContain("Add ", action, StringComparison.Ordinal);
    }

    [Fact]
    public void A_repair_makes_anew_what_was_planned()
    {
        _world.NewPool(5);
        Guid id = _world.NewMirror("d", 24 << 20);
        PhysicalDiskStatus leaving = _world.Physical(0);
        Dictionary<string, int> before = Slabs(id);
        _world.Run(_world.Subsystem.PhysicalDisks.SetAsync(leaving.UniqueId, null, null, null, DiskUsage.Retired));

        RepairPlacement plan = _world.Run(_world.Subsystem.Repairs.PlanAsync(id));
        _world.Run(_world.Subsystem.Repairs.RepairAsync(id));

        Assert.All(plan.Moved.Moves, move => Assert.Equal(leaving.FriendlyName, move.From));
        Assert.Equal(before[leaving.FriendlyName], plan.Moved.Moves.Sum(move => move.Slabs));
        Dictionary<string, int> after = Slabs(id);
        foreach (IGrouping<string?, PlannedMoves> target in plan.Moved.Moves.GroupBy(move => move.To))
        {
            Assert.Equal(before.GetValueOrDefault(target.Key!) + target.Sum(move => move.Slabs), after[target.Key!]);
        }
    }

    [Fact]
    public void A_repair_puts_each_slab_where_it_was_planned()
    {
        _world.NewPool(5);
        Guid id = _world.NewMirror("d", 24 << 20);
        HashSet<(string Disk, long Offset)> expected = Places(id);
        _world.Run(_world.Subsystem.PhysicalDisks.SetAsync(_world.Physical(0).UniqueId, null, null, null, DiskUsage.Retired));
        RepairPlacement plan = _world.Run(_world.Subsystem.Repairs.PlanAsync(id));
        Expect(expected, plan.Moved.Moves);
        Assert.NotEmpty(plan.Moved.Moves);
        _world.Run(_world.Subsystem.Repairs.RepairAsync(id));
        Assert.Equal(expected.Order(), Places(id).Order());
    }

    // Two virtual disks, repaired in turn: what the second one moves is planned where the first one has left room.
    [Fact]
    public void What_a_retirement_moves_goes_where_it_was_planned()
    {
        _world.NewPool(6);
        _world.Run(_world.Subsystem.Pools.SetAsync(_world.Pool, static pool => pool with { RepairsInTurn = true }));
        Guid[] ids = [_world.NewMirror("d", 24 << 20), _world.NewMirror("e", 16 << 20)];
        PhysicalDiskStatus leaving = _world.Physical(0);
        HashSet<(string Disk, long Offset)> expected = [.. ids.SelectMany(Places)];
        PlannedSlabMoves plan = _world.Run(_world.Subsystem.PhysicalDisks.PlanSetAsync(leaving.UniqueId, null, null, DiskUsage.Retired));
        Assert.Equal(["d", "e"], plan.Moves.Select(static move => move.VirtualDisk).Distinct());
        Assert.All(plan.Moves, move => Assert.Equal(leaving.FriendlyName, move.From));
        Expect(expected, plan.Moves);

        _world.Run(_world.Subsystem.PhysicalDisks.SetAsync(leaving.UniqueId, null, null, null, DiskUsage.Retired));
        _world.Until(() => _world.Physical(0).VirtualDiskBytes == 0);
        Assert.Equal(expected.Order(), ids.SelectMany(Places).Order());
        Assert.Empty(_world.Run(_world.Subsystem.PhysicalDisks.PlanSetAsync(leaving.UniqueId, null, null, DiskUsage.Retired)).Moves);
    }

    [Fact]
    public void What_a_retirement_cannot_move_is_planned_to_stay()
    {
        _world.NewPool(2);
        _world.NewMirror("d", 4 << 20);
        PlannedSlabMoves plan = _world.Run(_world.Subsystem.PhysicalDisks.PlanSetAsync(_world.Physical(0).UniqueId, null, null, DiskUsage.Retired));
        Assert.NotEmpty(plan.Moves);
        Assert.All(plan.Moves, static move => Assert.Null(move.To));
        Assert.All(plan.Moves, static move => Assert.All(move.Each, static slab => Assert.Null(slab.ToOffset)));
        Assert.Empty(_world.Run(_world.Subsystem.PhysicalDisks.PlanSetAsync(_world.Physical(0).UniqueId, "other", null, null)).Moves);
    }

    [Fact]
    public void An_optimization_puts_each_slab_where_it_was_planned()
    {
        _world.NewPool(3);
        Guid[] ids = [_world.NewMirror("d", 24 << 20), _world.NewMirror("e", 16 << 20)];
        _world.AddDisk(DiskUsage.AutoSelect);
        _world.AddDisk(DiskUsage.AutoSelect);
        HashSet<(string Disk, long Offset)> expected = [.. ids.SelectMany(Places)];
        PlannedSlabMoves plan = _world.Run(_world.Subsystem.Rebalance.PlanAsync(_world.Pool));
        Assert.Equal(0, plan.More);
        Assert.True(plan.Moves.Sum(static move => move.Slabs) > 8);
        Expect(expected, plan.Moves);

        _world.Run(_world.Subsystem.Rebalance.OptimizeAsync(_world.Pool));
        Assert.Equal(expected.Order(), ids.SelectMany(Places).Order());
        Assert.Empty(_world.Run(_world.Subsystem.Rebalance.PlanAsync(_world.Pool)).Moves);
    }

    [Fact]
    public void A_write_cache_of_another_size_lies_where_it_was_planned()
    {
        _world.NewPool(4);
        Guid id = _world.Run(_world.Subsystem.VirtualDisks.CreateAsync(_world.Pool, new()
        {
            FriendlyName = "d", ResiliencySettingName = "Mirror", SizeBytes = 16 << 20, WriteCacheSize = 4 << 20,
        })).Description.Id.Value;
        foreach (long size in (long[])[8 << 20, 8 << 20, 2 << 20, 0, 3 << 20])
        {
            VirtualDiskPlacement before = _world.Run(_world.Subsystem.Placements.GetAsync(id));
            CachePlacement plan = _world.Run(_world.Subsystem.WriteCaches.PlanResizeAsync(id, size));
            _world.Run(_world.Subsystem.WriteCaches.ResizeAsync(id, size));
            PhysicalExtent[] cache = _world.Run(_world.Subsystem.Placements.GetAsync(id)).Cache;
            bool isAsItWas = size == before.Disk.WriteCacheSize;
            Assert.Equal(size, plan.SizeBytes);
            Assert.Equal(isAsItWas ? [] : cache, plan.Placed);
            Assert.Equal(isAsItWas ? [] : before.Cache, plan.Freed);
        }
    }

    /// <summary>Moves places as planned.</summary>
    private static void Expect(HashSet<(string Disk, long Offset)> places, PlannedMoves[] moves)
    {
        foreach ((string from, string to, PlannedSlab slab) in moves.SelectMany(static move => move.Each.Select(slab => (move.From, move.To!, slab))))
        {
            Assert.True(places.Remove((from, slab.FromOffset)));
            Assert.True(places.Add((to, slab.ToOffset!.Value)));
        }
    }

    /// <summary>Where the slabs of data, integrity log and write cache are: disk and offset.</summary>
    private HashSet<(string Disk, long Offset)> Places(Guid id)
    {
        VirtualDiskPlacement at = _world.Run(_world.Subsystem.Placements.GetAsync(id));
        Dictionary<Guid, string> names = _world.Run(_world.Subsystem.PhysicalDisks.ListAsync())
            .ToDictionary(static disk => disk.UniqueId, static disk => disk.FriendlyName);
        return [.. at.Data.Concat(at.Log).Concat(at.Cache).Select(extent => (names[extent.PhysicalDisk], extent.PhysicalOffset))];
    }

    [Fact]
    public void What_cannot_be_made_cannot_be_planned()
    {
        _world.NewPool(2);
        Assert.Equal(ManagementError.NotEnoughCapacity,
            Refused(() => _world.Subsystem.Placements.PlanNewAsync(_world.Pool, new() { FriendlyName = "d", SizeBytes = 1L << 40 })));
        Guid id = _world.NewMirror("d", 4 << 20, filled: false);
        Assert.Equal(ManagementError.NotEnoughCapacity, Refused(() => _world.Subsystem.Placements.PlanResizeAsync(id, 1L << 40)));
        Assert.Equal(ManagementError.SizeNotSupported, Refused(() => _world.Subsystem.Placements.PlanResizeAsync(id, 1)));
        Assert.Equal(ManagementError.PoolHasVirtualDisks, Refused(() => _world.Subsystem.Pools.CheckRemoveAsync(_world.Pool)));
        Assert.Equal(ManagementError.NameTaken, Refused(() => _world.Subsystem.Pools.PlanAsync("P", [_world.NewDisk()])));
        Assert.Equal(ManagementError.PhysicalDiskInUse, Refused(() => _world.Subsystem.Pools.PlanAsync("q", [_world.Physical(0).UniqueId])));
    }

    [Fact]
    public void A_pool_is_as_large_as_was_planned()
    {
        Guid[] disks = [_world.NewDisk(), _world.NewDisk(96 << 20)];
        PoolPlacement plan = _world.Run(_world.Subsystem.Pools.PlanAsync("q", disks));
        StoragePoolStatus pool = _world.Run(_world.Subsystem.Pools.CreateAsync(
            new PoolDescription { FriendlyName = "q", Slabs = new SlabGeometry(SlabGeometry.SmallestSlab) }, disks, DiskUsage.AutoSelect));

        Assert.Equal(pool.SizeBytes, plan.Members.Sum(member => member.Slabs) * plan.SlabBytes);
    }

    private ManagementError Refused<T>(Func<Task<T>> verb) => Assert.Throws<ManagementException>(() => _world.Run(verb())).Error;

    private static IEnumerable<(Guid, int, int, long, long, bool)> Places(VirtualDiskPlacement placement) =>
        placement.Data.Select(extent => Place(extent, isLog: false)).Concat(placement.Log.Select(extent => Place(extent, isLog: true)));

    private static (Guid, int, int, long, long, bool) Place(PhysicalExtent extent, bool isLog) =>
        (extent.PhysicalDisk, extent.Column, extent.Copy, extent.VirtualOffset, extent.PhysicalOffset, isLog);

    private Dictionary<string, int> Slabs(Guid id)
    {
        VirtualDiskPlacement placement = _world.Run(_world.Subsystem.Placements.GetAsync(id));
        PhysicalDiskStatus[] disks = _world.Run(_world.Subsystem.PhysicalDisks.ListAsync());
        return placement.Data.Concat(placement.Log).GroupBy(extent => disks.First(disk => disk.UniqueId == extent.PhysicalDisk).FriendlyName)
            .ToDictionary(group => group.Key, group => group.Count());
    }

    private ManagementException? Refusal(Guid id, long size)
    {
        try
        {
            _world.Run(_world.Subsystem.Placements.PlanResizeAsync(id, size));
            return null;
        }
        catch (ManagementException rejected)
        {
            return rejected;
        }
    }
}
