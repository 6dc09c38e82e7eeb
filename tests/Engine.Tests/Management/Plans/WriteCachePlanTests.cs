using System.Globalization;
using System.Text.RegularExpressions;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>Size of the write cache of a new virtual disk, errors, and that every size foretold is the size obtained.</summary>
public sealed class WriteCachePlanTests
{
    private const long Mebibyte = 1 << 20;
    private const long Gibibyte = 1 << 30;

    private readonly SubsystemWorld _world = new();

    [Theory]
    [InlineData("HDD HDD HDD HDD", 2, 0)]            // nothing that it could lie on
    [InlineData("HDD HDD SSD HDD", 2, 0)]            // one, and a mirror needs two
    [InlineData("SSD SSD SSD SSD", 2, 0)]            // its writes would pass the cache by
    [InlineData("SSD SCM SSD SSD", 2, 0)]
    [InlineData("SSD SSD HDD HDD", 2, 1024)]
    [InlineData("SCM HDD HDD HDD", 1, 1024)]
    [InlineData("SSD SSD SSD HDD HDD", 3, 1024)]
    [InlineData("SSDJournal HDD HDD HDD", 1, 1024)]
    [InlineData("HDDJournal HDD HDD HDD", 1, 1024)]  // a disk of usage Journal is used whatever its medium is
    [InlineData("SSDJournal SSDJournal SSD SSD", 2, 1024)]
    [InlineData("SSDJournal SSD SSD SSD", 2, 0)]
    public void Unless_said_otherwise_the_disks_of_the_pool_decide(string disks, int copies, long mebibytes)
    {
        NewPool(disks, 2 * Gibibyte);
        VirtualDiskStatus made = New(new() { FriendlyName = "d", NumberOfDataCopies = copies, NumberOfColumns = 1, SizeBytes = 64 * Mebibyte });
        Assert.Equal(mebibytes * Mebibyte, made.Description.WriteCacheSize);
        Assert.Equal(mebibytes > 0, made.Description.CacheSpace != SpaceId.None);
        Assert.Empty(made.Remarks);
    }

    // A virtual disk takes by itself only flash that it was given; a cache that is asked for may lie on other flash.
    [Theory]
    [InlineData("SSD SSD HDD HDD", "2 3", 0)]
    [InlineData("SSD SSD SSD SSD HDD HDD", "2 3 4 5", 1024)]
    [InlineData("SSDJournal SSDJournal SSD HDD HDD", "3 4", 1024)]   // these are there for that
    public void Of_a_virtual_disk_that_was_given_its_disks_it_lies_on_these(string disks, string given, long mebibytes)
    {
        NewPool(disks, 2 * Gibibyte);
        int[] numbers = [.. given.Split(' ').Select(static number => int.Parse(number, CultureInfo.InvariantCulture))];
        VirtualDiskRequest request = new()
        {
            FriendlyName = "d", NumberOfColumns = 1, SizeBytes = 64 * Mebibyte, PhysicalDisks = [.. numbers.Select(number => _world.Physical(number).UniqueId)],
        };
        VirtualDiskStatus made = New(request);
        Assert.Equal(mebibytes * Mebibyte, made.Description.WriteCacheSize);
        string[] words = disks.Split(' ');
        Assert.All(CacheDisksOf(made), disk => Assert.True(numbers.Contains(disk) || words[disk] == "SSDJournal", $"disk {disk} was not given"));
        Assert.Equal(8 * Mebibyte, New(request with { FriendlyName = "e", WriteCacheSize = 8 * Mebibyte }).Description.WriteCacheSize);
    }

    [Fact]
    public void In_a_small_pool_it_is_an_eighth_and_a_remark_says_so()
    {
        NewPool("SSD SSD HDD HDD", 64 * Mebibyte);
        VirtualDiskStatus made = New(new() { FriendlyName = "d", SizeBytes = 8 * Mebibyte });
        Assert.Equal(7 * Mebibyte, made.Description.WriteCacheSize);   // 61 slabs of 1 MiB on each disk
        Assert.Contains("has 7 MB: there is no room for 1 GB", Assert.Single(made.Remarks), StringComparison.Ordinal);
        Assert.Equal((8 + 7) * 2 * Mebibyte, made.FootprintBytes - LogBytes(_world, made));
    }

    [Fact]
    public void A_virtual_disk_on_flash_alone_has_none_by_itself_and_one_when_it_asks()
    {
        NewPool("SSD SSD HDD HDD", 64 * Mebibyte);
        Assert.Equal(0, New(new() { FriendlyName = "a", SizeBytes = 8 * Mebibyte, MediaType = MediaType.SSD }).Description.WriteCacheSize);
        Assert.Equal(3 * Mebibyte,
            New(new() { FriendlyName = "b", SizeBytes = 8 * Mebibyte, MediaType = MediaType.SSD,
            WriteCacheSize = (2 * Mebibyte) + 1 }).Description.WriteCacheSize);
    }

    [Fact]
    public void The_pool_has_a_default()
    {
        NewPool("SSD SSD HDD HDD", 64 * Mebibyte);
        SetDefault(4 * Mebibyte);
        Assert.Equal(4 * Mebibyte, New(new() { FriendlyName = "a", SizeBytes = 8 * Mebibyte }).Description.WriteCacheSize);
        Assert.Equal(7 * Mebibyte, New(new() { FriendlyName = "b", SizeBytes = 8 * Mebibyte, AutoWriteCacheSize = true }).Description.WriteCacheSize);
        Assert.Equal(0, New(new() { FriendlyName = "c", SizeBytes = 8 * Mebibyte, WriteCacheSize = 0 }).Description.WriteCacheSize);
        SetDefault(Gibibyte);
        ManagementException rejected = Refused(new() { FriendlyName = "d", SizeBytes = 8 * Mebibyte });
        Assert.Equal(ManagementError.WriteCacheSizeRange, rejected.Error);
        Assert.StartsWith("-WriteCacheSizeDefault 1 GB of the storage pool is more than there is room for", rejected.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Too_few_disks_are_refused_with_what_there_is_and_what_to_do()
    {
        NewPool("SSD HDD HDD SSDJournal", 64 * Mebibyte);
        ManagementException rejected = Refused(
            new() { FriendlyName = "d", SizeBytes = 8 * Mebibyte, NumberOfDataCopies = 3, NumberOfColumns = 1, WriteCacheSize = Mebibyte });
        Assert.Equal(ManagementError.NotEnoughPhysicalDisks, rejected.Error);
        Assert.Equal(
            "-WriteCacheSize 1 MB: the write cache of Mirror with 3 copies needs 3 disks of usage Journal or flash (SSD, SCM); "
            + "storage pool 'p' has 1 of usage Journal and 1 more of flash.", rejected.Message);
        Assert.StartsWith("Add 1 disk of that kind", rejected.Action, StringComparison.Ordinal);
    }

    [Fact]
    public void A_size_and_automatic_contradict_each_other()
    {
        NewPool("SSD SSD HDD HDD", 64 * Mebibyte);
        Assert.Equal(ManagementError.WriteCacheSizeRange,
            Refused(new() { FriendlyName = "d", SizeBytes = Mebibyte, WriteCacheSize = 0, AutoWriteCacheSize = true }).Error);
    }

    [Theory]
    [InlineData(3, Gibibyte, "")]
    [InlineData(3, Gibibyte + 1, "has 1 GB (1073741825 bytes): after a crash, reading it again may take about 4 seconds")]
    [InlineData(4, 10 * Gibibyte, "")]
    [InlineData(4, 16 * Gibibyte, "has 16 GB: after a crash, reading it again may take about 4 seconds")]
    public void Of_a_large_one_the_time_of_a_replay_is_named(int format, long bytes, string said)
    {
        List<string> remarks = [];
        PoolDescription pool = new() { FriendlyName = "p", Slabs = new SlabGeometry(SlabGeometry.SmallestSlab), FormatVersion = (ushort)format };
        WriteCachePlan.WarnOfReplay(pool, "d", bytes, remarks.Add);
        Assert.Equal(said.Length > 0 ? 1 : 0, remarks.Count);
        Assert.All(remarks, remark => Assert.Contains(said, remark, StringComparison.Ordinal));
    }

    // On random pools, with every cache: the largest size fits and one row more does not; the largest cache named in a validation error fits and one slab
    // more does not; what is in use afterwards is data, log and cache, copies included.
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    public void Every_maximum_is_obtained_and_one_unit_more_is_refused(int seed)
    {
        Random random = new(seed);
        for (int i = 0; i < 25; i++)
        {
            SubsystemWorld world = RandomWorld(random);
            VirtualDiskRequest request = new()
            {
                FriendlyName = "d", NumberOfColumns = random.Next(1, 3), NumberOfDataCopies = random.Next(1, 4), UseMaximumSize = true,
                ProvisioningType = random.Next(4) == 0 ? ProvisioningType.Thin : ProvisioningType.Fixed,
                MediaType = random.Next(5) == 0 ? MediaType.HDD : null, WriteCacheSize = random.Next(3) == 0 ? null : random.Next(60) * Mebibyte,
            };
            CheckPool(world);
            if (Largest(world, request) is { } largest)
            {
                CheckLargest(world, largest);
            }
        }
    }

    // The request with the largest cache where the one asked for is too large, or null where there is no room for a row of data.
    private static VirtualDiskRequest? Largest(SubsystemWorld world, VirtualDiskRequest request)
    {
        ManagementException? rejected = Try(world, request);
        if (rejected?.Error != ManagementError.WriteCacheSizeRange)
        {
            Assert.True(rejected is null
                or { Error: ManagementError.NotEnoughCapacity or ManagementError.NotEnoughPhysicalDisks or ManagementError.ColumnsRange }, rejected?.Message);
            return rejected is null ? request : null;
        }

        VirtualDiskRequest largest = request with { WriteCacheSize = NamedSize.Largest(rejected.Message) };
        Assert.Null(Try(world, largest));
        Assert.Equal(ManagementError.WriteCacheSizeRange, Try(world, largest with { WriteCacheSize = largest.WriteCacheSize + 1 })?.Error);
        return largest;
    }

    private static void CheckLargest(SubsystemWorld world, VirtualDiskRequest request)
    {
        VirtualDiskPlacement plan = world.Run(world.Subsystem.Placements.PlanNewAsync(world.Pool, request));
        VirtualDiskRequest sized = request with { UseMaximumSize = false, SizeBytes = plan.Disk.SizeBytes };
        long row = plan.Disk.NumberOfColumns * Mebibyte;
        if (request.ProvisioningType == ProvisioningType.Fixed)
        {
            ManagementException? rejected = Try(world, sized with { SizeBytes = plan.Disk.SizeBytes + 1 });
            Assert.Equal(ManagementError.NotEnoughCapacity, rejected?.Error);
            Assert.Contains($"at most {ByteText.Exact(plan.Disk.SizeBytes)}", rejected!.Message, StringComparison.Ordinal);
        }

        long before = Used(world);
        VirtualDiskStatus made = world.Run(world.Subsystem.VirtualDisks.CreateAsync(world.Pool, sized));
        Assert.Equal((plan.Disk.SizeBytes, plan.Disk.WriteCacheSize), (made.Description.SizeBytes, made.Description.WriteCacheSize));
        Assert.Equal(request.WriteCacheSize ?? plan.Disk.WriteCacheSize, made.Description.WriteCacheSize);
        Assert.Equal(Used(world) - before, made.FootprintBytes);
        long data = request.ProvisioningType == ProvisioningType.Fixed ? made.Description.SizeBytes : 0;
        Assert.Equal((data + made.Description.WriteCacheSize) * made.Description.NumberOfDataCopies, made.FootprintBytes - LogBytes(world, made));
        Assert.True(made.Description.SizeBytes % row == 0);
    }

    private static void CheckPool(SubsystemWorld world)
    {
        StoragePoolStatus pool = world.Run(world.Subsystem.Pools.ListAsync()).Single();
        VirtualDiskRequest simple = new() { FriendlyName = "s", ResiliencySettingName = "Simple", NumberOfColumns = 1, SizeBytes = 1 };
        if (Try(world, simple with { WriteCacheSize = 0 }) is not null)
        {
            Assert.Equal(0, pool.WriteCacheSizeMax);
            return;
        }

        Assert.Null(Try(world, simple with { WriteCacheSize = pool.WriteCacheSizeMax }));
        Assert.NotNull(Try(world, simple with { WriteCacheSize = pool.WriteCacheSizeMax + 1 }));
        VirtualDiskRequest largest = new() { FriendlyName = "s", ResiliencySettingName = "Simple", UseMaximumSize = true };
        if (Try(world, largest) is { } full)
        {
            Assert.Equal(ManagementError.NotEnoughCapacity, full.Error);   // as many columns as there are disks, and one of them is full
            return;
        }

        SupportedSize size = world.Run(world.Subsystem.Placements.SupportedSizeAsync(world.Pool, "Simple"));
        largest = largest with { UseMaximumSize = false, SizeBytes = size.Max };
        Assert.Null(Try(world, largest));
        Assert.Equal(ManagementError.NotEnoughCapacity, Try(world, largest with { SizeBytes = size.Max + 1 })?.Error);
    }

    private static SubsystemWorld RandomWorld(Random random)
    {
        SubsystemWorld world = new((ulong)random.Next());
        int disks = random.Next(1, 7);
        world.NewPool([.. Enumerable.Range(0, disks).Select(_ => (random.Next(8, 64) * Mebibyte, random.Next(2) == 0 ? MediaType.SSD : MediaType.HDD))]);
        foreach (PhysicalDiskStatus disk in world.Run(world.Subsystem.PhysicalDisks.ListAsync()).Where(_ => random.Next(3) == 0))
        {
            DiskUsage usage = (DiskUsage)random.Next(1, 6);
            world.Run(world.Subsystem.PhysicalDisks.SetAsync(disk.UniqueId, null, null, null, usage));
        }

        try
        {
            world.Run(world.Subsystem.VirtualDisks.CreateAsync(
                world.Pool, new() { FriendlyName = "first", NumberOfDataCopies = 1, SizeBytes = random.Next(1, 20) * Mebibyte }));
        }
        catch (ManagementException)
        {
            // there is nothing in the way then
        }

        return world;
    }

    private static ManagementException? Try(SubsystemWorld world, VirtualDiskRequest request)
    {
        try
        {
            world.Run(world.Subsystem.Placements.PlanNewAsync(world.Pool, request));
            return null;
        }
        catch (ManagementException rejected)
        {
            return rejected;
        }
    }

    private static long Used(SubsystemWorld world) => world.Run(world.Subsystem.Pools.ListAsync()).Single().AllocatedBytes;

    private static long LogBytes(SubsystemWorld world, VirtualDiskStatus disk) =>
        world.Run(world.Subsystem.Placements.GetAsync(disk.Description.Id.Value)).Log.Sum(extent => extent.Size);

    private void NewPool(string disks, long bytes)
    {
        string[] words = disks.Split(' ');
        _world.NewPool([.. words.Select(word => (bytes, Enum.Parse<MediaType>(word.Replace("Journal", "", StringComparison.Ordinal))))]);
        for (int i = 0; i < words.Length; i++)
        {
            if (words[i].EndsWith("Journal", StringComparison.Ordinal))
            {
                _world.Run(_world.Subsystem.PhysicalDisks.SetAsync(_world.Physical(i).UniqueId, null, null, null, DiskUsage.Journal));
            }
        }
    }

    private IEnumerable<int> CacheDisksOf(VirtualDiskStatus made)
    {
        if (made.Description.CacheSpace == SpaceId.None)
        {
            return [];
        }

        Pool pool = _world.PoolOf(_world.Opened(made.Description.Id.Value));
        DiskNumber[] numbers = Array.ConvertAll(pool.State.Space(made.Description.CacheSpace)!.Row(0)!.Mapping.Sources.ToArray(), static slab => slab.Disk);
        Guid[] ids = Array.ConvertAll(numbers, number => pool.State.Disk(number)!.Description.Id.Value);
        return Enumerable.Range(0, _world.Disks.Length).Where(number => ids.Contains(_world.Physical(number).UniqueId));
    }

    private void SetDefault(long bytes) => _world.Run(_world.Subsystem.Pools.SetAsync(
        _world.Pool, settings => settings with { WriteCacheSizeDefault = (ulong)bytes, AutoWriteCacheSize = false }));

    private VirtualDiskStatus New(VirtualDiskRequest request) => _world.Run(_world.Subsystem.VirtualDisks.CreateAsync(_world.Pool, request));

    private ManagementException Refused(VirtualDiskRequest request)
    {
        ManagementException rejected = Assert.Throws<ManagementException>(() => New(request));
        Assert.Equal(rejected.Message, Try(_world, request)?.Message);
        return rejected;
    }
}
