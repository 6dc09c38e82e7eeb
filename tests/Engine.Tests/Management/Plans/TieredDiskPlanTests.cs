using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>Sizes of tiers: what is foretold is what is obtained, on random pools, beside logs, write caches and each other.</summary>
public sealed class TieredDiskPlanTests
{
    private const long Mebibyte = 1 << 20;

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    public void The_largest_tier_of_a_template_is_obtained_alone_and_beside_the_largest_of_the_other_and_a_slice_more_is_refused(int seed)
    {
        Random random = new(seed);
        int pairs = 0;
        for (int i = 0; i < 16; i++)
        {
            SubsystemWorld world = RandomWorld(random);
            bool hasCache = i % 2 == 0;   // chosen by itself: it becomes smaller where tiers are larger
            SetCacheDefault(world, hasCache ? ulong.MaxValue : 0);
            Guid[] templates = RandomTemplates(world, random);
            SupportedSize[] sizes = [.. templates.Select(template => world.Run(world.Subsystem.Tiers.SupportedSizeAsync(template, null)))];
            Assert.All(sizes, static size => Assert.Equal((Mebibyte, Mebibyte), (size.Min, size.Divisor)));
            bool isPair = sizes.All(static size => size.Max > 0);
            pairs += isPair ? 1 : 0;
            Assert.Equal(isPair ? CacheOf(world, Of((0, 1), (1, 1))) : null, isPair ? CacheOf(world, Of((0, sizes[0].Max), (1, sizes[1].Max))) : null);
            for (int tier = 0; tier < templates.Length; tier++)
            {
                Assert.Null(sizes[tier].Max > 0 ? Try(world, Of((tier, sizes[tier].Max))) : null);
                long other = Math.Max(sizes[1 - tier].Max, 1);
                ManagementException?[] refused =
                    [Try(world, Of((tier, sizes[tier].Max + 1))), Try(world, Of((tier, sizes[tier].Max + 1), (1 - tier, other)))];
                Assert.True(hasCache || refused.Any(error => error is not null && Most(error) == (ManagementError.NotEnoughCapacity, sizes[tier].Max)));
            }

            VirtualDiskRequest Of(params (int Template, long Size)[] tiers) =>
                new() { FriendlyName = "d", Tiers = [.. tiers.Select(tier => new TierRequest(templates[tier.Template], tier.Size))] };
        }

        Assert.InRange(pairs, 5, 16);
    }

    private static void SetCacheDefault(SubsystemWorld world, ulong size) =>
        world.Run(world.Subsystem.Pools.SetAsync(world.Pool, settings => settings with { WriteCacheSizeDefault = size, AutoWriteCacheSize = false }));

    private static long? CacheOf(SubsystemWorld world, VirtualDiskRequest request) =>
        world.Run(world.Subsystem.Placements.PlanNewAsync(world.Pool, request)).Disk.WriteCacheSize;

    // Two tiers with a cache: the size that a validation error names as possible fits, and no larger one does; afterwards each tier grows to its largest
    // size and no further, and the bytes in use are the sum of the bytes that are shown.
    [Theory]
    [InlineData(5)]
    [InlineData(6)]
    [InlineData(7)]
    [InlineData(8)]
    public void Sizes_that_are_named_are_obtained_and_grow_to_what_is_foretold(int seed)
    {
        Random random = new(seed);
        int made = 0;
        for (int i = 0; i < 15; i++)
        {
            SubsystemWorld world = RandomWorld(random);
            Guid[] templates = RandomTemplates(world, random);
            VirtualDiskRequest request = new()
            {
                FriendlyName = "d", Tiers = [.. templates.Select(template => new TierRequest(template, random.Next(1, 120) * Mebibyte))],
                SliceSize = (256 << 10) << random.Next(3), WriteCacheSize = random.Next(2) == 0 ? null : random.Next(30) * Mebibyte,
            };
            if (Fitting(world, templates, request) is { } fitting)
            {
                VirtualDiskStatus disk = world.Run(world.Subsystem.VirtualDisks.CreateAsync(world.Pool, fitting));
                CheckGrowth(world, disk);
                made++;
            }
        }

        Assert.InRange(made, 5, 15);
    }

    // The cache of a disk has as many copies as its most redundant tier needs, so an error about them names that tier.
    [Fact]
    public void A_write_cache_that_lacks_disks_is_refused_with_the_tier_that_needs_them()
    {
        SubsystemWorld world = new();
        world.NewPool([(64 * Mebibyte, MediaType.SSD), (64 * Mebibyte, MediaType.HDD), (64 * Mebibyte, MediaType.HDD)]);
        TierRequest[] tiers = [.. new[] { (MediaType.SSD, "Simple"), (MediaType.HDD, "Mirror") }.Select(tier => new TierRequest(
            world.Run(world.Subsystem.Tiers.CreateTemplateAsync(world.Pool, new TierTemplateRequest
            {
                FriendlyName = $"{tier.Item1}", MediaType = tier.Item1, ResiliencySettingName = tier.Item2,
            })).UniqueId, 4 * Mebibyte))];
        ManagementException? refused = Try(world, new VirtualDiskRequest { FriendlyName = "d", Tiers = tiers, WriteCacheSize = 8 * Mebibyte });
        Assert.Equal(ManagementError.NotEnoughPhysicalDisks, refused?.Error);
        Assert.Equal(
            "-WriteCacheSize 8 MB: the write cache of virtual disk 'd' has 2 copies, as its storage tier 'd_HDD' is Mirror and survives the loss of 1 disk: "
            + "it needs 2 disks of usage Journal or flash (SSD, SCM); storage pool 'p' has 0 of usage Journal and 1 more of flash.", refused!.Message);
    }

    [Theory]
    [InlineData(1, null, ManagementError.CopiesRange, "-ResiliencySettingName Simple")]
    [InlineData(null, 0, ManagementError.RedundancyRange, "-ResiliencySettingName Simple")]
    [InlineData(4, null, ManagementError.CopiesRange, "Give 2, which survives the failure of one physical disk, or 3")]
    [InlineData(null, 3, ManagementError.RedundancyRange, "Give 1, which has 2 copies, or 2, which has 3.")]
    public void A_mirror_of_one_copy_is_refused_with_the_layout_that_has_one(int? copies, int? redundancy, ManagementError error, string action)
    {
        SubsystemWorld world = new();
        world.NewPool([(64 * Mebibyte, MediaType.SSD)]);
        TierTemplateRequest request = new()
        {
            FriendlyName = "t", ResiliencySettingName = "Mirror", NumberOfDataCopies = copies, PhysicalDiskRedundancy = redundancy,
        };
        ManagementException? refused = Refused(() => world.Run(world.Subsystem.Tiers.CreateTemplateAsync(world.Pool, request)));
        Assert.Equal(error, refused?.Error);
        Assert.Contains(action, refused!.Action, StringComparison.Ordinal);
    }

    [Fact]
    public void What_is_written_is_shown_where_it_went()
    {
        SubsystemWorld world = new();
        world.NewPool([(64 * Mebibyte, MediaType.SSD), (64 * Mebibyte, MediaType.HDD)]);
        TierRequest[] tiers = [.. new[] { (MediaType.SSD, 4), (MediaType.HDD, 8) }.Select(tier => new TierRequest(
            world.Run(world.Subsystem.Tiers.CreateTemplateAsync(
                world.Pool, new TierTemplateRequest { FriendlyName = $"{tier.Item1}", MediaType = tier.Item1 })).UniqueId, tier.Item2 * Mebibyte))];
        VirtualDiskStatus disk = world.Run(world.Subsystem.VirtualDisks.CreateAsync(
            world.Pool, new VirtualDiskRequest { FriendlyName = "d", ResiliencySettingName = "Simple", Tiers = tiers, WriteCacheSize = 0 }));
        Assert.Equal(["d_SSD 4 0 4 0", "d_HDD 8 0 8 0"], Shown());
        for (int i = 0; i < 6; i++)
        {
            world.Write(disk.Description.Id.Value, i * 2 * Mebibyte, 4096);
        }

        Assert.Equal(["d_SSD 4 4 0 4", "d_HDD 8 2 6 2"], Shown());
        world.Restart();
        world.Advance(TimeSpan.FromSeconds(1));   // after its opening the disk looks at places that were given ahead
        Assert.Equal(["d_SSD 4 4 0 0", "d_HDD 8 2 6 0"], Shown());

        IEnumerable<string> Shown() => TiersOf(world, disk).Select(static tier =>
            $"{tier.FriendlyName} {tier.SizeBytes / Mebibyte} {tier.MappedBytes / Mebibyte} {tier.FreeBytes / Mebibyte} {tier.Counters!.WriteOperations}");
    }

    private static void CheckGrowth(SubsystemWorld world, VirtualDiskStatus disk)
    {
        foreach (StorageTierStatus tier in TiersOf(world, disk))
        {
            SupportedSize sizes = world.Run(world.Subsystem.Tiers.SupportedSizeAsync(tier.UniqueId, null));
            Assert.Equal((tier.SizeBytes, disk.Description.SliceSize), (sizes.Min, sizes.Divisor));
            Assert.Equal((ManagementError.NotEnoughCapacity, sizes.Max),
                Most(Refused(() => world.Run(world.Subsystem.Tiers.PlanResizeAsync(tier.UniqueId, sizes.Max + 1)))));
            Assert.Equal(sizes.Max, world.Run(world.Subsystem.Tiers.ResizeAsync(tier.UniqueId, sizes.Max)).SizeBytes);
        }

        VirtualDiskStatus after = Assert.Single(world.Run(world.Subsystem.VirtualDisks.ListAsync()));
        StorageTierStatus[] tiers = TiersOf(world, disk);
        Assert.Equal(after.Description.SizeBytes, tiers.Sum(static tier => tier.SizeBytes));
        Assert.Equal(after.FootprintBytes, tiers.Sum(static tier => tier.FootprintBytes) + (after.Description.WriteCacheSize * after.Description.CacheCopies));
        Assert.Equal(after.FootprintBytes, Assert.Single(world.Run(world.Subsystem.Pools.ListAsync())).AllocatedBytes);
        world.Restart();
        Assert.Equal(after.Description.SizeBytes, Assert.Single(world.Run(world.Subsystem.VirtualDisks.ListAsync())).Description.SizeBytes);
    }

    // Returns the request reduced to the sizes that the validation errors name; null if a tier has no room at all.
    private static VirtualDiskRequest? Fitting(SubsystemWorld world, Guid[] templates, VirtualDiskRequest request)
    {
        for (int i = 0; i < 8; i++)
        {
            ManagementException? rejected = Try(world, request);
            if (rejected is null)
            {
                return request;
            }

            (ManagementError problem, long most) = Most(rejected);
            if (problem == ManagementError.WriteCacheSizeRange)
            {
                request = request with { WriteCacheSize = most };
                continue;
            }

            Assert.Equal(ManagementError.NotEnoughCapacity, problem);
            if (most == 0)
            {
                return null;
            }

            Guid tier = templates[rejected.Message.Contains("'d_fast'", StringComparison.Ordinal) ? 0 : 1];
            request = request with { Tiers = [.. request.Tiers.Select(asked => asked.Template == tier ? asked with { SizeBytes = most } : asked)] };
        }

        Assert.Fail("Sizes that validation errors name are refused again and again.");
        return null;
    }

    private static SubsystemWorld RandomWorld(Random random)
    {
        SubsystemWorld world = new((ulong)random.Next());
        world.NewPool([.. Enumerable.Range(0, random.Next(4, 10)).Select(i =>
            (random.Next(24, 160) * Mebibyte, i < 2 ? MediaType.SSD : i < 4 ? MediaType.HDD : random.Next(2) == 0 ? MediaType.SSD : MediaType.HDD))]);
        if (random.Next(3) == 0)
        {
            world.AddDisk(DiskUsage.Journal);
        }

        return world;
    }

    private static Guid[] RandomTemplates(SubsystemWorld world, Random random) =>
        [.. new[] { ("fast", MediaType.SSD), ("slow", MediaType.HDD) }.Select(
            pair => world.Run(world.Subsystem.Tiers.CreateTemplateAsync(world.Pool, new TierTemplateRequest
        {
            FriendlyName = pair.Item1, MediaType = pair.Item2, NumberOfDataCopies = random.Next(1, 3), NumberOfColumns = random.Next(2),
            Interleave = (16 << 10) << random.Next(5),
        })).UniqueId)];

    private static StorageTierStatus[] TiersOf(SubsystemWorld world, VirtualDiskStatus disk) =>
        [.. world.Run(world.Subsystem.Tiers.ListAsync()).Where(tier => tier.VirtualDisk == disk.Description.Id.Value)];

    private static ManagementException? Try(SubsystemWorld world, VirtualDiskRequest request) =>
        Refused(() => world.Run(world.Subsystem.Placements.PlanNewAsync(world.Pool, request)));

    private static ManagementException? Refused(Action verb)
    {
        try
        {
            verb();
            return null;
        }
        catch (ManagementException rejected)
        {
            return rejected;
        }
    }

    private static (ManagementError Error, long Most) Most(ManagementException? rejected)
    {
        Assert.NotNull(rejected);
        long most = NamedSize.Largest(rejected.Message[rejected.Message.IndexOf("at most", StringComparison.Ordinal)..]);
        Assert.True(most >= 0, rejected.Message);
        return (rejected.Error, most);
    }
}
