using System.Text.Json;
using TierSpaces.Contracts;

namespace TierSpaces.Host.Tests.Verbs;

/// <summary>
/// Every verb of tiers on virtual disks with one tier: s, 16 MiB on SSD, and h, 16 MiB on HDD. The first half of each is written, and slice 2 is used much.
/// </summary>
public sealed class OneTierVerbTests : IAsyncLifetime
{
    private const long Slice = 1 << 20;
    private InProcessHost _host = null!;

    public async ValueTask InitializeAsync()
    {
        _host = await InProcessHost.StartAsync();
        await OkAsync("New-PhysicalDisk", ("Path", new[] { _host.Image("f") }), ("Size", 256 << 20), ("MediaType", "SSD"));
        await OkAsync("New-PhysicalDisk", ("Path", new[] { _host.Image("r") }), ("Size", 256 << 20), ("MediaType", "HDD"));
        await OkAsync("New-StoragePool", ("FriendlyName", "m"), ("PhysicalDisks", new[] { "[fr]" }), ("ResiliencySettingNameDefault", "Simple"),
            ("WriteCacheSizeDefault", 0));
        foreach ((string disk, string medium) in new[] { ("s", "SSD"), ("h", "HDD") })
        {
            await OkAsync("New-StorageTier", ("StoragePoolFriendlyName", new[] { "m" }), ("FriendlyName", medium), ("MediaType", medium));
            await OkAsync("New-VirtualDisk", ("StoragePoolFriendlyName", new[] { "m" }), ("FriendlyName", disk), ("StorageTiers", new[] { medium }),
                ("StorageTierSizes", new[] { 16 * Slice }));
            await _host.WriteAsync(disk, (int)Slice, Enumerable.Range(0, 8).Select(slice => slice * Slice));
            await _host.WriteAsync(disk, 4096, Enumerable.Repeat(2 * Slice, 100));
        }
    }

    public ValueTask DisposeAsync() => _host.DisposeAsync();

    [Theory]
    [InlineData("s", "s_SSD")]
    [InlineData("h", "h_HDD")]
    public async Task An_optimization_moves_nothing_and_reports_what_a_faster_tier_would_need(string disk, string tier)
    {
        JsonElement plan = await OkAsync("Optimize-StorageTier", ("VirtualDisk", new[] { disk }), ("WhatIf", true));
        Assert.Equal(
            [
                $"Optimize the tiers of virtual disk '{disk}': move nothing, for it has one tier",
                $"Share of the I/O on storage tier '{tier}': 100.0 % before, 100.0 % after",
            ],
            plan.GetProperty("Steps").EnumerateArray().Select(static step => step.GetString()!));
        JsonElement done = One(await OkAsync("Optimize-StorageTier", ("FriendlyName", new[] { tier })));
        Assert.Equal("Completed 0 0 0", Text(done, "State", "SlicesPlanned", "BytesPromoted", "BytesDemoted"));
        string report = Text(done, "Report");
        Assert.Contains($"\n* Current size of the only tier, '{tier}': 16.00 MB\n  Percent of total I/Os serviced from it: 100%\n", report);
        Assert.Contains($"\n  Size of files pinned to the tier '{tier}': 0 bytes\n", report);
        Assert.DoesNotContain("Performance tier", report);
        Assert.Contains("90%  1.00 MB", report);

        await OkAsync("Optimize-Volume", ("FileSystemLabel", new[] { disk }), ("TierOptimize", true));
    }

    [Theory]
    [InlineData("s", "s_SSD")]
    [InlineData("h", "h_HDD")]
    public async Task Its_heat_is_listed_drawn_explained_and_taken_to_another_disk(string disk, string tier)
    {
        JsonElement[] heat = Objects(await OkAsync("Get-StorageTierHeatMap", ("FriendlyName", new[] { disk }), ("Hottest", 1)));
        Assert.Equal($"2 {tier} 1", Text(Assert.Single(heat), "Slice", "Tier", "Rank"));
        Assert.NotEmpty(Objects(await OkAsync("Show-StorageTierHeatMap", ("FriendlyName", new[] { disk }))));
        string file = Path.Combine(Path.GetDirectoryName(_host.Image("x"))!, "heat");
        await OkAsync("Export-StorageTierHeatMap", ("FriendlyName", disk), ("Path", file));
        await OkAsync("Import-StorageTierHeatMap", ("FriendlyName", disk), ("Path", file));

        string[] told = [.. Objects(await OkAsync(
            "Get-StorageTierExplanation", ("FriendlyName", new[] { disk }), ("Offset", 2 * Slice), ("Length", 7 * Slice)))
            .Select(static slice => Text(slice, "Explanation"))];
        Assert.EndsWith("the hottest of the virtual disk. It stays there: the virtual disk has no other tier.", told[0]);
        Assert.EndsWith("It stays there: the virtual disk has no other tier.", told[1]);
        Assert.EndsWith($"it reads as zeros. Its first write goes to tier '{tier}', the only one.", told[^1]);
    }

    [Theory]
    [InlineData("s", "s_SSD")]
    [InlineData("h", "h_HDD")]
    public async Task Ranges_are_pinned_to_the_only_tier_listed_and_cleared(string disk, string tier)
    {
        JsonElement set = await OkAsync(
            "Set-FileStorageTier", ("VirtualDiskFriendlyName", disk), ("Offset", 0), ("Length", 2 * Slice),
            ("DesiredStorageTierFriendlyName", tier), ("Now", true));
        Assert.Empty(Objects(set));
        JsonElement pin = One(await OkAsync("Get-FileStorageTier", ("VirtualDiskFriendlyName", new[] { disk })));
        Assert.Equal($"{tier} Completely on tier 2097152", Text(pin, "DesiredStorageTierName", "PlacementStatus", "FileSizeOnDesiredStorageTier"));
        string report = Text(One(await OkAsync("Optimize-StorageTier", ("VirtualDisk", new[] { disk }))), "Report");
        Assert.Contains($"Size of files pinned to the tier '{tier}': 2.00 MB", report);
        Assert.EndsWith("It stays there: it is pinned to this tier, whatever its heat.", Text(
            One(await OkAsync("Get-StorageTierExplanation", ("FriendlyName", new[] { disk }), ("Offset", 0), ("Length", Slice))), "Explanation"));
        await OkAsync("Clear-FileStorageTier", ("VirtualDiskFriendlyName", new[] { disk }), ("Offset", 0), ("Length", 2 * Slice));
        Assert.Empty(Objects(await OkAsync("Get-FileStorageTier", ("VirtualDiskFriendlyName", new[] { disk }))));
    }

    [Theory]
    [InlineData("s", "s_SSD")]
    [InlineData("h", "h_HDD")]
    public async Task The_virtual_disk_grows_by_its_own_size_or_by_that_of_its_tier(string disk, string tier)
    {
        JsonElement plan = await OkAsync("Resize-VirtualDisk", ("FriendlyName", new[] { disk }), ("Size", (19 * Slice) + 1), ("WhatIf", true));
        Assert.Equal($"Resize virtual disk '{disk}' to {SizeText.Exact(20 * Slice)}", plan.GetProperty("Steps")[0].GetString());
        Assert.Equal($"{20 * Slice}", Text(
            One(await OkAsync("Resize-VirtualDisk", ("FriendlyName", new[] { disk }), ("Size", (19 * Slice) + 1), ("PassThru", true))), "Size"));
        Assert.Equal($"{20 * Slice}", Text(One(await OkAsync("Get-StorageTier", ("FriendlyName", new[] { tier }))), "Size"));
        await OkAsync("Resize-StorageTier", ("FriendlyName", new[] { tier }), ("Size", 24 * Slice));
        Assert.Equal($"{24 * Slice}", Text(One(await OkAsync("Get-VirtualDisk", ("FriendlyName", new[] { disk }))), "Size"));
        await _host.WriteAsync(disk, 4096, [(24 * Slice) - 4096]);
        JsonElement smaller = await _host.SendAsync(
            "Resize-VirtualDisk", new() { ["FriendlyName"] = new[] { disk }, ["Size"] = Slice });
        Assert.Equal("4097", Text(One(smaller, "Errors"), "Code"));
        JsonElement supported = One(await OkAsync("Get-StorageTierSupportedSize", ("FriendlyName", new[] { tier })));
        long most = supported.GetProperty("TierSizeMax").GetInt64();
        Assert.Equal("40000", Text(
            One(await _host.SendAsync("Resize-VirtualDisk", new() { ["FriendlyName"] = new[] { disk }, ["Size"] = most + 1 }), "Errors"), "Code"));
        await OkAsync("Resize-VirtualDisk", ("FriendlyName", new[] { disk }), ("Size", most));
    }

    private static string Text(JsonElement from, params string[] properties) =>
        string.Join(' ', properties.Select(property => from.GetProperty(property).ToString()));

    private static JsonElement One(JsonElement reply, string of = "Objects") => Assert.Single(reply.GetProperty(of).EnumerateArray().ToArray());

    private static JsonElement[] Objects(JsonElement reply) => [.. reply.GetProperty("Objects").EnumerateArray()];

    private async Task<JsonElement> OkAsync(string verb, params (string Name, object? Value)[] request)
    {
        JsonElement reply = await _host.SendAsync(verb, request.ToDictionary(static one => one.Name, static one => one.Value));
        Assert.Equal("[]", reply.GetProperty("Errors").ToString());
        return reply;
    }
}
