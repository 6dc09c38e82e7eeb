using System.Text.Json;
using TierSpaces.Engine.Formats;

namespace TierSpaces.Host.Tests.Verbs;

/// <summary>Files and ranges pinned through verbs; where files lie is made up. Virtual disk d has 4 MiB on SSD and 12 MiB on HDD.</summary>
public sealed class FileStorageTierVerbTests : IAsyncLifetime
{
    private const long Slice = 1 << 20;
    private InProcessHost _host = null!;
    private string _disk = "";

    public async ValueTask InitializeAsync()
    {
        _host = await InProcessHost.StartAsync();
        await OkAsync("New-PhysicalDisk", new() { ["Path"] = new[] { _host.Image("s") }, ["Size"] = 128 << 20, ["MediaType"] = "SSD" });
        await OkAsync("New-PhysicalDisk", new() { ["Path"] = new[] { _host.Image("h") }, ["Size"] = 128 << 20, ["MediaType"] = "HDD" });
        await OkAsync("New-StoragePool", new() { ["FriendlyName"] = "m", ["PhysicalDisks"] = new[] { "[sh]" }, ["ResiliencySettingNameDefault"] = "Simple" });
        await OkAsync("New-StorageTier", new() { ["StoragePoolFriendlyName"] = new[] { "m" }, ["FriendlyName"] = "fast", ["MediaType"] = "SSD" });
        await OkAsync("New-StorageTier", new() { ["StoragePoolFriendlyName"] = new[] { "m" }, ["FriendlyName"] = "slow", ["MediaType"] = "HDD" });
        JsonElement made = await OkAsync("New-VirtualDisk", new()
        {
            ["StoragePoolFriendlyName"] = new[] { "m" }, ["FriendlyName"] = "d", ["StorageTiers"] = new[] { "fast", "slow" },
            ["StorageTierSizes"] = new[] { 4 * Slice, 12 * Slice }, ["WriteCacheSize"] = 0,
        });
        _disk = made.GetProperty("Objects")[0].GetProperty("UniqueId").GetString()!;
        _host.Files.Put("/v/f", _disk, new PinnedRange(5 * Slice, Slice), new PinnedRange(2 * Slice, 4096));
        _host.Files.Put("/v/large", _disk, new PinnedRange(5 * Slice, (3 * Slice) + 1));
        _host.Files.Put("/other/g", _disk, new PinnedRange(9 * Slice, Slice));
    }

    public ValueTask DisposeAsync() => _host.DisposeAsync();

    [Fact]
    public async Task A_file_is_pinned_shown_and_let_go_of()
    {
        Assert.Equal(0, (await PinAsync("/v/f")).GetProperty("Objects").GetArrayLength());
        await PinAsync("/other/g", "d_slow");
        JsonElement pin = Assert.Single(await PinsAsync("FilePath", "/v/f"));
        Assert.Equal("/v/f d_fast Performance 1052672 " + _disk, string.Join(' ', ((string[])
            ["FilePath", "DesiredStorageTierName", "DesiredStorageTierClass", "FileSize", "VirtualDiskUniqueId"]).Select(
                name => pin.GetProperty(name).ToString())));
        Assert.Equal(["/v/f"], Paths(await PinsAsync("VolumePath", "/v")));
        await _host.CloseAsync();
        await _host.OpenAsync();
        Assert.Equal(["/v/f"], Paths(await PinsAsync("VolumePath", "/v")));
        await OkAsync("Clear-FileStorageTier", new() { ["FilePath"] = "/v/f" });
        Assert.Empty(await PinsAsync("VolumePath", "/v"));
        Assert.Equal("CmdletizationQuery_NotFound_FilePath", Error(await _host.SendAsync("Clear-FileStorageTier", new() { ["FilePath"] = "/v/f" }), "ErrorId"));
        Assert.Equal("CmdletizationQuery_NotFound_FilePath", Error(await _host.SendAsync("Get-FileStorageTier", new() { ["FilePath"] = "/v/f" }), "ErrorId"));
        Assert.Equal(["/other/g"], Paths(await PinsAsync("FilePath", "/other/g")));
    }

    [Fact]
    public async Task The_tier_is_named_by_name_identifier_or_itself()
    {
        string tier = (await OkAsync("Get-StorageTier", new() { ["FriendlyName"] = new[] { "d_slow" } })).GetProperty("Objects")[0].GetProperty("UniqueId")
            .GetString()!;
        await OkAsync("Set-FileStorageTier", new() { ["FilePath"] = "/v/f", ["DesiredStorageTierUniqueId"] = tier, ["Now"] = true });
        await OkAsync("Set-FileStorageTier", new() { ["FilePath"] = "/other/g", ["DesiredStorageTier"] = tier });
        Assert.All([.. await PinsAsync("FilePath", "/v/f"), .. await PinsAsync("FilePath", "/other/g")], pin => Assert.Equal(
            "d_slow Capacity", $"{pin.GetProperty("DesiredStorageTierName")} {pin.GetProperty("DesiredStorageTierClass")}"));
        await PinAsync("/v/f", "d_fast");   // in place of the pin that it has
        Assert.Equal("d_fast", Assert.Single(await PinsAsync("FilePath", "/v/f")).GetProperty("DesiredStorageTierName").GetString());
    }

    [Fact]
    public async Task What_cannot_be_is_refused_and_changes_nothing()
    {
        await PinAsync("/v/f");
        JsonElement rejected = await _host.SendAsync("Set-FileStorageTier", new() { ["FilePath"] = "/v/large", ["DesiredStorageTierFriendlyName"] = "d_fast" });
        Assert.Contains("At most 2 MB more can be pinned to it", Error(rejected, "ExtendedInformation"));
        Assert.Equal("40000", Error(rejected, "Code"));
        rejected = await _host.SendAsync("Set-FileStorageTier", new() { ["FilePath"] = "/v/f", ["DesiredStorageTierFriendlyName"] = "fast" });
        Assert.Contains("No MSFT_StorageTier objects found", Error(rejected, "Message"));
        rejected = await _host.SendAsync("Set-FileStorageTier", new() { ["FilePath"] = "/v/none", ["DesiredStorageTierFriendlyName"] = "d_fast" });
        Assert.Contains("'/v/none' cannot be opened", Error(rejected, "ExtendedInformation"));
        _host.Files.Put("/plain", (await OkAsync("Get-VirtualDisk", new() { ["FriendlyName"] = new[] { "v" } })).GetProperty("Objects")[0].GetProperty(
            "UniqueId")
            .GetString()!, new PinnedRange(0, 1));
        rejected = await _host.SendAsync("Set-FileStorageTier", new() { ["FilePath"] = "/plain", ["DesiredStorageTierFriendlyName"] = "d_fast" });
        Assert.Contains("Virtual disk 'v', which '/plain' is on, has no tiers.", Error(rejected, "ExtendedInformation"));
        Assert.Equal(["/v/f"], Paths(await PinsAsync("VolumePath", "/v")));
    }

    [Fact]
    public async Task A_range_is_on_its_tier_at_once_and_stays_there_while_it_is_cold_until_it_is_let_go_of()
    {
        await _host.WriteAsync("d", (int)Slice, Enumerable.Range(0, 16).Select(slice => slice * Slice));   // 0 to 3 are on the fast tier
        await _host.WriteAsync("d", 4096, Enumerable.Repeat(Enumerable.Range(12, 4), 50).SelectMany(round => round).Select(slice => slice * Slice));
        await PinRangeAsync((8 * Slice) + 5, Slice);
        Assert.Equal("Pending Not on tier", Said(Assert.Single(await PinsOfDiskAsync()), "State", "PlacementStatus"));
        await PinRangeAsync((8 * Slice) + 5, Slice, now: true);
        JsonElement pin = Assert.Single(await PinsOfDiskAsync());
        Assert.Equal(
            $" OK Completely on tier 2097152 {_disk} {8 * Slice} {2 * Slice} 2 MB at offset 8 MB",
            Said(pin, "FilePath", "State", "PlacementStatus", "FileSizeOnDesiredStorageTier", "VirtualDiskUniqueId", "Offset", "Length", "Place"));
        Assert.Equal("d_fast d_fast", await TiersAsync(8, 9));

        await _host.CloseAsync();
        await _host.OpenAsync();
        Assert.Equal(pin.ToString(), Assert.Single(await PinsOfDiskAsync()).ToString());
        await OkAsync("Optimize-StorageTier", new() { ["VirtualDisk"] = new[] { "d" } });
        Assert.Equal("d_fast d_fast", await TiersAsync(8, 9));
        Assert.Equal(2, (await TiersAsync(12, 13, 14, 15)).Split("d_fast").Length - 1);

        await ClearRangeAsync(8 * Slice, 2 * Slice);
        Assert.Equal("d_fast d_fast", await TiersAsync(8, 9));   // nothing moves for that
        await OkAsync("Optimize-StorageTier", new() { ["VirtualDisk"] = new[] { "d" } });
        Assert.Equal("d_slow d_slow", await TiersAsync(8, 9));
        Assert.Equal("d_fast d_fast d_fast d_fast", await TiersAsync(12, 13, 14, 15));
    }

    [Theory]
    [InlineData("VirtualDiskFriendlyName", "DesiredStorageTierFriendlyName")]
    [InlineData("VirtualDiskFriendlyName", "DesiredStorageTier")]
    [InlineData("VirtualDiskFriendlyName", "DesiredStorageTierUniqueId")]
    [InlineData("VirtualDiskUniqueId", "DesiredStorageTierFriendlyName")]
    [InlineData("VirtualDiskUniqueId", "DesiredStorageTier")]
    [InlineData("VirtualDiskUniqueId", "DesiredStorageTierUniqueId")]
    [InlineData("VirtualDisk", "DesiredStorageTierFriendlyName")]
    [InlineData("VirtualDisk", "DesiredStorageTier")]
    [InlineData("VirtualDisk", "DesiredStorageTierUniqueId")]
    public async Task Virtual_disk_and_tier_of_a_range_are_named_in_every_way(string diskBy, string tierBy)
    {
        string tier = (await OkAsync("Get-StorageTier", new() { ["FriendlyName"] = new[] { "d_slow" } })).GetProperty("Objects")[0].GetProperty("UniqueId")
            .GetString()!;
        string named = diskBy == "VirtualDiskFriendlyName" ? "d" : _disk;
        await OkAsync("Set-FileStorageTier", new()
        {
            [diskBy] = named, [tierBy] = tierBy == "DesiredStorageTierFriendlyName" ? "d_slow" : tier, ["Offset"] = Slice, ["Length"] = 1,
        });
        JsonElement pin = Assert.Single(await PinsOfDiskAsync(diskBy, named));
        Assert.Equal($"d_slow {Slice} {Slice}", Said(pin, "DesiredStorageTierName", "Offset", "Length"));
        await OkAsync("Clear-FileStorageTier", new() { [diskBy] = new[] { named }, ["Offset"] = Slice, ["Length"] = 1 });
        Assert.Empty(await PinsOfDiskAsync(diskBy, named));
    }

    [Fact]
    public async Task Pins_of_files_and_ranges_are_listed_together_or_those_that_have_a_slice_of_a_range()
    {
        await PinAsync("/v/f");   // slices 2 and 5
        await PinRangeAsync(8 * Slice, 2 * Slice, "d_slow");
        await PinRangeAsync(0, 1, "d_slow");
        Assert.Equal(["1 MB at offset 0", "2 MB at offset 8 MB", "/v/f"], Places(await PinsOfDiskAsync()));
        Assert.Equal(["/v/f"], Places(await PinsOfDiskAsync(offset: (2 * Slice) + 8192, length: 1)));   // slices are pinned whole
        Assert.Equal(["2 MB at offset 8 MB"], Places(await PinsOfDiskAsync(offset: 9 * Slice)));
        Assert.Equal(["1 MB at offset 0", "/v/f"], Places(await PinsOfDiskAsync(length: (2 * Slice) + 1)));
        Assert.Empty(await PinsOfDiskAsync(offset: 3 * Slice, length: 2 * Slice));
        Assert.Equal(["/v/f"], Places(await PinsAsync("VolumePath", "/v")));
        Assert.Equal(JsonValueKind.Null, Assert.Single(await PinsAsync("FilePath", "/v/f")).GetProperty("Offset").ValueKind);
        Assert.Equal("CmdletizationQuery_NotFound_FilePath", Error(await _host.SendAsync("Get-FileStorageTier", new() { ["FilePath"] = "" }), "ErrorId"));
        Assert.Equal("CmdletizationQuery_NotFound_FilePath", Error(await _host.SendAsync("Clear-FileStorageTier", new() { ["FilePath"] = "" }), "ErrorId"));
    }

    [Fact]
    public async Task Pins_within_a_range_are_taken_away_and_those_beyond_it_stay()
    {
        await PinAsync("/v/f");   // slices 2 and 5
        await PinRangeAsync(0, 3 * Slice, "d_slow");
        await PinRangeAsync(Slice, Slice, "d_slow");
        await PinRangeAsync(2 * Slice, Slice);
        await PinRangeAsync(2 * Slice, Slice, "d_slow");   // in place of the one before
        Assert.Equal(4, (await PinsOfDiskAsync()).Length);
        JsonElement cleared = await ClearRangeAsync(Slice + 1, Slice);   // slices 1 and 2
        Assert.Equal("Pins that reach beyond 2 MB at offset 1 MB of virtual disk 'd' stay: 3 MB at offset 0.",
        Assert.Single(cleared.GetProperty("Warnings").EnumerateArray()).GetString());
        Assert.Equal(["3 MB at offset 0", "/v/f"], Places(await PinsOfDiskAsync()));
        JsonElement rejected = await _host.SendAsync("Clear-FileStorageTier", Range("d", Slice, Slice));
        Assert.Equal("8", Error(rejected, "Code"));
        Assert.Equal("No range of virtual disk 'd' is pinned within 1 MB at offset 1 MB. Pinned beyond it: 3 MB at offset 0.",
            Error(rejected, "ExtendedInformation"));

        string[] pins = (await PinsOfDiskAsync()).Select(pin => pin.GetProperty("PinUniqueId").GetString()!).ToArray();
        await OkAsync("Clear-FileStorageTier", new() { ["InputObject"] = pins });
        Assert.Empty(await PinsOfDiskAsync());
        Assert.Equal("8", Error(await _host.SendAsync("Clear-FileStorageTier", new() { ["InputObject"] = pins[..1] }), "Code"));
    }

    [Theory]
    [InlineData("d", 0, 0, "d_fast", 5, "-Length 0: ")]
    [InlineData("d", 16 * Slice, 1, "d_fast", 5, "-Offset 16 MB is not within virtual disk 'd', which has 16 MB.")]
    [InlineData("d", 15 * Slice, Slice + 1, "d_fast", 5,
        "-Length 1 MB (1048577 bytes) behind -Offset 15 MB is not within virtual disk 'd', which has 16 MB. Give a length of 1 to 1 MB.")]
    [InlineData("d", 1, ulong.MaxValue, "d_fast", 5, "-Length 16384 PB (18446744073709551615 bytes): is too large")]
    [InlineData("d", long.MaxValue, long.MaxValue, "d_fast", 5, "-Offset 8192 PB (9223372036854775807 bytes) is not within")]
    [InlineData("d", 0, 5 * Slice, "d_fast", 40000, "At most 4 MB more can be pinned to it")]
    [InlineData("d", 0, Slice, "e_fast", 8, "Virtual disk 'd' has the storage tiers d_fast, d_slow. Name one of them.")]
    [InlineData("d", 0, Slice, "none", 8, "No MSFT_StorageTier objects found with property 'FriendlyName' equal to 'none'.")]
    [InlineData("none", 0, Slice, "d_fast", 8, "No MSFT_VirtualDisk objects found with property 'FriendlyName' equal to 'none'.")]
    [InlineData("v", 0, Slice, "d_fast", 1, "Virtual disk 'v' has no tiers. Only virtual disks made with -StorageTiers have.")]
    [InlineData("?", 0, Slice, "d_fast", 5, "'?' fits 3 MSFT_VirtualDisk objects")]
    public async Task A_range_that_cannot_be_is_refused_and_changes_nothing(string name, ulong offset, ulong length, string tier, int code, string message)
    {
        await OkAsync("New-VirtualDisk", new()
        {
            ["StoragePoolFriendlyName"] = new[] { "m" }, ["FriendlyName"] = "e", ["StorageTiers"] = new[] { "fast", "slow" },
            ["StorageTierSizes"] = new[] { 4 * Slice, 12 * Slice }, ["WriteCacheSize"] = 0,
        });
        await PinRangeAsync(0, Slice, "d_slow");
        Dictionary<string, object?> range = new Dictionary<string, object?> { ["VirtualDiskFriendlyName"] = name, ["Offset"] = offset, ["Length"] = length };
        foreach (bool isWhatIf in new[] { true, false })
        {
            JsonElement rejected = await _host.SendAsync(
                "Set-FileStorageTier", new(range) { ["DesiredStorageTierFriendlyName"] = tier, ["Now"] = true, ["WhatIf"] = isWhatIf });
            Assert.Equal($"{code}", Error(rejected, "Code"));
            Assert.Contains(message,
                string.Join(' ', ((string[])["Message", "ExtendedInformation", "RecommendedAction"]).Select(part => Error(rejected, part))),
                StringComparison.Ordinal);
        }

        Assert.Equal(["1 MB at offset 0"], Places(await PinsOfDiskAsync()));
    }

    [Theory]
    [InlineData("Clear-FileStorageTier", "d", 0, 0, 5)]
    [InlineData("Clear-FileStorageTier", "d", 16 * Slice, 1, 5)]
    [InlineData("Clear-FileStorageTier", "d", 0, (16 * Slice) + 1, 5)]
    [InlineData("Clear-FileStorageTier", "d", Slice, Slice, 8)]
    [InlineData("Clear-FileStorageTier", "v", 0, Slice, 1)]
    [InlineData("Clear-FileStorageTier", "none", 0, Slice, 8)]
    [InlineData("Get-FileStorageTier", "d", 0, 0, 5)]
    [InlineData("Get-FileStorageTier", "d", 16 * Slice, 1, 5)]
    [InlineData("Get-FileStorageTier", "v", 0, Slice, 1)]
    [InlineData("Get-FileStorageTier", "none", 0, Slice, 8)]
    public async Task What_is_not_there_is_neither_listed_nor_taken_away(string verb, string name, long offset, long length, int code)
    {
        await PinRangeAsync(0, Slice);
        Assert.Equal($"{code}", Error(await _host.SendAsync(verb, Range(name, offset, length)), "Code"));
        Assert.Single(await PinsOfDiskAsync());
    }

    private async Task<JsonElement> OkAsync(string verb, Dictionary<string, object?> request)
    {
        JsonElement reply = await _host.SendAsync(verb, request);
        Assert.Equal("[]", reply.GetProperty("Errors").ToString());
        return reply;
    }

    private Task<JsonElement> PinAsync(string path, string tier = "d_fast") =>
        OkAsync("Set-FileStorageTier", new() { ["FilePath"] = path, ["DesiredStorageTierFriendlyName"] = tier });

    private async Task<JsonElement[]> PinsAsync(string parameter, string path) =>
        [.. (await OkAsync("Get-FileStorageTier", new() { [parameter] = path })).GetProperty("Objects").EnumerateArray()];

    private Task<JsonElement> PinRangeAsync(long offset, long length, string tier = "d_fast", bool now = false) => OkAsync("Set-FileStorageTier", new()
    {
        ["VirtualDiskFriendlyName"] = "d", ["Offset"] = offset, ["Length"] = length, ["DesiredStorageTierFriendlyName"] = tier, ["Now"] = now,
    });

    private Task<JsonElement> ClearRangeAsync(long offset, long length) => OkAsync("Clear-FileStorageTier", Range("d", offset, length));

    private async Task<JsonElement[]> PinsOfDiskAsync(string parameter = "VirtualDisk", string name = "d", long? offset = null, long? length = null) =>
        [.. (await OkAsync("Get-FileStorageTier", new() { [parameter] = new[] { name }, ["Offset"] = offset, ["Length"] = length })).GetProperty("Objects")
            .EnumerateArray()];

    private async Task<string> TiersAsync(params int[] slices)
    {
        JsonElement[] all = (await OkAsync("Get-StorageTierHeatMap", new() { ["FriendlyName"] = new[] { "d" } })).GetProperty("Objects").EnumerateArray()
            .ToArray();
        return string.Join(' ', slices.Select(slice => all.Single(one => one.GetProperty("Slice").GetInt32() == slice).GetProperty("Tier").GetString()));
    }

    private static Dictionary<string, object?> Range(string name, long offset, long length) =>
        new() { ["VirtualDiskFriendlyName"] = new[] { name }, ["Offset"] = offset, ["Length"] = length };

    private static string Said(JsonElement pin, params string[] properties) => string.Join(' ', properties.Select(name => pin.GetProperty(name).ToString()));

    private static IEnumerable<string> Places(IEnumerable<JsonElement> pins) => pins.Select(pin => pin.GetProperty("Place").GetString()!);

    private static IEnumerable<string> Paths(IEnumerable<JsonElement> pins) => pins.Select(pin => pin.GetProperty("FilePath").GetString()!);

    private static string Error(JsonElement reply, string property) => Assert.Single(reply.GetProperty("Errors").EnumerateArray().ToArray())
        .GetProperty(property).ToString();
}
