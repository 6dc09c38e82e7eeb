using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Jobs;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Tests.Management.Plans;

/// <summary>
/// Virtual disks keep their copies in different fault domains: what is refused, where slabs, logs and caches lie, and what the loss of a domain costs.
/// </summary>
public sealed class FaultDomainTests
{
    private const int Mebibyte = 1 << 20;

    private readonly SubsystemWorld _world = new();

    // Every block reads, and is written again, whichever enclosure is lost; it is whole again when the enclosure is back.
    [Theory]
    [InlineData(2, 2, 1, 2, ProvisioningType.Fixed)]
    [InlineData(2, 4, 4, 2, ProvisioningType.Fixed)]
    [InlineData(3, 2, 2, 2, ProvisioningType.Thin)]
    [InlineData(3, 2, 3, 2, ProvisioningType.Fixed)]
    [InlineData(3, 2, 2, 3, ProvisioningType.Fixed)]
    [InlineData(4, 3, 5, 2, ProvisioningType.Thin)]
    public void The_loss_of_any_enclosure_loses_nothing(int enclosures, int disksEach, int columns, int copies, ProvisioningType provisioning)
    {
        NewPool(enclosures, disksEach);
        Guid id = Create(new VirtualDiskRequest
        {
            FriendlyName = "v", SizeBytes = 12 * Mebibyte, NumberOfColumns = columns, NumberOfDataCopies = copies, ProvisioningType = provisioning,
            FaultDomainAwareness = FaultDomainLevel.StorageEnclosure, WriteCacheSize = 4 * Mebibyte,
        }).Description.Id.Value;
        Fill(id);
        CheckPlacement(id);
        for (int lost = 0; lost < enclosures; lost++)
        {
            int[] gone = [.. Enumerable.Range(0, enclosures * disksEach).Where(disk => disk % enclosures == lost)];
            Array.ForEach(gone, _world.Pull);
            Fill(id);
            CheckData(id);
            CheckPlacement(id);
            Array.ForEach(gone, _world.PutBack);
            _world.Until(() => _world.NotOk().Count == 0);
            _world.Advance(TimeSpan.FromMinutes(1));
            CheckData(id);
            CheckPlacement(id);
        }
    }

    [Theory]
    [InlineData(1, 2, "needs physical disks in 2 fault domains of type StorageEnclosure; those that can be used are in 1.")]
    [InlineData(2, 3, "needs physical disks in 3 fault domains of type StorageEnclosure; those that can be used are in 2.")]
    public void Too_few_enclosures_are_refused_with_the_number_needed(int enclosures, int copies, string reason)
    {
        NewPool(enclosures, 6);
        ManagementException refused = Assert.Throws<ManagementException>(() => Create(Aware(copies)));
        Assert.Equal(ManagementError.NotEnoughPhysicalDisks, refused.Error);
        Assert.Contains(reason, refused.Message, StringComparison.Ordinal);
        Assert.Empty(_world.Run(_world.Subsystem.VirtualDisks.ListAsync()));
        Assert.All(_world.Run(_world.Subsystem.PhysicalDisks.ListAsync()), static disk => Assert.Equal(0, disk.VirtualDiskBytes));
    }

    [Fact]
    public void A_simple_disk_has_nothing_to_keep_apart()
    {
        NewPool(3, 2);
        ManagementException refused = Assert.Throws<ManagementException>(() => Create(Aware(1)));
        Assert.Equal(ManagementError.InvalidParameter, refused.Error);
        Change(static pool => pool with { EnclosureAwareDefault = true });
        VirtualDiskRequest simple = new() { FriendlyName = "s", ResiliencySettingName = "Simple", SizeBytes = Mebibyte };
        Assert.Equal(FaultDomainLevel.PhysicalDisk, Create(simple).Description.FaultDomainAwareness);
    }

    [Fact]
    public void Columns_are_as_many_as_the_enclosures_allow()
    {
        NewPool([0, 0, 0, 0, 1, 1]);
        Assert.Equal(2, Create(Aware(2)).Description.NumberOfColumns);
        ManagementException refused = Assert.Throws<ManagementException>(() => Create(Aware(2) with { FriendlyName = "w", NumberOfColumns = 3 }));
        Assert.Equal(ManagementError.ColumnsRange, refused.Error);
        Assert.Contains("which allow 2 columns", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Two_enclosures_rest_on_the_witness_and_three_do_not()
    {
        NewPool(2, 3);
        string warning = Assert.Single(Create(Aware(2)).Remarks);
        Assert.Contains("as long as the witness of this host is there", warning, StringComparison.Ordinal);
        _world.NewPool([.. Enumerable.Repeat((64L << 20, MediaType.SSD), 6)], "q", static disk => new PlaceChange { EnclosureNumber = disk % 3 });
        Assert.Empty(Create(Aware(2)).Remarks);
    }

    [Fact]
    public void A_pool_with_most_of_its_votes_in_one_enclosure_says_so()
    {
        _world.NewPool(5);
        for (int disk = 0; disk < 5; disk++)
        {
            Move(disk, new PlaceChange { EnclosureNumber = disk < 3 ? 1 : 2 });
        }

        string warning = Assert.Single(Create(Aware(2)).Remarks);
        Assert.Contains("does not survive the loss of '1'", warning, StringComparison.Ordinal);
    }

    [Fact]
    public void A_disk_that_moves_into_the_wrong_enclosure_is_told()
    {
        NewPool(2, 2);
        Guid id = Create(Aware(2) with { WriteCacheSize = 0 }).Description.Id.Value;
        Assert.Empty(Move(0, new PlaceChange { SlotNumber = 3 }));
        string remark = Assert.Single(Move(0, new PlaceChange { EnclosureNumber = 1 }));
        Assert.Contains("of virtual disk 'v' do not keep to its fault domains", remark, StringComparison.Ordinal);
        Assert.Empty(Move(0, new PlaceChange { EnclosureNumber = 0 }));
        CheckPlacement(id);
    }

    // Data, logs and caches are where they may be after a disk is drained, a lost one is replaced, disks are added and the pool is evened out.
    [Fact]
    public void Repair_and_rebalancing_keep_to_enclosures()
    {
        NewPool(3, 3);
        Guid id = Create(Aware(2) with { NumberOfColumns = 2, SizeBytes = 24 * Mebibyte, WriteCacheSize = 4 * Mebibyte }).Description.Id.Value;
        Fill(id);
        _world.Run(_world.Subsystem.PhysicalDisks.SetAsync(_world.Physical(0).UniqueId, null, null, null, DiskUsage.Retired));
        _world.Advance(TimeSpan.FromMinutes(30));
        Assert.Equal(0, _world.Physical(0).VirtualDiskBytes);
        CheckPlacement(id);
        for (int disk = 0; disk < 3; disk++)
        {
            int enclosure = disk;
            _world.AddDisk(DiskUsage.AutoSelect, new PlaceChange { EnclosureNumber = enclosure });
        }

        Guid job = _world.Run(_world.Subsystem.Rebalance.OptimizeAsync(_world.Pool)).UniqueId;
        _world.Until(() => Array.TrueForAll(_world.Jobs, other => other.UniqueId != job || other.State != JobState.Running));
        Assert.Contains(_world.Run(_world.Subsystem.PhysicalDisks.ListAsync()), static disk => disk is { DeviceId: > 8, VirtualDiskBytes: > 0 });
        CheckPlacement(id);
        CheckData(id);
    }

    [Fact]
    public void Isolated_columns_share_no_enclosure()
    {
        NewPool(4, 2);
        VirtualDiskRequest isolated = Aware(2) with { ColumnIsolation = FaultDomainLevel.StorageEnclosure };
        ManagementException refused = Assert.Throws<ManagementException>(() => Create(isolated with { NumberOfColumns = 3 }));
        Assert.Contains("allow 2 columns", refused.Message, StringComparison.Ordinal);
        VirtualDiskDescription disk = Create(isolated with { NumberOfColumns = 2 }).Description;
        Assert.Equal(FaultDomainLevel.StorageEnclosure, disk.ColumnIsolation);
        Fill(disk.Id.Value);
        OpenVirtualDisk open = _world.Opened(disk.Id.Value);
        Assert.All(Rows(open), row => Assert.Equal(4, row.Select(slab => EnclosureOf(open, slab)).Distinct().Count()));
        _world.Restart();
        Assert.Equal(FaultDomainLevel.StorageEnclosure, _world.Opened(disk.Id.Value).Description.ColumnIsolation);
    }

    [Theory]
    [InlineData(FaultDomainLevel.StorageRack)]
    [InlineData(FaultDomainLevel.StorageChassis)]
    [InlineData(FaultDomainLevel.StorageScaleUnit)]
    public void Racks_chassis_and_nodes_are_fault_domains_too(FaultDomainLevel level)
    {
        string[] names = ["a", "b", "c"];
        _world.NewPool([.. Enumerable.Repeat((64L << 20, MediaType.SSD), 6)], "p", disk => level switch
        {
            FaultDomainLevel.StorageRack => new PlaceChange { Rack = names[disk % 3] },
            FaultDomainLevel.StorageChassis => new PlaceChange { Chassis = names[disk % 3] },
            _ => new PlaceChange { ScaleUnit = names[disk % 3] },
        });
        Guid id = Create(Aware(3) with { FaultDomainAwareness = level }).Description.Id.Value;
        Fill(id);
        Assert.All(Rows(_world.Opened(id)), row => Assert.All(row.Chunk(3), column => Assert.Equal(3, column.Select(slab => FaultDomains.DomainOf(
            _world.Opened(id).Pool.State.Disks[slab.Disk].Description, level)).Distinct().Count())));
    }

    [Fact]
    public void The_place_of_a_disk_is_kept_by_the_list_and_by_its_pool()
    {
        _world.NewDisk(place: new PlaceChange { EnclosureNumber = 3, SlotNumber = 7, Rack = "r" });
        _world.Restart();
        Assert.Equal(new DiskPlace("/r///", 3, 7), _world.Physical(0).Place);
        Move(0, new PlaceChange { SlotNumber = 8, ScaleUnit = "n" });
        _world.Restart();
        Assert.Equal(new DiskPlace("/r//n/", 3, 8), _world.Physical(0).Place);
        PoolDescription pool = new() { FriendlyName = "p", Slabs = new SlabGeometry(SlabGeometry.SmallestSlab) };
        _world.Run(_world.Subsystem.Pools.CreateAsync(pool, [_world.Physical(0).UniqueId], DiskUsage.AutoSelect));
        Move(0, new PlaceChange { EnclosureNumber = 4 });
        _world.Run(_world.Subsystem.PhysicalDisks.SetAsync(_world.Physical(0).UniqueId, "other", null, null, null));
        _world.Restart();
        Assert.Equal(new DiskPlace("/r//n/", 4, 8), _world.Physical(0).Place);
        ManagementException refused = Assert.Throws<ManagementException>(() => Move(0, new PlaceChange { Rack = "a/b" }));
        Assert.Contains("-StorageRackId 'a/b'", refused.Message, StringComparison.Ordinal);
    }

    // Tiers keep apart what their template, the request or the pool says; a tier that comes later what the others do.
    [Fact]
    public void Each_tier_keeps_its_copies_apart()
    {
        _world.NewPool(
            [.. ((MediaType[])[MediaType.SSD, MediaType.HDD, MediaType.SCM]).SelectMany(static media => Enumerable.Repeat((64L << 20, media), 3))],
            "p", static disk => new PlaceChange { EnclosureNumber = disk % 3, Rack = "r" });
        Guid fast = NewTemplate(new TierTemplateRequest
        {
            FriendlyName = "fast", MediaType = MediaType.SSD, FaultDomainAwareness = FaultDomainLevel.StorageEnclosure,
        });
        Guid slow = NewTemplate(new TierTemplateRequest { FriendlyName = "slow", MediaType = MediaType.HDD });
        Guid racks = NewTemplate(new TierTemplateRequest
        {
            FriendlyName = "racks", MediaType = MediaType.HDD, FaultDomainAwareness = FaultDomainLevel.StorageRack,
        });
        Guid added = NewTemplate(new TierTemplateRequest { FriendlyName = "added", MediaType = MediaType.SCM });
        VirtualDiskRequest tiered = new()
        {
            FriendlyName = "v", Tiers = [new TierRequest(fast, 8 * Mebibyte), new TierRequest(slow, 8 * Mebibyte)], WriteCacheSize = 0,
        };
        VirtualDiskDescription disk = Create(tiered).Description;
        Assert.Equal([FaultDomainLevel.StorageEnclosure, FaultDomainLevel.PhysicalDisk], disk.Tiers.Select(static tier => tier.FaultDomainAwareness));
        ManagementException refused = Assert.Throws<ManagementException>(
            () => Create(tiered with { FriendlyName = "w", Tiers = [new TierRequest(racks, 8 * Mebibyte)] }));
        Assert.Contains("'racks': Mirror with 2 copies needs physical disks in 2 fault domains of type StorageRack", refused.Message, StringComparison.Ordinal);
        _world.Run(_world.Subsystem.Tiers.AddAsync(disk.Id.Value, new TierRequest(added, 8 * Mebibyte)));
        OpenVirtualDisk open = _world.Opened(disk.Id.Value);
        Assert.Equal(FaultDomainLevel.StorageEnclosure, open.Description.Tiers[0].FaultDomainAwareness);
        foreach (TierDescription tier in open.Description.Tiers.Where(static tier => tier.FaultDomainAwareness == FaultDomainLevel.StorageEnclosure))
        {
            Assert.All(open.Pool.State.Space(tier.DataSpace)!.EnumerateRows(), row => Assert.All(
                row.Row.Mapping.Sources.ToArray().Chunk(2), column => Assert.NotEqual(EnclosureOf(open, column[0]), EnclosureOf(open, column[1]))));
        }
    }

    [Fact]
    public void Defaults_of_the_pool_hold_where_nothing_is_said()
    {
        NewPool(3, 2);
        Change(static pool => pool with { FaultDomainAwarenessDefault = FaultDomainLevel.StorageEnclosure });
        Assert.Equal(FaultDomainLevel.StorageEnclosure, Create(Aware(2) with { FaultDomainAwareness = null }).Description.FaultDomainAwareness);
        Assert.Equal(FaultDomainLevel.PhysicalDisk, Create(Aware(2) with
        {
            FriendlyName = "w", FaultDomainAwareness = FaultDomainLevel.PhysicalDisk,
        }).Description.FaultDomainAwareness);
    }

    private void NewPool(int enclosures, int disksEach) => NewPool([.. Enumerable.Range(0, enclosures * disksEach).Select(disk => disk % enclosures)]);

    private void NewPool(int[] enclosures) => _world.NewPool(
        [.. Enumerable.Repeat((64L << 20, MediaType.SSD), enclosures.Length)], "p", disk => new PlaceChange { EnclosureNumber = enclosures[disk] });

    private static VirtualDiskRequest Aware(int copies) => new()
    {
        FriendlyName = "v", SizeBytes = 8 * Mebibyte, NumberOfDataCopies = copies, FaultDomainAwareness = FaultDomainLevel.StorageEnclosure,
    };

    private Guid NewTemplate(TierTemplateRequest request) => _world.Run(_world.Subsystem.Tiers.CreateTemplateAsync(_world.Pool, request)).UniqueId;

    private VirtualDiskStatus Create(VirtualDiskRequest request) => _world.Run(_world.Subsystem.VirtualDisks.CreateAsync(_world.Pool, request));

    private void Change(Func<PoolDescription, PoolDescription> change) => _world.Run(_world.Subsystem.Pools.SetAsync(_world.Pool, change));

    private IReadOnlyList<string> Move(int disk, PlaceChange place) =>
        _world.Run(_world.Subsystem.PhysicalDisks.SetAsync(_world.Physical(disk).UniqueId, null, null, null, null, place)).Remarks;

    private void Fill(Guid id)
    {
        for (long at = 0; at < 8 * Mebibyte; at += Mebibyte)
        {
            _world.Write(id, at, Mebibyte);
        }
    }

    private void CheckData(Guid id)
    {
        for (int at = 0; at < 8 * Mebibyte; at += Mebibyte)
        {
            Assert.Equal(SubsystemWorld.Written(at, Mebibyte), _world.Read(id, at, Mebibyte));
        }
    }

    private void CheckPlacement(Guid id)
    {
        OpenVirtualDisk open = _world.Opened(id);
        int copies = open.Description.NumberOfDataCopies;
        Assert.All(Rows(open), row => Assert.All(row.Chunk(copies), column =>
            Assert.Equal(copies, column.Select(slab => EnclosureOf(open, slab)).Distinct().Count())));
        foreach (SpaceId ring in (SpaceId[])[open.Description.LogSpace, open.Description.CacheSpace])
        {
            if (open.Pool.State.Space(ring) is { } space)
            {
                Assert.All(space.EnumerateRows(), row => Assert.Equal(
                    row.Row.Mapping.Sources.Length, row.Row.Mapping.Sources.ToArray().Select(slab => EnclosureOf(open, slab)).Distinct().Count()));
            }
        }
    }

    private static IEnumerable<SlabRef[]> Rows(OpenVirtualDisk open) =>
        open.Pool.State.Space(open.Description.DataSpace)!.EnumerateRows().Select(static row => row.Row.Mapping.Sources.ToArray());

    private static string EnclosureOf(OpenVirtualDisk open, SlabRef slab) =>
        FaultDomains.DomainOf(open.Pool.State.Disks[slab.Disk].Description, FaultDomainLevel.StorageEnclosure);
}
