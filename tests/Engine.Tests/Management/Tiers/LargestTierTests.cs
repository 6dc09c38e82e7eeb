using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>The largest size of a tier is the formula of docs/tiering.md, and can be had.</summary>
public sealed class LargestTierTests
{
    private const long Slab = 256L << 20;
    private const long Slice = 1 << 20;
    private const long Gigabyte = 1_000_000_000;

    [Theory]
    [InlineData(2, 2, 4, 1L << 30)]
    [InlineData(4, 4, 2, 1L << 30)]
    [InlineData(2, 2, 4, 0)]
    [InlineData(2, 2, 4, 5L << 30)]
    public void Tiers_of_mirrors_take_what_the_formula_says(int flash, int rotating, int terabytes, long cache)
    {
        SubsystemWorld world = new() { SlabSize = Slab };
        world.NewPool(
        [
            .. Enumerable.Repeat((800 * Gigabyte, MediaType.SSD), flash), .. Enumerable.Repeat((terabytes * 1000 * Gigabyte, MediaType.HDD), rotating),
        ]);
        world.Run(world.Subsystem.Pools.SetAsync(world.Pool, settings => settings with { WriteCacheSizeDefault = (ulong)cache, AutoWriteCacheSize = false }));
        Guid fast = Template(world, MediaType.SSD), slow = Template(world, MediaType.HDD);
        (long slowMost, long fastMost) = (0, 0);
        for (int i = 0; i < 3; i++)   // a tier alone has the heat map of itself, the fast one beside the slow one that of both
        {
            slowMost = Formula(Slabs(rotating, terabytes * 1000 * Gigabyte), rotating / 2, logs: 0, cache: 0, slowMost / Slice);
            fastMost = Formula(Slabs(flash, 800 * Gigabyte), flash / 2, logs: 4, cache, (slowMost + fastMost) / Slice);
        }

        Assert.Equal(slowMost, world.Run(world.Subsystem.Tiers.SupportedSizeAsync(slow, null)).Max);
        Assert.Equal(fastMost, world.Run(world.Subsystem.Tiers.SupportedSizeAsync(fast, null)).Max);

        VirtualDiskRequest request = new() { FriendlyName = "d", Tiers = [new(fast, fastMost + Slice), new(slow, slowMost)] };
        ManagementException refused = Assert.Throws<ManagementException>(() => world.Run(world.Subsystem.VirtualDisks.CreateAsync(world.Pool, request)));
        Assert.Contains($"at most {ByteText.Exact(fastMost)}", refused.Message);
        request = request with { Tiers = [new(fast, fastMost), new(slow, slowMost)] };
        VirtualDiskStatus made = world.Run(world.Subsystem.VirtualDisks.CreateAsync(world.Pool, request));
        Assert.Equal((fastMost + slowMost, cache), (made.Description.SizeBytes, made.Description.WriteCacheSize));
    }

    /// <summary>A row is on all disks of the medium, so the fullest one decides: it has its share of the logs, and a copy of the cache.</summary>
    private static long Formula(long free, int columns, int logs, long cache, long diskSlices)
    {
        int disks = columns * 2;
        long rows = (free / disks) - ((logs + disks - 1) / disks) - ((cache + Slab - 1) / Slab);
        long heat = (((9 * diskSlices) + Slice - 1) / Slice) + 1;
        return ((rows * columns * Slab) - ((4 + heat) * Slice)) / Slice * Slice;
    }

    private static long Slabs(int disks, long bytes)
    {
        Assert.True(DiskLayout.TryCreate(bytes, new SlabGeometry(Slab), out DiskLayout layout, out _));
        return disks * layout.SlabCount;
    }

    private static Guid Template(SubsystemWorld world, MediaType media) => world.Run(world.Subsystem.Tiers.CreateTemplateAsync(
        world.Pool, new TierTemplateRequest { FriendlyName = $"{media}", MediaType = media, ResiliencySettingName = "Mirror" })).UniqueId;
}
