using System.Text.Json;

namespace TierSpaces.Host.Tests.Verbs;

/// <summary>The write cache of a virtual disk as verbs make, show and change it.</summary>
public sealed class WriteCacheVerbTests : IAsyncLifetime
{
    private InProcessHost _host = null!;

    public async ValueTask InitializeAsync() => _host = await InProcessHost.StartAsync();

    public ValueTask DisposeAsync() => _host.DisposeAsync();

    [Fact]
    public async Task A_cache_is_made_shown_and_counted_in_the_footprint()
    {
        JsonElement made = Assert.Single(await ObjectsAsync("New-VirtualDisk", New("c", ("WriteCacheSize", (3 << 20) + 1))));
        Assert.Equal(4ul << 20, made.GetProperty("WriteCacheSize").GetUInt64());
        JsonElement without = Assert.Single(await ObjectsAsync("New-VirtualDisk", New("n")));
        Assert.Equal(
            without.GetProperty("FootprintOnPool").GetUInt64() + (8ul << 20), made.GetProperty("FootprintOnPool").GetUInt64());
        JsonElement[] caches = await ObjectsAsync("Get-VirtualDiskWriteCache", new() { ["FriendlyName"] = new[] { "c", "n" } });
        Assert.Equal(["0 None", $"{4 << 20} c"], caches.Select(cache =>
            $"{cache.GetProperty("Size")} {(cache.GetProperty("State").GetString() == "None" ? "None" : cache.GetProperty("FriendlyName"))}").Order());
        Assert.Equal(3, (await ObjectsAsync("Get-VirtualDiskWriteCache", [])).Length);   // c, n, and v of the host
    }

    [Fact]
    public async Task A_cache_is_put_in_another_pool_and_limited_there()
    {
        await OkAsync("New-PhysicalDisk", new() { ["Path"] = new[] { _host.Image("l1"), _host.Image("l2") }, ["Size"] = 128 << 20, ["MediaType"] = "SSD" });
        await OkAsync("New-StoragePool", new() { ["FriendlyName"] = "flash", ["PhysicalDisks"] = new[] { "l1", "l2" } });
        await OkAsync("Set-StoragePool", new() { ["FriendlyName"] = "flash", ["LentWriteCacheSizeMax"] = 10 << 20 });
        string told = string.Join(
            '\n', (await _host.SendAsync("New-VirtualDisk", New("c", ("CachePool", "Flash"), ("WriteCacheSize", 4 << 20), ("WhatIf", true)))).GetProperty(
                "Steps")
                .EnumerateArray());
        Assert.Contains("physical disk 'l1': 4 slabs for the write cache", told);
        await OkAsync("New-VirtualDisk", New("c", ("CachePool", "Flash"), ("WriteCacheSize", 4 << 20)));
        Assert.Equal("flash", Assert.Single(await ObjectsAsync("Get-VirtualDiskWriteCache", Named("c"))).GetProperty("CachePool").GetString());
        JsonElement pool = Assert.Single(await ObjectsAsync("Get-StoragePool", Named("flash")));
        Assert.Equal((8ul << 20, 10ul << 20), (pool.GetProperty("LentWriteCacheSize").GetUInt64(), pool.GetProperty("LentWriteCacheSizeMax").GetUInt64()));
        foreach ((string cachePool, long size,
            int code) in new (string, long, int)[] { ("none", 1, 8), ("Primordial", 1, 48000), ("flash", 4 << 20, 50005), ("flash", 0, 50005) })
        {
            JsonElement error = Assert.Single(
                (await _host.SendAsync("New-VirtualDisk", New("d", ("CachePool", cachePool), ("WriteCacheSize", size)))).GetProperty("Errors").EnumerateArray()
                    .ToArray());
            Assert.Equal(code, error.GetProperty("Code").GetInt32());
        }
    }

    [Fact]
    public async Task What_a_plan_would_refuse_is_refused_and_what_it_would_do_is_told()
    {
        Dictionary<string, object?> request = New("c", ("WriteCacheSize", 4 << 20), ("WhatIf", true));
        string told = string.Join('\n', (await _host.SendAsync("New-VirtualDisk", request)).GetProperty("Steps").EnumerateArray());
        Assert.Contains("write cache 4 MB", told);
        Assert.Contains("4 slabs for the write cache", told);
        request["WriteCacheSize"] = 1L << 40;
        JsonElement error = Assert.Single((await _host.SendAsync("New-VirtualDisk", request)).GetProperty("Errors").EnumerateArray().ToArray());
        Assert.Equal(50005, error.GetProperty("Code").GetInt32());
        Assert.Contains("-WriteCacheSize 1 TB is more than there is room for: at most ", error.GetProperty("ExtendedInformation").GetString());
    }

    [Fact]
    public async Task How_it_is_destaged_is_set_and_survives_a_restart()
    {
        await OkAsync("New-VirtualDisk", New("c", ("WriteCacheSize", 4 << 20)));
        Assert.Equal("25 10 2 0 False ", Settings(Assert.Single(await ObjectsAsync("Get-VirtualDiskWriteCache", Named("c")))));
        await OkAsync("Set-VirtualDisk", Set(("DestageStart", 50), ("DestageStop", 20)));
        await OkAsync("Set-VirtualDisk", Set(("DestageIdle", 30), ("DestageBytesPerSecond", 100 << 20), ("DestageHold", true), ("DestageHoldUntil", "3:30")));
        await _host.CloseAsync();
        await _host.OpenAsync();
        Assert.Equal($"50 20 30 {100 << 20} True 03:30", Settings(Assert.Single(await ObjectsAsync("Get-VirtualDiskWriteCache", Named("c")))));
        await OkAsync("Set-VirtualDisk", Set(("DestageHold", false), ("DestageHoldUntil", "None"), ("DestageBytesPerSecond", 0)));
        Assert.Equal("50 20 30 0 False ", Settings(Assert.Single(await ObjectsAsync("Get-VirtualDiskWriteCache", Named("c")))));
    }

    [Fact]
    public async Task It_is_given_another_size_and_other_settings_in_one_call_or_neither()
    {
        await OkAsync("New-VirtualDisk", New("c", ("WriteCacheSize", 4 << 20)));
        await OkAsync("Set-VirtualDisk", Set(("WriteCacheSize", 2 << 20), ("DestageIdle", 7)));
        JsonElement cache = Assert.Single(await ObjectsAsync("Get-VirtualDiskWriteCache", Named("c")));
        Assert.Equal((2ul << 20, "Active", 7u), (cache.GetProperty("Size").GetUInt64(), cache.GetProperty("State").GetString(), cache.GetProperty("DestageIdle")
            .GetUInt32()));
        JsonElement error = Assert.Single((await _host.SendAsync("Set-VirtualDisk", Set(("WriteCacheSize", 1L << 40), ("DestageIdle", 8)))).GetProperty(
            "Errors")
            .EnumerateArray().ToArray());
        Assert.Equal(50005, error.GetProperty("Code").GetInt32());
        Assert.Equal("25 10 7 0 False ", Settings(Assert.Single(await ObjectsAsync("Get-VirtualDiskWriteCache", Named("c")))));
        await OkAsync("Set-VirtualDisk", Set(("WriteCacheSize", 0)));
        Assert.Equal("None", Assert.Single(await ObjectsAsync("Get-VirtualDiskWriteCache", Named("c"))).GetProperty("State").GetString());
    }

    [Theory]
    [InlineData("DestageStart", 0, "-DestageStart 0: out of range. Valid: 1 to 95 percent.")]
    [InlineData("DestageStart", 96, "-DestageStart 96: out of range. Valid: 1 to 95 percent.")]
    [InlineData("DestageStart", 10, "-DestageStart 10 is not above DestageStop, which is 10.")]
    [InlineData("DestageStop", 25, "-DestageStop 25: not below DestageStart, which is 25. Valid: 0 to 24.")]
    [InlineData("DestageIdle", 86401, "-DestageIdle 86401: out of range. Valid: 0 to 86400 seconds.")]
    [InlineData("DestageBytesPerSecond", ulong.MaxValue, "-DestageBytesPerSecond 16384 PB (18446744073709551615 bytes): is too large. Valid: 0 to 8192 PB (9223372036854775807 bytes).")]
    [InlineData("DestageHoldUntil", "24:00", "-DestageHoldUntil '24:00' is no time of day; 00:00 to 23:59 and None are possible.")]
    public async Task What_is_outside_its_range_is_refused_and_changes_nothing(string parameter, object value, string why)
    {
        await OkAsync("New-VirtualDisk", New("c", ("WriteCacheSize", 4 << 20)));
        JsonElement error = Assert.Single((await _host.SendAsync("Set-VirtualDisk", Set((parameter, value)))).GetProperty("Errors").EnumerateArray().ToArray());
        Assert.Equal((5, why), (error.GetProperty("Code").GetInt32(), error.GetProperty("ExtendedInformation").GetString()));
        Assert.Equal("25 10 2 0 False ", Settings(Assert.Single(await ObjectsAsync("Get-VirtualDiskWriteCache", Named("c")))));
    }

    [Fact]
    public async Task Settings_of_a_disk_without_a_cache_are_kept_with_a_remark()
    {
        JsonElement reply = await _host.SendAsync("Set-VirtualDisk", new() { ["FriendlyName"] = "v", ["DestageIdle"] = 5 });
        Assert.Contains("has no write cache", Assert.Single(reply.GetProperty("Warnings").EnumerateArray().ToArray()).GetString());
        Assert.Equal("25 10 5 0 False ", Settings(Assert.Single(await ObjectsAsync("Get-VirtualDiskWriteCache", Named("v")))));
    }

    private static Dictionary<string, object?> New(string name, params (string Name, object Value)[] more)
    {
        Dictionary<string, object?> request =
            new() { ["StoragePoolFriendlyName"] = new[] { "p" }, ["FriendlyName"] = name, ["Size"] = 8 << 20, ["NumberOfColumns"] = 1 };
        Array.ForEach(more, pair => request[pair.Name] = pair.Value);
        return request;
    }

    private static Dictionary<string, object?> Set(params (string Name, object Value)[] more)
    {
        Dictionary<string, object?> request = new() { ["FriendlyName"] = "c" };
        Array.ForEach(more, pair => request[pair.Name] = pair.Value);
        return request;
    }

    private static Dictionary<string, object?> Named(string name) => new() { ["FriendlyName"] = new[] { name } };

    private static string Settings(JsonElement cache) =>
        $"{cache.GetProperty("DestageStart")} {cache.GetProperty("DestageStop")} {cache.GetProperty("DestageIdle")} {cache.GetProperty("DestageBytesPerSecond")} "
        + $"{cache.GetProperty("DestageHold")} {cache.GetProperty("DestageHoldUntil")}";

    private async Task<JsonElement[]> ObjectsAsync(string verb, Dictionary<string, object?> request)
    {
        JsonElement reply = await _host.SendAsync(verb, request);
        Assert.Equal("[]", reply.GetProperty("Errors").ToString());
        return [.. reply.GetProperty("Objects").EnumerateArray()];
    }

    private Task OkAsync(string verb, Dictionary<string, object?> request) => ObjectsAsync(verb, request);
}
