using System.Text.Json;

namespace TierSpaces.Host.Tests.Verbs;

/// <summary>When tiers are optimized without a command, asked and set through verbs: of the pools p and m.</summary>
public sealed class StorageTierScheduleVerbTests : IAsyncLifetime
{
    private static readonly string[] s_m = ["m"];
    private InProcessHost _host = null!;

    public async ValueTask InitializeAsync()
    {
        _host = await InProcessHost.StartAsync();
        await ObjectsAsync("New-PhysicalDisk", new() { ["Path"] = new[] { _host.Image("s") }, ["Size"] = 128 << 20, ["MediaType"] = "SSD" });
        await ObjectsAsync("New-StoragePool", new() { ["FriendlyName"] = "m", ["PhysicalDisks"] = new[] { "s" } });
    }

    public ValueTask DisposeAsync() => _host.DisposeAsync();

    [Fact]
    public async Task The_schedule_of_a_pool_is_shown_and_changed_and_kept()
    {
        Assert.Equal(["m Storage Tiers Optimization True [\"01:00\"] False 10", "p Storage Tiers Optimization True [\"01:00\"] False 10"],
            await SchedulesAsync([]));
        JsonElement set = Assert.Single(await ObjectsAsync("Set-StorageTierSchedule", new()
        {
            ["StoragePoolFriendlyName"] = s_m, ["Time"] = new[] { "13:30", "1:05", "01:05" }, ["Continuous"] = true, ["FreeReservePercent"] = 25,
                ["PassThru"] = true,
        }));
        Assert.Equal("m True [\"01:05\",\"13:30\"] True 25", Text(set, "StoragePoolFriendlyName", "Enabled", "Time", "Continuous", "FreeReservePercent"));
        Assert.Empty(await ObjectsAsync("Set-StorageTierSchedule", new() { ["InputObject"] = s_m, ["Enabled"] = false }));
        await _host.CloseAsync();
        await _host.OpenAsync();
        Assert.Equal(["m Storage Tiers Optimization False [\"01:05\",\"13:30\"] True 25"], await SchedulesAsync(new() { ["StoragePoolFriendlyName"] = s_m }));
        Assert.Equal(["p Storage Tiers Optimization True [\"01:00\"] False 10"], await SchedulesAsync(new() { ["InputObject"] = new[] { "p" } }));
        foreach (string time in (string[])["24:00", "noon", "1:0", ""])
        {
            JsonElement rejected = await _host.SendAsync(
                "Set-StorageTierSchedule", new() { ["StoragePoolFriendlyName"] = s_m, ["Time"] = new[] { "02:00", time } });
            Assert.Contains($"-Time '{time}' is no time of day; 00:00 to 23:59 are possible.", Error(rejected, "ExtendedInformation"));
        }

        Assert.Equal("48000", Error(await _host.SendAsync("Get-StorageTierSchedule", new() { ["StoragePoolFriendlyName"] = new[] { "Primordial" } }), "Code"));
        Assert.Equal(["m Storage Tiers Optimization False [\"01:05\",\"13:30\"] True 25"], await SchedulesAsync(new() { ["StoragePoolFriendlyName"] = s_m }));
    }

    [Fact]
    public async Task The_limits_of_runs_are_set_each_by_itself_and_kept()
    {
        Assert.Equal("0 0", await LimitsAsync());
        await ObjectsAsync("Set-StorageTierSchedule", new() { ["StoragePoolFriendlyName"] = s_m, ["MaximumBytes"] = 1L << 34 });
        await ObjectsAsync("Set-StorageTierSchedule", new() { ["StoragePoolFriendlyName"] = s_m, ["LatencyTarget"] = 20 });
        await _host.CloseAsync();
        await _host.OpenAsync();
        Assert.Equal($"{1L << 34} 20", await LimitsAsync());
        foreach ((string parameter, long value, string says) in new[]
        {
            ("MaximumBytes", 16_777_215L, "Valid: 0 for no limit, or 16 MB or more."), ("LatencyTarget", 10_001, "Valid: 0 for no limit, or 1 to 10000"),
        })
        {
            JsonElement refused = await _host.SendAsync("Set-StorageTierSchedule", new() { ["StoragePoolFriendlyName"] = s_m, [parameter] = value });
            Assert.Contains(says, Error(refused, "ExtendedInformation"), StringComparison.Ordinal);
        }

        Assert.Equal($"{1L << 34} 20", await LimitsAsync());
        await ObjectsAsync("Set-StorageTierSchedule", new() { ["StoragePoolFriendlyName"] = s_m, ["MaximumBytes"] = 0, ["LatencyTarget"] = 0 });
        Assert.Equal("0 0", await LimitsAsync());
    }

    private async Task<string> LimitsAsync() =>
        Text(Assert.Single(await ObjectsAsync("Get-StorageTierSchedule", new() { ["StoragePoolFriendlyName"] = s_m })), "MaximumBytes", "LatencyTarget");

    private async Task<string[]> SchedulesAsync(Dictionary<string, object?> request) => [.. (await ObjectsAsync("Get-StorageTierSchedule", request))
        .Select(info => Text(info, "StoragePoolFriendlyName", "TaskName", "Enabled", "Time", "Continuous", "FreeReservePercent"))
            .Order(StringComparer.Ordinal)];

    private async Task<JsonElement[]> ObjectsAsync(string verb, Dictionary<string, object?> request)
    {
        JsonElement reply = await _host.SendAsync(verb, request);
        Assert.Equal("[]", reply.GetProperty("Errors").ToString());
        return [.. reply.GetProperty("Objects").EnumerateArray()];
    }

    private static string Text(JsonElement info, params string[] properties) =>
        string.Join(' ', properties.Select(property => info.GetProperty(property).ToString()));

    private static string Error(JsonElement reply, string property) => Assert.Single(reply.GetProperty("Errors").EnumerateArray().ToArray())
        .GetProperty(property).ToString();
}
