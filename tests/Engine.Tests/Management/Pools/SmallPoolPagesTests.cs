using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Pools;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>Pools of many small disks: the metadata area of one disk describes all of them, every slab mapped.</summary>
public sealed class SmallPoolPagesTests
{
    private const long Mebibyte = 1 << 20;

    private readonly SubsystemWorld _world = new();

    [Theory]
    [InlineData("Simple")]
    [InlineData("Mirror")]
    public void A_thin_disk_as_large_as_a_pool_of_64_small_disks_can_be_written_everywhere(string layout)
    {
        _world.NewPool(64);
        Guid id = _world.Run(_world.Subsystem.VirtualDisks.CreateAsync(_world.Pool, new VirtualDiskRequest
        {
            FriendlyName = "thin", ResiliencySettingName = layout, NumberOfColumns = 1, ProvisioningType = ProvisioningType.Thin, UseMaximumSize = true,
        })).Description.Id.Value;
        long size = _world.Opened(id).Description.SizeBytes;
        Assert.InRange(size, (layout == "Simple" ? 3700 : 1850) * Mebibyte, 4096 * Mebibyte);
        for (long at = 0; at < size; at += Mebibyte)
        {
            _world.Write(id, at, 4096);
        }

        Assert.Equal(size, _world.Run(_world.Subsystem.VirtualDisks.ListAsync()).Single().AllocatedBytes);
    }

    [Fact]
    public void Disks_can_be_added_to_a_pool_with_virtual_disks_until_it_has_64()
    {
        _world.NewPool(4);
        for (int made = 0; made < 4; made++)
        {
            _world.NewMirror($"d{made}", 4 * Mebibyte);
        }

        for (int disks = 4; disks < 64; disks++)
        {
            _world.AddDisk(DiskUsage.AutoSelect);
        }

        Assert.Equal(HealthStatus.Healthy, Assert.Single(_world.Run(_world.Subsystem.Pools.ListAsync())).Health);
    }

    // Twice as many rows as the pool has slabs for, one in each page of rows: scattered first writes take the most pages.
    [Fact]
    public void A_thin_disk_much_larger_than_the_pool_can_be_written_anywhere_until_the_slabs_are_used()
    {
        _world.NewPool(16);
        Guid id = _world.Run(_world.Subsystem.VirtualDisks.CreateAsync(_world.Pool, Thin("thin", 60L << 30))).Description.Id.Value;
        const long slabsOfDisk = 61;
        for (long row = 0; row < (16 * slabsOfDisk / 2) - 8; row++)
        {
            _world.Write(id, row * 96 * Mebibyte, 4096);
        }

        Assert.InRange(Pool.AllocatedBytes, 15 * slabsOfDisk * Mebibyte, 16 * slabsOfDisk * Mebibyte);
        Assert.True(Pool.MetadataPages!.Value.Used <= Pool.MetadataPages.Value.Most);
    }

    [Fact]
    public void No_size_is_offered_that_the_metadata_cannot_describe()
    {
        _world.NewPool(64);
        ManagementException rejected =
            Assert.Throws<ManagementException>(() => _world.Run(_world.Subsystem.VirtualDisks.CreateAsync(_world.Pool, Thin("thin", 1L << 40))));
        Assert.Contains("at most ", rejected.Message, StringComparison.Ordinal);
        Assert.Contains("has 83 pages, of which ", rejected.Message, StringComparison.Ordinal);
        Assert.Empty(_world.Run(_world.Subsystem.VirtualDisks.ListAsync()));

        long most = NamedSize.Largest(rejected.Message);
        Assert.InRange(most, 4L << 30, 1L << 40);
        Guid id = _world.Run(_world.Subsystem.VirtualDisks.CreateAsync(_world.Pool, Thin("thin", most / 2))).Description.Id.Value;
        Assert.Contains("pages", Assert.Throws<ManagementException>(() => _world.Run(_world.Subsystem.VirtualDisks.ResizeAsync(id, 2 * most))).Message,
            StringComparison.Ordinal);

        ManagementException beside =
            Assert.Throws<ManagementException>(() => _world.Run(_world.Subsystem.VirtualDisks.CreateAsync(_world.Pool, Thin("other", most))));
        Assert.Matches("83 pages, of which [0-9]+ are in use and [1-9][0-9]* kept for first writes of thin virtual disks", beside.Message);

        SupportedSize offered = _world.Run(_world.Subsystem.Placements.SupportedSizeAsync(_world.Pool, "Simple"));
        _world.Run(_world.Subsystem.VirtualDisks.CreateAsync(
            _world.Pool, new VirtualDiskRequest { FriendlyName = "fixed", ResiliencySettingName = "Simple", SizeBytes = offered.Max }));
        Assert.True(Pool.MetadataPages!.Value.Used <= 83);
    }

    [Fact]
    public void A_disk_whose_slabs_have_no_pages_is_refused_and_stays_as_it_was()
    {
        _world.NewPool(4);
        Guid large = _world.NewDisk(40L << 30);
        foreach (Func<Task<bool>> add in (Func<Task<bool>>[])
            [() => _world.Subsystem.Pools.CheckAddDisksAsync(_world.Pool, [large]), () =>
                _world.Subsystem.Pools.AddDisksAsync(_world.Pool, [large], DiskUsage.AutoSelect)])
        {
            ManagementException rejected = Assert.Throws<ManagementException>(() => _world.Run(add()));
            Assert.Contains("The metadata area of the pool has 83 pages, and ", rejected.Message, StringComparison.Ordinal);
        }

        Assert.Equal(4 * 64 * Mebibyte, _world.Run(_world.Subsystem.PhysicalDisks.ListAsync()).Where(static disk => disk.PoolId is not null)
            .Sum(static disk => disk.SizeBytes));
        Assert.Null(_world.Physical(4).CannotPool);
        Assert.Contains("83 pages",
            Assert.Throws<ManagementException>(() => _world.NewPool([(64 * Mebibyte, MediaType.SSD), (40L << 30, MediaType.SSD)], "q")).Message,
            StringComparison.Ordinal);
        _world.AddDisk(DiskUsage.AutoSelect);
    }

    [Fact]
    public void Small_disks_are_added_up_to_the_number_that_the_metadata_has_pages_for()
    {
        _world.NewPool(200);
        int disks = 200;
        ManagementException? rejected = null;
        for (; rejected is null; disks++)
        {
            rejected = (ManagementException?)Record.Exception(() => _world.AddDisk(DiskUsage.AutoSelect));
        }

        Assert.InRange(disks, 210, 220);
        Assert.Contains($"83 pages, and 84 would be in use with {disks} disks", rejected.Message, StringComparison.Ordinal);
        Assert.Equal(HealthStatus.Healthy, Pool.Health);
    }

    private StoragePoolStatus Pool => Assert.Single(_world.Run(_world.Subsystem.Pools.ListAsync()));

    private static VirtualDiskRequest Thin(string name, long bytes) => new()
    {
        FriendlyName = name, ResiliencySettingName = "Mirror", NumberOfColumns = 1, ProvisioningType = ProvisioningType.Thin, SizeBytes = bytes,
            WriteCacheSize = 0,
    };
}
