using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>Virtual disks that are given another tier: what is foretold, refused, and shown afterwards.</summary>
public sealed class SubsystemAddedTierTests
{
    private const long Mebibyte = 1 << 20;

    private readonly SubsystemWorld _world = new();

    public SubsystemAddedTierTests() => _world.NewPool(
        [(128 * Mebibyte, MediaType.SCM), (128 * Mebibyte, MediaType.SCM), (64 * Mebibyte, MediaType.SSD), (64 * Mebibyte, MediaType.SSD),
            (128 * Mebibyte, MediaType.HDD), (128 * Mebibyte, MediaType.HDD)]);

    [Theory]
    [InlineData(MediaType.SCM, ProvisioningType.Fixed, 1)]
    [InlineData(MediaType.SCM, ProvisioningType.Thin, 2)]
    [InlineData(MediaType.SSD, ProvisioningType.Fixed, 2)]
    [InlineData(MediaType.HDD, ProvisioningType.Fixed, 1)]
    public void What_is_foretold_is_obtained_and_shown_and_stays(MediaType added, ProvisioningType provisioning, int copies)
    {
        MediaType[] media = [.. new[] { MediaType.SCM, MediaType.SSD, MediaType.HDD }.Where(medium => medium != added)];
        VirtualDiskStatus disk = New(media, provisioning);
        Guid id = disk.Description.Id.Value;
        for (int slice = 0; slice < 12; slice++)
        {
            _world.Write(id, slice * Mebibyte, 4096);
        }

        TierRequest request = new(Template(added, copies), (6 * Mebibyte) - 1);
        AddedTierPlacement planned = _world.Run(_world.Subsystem.Tiers.PlanAddAsync(id, request));
        Assert.Equal(2, Shown(id).Length);
        StorageTierStatus tier = _world.Run(_world.Subsystem.Tiers.AddAsync(id, request));
        Assert.Equal(($"d_{added}{copies}", 6 * Mebibyte, 0L, added == MediaType.SCM), (tier.FriendlyName, tier.SizeBytes, tier.MappedBytes, tier.IsFastest));
        Assert.Equal(planned.Tier with { Id = tier.UniqueId }, _world.Opened(id).Description.Part(2));
        (Guid, long)[] placed =
            [.. _world.Run(_world.Subsystem.Placements.GetAsync(id)).Data.Where(extent => extent.Tier == tier.UniqueId)
                .Select(static extent => (extent.PhysicalDisk, extent.PhysicalOffset))];
        Assert.Equal(planned.Placement.Data.Select(static extent => (extent.PhysicalDisk, extent.PhysicalOffset)), provisioning == ProvisioningType.Fixed
            ? placed : []);
        string[] expected = [.. new[] { "d_SCM", "d_SSD", "d_HDD" }.Select(name => name == $"d_{added}" ? name + copies : name + 1)];
        Check(expected, 18 * Mebibyte);
        _world.Restart();
        Check(expected, 18 * Mebibyte);
        SupportedSize sizes = _world.Run(_world.Subsystem.Tiers.SupportedSizeAsync(tier.UniqueId, null));
        Assert.Equal(10 * Mebibyte, _world.Run(_world.Subsystem.Tiers.ResizeAsync(tier.UniqueId, 10 * Mebibyte)).SizeBytes);
        Assert.True(sizes.Max >= 10 * Mebibyte);
        Check(expected, 22 * Mebibyte);

        void Check(string[] names, long size)
        {
            StorageTierStatus[] tiers = Shown(id);
            VirtualDiskStatus after = Assert.Single(_world.Run(_world.Subsystem.VirtualDisks.ListAsync()));
            Assert.Equal(names, tiers.Select(static tier => tier.FriendlyName));
            Assert.Equal([true, false, false], tiers.Select(static tier => tier.IsFastest));
            Assert.Equal((size, size), (after.Description.SizeBytes, tiers.Sum(static tier => tier.SizeBytes)));
            Assert.Equal(12 * Mebibyte, tiers.Sum(static tier => tier.MappedBytes));
            Assert.Equal(after.FootprintBytes, tiers.Sum(static tier => tier.FootprintBytes));
            Assert.Equal(after.FootprintBytes, Assert.Single(_world.Run(_world.Subsystem.Pools.ListAsync())).AllocatedBytes);
        }
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void The_largest_size_is_obtained_and_a_byte_more_is_refused(int copies)
    {
        Guid id = New([MediaType.SSD, MediaType.HDD]).Description.Id.Value;
        Guid template = Template(MediaType.SCM, copies);
        ManagementException rejected =
            Assert.Throws<ManagementException>(() => _world.Run(_world.Subsystem.Tiers.AddAsync(id, new TierRequest(template, 1L << 40))));
        Assert.Equal(ManagementError.NotEnoughCapacity, rejected.Error);
        long most = NamedSize.Largest(rejected.Message[rejected.Message.IndexOf("at most", StringComparison.Ordinal)..]);
        Assert.InRange(most, 64 * Mebibyte, 256 * Mebibyte);
        Assert.Throws<ManagementException>(() => _world.Run(_world.Subsystem.Tiers.PlanAddAsync(id, new TierRequest(template, most + 1))));
        Assert.Equal(most, _world.Run(_world.Subsystem.Tiers.AddAsync(id, new TierRequest(template, most))).SizeBytes);
    }

    [Fact]
    public void Slices_pins_and_optimizations_count_it()
    {
        Guid id = New([MediaType.SSD, MediaType.HDD]).Description.Id.Value;
        for (int slice = 0; slice < 12; slice++)
        {
            _world.Write(id, slice * Mebibyte, 4096);
        }

        Guid ssd = Shown(id)[0].UniqueId;
        _world.Run(_world.Subsystem.Pins.SetAsync(new PinRequest(id, ssd, "", [new PinnedRange(0, 1)])));
        for (int i = 0; i < 200; i++)
        {
            _world.Write(id, 11 * Mebibyte, 4096);
        }

        _world.Run(_world.Subsystem.Tiers.AddAsync(id, new TierRequest(Template(MediaType.SCM, 1), 2 * Mebibyte)));
        PinStatus pin = Assert.Single(_world.Run(_world.Subsystem.Pins.ListAsync(id)));
        Assert.Equal((1, ssd, 1L), (pin.Pin.Tier, pin.Tier.Id, pin.BytesOnTier));
        TierOptimization done = _world.Run(_world.Subsystem.TierOptimizer.OptimizeAsync(id));
        Assert.Equal(["d_SCM1", "d_SSD1", "d_HDD1"], done.Tiers.Select(static tier => tier.FriendlyName));
        SliceStatus[] slices = _world.Run(_world.Subsystem.Slices.ListAsync(id, 0, long.MaxValue, _world.Lane.NowNs)).Slices;
        Assert.Equal((0, 1), (slices[11].Entry.Tier, slices[0].Entry.Tier));
        TierOutlook outlook = _world.Run(_world.Subsystem.Slices.OutlookAsync(id));
        Assert.Equal([2L, 4L, 8L], outlook.Capacities);
        Assert.Equal([0L, 1L, 0L], outlook.Plan.Pinned);
        _world.Write(id, 13 * Mebibyte, 4096);
        Assert.Equal(0, _world.Run(_world.Subsystem.Slices.ListAsync(id, 13 * Mebibyte, 1, _world.Lane.NowNs)).Slices[0].Entry.Tier);
        Assert.Equal([1L, 0L, 0L], Shown(id)
            .Select(static tier => tier.Counters!.SlicesAllocated - (tier.FriendlyName == "d_SSD1" ? 4 : tier.FriendlyName == "d_HDD1" ? 8 : 0)));
    }

    [Fact]
    public void What_cannot_be_is_refused_and_changes_nothing()
    {
        Guid tiered = New([MediaType.SSD, MediaType.HDD], cache: 2 * Mebibyte).Description.Id.Value;
        Guid plain = _world.Run(_world.Subsystem.VirtualDisks.CreateAsync(
            _world.Pool, new VirtualDiskRequest { FriendlyName = "plain", SizeBytes = 4 * Mebibyte, ResiliencySettingName = "Simple",
            WriteCacheSize = 0 })).Description.Id.Value;
        Guid thin = _world.Run(_world.Subsystem.Tiers.CreateTemplateAsync(
            _world.Pool, new TierTemplateRequest { FriendlyName = "thin", MediaType = MediaType.SCM, ResiliencySettingName = "Simple",
            ProvisioningType = ProvisioningType.Thin })).UniqueId;
        Refused(plain, Template(MediaType.SCM, 1), ManagementError.NotSupported, "Virtual disk 'plain' has no tiers");
        Refused(tiered, Template(MediaType.SSD, 2), ManagementError.InvalidParameter, "of which virtual disk 'd' has storage tier 'd_SSD1'");
        Refused(tiered, thin, ManagementError.InvalidParameter, "storage tier 'thin' is Thin, and Fixed is asked for");
        Refused(tiered, Template(MediaType.SCM, 2), ManagementError.InvalidParameter, "would survive the loss of 1 disk, and the write cache of virtual disk 'd' has 1 copies");
        Refused(tiered, Guid.NewGuid(), ManagementError.ObjectNotFound, "-StorageTier names");
        _world.Run(_world.Subsystem.WriteCaches.ResizeAsync(tiered, 0));
        Assert.Equal(2, _world.Run(_world.Subsystem.Tiers.AddAsync(tiered, new TierRequest(Template(MediaType.SCM, 2), Mebibyte))).NumberOfDataCopies);

        void Refused(Guid disk, Guid template, ManagementError problem, string why)
        {
            long[] before = [.. _world.Run(_world.Subsystem.Pools.ListAsync()).Select(static pool => pool.AllocatedBytes)];
            ManagementException rejected =
                Assert.Throws<ManagementException>(() => _world.Run(_world.Subsystem.Tiers.AddAsync(disk, new TierRequest(template, Mebibyte))));
            Assert.Equal((problem, true), (rejected.Error, rejected.Message.Contains(why, StringComparison.Ordinal)));
            Assert.Throws<ManagementException>(() => _world.Run(_world.Subsystem.Tiers.PlanAddAsync(disk, new TierRequest(template, Mebibyte))));
            Assert.Equal(before, _world.Run(_world.Subsystem.Pools.ListAsync()).Select(static pool => pool.AllocatedBytes));
        }
    }

    private VirtualDiskStatus New(MediaType[] media, ProvisioningType provisioning = ProvisioningType.Fixed, long cache = 0) =>
        _world.Run(_world.Subsystem.VirtualDisks.CreateAsync(
        _world.Pool, new VirtualDiskRequest
        {
            FriendlyName = "d", Tiers = [new TierRequest(Template(media[0], 1), 4 * Mebibyte), new TierRequest(Template(media[1], 1), 8 * Mebibyte)],
            ProvisioningType = provisioning, WriteCacheSize = cache,
        }));

    private Guid Template(MediaType medium, int copies)
    {
        string name = $"{medium}{copies}";
        return _world.Run(_world.Subsystem.Tiers.ListAsync()).FirstOrDefault(tier => tier.FriendlyName == name)?.UniqueId
            ?? _world.Run(_world.Subsystem.Tiers.CreateTemplateAsync(_world.Pool, new TierTemplateRequest
            {
                FriendlyName = name, MediaType = medium, ResiliencySettingName = copies == 1 ? "Simple" : "Mirror", NumberOfDataCopies = copies,
            })).UniqueId;
    }

    private StorageTierStatus[] Shown(Guid disk) => [.. _world.Run(_world.Subsystem.Tiers.ListAsync()).Where(tier => tier.VirtualDisk == disk)];
}
