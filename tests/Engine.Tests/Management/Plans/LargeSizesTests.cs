using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>
/// Sizes on members of 10 TB, whose memory is that of what was written: the maximum that is foretold can be created, and one unit more is refused
/// with the maximum.
/// </summary>
public sealed class LargeSizesTests
{
    private const long MemberBytes = 10L << 40;
    private const long Gibibyte = 1L << 30;

    [Theory]
    [InlineData("Simple", ProvisioningType.Fixed, ChecksumKind.CRC32C, -1)]
    [InlineData("Mirror", ProvisioningType.Fixed, ChecksumKind.CRC32C, -1)]
    [InlineData("Simple", ProvisioningType.Fixed, ChecksumKind.CRC32C, 0)]
    [InlineData("Simple", ProvisioningType.Fixed, ChecksumKind.None, 0)]
    [InlineData("Simple", ProvisioningType.Fixed, ChecksumKind.CRC32C, 32 * Gibibyte)]
    [InlineData("Mirror", ProvisioningType.Fixed, ChecksumKind.CRC32C, 0)]
    [InlineData("Mirror", ProvisioningType.Fixed, ChecksumKind.None, 0)]
    [InlineData("Mirror", ProvisioningType.Fixed, ChecksumKind.CRC32C, 32 * Gibibyte)]
    [InlineData("Simple", ProvisioningType.Thin, ChecksumKind.CRC32C, 0)]
    [InlineData("Mirror", ProvisioningType.Thin, ChecksumKind.CRC32C, 0)]
    [InlineData("Mirror", ProvisioningType.Thin, ChecksumKind.None, 32 * Gibibyte)]
    public void The_maximum_can_be_created_and_one_unit_more_is_refused_with_numbers(string layout, ProvisioningType provisioning, ChecksumKind checksum,
        long cache)
    {
        SubsystemWorld world = NewWorld();
        SupportedSize foretold = world.Run(world.Subsystem.Placements.SupportedSizeAsync(world.Pool, layout));
        Assert.True(foretold.Max > MemberBytes && foretold.Max % foretold.Divisor == 0, $"{foretold}");
        VirtualDiskRequest request = new()
        {
            FriendlyName = "d", ResiliencySettingName = layout, ProvisioningType = provisioning, Checksum = checksum, WriteCacheSize = cache < 0 ? null : cache,
        };
        ManagementException? rejected = Try(world, request with { SizeBytes = 1L << 60 });
        Assert.NotNull(rejected);
        long most = NamedSize.Largest(rejected.Message);
        Assert.True(most > 0, rejected.Message);
        long unit = foretold.Divisor;
        Assert.True(most >= unit && most % unit == 0, rejected.Message);
        if (cache < 0 && provisioning == ProvisioningType.Fixed)
        {
            Assert.Equal(foretold.Max, most);   // with the write cache that the pool chooses
        }

        ManagementException? more = Try(world, request with { SizeBytes = most + 1 });
        Assert.NotNull(more);
        Assert.Contains(ByteText.Exact(most), more.Message, StringComparison.Ordinal);
        Assert.Null(Try(world, request with { SizeBytes = most }));
        VirtualDiskStatus made = Assert.Single(world.Run(world.Subsystem.VirtualDisks.ListAsync()));
        Assert.Equal(most, made.Description.SizeBytes);
    }

    [Theory]
    [InlineData("Simple", ProvisioningType.Fixed, 0)]
    [InlineData("Mirror", ProvisioningType.Fixed, 0)]
    [InlineData("Mirror", ProvisioningType.Thin, 0)]
    [InlineData("Mirror", ProvisioningType.Fixed, 32 * Gibibyte)]
    public void The_largest_tier_can_be_created_and_a_slice_more_is_refused_with_numbers(string layout, ProvisioningType provisioning, long cache)
    {
        SubsystemWorld world = NewWorld();
        Guid fast = Template(world, "fast", MediaType.SSD, layout, provisioning);
        Guid slow = Template(world, "slow", MediaType.HDD, layout, provisioning);
        SupportedSize foretold = world.Run(world.Subsystem.Tiers.SupportedSizeAsync(slow, null));
        Assert.True(foretold.Max > MemberBytes / 2 && foretold.Max % foretold.Divisor == 0, $"{foretold}");
        if (cache == 0 && provisioning == ProvisioningType.Fixed)
        {
            VirtualDiskRequest one =
                new() { FriendlyName = "one", ProvisioningType = provisioning, Tiers = [new TierRequest(slow, foretold.Max + foretold.Divisor)] };
            Assert.Contains(ByteText.Exact(foretold.Max), Try(world, one)?.Message ?? "made", StringComparison.Ordinal);
        }

        VirtualDiskRequest request = new()
        {
            FriendlyName = "d", ProvisioningType = provisioning, WriteCacheSize = cache,
                Tiers = [new TierRequest(fast, 64 * Gibibyte), new TierRequest(slow, 1L << 60)],
        };
        ManagementException? rejected = Try(world, request);
        Assert.NotNull(rejected);
        long most = NamedSize.Largest(rejected.Message);
        Assert.True(most > 0, rejected.Message);
        ManagementException? more = Try(world, request with { Tiers = [request.Tiers[0], new TierRequest(slow, most + foretold.Divisor)] });
        Assert.Contains(ByteText.Exact(most), more?.Message ?? "made", StringComparison.Ordinal);
        Assert.Null(Try(world, request with { Tiers = [request.Tiers[0], new TierRequest(slow, most)] }));
        StorageTierStatus tier = world.Run(world.Subsystem.Tiers.ListAsync()).Single(tier => !tier.IsTemplate && tier.MediaTypeCode == (ushort)MediaType.HDD);
        Assert.Equal(most, tier.SizeBytes);
        SupportedSize grown = world.Run(world.Subsystem.Tiers.SupportedSizeAsync(tier.UniqueId, null));
        Assert.Equal(most, grown.Min);
        Assert.True(provisioning == ProvisioningType.Thin || grown.Max == most, $"{grown}");
    }

    private static SubsystemWorld NewWorld()
    {
        SubsystemWorld world = new() { SlabSize = 256L << 20 };
        world.NewPool([.. Enumerable.Range(0, 5).Select(disk => (MemberBytes, disk < 2 ? MediaType.SSD : MediaType.HDD))]);
        return world;
    }

    private static Guid Template(SubsystemWorld world, string name, MediaType medium, string layout, ProvisioningType provisioning) =>
        world.Run(world.Subsystem.Tiers.CreateTemplateAsync(world.Pool, new TierTemplateRequest
        {
            FriendlyName = name, MediaType = medium, ResiliencySettingName = layout, ProvisioningType = provisioning,
        })).UniqueId;

    private static ManagementException? Try(SubsystemWorld world, VirtualDiskRequest request)
    {
        try
        {
            world.Run(world.Subsystem.VirtualDisks.CreateAsync(world.Pool, request));
            return null;
        }
        catch (ManagementException rejected)
        {
            return rejected;
        }
    }
}
