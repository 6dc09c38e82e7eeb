using System.Text.Json;
using TierSpaces.Engine.Formats;

namespace TierSpaces.Host.Tests.Verbs;

/// <summary>Files pinned through verbs; where they lie is made up. Virtual disk d has 4 MiB on SSD and 12 MiB on HDD.</summary>
public sealed class FileStorageTierVerbTests : IAsyncLifetime
{
    private const long Slice = 1 << 20;
    private InProcessHost host = null!;
    private string disk = "";

    public async ValueTask InitializeAsync()
    {
        host = await InProcessHost.StartAsync();
        await OkAsync("New-PhysicalDisk", new() { ["Path"] = new[] { host.Image("s") }, ["Size"] = 128 << 20, ["MediaType"] = "SSD" });
        await OkAsync("New-PhysicalDisk", new() { ["Path"] = new[] { host.Image("h") }, ["Size"] = 128 << 20, ["MediaType"] = "HDD" });
        await OkAsync("New-StoragePool", new() { ["FriendlyName"] = "m", ["PhysicalDisks"] = new[] { "[sh]" }, ["ResiliencySettingNameDefault"] = "Simple" });
        await OkAsync("New-StorageTier", new() { ["StoragePoolFriendlyName"] = new[] { "m" }, ["FriendlyName"] = "fast", ["MediaType"] = "SSD" });
        await OkAsync("New-StorageTier", new() { ["StoragePoolFriendlyName"] = new[] { "m" }, ["FriendlyName"] = "slow", ["MediaType"] = "HDD" });
        var made = await OkAsync("New-VirtualDisk", new()
        {
            ["StoragePoolFriendlyName"] = new[] { "m" }, ["FriendlyName"] = "d", ["StorageTiers"] = new[] { "fast", "slow" },
            ["StorageTierSizes"] = new[] { 4 * Slice, 12 * Slice }, ["WriteCacheSize"] = 0,
        });
        disk = made.GetProperty("Objects")[0].GetProperty("UniqueId").GetString()!;
        host.Files.Put("/v/f", disk, new PinnedRange(5 * Slice, Slice), new PinnedRange(2 * Slice, 4096));
        host.Files.Put("/v/large", disk, new PinnedRange(5 * Slice, (3 * Slice) + 1));
        host.Files.Put("/other/g", disk, new PinnedRange(9 * Slice, Slice));
    }

    public ValueTask DisposeAsync() => host.DisposeAsync();

    [Fact]
    public async Task A_file_is_pinned_shown_and_let_go_of()
    {
        Assert.Equal(0, (await PinAsync("/v/f")).GetProperty("Objects").GetArrayLength());
        await PinAsync("/other/g", "d_slow");
        var pin = Assert.Single(await PinsAsync("FilePath", "/v/f"));
        Assert.Equal("/v/f d_fast Performance 1052672 " + disk, string.Join(' ', ((string[])
            ["FilePath", "DesiredStorageTierName", "DesiredStorageTierClass", "FileSize", "VirtualDiskUniqueId"]).Select(name => pin.GetProperty(name).ToString())));
        Assert.Equal(["/v/f"], Paths(await PinsAsync("VolumePath", "/v")));
        await host.CloseAsync();
        await host.OpenAsync();
        Assert.Equal(["/v/f"], Paths(await PinsAsync("VolumePath", "/v")));
        await OkAsync("Clear-FileStorageTier", new() { ["FilePath"] = "/v/f" });
        Assert.Empty(await PinsAsync("VolumePath", "/v"));
        Assert.Equal("CmdletizationQuery_NotFound_FilePath", Error(await host.SendAsync("Clear-FileStorageTier", new() { ["FilePath"] = "/v/f" }), "ErrorId"));
        Assert.Equal("CmdletizationQuery_NotFound_FilePath", Error(await host.SendAsync("Get-FileStorageTier", new() { ["FilePath"] = "/v/f" }), "ErrorId"));
        Assert.Equal(["/other/g"], Paths(await PinsAsync("FilePath", "/other/g")));
    }

    [Fact]
    public async Task The_tier_is_named_by_name_identifier_or_itself()
    {
        var tier = (await OkAsync("Get-StorageTier", new() { ["FriendlyName"] = new[] { "d_slow" } })).GetProperty("Objects")[0].GetProperty("UniqueId").GetString()!;
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
        var refused = await host.SendAsync("Set-FileStorageTier", new() { ["FilePath"] = "/v/large", ["DesiredStorageTierFriendlyName"] = "d_fast" });
        Assert.Contains("At most 2097152 bytes more can be pinned to it", Error(refused, "ExtendedInformation"));
        Assert.Equal("40000", Error(refused, "Code"));
        refused = await host.SendAsync("Set-FileStorageTier", new() { ["FilePath"] = "/v/f", ["DesiredStorageTierFriendlyName"] = "fast" });
        Assert.Contains("No MSFT_StorageTier objects found", Error(refused, "Message"));
        refused = await host.SendAsync("Set-FileStorageTier", new() { ["FilePath"] = "/v/none", ["DesiredStorageTierFriendlyName"] = "d_fast" });
        Assert.Contains("'/v/none' cannot be opened", Error(refused, "ExtendedInformation"));
        host.Files.Put("/plain", (await OkAsync("Get-VirtualDisk", new() { ["FriendlyName"] = new[] { "v" } })).GetProperty("Objects")[0].GetProperty("UniqueId").GetString()!, new PinnedRange(0, 1));
        refused = await host.SendAsync("Set-FileStorageTier", new() { ["FilePath"] = "/plain", ["DesiredStorageTierFriendlyName"] = "d_fast" });
        Assert.Contains("Virtual disk 'v', which '/plain' is on, has no tiers.", Error(refused, "ExtendedInformation"));
        Assert.Equal(["/v/f"], Paths(await PinsAsync("VolumePath", "/v")));
    }

    private async Task<JsonElement> OkAsync(string verb, Dictionary<string, object?> request)
    {
        var reply = await host.SendAsync(verb, request);
        Assert.Equal("[]", reply.GetProperty("Errors").ToString());
        return reply;
    }

    private Task<JsonElement> PinAsync(string path, string tier = "d_fast") =>
        OkAsync("Set-FileStorageTier", new() { ["FilePath"] = path, ["DesiredStorageTierFriendlyName"] = tier });

    private async Task<JsonElement[]> PinsAsync(string parameter, string path) =>
        [.. (await OkAsync("Get-FileStorageTier", new() { [parameter] = path })).GetProperty("Objects").EnumerateArray()];

    private static IEnumerable<string> Paths(IEnumerable<JsonElement> pins) => pins.Select(pin => pin.GetProperty("FilePath").GetString()!);

    private static string Error(JsonElement reply, string property) => Assert.Single(reply.GetProperty("Errors").EnumerateArray().ToArray()).GetProperty(property).ToString();
}
