using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>
/// Work of verbs that read on the lane, in a pool of 240 disks with 64 virtual disks and forty thousand rows: as many as 10 TB of mirrors have in slabs of
/// 256 MiB.
/// </summary>
public sealed class SnapshotCostTests(SnapshotCostTests.LargeWorld large) : IClassFixture<SnapshotCostTests.LargeWorld>
{
    private const int Disks = 240;
    private const int VirtualDisks = 64;
    private const int RowsEach = 640;
    private const long Slab = SlabGeometry.SmallestSlab;

    private readonly SubsystemWorld _world = large.World;

    private Guid Any => large.VirtualDisk;

    [Fact]
    public void No_list_goes_over_a_row_on_the_lane()
    {
        Expect(() => _world.Subsystem.VirtualDisks.ListAsync(), out VirtualDiskStatus[] disks, mustWalk: true);
        Expect(() => _world.Subsystem.PhysicalDisks.ListAsync(), out PhysicalDiskStatus[] physical);
        Expect(() => _world.Subsystem.Pools.ListAsync(), out StoragePoolStatus[] pools);
        Expect(() => _world.Subsystem.Tiers.ListAsync(), out StorageTierStatus[] _);
        Expect(() => _world.Subsystem.Jobs.ListAsync(), out JobStatus[] _);
        Expect(() => _world.Subsystem.Pins.ListAsync(null), out PinStatus[] _);
        Expect(() => _world.Subsystem.Reliability.GetAsync(physical[0].UniqueId), out DiskReliability _);

        Assert.Equal((VirtualDisks, Disks, 1), (disks.Length, physical.Length, pools.Length));
        Assert.All(disks, static disk => Assert.Equal(RowsEach * Slab, disk.AllocatedBytes));
    }

    [Fact]
    public void No_extent_is_found_on_the_lane()
    {
        Expect(() => _world.Subsystem.Placements.ExtentsAsync(null, null), out PhysicalExtent[] extents, mustWalk: true);
        Assert.Equal(VirtualDisks * RowsEach * 2, extents.Length);

        Expect(() => _world.Subsystem.Placements.GetAsync(Any), out VirtualDiskPlacement placement, mustWalk: true);
        Assert.Equal(RowsEach * 2, placement.Data.Length);
    }

    [Fact]
    public void No_plan_is_made_on_the_lane()
    {
        VirtualDiskRequest request = new() { FriendlyName = "new", SizeBytes = 64 * Slab, ResiliencySettingName = "Mirror", NumberOfColumns = 1 };
        Expect(() => _world.Subsystem.Placements.PlanNewAsync(_world.Pool, request), out VirtualDiskPlacement made);
        Expect(() => _world.Subsystem.Placements.PlanResizeAsync(Any, (RowsEach + 8) * Slab), out VirtualDiskPlacement grown);
        Expect(() => _world.Subsystem.Placements.SupportedSizeAsync(_world.Pool, "Mirror"), out SupportedSize size);
        Expect(() => _world.Subsystem.Repairs.PlanAsync(Any), out RepairPlacement _, mustWalk: true);

        Assert.Equal((128, 16), (made.Data.Length, grown.Data.Length));
        Assert.True(size.Max > size.Min);
    }

    [Fact]
    public void A_plan_takes_the_slabs_that_the_verb_then_takes()
    {
        VirtualDiskRequest request = new() { FriendlyName = "planned", SizeBytes = 16 * Slab, ResiliencySettingName = "Mirror", NumberOfColumns = 1 };
        VirtualDiskPlacement planned = _world.Run(_world.Subsystem.Placements.PlanNewAsync(_world.Pool, request));
        Guid made = _world.Run(_world.Subsystem.VirtualDisks.CreateAsync(_world.Pool, request)).Description.Id.Value;

        Assert.Equal(
            planned.Data.Select(static extent => (extent.PhysicalDisk, extent.PhysicalOffset)),
            _world.Run(_world.Subsystem.Placements.GetAsync(made)).Data.Select(static extent => (extent.PhysicalDisk, extent.PhysicalOffset)));
        Assert.True(_world.Run(_world.Subsystem.VirtualDisks.RemoveAsync(made)));
    }

    [Fact]
    public void A_snapshot_copies_as_much_whether_virtual_disks_have_many_rows_or_few()
    {
        SubsystemWorld small = LargeWorld.New(rowsEach: 2, out _);
        long few = LaneWork.Of(small, () => small.Subsystem.SnapshotAsync(), out SubsystemSnapshot _).Bytes;
        long many = LaneWork.Of(_world, () => _world.Subsystem.SnapshotAsync(), out SubsystemSnapshot _).Bytes;

        Assert.InRange(many, few - (few / 10), few + (few / 10));   // the rest is growth of lists that both reuse
    }

    private void Expect<T>(Func<Task<T>> verb, out T reply, bool mustWalk = false)
    {
        LaneWork work = LaneWork.Of(_world, verb, out reply);
        Assert.Equal(0, work.Rows);
        Assert.True(!mustWalk || work.RowsOutside >= RowsEach, "Nothing was gone over at all.");
    }

    /// <summary>The world that the tests share; they leave it as they found it.</summary>
    public sealed class LargeWorld
    {
        /// <summary>Makes it.</summary>
        public LargeWorld()
        {
            World = New(RowsEach, out Guid last);
            VirtualDisk = last;
        }

        internal SubsystemWorld World { get; }

        internal Guid VirtualDisk { get; }

        internal static SubsystemWorld New(int rowsEach, out Guid last)
        {
            SubsystemWorld world = new() { SlabSize = Slab };
            world.NewPool(Disks, 511 << 20);   // slabs of 1 MiB
            last = Guid.Empty;
            for (int i = 0; i < VirtualDisks; i++)
            {
                last = world.NewMirror($"d{i:00}", rowsEach * Slab, filled: false);
            }

            world.Advance(TimeSpan.FromSeconds(5));   // what is remembered of the pool is saved
            return world;
        }
    }
}
