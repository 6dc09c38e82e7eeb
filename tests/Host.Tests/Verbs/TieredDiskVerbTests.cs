using System.Text.Json;
using TierSpaces.Contracts;

namespace TierSpaces.Host.Tests.Verbs;

/// <summary>Virtual disks with tiers as verbs make, show and change them: pool m has the SSDs s1 to s4 and the HDDs h1 to h4, and a template of each.</summary>
public sealed class TieredDiskVerbTests : IAsyncLifetime
{
    private const long Slice = 1 << 20;
    private InProcessHost _host = null!;

    public async ValueTask InitializeAsync()
    {
        _host = await InProcessHost.StartAsync();
        await DisksAsync("s", 4, 256 << 20, "SSD");
        await DisksAsync("h", 4, 512 << 20, "HDD");
        await ObjectsAsync("New-StoragePool", new() { ["FriendlyName"] = "m", ["PhysicalDisks"] = new[] { "[sh][1-4]" }, ["WriteCacheSizeDefault"] = 0 });
        await TemplateAsync("fast", ("MediaType", "SSD"));
        await TemplateAsync("slow", ("MediaType", "HDD"));
    }

    public ValueTask DisposeAsync() => _host.DisposeAsync();

    [Fact]
    public async Task Tiers_are_made_of_templates_whatever_their_order()
    {
        JsonElement made = Assert.Single(await ObjectsAsync("New-VirtualDisk", New("d", ["slow", "fast"], [(40 * Slice) + 1, 16 * Slice])));
        Assert.Equal("True 59768832 Mirror 2 2 1 262144 1048576 Fixed", Text(
            made, "IsTiered", "Size", "ResiliencySettingName", "NumberOfColumns", "NumberOfDataCopies", "PhysicalDiskRedundancy", "Interleave", "SliceSize",
            "ProvisioningType"));
        await RestartAsync();
        JsonElement[] tiers = await ObjectsAsync("Get-StorageTier", new() { ["VirtualDisk"] = "d" });
        Assert.Equal(["d_fast Performance SSD 16777216 0 16777216", "d_slow Capacity HDD 42991616 0 42991616"], tiers.Select(tier =>
            Text(tier, "FriendlyName", "TierClass", "MediaType", "Size", "MappedSize", "FreeSize")));
        Assert.All(tiers, tier => Assert.Equal(made.GetProperty("UniqueId").GetString(), tier.GetProperty("VirtualDiskUniqueId").GetString()));
        Assert.All(tiers, tier =>
            Assert.True(Number(tier, "AllocatedSize") >= Number(tier, "Size") && Number(tier, "FootprintOnPool") > 2 * Number(tier, "AllocatedSize")));
        Assert.Equal(Number(made, "FootprintOnPool"), tiers.Sum(tier => Number(tier, "FootprintOnPool")));
        Assert.Equal(Number(made, "AllocatedSize"), tiers.Sum(tier => Number(tier, "AllocatedSize")));
    }

    [Fact]
    public async Task Every_tier_has_the_layout_of_its_template_and_what_that_leaves_open_is_as_the_disk_says()
    {
        await TemplateAsync("odd", ("MediaType", "SSD"), ("ResiliencySettingName", "Simple"), ("NumberOfColumns", 3), ("Interleave", 65536), ("Description",
            "mine"));
        JsonElement made = Assert.Single(
            await ObjectsAsync("New-VirtualDisk", New("d", ["odd", "slow"], [16 * Slice, 16 * Slice], ("AutoNumberOfColumns", true))));
        Assert.Equal("    0 ", Text(
            made, "ResiliencySettingName", "NumberOfColumns", "NumberOfDataCopies", "Interleave", "PhysicalDiskRedundancy", "WriteCacheReserveSize"));
        Assert.Equal(["Simple 3 1 0 65536 mine", "Mirror 2 2 1 262144 "], (await TiersAsync("d")).Select(Layout));
        await ObjectsAsync("New-VirtualDisk", New(
            "e", ["fast", "slow"], [8 * Slice, 8 * Slice], ("ResiliencySettingName", "Simple"), ("NumberOfColumns", 4), ("Interleave", 65536)));
        Assert.All((await TiersAsync("e")).Select(Layout), layout => Assert.Equal("Simple 4 1 0 65536 ", layout));
    }

    [Fact]
    public async Task A_tier_with_parity_lies_beside_a_mirror()
    {
        await TemplateAsync("capacity", ("MediaType", "HDD"), ("ResiliencySettingName", "Parity"), ("PhysicalDiskRedundancy", 1));
        Assert.Equal("Parity  1 1 Rotated Parity", Text(
            Assert.Single(await ObjectsAsync("Get-StorageTier", new() { ["FriendlyName"] = new[] { "capacity" } })),
            "ResiliencySettingName", "NumberOfColumns", "NumberOfDataCopies", "PhysicalDiskRedundancy", "ParityLayout"));
        JsonElement supported = Assert.Single(await ObjectsAsync("Get-StorageTierSupportedSize", new() { ["FriendlyName"] = new[] { "capacity" } }));
        JsonElement made = Assert.Single(await ObjectsAsync("New-VirtualDisk", New("d", ["fast", "capacity"], [16 * Slice, 40 * Slice])));
        Assert.Equal(" 58720256   1 Rotated Parity", Text(
            made, "ResiliencySettingName", "Size", "NumberOfColumns", "NumberOfDataCopies", "PhysicalDiskRedundancy", "ParityLayout"));
        Assert.Equal(["Mirror 2 2 1 262144 ", "Parity 4 1 1 65536 "], (await TiersAsync("d")).Select(Layout));
        JsonElement tier = (await TiersAsync("d"))[1];
        long row = 3 * 960 << 10;   // two slots of a slice, and a rest that is none
        Assert.Equal(0, Number(tier, "AllocatedSize") % row);
        Assert.True(Number(tier, "AllocatedSize") / row * 2 >= 40 + 4, "the tier and its reserve have slots");
        JsonElement[] extents = await ObjectsAsync("Get-PhysicalExtent", new() { ["StorageTier"] = tier.GetProperty("UniqueId").GetString() });
        Assert.All(
            extents.GroupBy(static extent => Number(extent, "VirtualDiskOffset")),
            static row => Assert.Equal(4, row.Select(static extent => extent.GetProperty("PhysicalDiskUniqueId").GetString()).Distinct().Count()));

        // The largest can be had once there is nothing else, and a slice more cannot.
        await ObjectsAsync("Remove-VirtualDisk", new() { ["FriendlyName"] = new[] { "d" } });
        long most = Number(supported, "TierSizeMax");
        await FailsAsync("New-VirtualDisk", New("e", ["capacity"], [most + Slice]));
        await ObjectsAsync("New-VirtualDisk", New("e", ["capacity"], [most]));
        await RestartAsync();
        Assert.Equal($"{most}", Text(Assert.Single(await TiersAsync("e")), "Size"));
    }

    [Fact]
    public async Task Automatic_columns_are_one_number_bounded_by_the_smallest_tier()
    {
        await ObjectsAsync("New-VirtualDisk", New("d", ["fast", "slow"], [8 * Slice, 8 * Slice], ("PhysicalDisksToUse", new[] { "s[12]", "h*" })));
        Assert.All((await TiersAsync("d")).Select(Layout), layout => Assert.StartsWith("Mirror 1 2", layout));
        await ObjectsAsync("New-VirtualDisk", New("e", ["fast", "slow"], [8 * Slice, 8 * Slice], ("ResiliencySettingName", "Simple")));
        Assert.All((await TiersAsync("e")).Select(Layout), layout => Assert.StartsWith("Simple 4 1", layout));
    }

    [Fact]
    public async Task A_tier_lies_on_disks_of_its_medium()
    {
        await ObjectsAsync("New-VirtualDisk", New("d", ["fast", "slow"], [8 * Slice, 8 * Slice]));
        foreach (JsonElement tier in await TiersAsync("d"))
        {
            JsonElement[] extents = await ObjectsAsync("Get-PhysicalExtent", new() { ["StorageTier"] = tier.GetProperty("UniqueId").GetString() });
            Assert.Equal(Number(tier, "AllocatedSize") * 2, extents.Sum(extent => Number(extent, "Size")));
            foreach (string? disk in extents.Select(extent => extent.GetProperty("PhysicalDiskUniqueId").GetString()).Distinct())
            {
                JsonElement on = Assert.Single(await ObjectsAsync("Get-PhysicalDisk", new() { ["UniqueId"] = disk }));
                Assert.Equal(tier.GetProperty("MediaType").GetString(), on.GetProperty("MediaType").GetString());
            }
        }
    }

    [Theory]
    [InlineData(48010, "-Size was given with tiers.", "Size", 8 << 20)]
    [InlineData(48010, "-UseMaximumSize was given with tiers.", "UseMaximumSize", true)]
    [InlineData(48010, "-StorageTiers was given without -StorageTierSizes.", "StorageTierSizes", null)]
    [InlineData(48010, "-StorageTierSizes was given without -StorageTiers.", "StorageTiers", null)]
    [InlineData(48010, "-StorageTiers names 2 tiers and -StorageTierSizes has 1 size.", "StorageTierSizes", new[] { 8L << 20 })]
    [InlineData(5, "-MediaType SSD contradicts -StorageTiers: each tier has the medium of its template.", "MediaType", "SSD")]
    [InlineData(5, "-SliceSize 3 MB is not a power of two from 256 KB to 1 MB (the slab of this pool has 1 MB).", "SliceSize", 3 << 20)]
    [InlineData(4097, "-StorageTierSizes 0 bytes: is too small. Valid: 1 to 8192 PB (9223372036853727231 bytes), rounded up to a multiple of 1 MB.", "StorageTierSizes",
        new[] { 8L << 20, 0L })]
    [InlineData(49006, "-NumberOfColumns 0: out of range. Valid: 1 to 64.", "NumberOfColumns", 0)]
    [InlineData(49006, "Storage tier 'fast': Mirror with 2 copies and 3 columns needs 6 physical disks of medium SSD; 4 can be used.", "NumberOfColumns", 3)]
    [InlineData(49006, "Storage tier 'fast': -NumberOfColumns 5 of Parity that survives 1 disk needs 5 physical disks of medium SSD; 4 can be used.",
        "ResiliencySettingName", "Parity", "NumberOfColumns", 5)]
    [InlineData(48004, "Storage tier 'fast': Parity that survives 2 disks needs 7 physical disks of medium SSD; 4 can be used.",
        "ResiliencySettingName", "Parity", "PhysicalDiskRedundancy", 2)]
    [InlineData(49003, "-NumberOfDataCopies 2: not possible with Parity. Valid: 1.", "ResiliencySettingName", "Parity", "NumberOfDataCopies", 2)]
    [InlineData(49005, "-Interleave 128 KB is not a power of two from 16 KB to 64 KB with Parity (the slab of this pool has 1 MB).",
        "ResiliencySettingName", "Parity", "Interleave", 131072)]
    [InlineData(5, "-Checksum None: not possible with Parity, which decides by checksums what is right after a crash with a physical disk missing. Valid: CRC32C.",
        "ResiliencySettingName", "Parity", "Checksum", "None")]
    [InlineData(5, "-StorageTiers: 'fast' and 'other' are both of medium SSD. Slices move to faster media, so a virtual disk has one tier of each.", "StorageTiers",
        new[] { "fast", "other" })]
    [InlineData(5, "-StorageTiers: storage tier 'blank' does not say its medium.", "StorageTiers", new[] { "fast", "blank" })]
    [InlineData(48004, "Storage tier 'memory' needs physical disks of medium SCM; storage pool 'm' has none that can be used.", "StorageTiers",
        new[] { "memory", "slow" })]
    [InlineData(5, "-ResiliencySettingName Simple contradicts storage tier 'other', which is Mirror with 2 copies.", "StorageTiers", new[] { "other", "slow" },
        "ResiliencySettingName", "Simple")]
    [InlineData(5, "-NumberOfColumns 2 contradicts storage tier 'other', which has 1.", "StorageTiers", new[] { "other", "slow" }, "NumberOfColumns", 2)]
    [InlineData(5, "-Interleave 128 KB contradicts storage tier 'other', which has 64 KB.", "StorageTiers", new[] { "other", "slow" }, "Interleave", 131072)]
    [InlineData(5, "A virtual disk is Thin or Fixed as a whole: storage tier 'other' is Thin, and Fixed is asked for.", "StorageTiers",
        new[] { "other", "slow" }, "ProvisioningType", "Fixed")]
    [InlineData(5, "-StorageTiers: 't' is a template of storage pool 'p', not of 'm'.", "StorageTiers", new[] { "t", "slow" })]
    public async Task What_cannot_be_is_refused_and_changes_nothing(int code, string why, string parameter, object? value, string? second = null,
        object? other = null)
    {
        await TemplateAsync(
            "other", ("MediaType", "SSD"), ("ResiliencySettingName", "Mirror"), ("NumberOfColumns", 1), ("Interleave", 65536), ("ProvisioningType", "Thin"));
        await TemplateAsync("blank");
        await TemplateAsync("memory", ("MediaType", "SCM"));
        Dictionary<string, object?> request = New("d", ["fast", "slow"], [8 * Slice, 8 * Slice]);
        request[parameter] = value;
        if (second is not null)
        {
            request[second] = other;
        }

        foreach (bool whatIf in (bool[])[true, false])
        {
            request["WhatIf"] = whatIf;
            string before = await _host.StateAsync();
            Assert.Equal((code, why), await FailsAsync("New-VirtualDisk", request));
            Assert.Equal(before, await _host.StateAsync());
        }
    }

    [Fact]
    public async Task Slices_are_only_of_tiers()
    {
        Assert.Equal((5, "-SliceSize 1 MB was given without -StorageTiers: only tiers have slices."), await FailsAsync("New-VirtualDisk", new()
        {
            ["StoragePoolFriendlyName"] = new[] { "m" }, ["FriendlyName"] = "d", ["Size"] = 8 << 20, ["SliceSize"] = 1 << 20,
        }));
        JsonElement made = Assert.Single(await ObjectsAsync("New-VirtualDisk", New("d", ["fast"], [(8 * Slice) + 1], ("SliceSize", 256 << 10))));
        Assert.Equal(((8 * Slice) + (256 << 10), 256 << 10), (Number(made, "Size"), Number(made, "SliceSize")));
    }

    [Theory]
    [InlineData("fast", null)]
    [InlineData("slow", null)]
    [InlineData("fast", "Simple")]
    [InlineData("slow", "Simple")]
    public async Task The_largest_size_can_be_had_and_a_slice_more_cannot(string template, string? layout)
    {
        await ObjectsAsync("New-VirtualDisk", New("there", ["fast", "slow"], [20 * Slice, 30 * Slice]));
        JsonElement sizes = Assert.Single(
            await ObjectsAsync("Get-StorageTierSupportedSize", new() { ["FriendlyName"] = new[] { template }, ["ResiliencySettingName"] = layout }));
        Assert.Equal((Slice, Slice), (Number(sizes, "TierSizeMin"), Number(sizes, "TierSizeDivisor")));
        long most = Number(sizes, "TierSizeMax");
        string other = template == "fast" ? "slow" : "fast";
        long mostOfOther = Number(
            Assert.Single(await ObjectsAsync("Get-StorageTierSupportedSize", new() { ["FriendlyName"] = new[] { other }, ["ResiliencySettingName"] = layout })),
            "TierSizeMax");
        // The fastest tier holds what grows with the size of the disk: fast is bounded by the disk with both, slow by the one with slow alone.
        (int code, string? why) = await FailsAsync("New-VirtualDisk", template == "fast"
            ? New("d", [template, other], [most + 1, mostOfOther], ("ResiliencySettingName", layout))
            : New("d", [template], [most + 1], ("ResiliencySettingName", layout)));
        Assert.Equal(40000, code);
        Assert.Contains($"at most {SizeText.Exact(most)}", why);
        Assert.Equal(most + mostOfOther, Number(
            Assert.Single(await ObjectsAsync("New-VirtualDisk", New("d", [template, other], [most, mostOfOther], ("ResiliencySettingName", layout)))), "Size"));
        await ObjectsAsync("Remove-VirtualDisk", new() { ["FriendlyName"] = new[] { "d" } });
        Assert.Equal(most, Number(
            Assert.Single(await ObjectsAsync("New-VirtualDisk", New("d", [template], [most], ("ResiliencySettingName", layout)))), "Size"));
    }

    [Fact]
    public async Task A_tier_grows_to_its_largest_size_and_the_disk_with_it()
    {
        await ObjectsAsync("New-VirtualDisk", New("d", ["fast", "slow"], [8 * Slice, 8 * Slice]));
        foreach (string tier in (string[])["d_fast", "d_slow"])
        {
            JsonElement sizes = Assert.Single(await ObjectsAsync("Get-StorageTierSupportedSize", new() { ["FriendlyName"] = new[] { tier } }));
            long most = Number(sizes, "TierSizeMax");
            Assert.Equal(8 * Slice, Number(sizes, "TierSizeMin"));
            Assert.Equal((4097, $"-Size 1 byte is smaller than storage tier '{tier}' ({SizeText.Exact(8 * Slice)})."),
                await FailsAsync("Resize-StorageTier", Resize(tier, 1)));
            Assert.Equal((40000, $"-Size {SizeText.Exact(most + 1)} of storage tier '{tier}' is more than storage pool 'm' has room for: at most {SizeText.Exact(most)}."),
                await FailsAsync("Resize-StorageTier", Resize(tier, most + 1)));
            string planned = (await _host.SendAsync("Resize-StorageTier", Resize(tier, most, ("WhatIf", true)))).GetProperty("Steps").ToString();
            JsonElement reply = await _host.SendAsync("Resize-StorageTier", Resize(tier, most, ("PassThru", true)));
            Assert.Equal(planned, reply.GetProperty("Steps").ToString());
            Assert.Equal(most, Number(Assert.Single(reply.GetProperty("Objects").EnumerateArray().ToArray()), "Size"));
        }

        long sum = (await TiersAsync("d")).Sum(tier => Number(tier, "Size"));
        Assert.Equal(sum, Number(Assert.Single(await ObjectsAsync("Get-VirtualDisk", Named("d"))), "Size"));
        await RestartAsync();
        Assert.Equal(sum, Number(Assert.Single(await ObjectsAsync("Get-VirtualDisk", Named("d"))), "Size"));
    }

    [Fact]
    public async Task A_disk_is_given_a_tier_that_was_foretold()
    {
        await ObjectsAsync("New-PhysicalDisk",
            new() { ["Path"] = new[] { _host.Image("t1"), _host.Image("t2") }, ["Size"] = 128 << 20, ["MediaType"] = "SCM" });
        await ObjectsAsync("Add-PhysicalDisk", new() { ["StoragePoolFriendlyName"] = "m", ["PhysicalDisks"] = new[] { "t1", "t2" } });
        await TemplateAsync("memory", ("MediaType", "SCM"));
        await ObjectsAsync("New-VirtualDisk", New("d", ["fast", "slow"], [8 * Slice, 8 * Slice]));
        Dictionary<string, object?> request =
            new() { ["VirtualDiskFriendlyName"] = new[] { "d" }, ["StorageTier"] = "memory", ["Size"] = 4 * Slice, ["PassThru"] = true };
        JsonElement planned = (await _host.SendAsync("Add-StorageTier", new(request) { ["WhatIf"] = true })).GetProperty("Steps");
        Assert.Equal(
            $"Add storage tier 'd_memory' on SCM: Mirror, 1 column, 2 copies, interleave 256 KB, {SizeText.Exact(4 * Slice)}; resize virtual disk 'd' to {SizeText.Exact(20 * Slice)}", planned[0].GetString());
        Assert.Contains(planned.EnumerateArray(), step => step.GetString()!.StartsWith("Place on physical disk 't1': ", StringComparison.Ordinal));
        JsonElement reply = await _host.SendAsync("Add-StorageTier", request);
        Assert.Equal(planned.ToString(), reply.GetProperty("Steps").ToString());
        Assert.Equal($"d_memory Performance SCM {4 * Slice}",
            Text(Assert.Single(reply.GetProperty("Objects").EnumerateArray().ToArray()), "FriendlyName", "TierClass", "MediaType", "Size"));
        await RestartAsync();
        Assert.Equal(["d_memory Performance", "d_fast Capacity", "d_slow Capacity"],
            (await TiersAsync("d")).Select(tier => Text(tier, "FriendlyName", "TierClass")));
        Assert.Equal(20 * Slice, Number(Assert.Single(await ObjectsAsync("Get-VirtualDisk", Named("d"))), "Size"));
        Assert.Equal(
            (5, "-StorageTier 'memory' is of medium SCM, of which virtual disk 'd' has storage tier 'd_memory'. Slices move to faster media, so it has one tier of each."),
            await FailsAsync("Add-StorageTier", request));
        Assert.Equal(
            (5, "-StorageTier: 'd_fast' is a tier of virtual disk 'd', not a template."),
            await FailsAsync("Add-StorageTier", new(request) { ["StorageTier"] = "d_fast" }));
    }

    [Fact]
    public async Task Only_tiers_of_virtual_disks_grow_and_only_as_tiers()
    {
        await ObjectsAsync("New-VirtualDisk", New("d", ["fast", "slow"], [8 * Slice, 8 * Slice]));
        (int code, string? why) = await FailsAsync("Resize-StorageTier", Resize("fast", 16 * Slice));
        Assert.Equal(5, code);
        Assert.Contains("it is a template, which has no size", why);
        Assert.Equal(
            (1, $"-Size {SizeText.Exact(32 * Slice)}: virtual disk 'd' has tiers, whose sizes are its size."),
            await FailsAsync("Resize-VirtualDisk", new() { ["FriendlyName"] = new[] { "d" }, ["Size"] = 32 * Slice }));
        Assert.Equal(
            (5, "-ResiliencySettingName 'Simple': storage tier 'd_fast' is Mirror and stays so."),
            await FailsAsync("Get-StorageTierSupportedSize", new() { ["FriendlyName"] = new[] { "d_fast" }, ["ResiliencySettingName"] = "Simple" }));
    }

    [Fact]
    public async Task What_would_be_done_is_what_is_done()
    {
        Dictionary<string, object?> request = New("d", ["fast", "slow"], [8 * Slice, 12 * Slice], ("WriteCacheSize", 4 << 20));
        request["WhatIf"] = true;
        string[] planned = (await _host.SendAsync("New-VirtualDisk", request)).GetProperty("Steps").EnumerateArray().Select(step => step.GetString()!)
            .ToArray();
        Assert.Equal(
            [
                "Create virtual disk 'd' in storage pool 'm': 2 tiers in slices of 1 MB, 20 MB, Fixed, logical sectors of 4096 bytes, checksum CRC32C, write cache 4 MB",
                "Create storage tier 'd_fast' on SSD: Mirror, 2 columns, 2 copies, interleave 256 KB, 8 MB",
                "Create storage tier 'd_slow' on HDD: Mirror, 2 columns, 2 copies, interleave 256 KB, 12 MB",
            ], planned[..3]);
        Assert.Contains(planned, step => step.Contains("for tier 'd_slow' (column"));
        request["WhatIf"] = false;
        Assert.Equal(planned, (await _host.SendAsync("New-VirtualDisk", request)).GetProperty("Steps").EnumerateArray().Select(step => step.GetString()!));
    }

    [Fact]
    public async Task A_tier_of_a_disk_keeps_its_layout_and_changes_its_name()
    {
        await ObjectsAsync("New-VirtualDisk", New("d", ["fast", "slow"], [8 * Slice, 8 * Slice]));
        await ObjectsAsync("Set-StorageTier", new() { ["FriendlyName"] = "d_fast", ["NewFriendlyName"] = "quick" });
        await ObjectsAsync("Set-StorageTier", new() { ["FriendlyName"] = "quick", ["Description"] = "flash" });
        await RestartAsync();
        Assert.Equal("quick flash", Text((await TiersAsync("d"))[0], "FriendlyName", "Description"));
        Assert.Equal(1, (await FailsAsync("Set-StorageTier", new() { ["FriendlyName"] = "quick", ["NumberOfColumns"] = 1 })).Code);
        Assert.Equal(5, (await FailsAsync("Set-StorageTier", new() { ["FriendlyName"] = "quick", ["NewFriendlyName"] = "d_slow" })).Code);
        Assert.Equal((6, "Storage tier 'quick' is a part of virtual disk 'd'."), await FailsAsync("Remove-StorageTier", Named("quick")));
        Assert.Equal(
            (5, "-StorageTiers: 'quick' is a tier of virtual disk 'd', not a template."), await FailsAsync("New-VirtualDisk", New("e", ["quick"], [Slice])));
    }

    [Fact]
    public async Task Templates_that_change_or_go_leave_disks_alone()
    {
        await ObjectsAsync("New-VirtualDisk", New("d", ["fast", "slow"], [8 * Slice, 8 * Slice]));
        await ObjectsAsync("Set-StorageTier", new() { ["FriendlyName"] = "fast", ["ResiliencySettingName"] = "Simple" });
        await ObjectsAsync("Remove-StorageTier", Named("slow"));
        Assert.All((await TiersAsync("d")).Select(Layout), layout => Assert.StartsWith("Mirror 2 2", layout));
        await ObjectsAsync("Remove-VirtualDisk", Named("d"));
        Assert.Equal(["fast"], (await ObjectsAsync("Get-StorageTier", new() { ["StoragePool"] = "m" })).Select(tier => Text(tier, "FriendlyName")));
    }

    [Fact]
    public async Task Disks_and_pools_are_found_by_their_tiers()
    {
        await ObjectsAsync("New-VirtualDisk", New("d", ["fast", "slow"], [8 * Slice, 8 * Slice]));
        Assert.Equal("d", Text(Assert.Single(await ObjectsAsync("Get-VirtualDisk", new() { ["StorageTier"] = "d_slow" })), "FriendlyName"));
        Assert.Empty(await ObjectsAsync("Get-VirtualDisk", new() { ["StorageTier"] = "fast" }));
        Assert.Equal("m", Text(Assert.Single(await ObjectsAsync("Get-StoragePool", new() { ["StorageTier"] = "d_slow" })), "FriendlyName"));
        Assert.Equal("m", Text(Assert.Single(await ObjectsAsync("Get-StoragePool", new() { ["StorageTier"] = "fast" })), "FriendlyName"));
        Assert.Equal(2, (await ObjectsAsync("Get-StorageTier", new() { ["StoragePool"] = "m" })).Length);
    }

    [Fact]
    public async Task Thin_tiers_may_be_larger_than_their_pool()
    {
        JsonElement made = Assert.Single(await ObjectsAsync("New-VirtualDisk", New("d", ["fast", "slow"], [1 << 30, 8L << 30], ("ProvisioningType", "Thin"))));
        Assert.Equal((9L << 30, 0), (Number(made, "Size"), Number(made, "AllocatedSize")));
    }

    [Fact]
    public async Task A_disk_of_any_name_stands_in_the_way_of_no_size()
    {
        await ObjectsAsync("New-VirtualDisk", New("size", ["fast"], [Slice]));
        await ObjectsAsync("Get-VirtualDiskSupportedSize", new() { ["StoragePoolFriendlyName"] = new[] { "m" } });
        await ObjectsAsync("Get-StorageTierSupportedSize", Named("fast"));
    }

    private static Dictionary<string, object?> New(string name, string[] tiers, long[] sizes, params (string Name, object? Value)[] more)
    {
        Dictionary<string, object?> request = new()
        {
            ["StoragePoolFriendlyName"] = new[] { "m" }, ["FriendlyName"] = name, ["StorageTiers"] = tiers, ["StorageTierSizes"] = sizes,
        };
        Array.ForEach(more, pair => request[pair.Name] = pair.Value);
        return request;
    }

    private static Dictionary<string, object?> Resize(string tier, long size, params (string Name, object Value)[] more)
    {
        Dictionary<string, object?> request = new() { ["FriendlyName"] = new[] { tier }, ["Size"] = size };
        Array.ForEach(more, pair => request[pair.Name] = pair.Value);
        return request;
    }

    private static Dictionary<string, object?> Named(string name) => new() { ["FriendlyName"] = new[] { name } };

    private static string Text(JsonElement info, params string[] properties) =>
        string.Join(' ', properties.Select(property => info.GetProperty(property).ToString()));

    private static long Number(JsonElement info, string property) => info.GetProperty(property).GetInt64();

    private static string Layout(JsonElement tier) =>
        Text(tier, "ResiliencySettingName", "NumberOfColumns", "NumberOfDataCopies", "PhysicalDiskRedundancy", "Interleave", "Description");

    private Task<JsonElement[]> TiersAsync(string disk) => ObjectsAsync("Get-StorageTier", new() { ["VirtualDisk"] = disk });

    private Task DisksAsync(string prefix, int count, long size, string medium) => ObjectsAsync("New-PhysicalDisk", new()
    {
        ["Path"] = Enumerable.Range(1, count).Select(i => _host.Image($"{prefix}{i}")), ["Size"] = size, ["MediaType"] = medium,
    });

    private Task TemplateAsync(string name, params (string Name, object Value)[] more)
    {
        Dictionary<string, object?> request = new() { ["StoragePoolFriendlyName"] = new[] { "m" }, ["FriendlyName"] = name };
        Array.ForEach(more, pair => request[pair.Name] = pair.Value);
        return ObjectsAsync("New-StorageTier", request);
    }

    private async Task RestartAsync()
    {
        await _host.CloseAsync();
        await _host.OpenAsync();
    }

    private async Task<(int Code, string Why)> FailsAsync(string verb, Dictionary<string, object?> request)
    {
        JsonElement error = Assert.Single((await _host.SendAsync(verb, request)).GetProperty("Errors").EnumerateArray().ToArray());
        return (error.GetProperty("Code").GetInt32(), error.GetProperty("ExtendedInformation").GetString()!);
    }

    private async Task<JsonElement[]> ObjectsAsync(string verb, Dictionary<string, object?> request)
    {
        JsonElement reply = await _host.SendAsync(verb, request);
        Assert.Equal([], reply.GetProperty("Errors").EnumerateArray().Select(static error => error.GetProperty("ExtendedInformation").GetString()));
        return [.. reply.GetProperty("Objects").EnumerateArray()];
    }
}
