using System.Text.Json;
using TierSpaces.Contracts;
using TierSpaces.Engine.Formats;

namespace TierSpaces.Host.Tests.Verbs;

/// <summary>
/// Tiers optimized through verbs. Virtual disk d has 4 MiB on SSD and 12 MiB on HDD; all of it is written, so that slices 0 to 3 are on the SSD, and
/// slices 12 and 13, on the HDD, are used much more than the others.
/// </summary>
public sealed class TierOptimizationVerbTests : IAsyncLifetime
{
    private const long Slice = 1 << 20;
    private static readonly string[] s_m = ["m"], s_d = ["d"];
    private InProcessHost _host = null!;

    public async ValueTask InitializeAsync()
    {
        _host = await InProcessHost.StartAsync();
        await ObjectsAsync("New-PhysicalDisk", new() { ["Path"] = new[] { _host.Image("s") }, ["Size"] = 128 << 20, ["MediaType"] = "SSD" });
        await ObjectsAsync("New-PhysicalDisk", new() { ["Path"] = new[] { _host.Image("h") }, ["Size"] = 128 << 20, ["MediaType"] = "HDD" });
        await ObjectsAsync("New-StoragePool",
            new() { ["FriendlyName"] = "m", ["PhysicalDisks"] = new[] { "[sh]" }, ["ResiliencySettingNameDefault"] = "Simple" });
        await ObjectsAsync("New-StorageTier", new() { ["StoragePoolFriendlyName"] = s_m, ["FriendlyName"] = "fast", ["MediaType"] = "SSD" });
        await ObjectsAsync("New-StorageTier", new() { ["StoragePoolFriendlyName"] = s_m, ["FriendlyName"] = "slow", ["MediaType"] = "HDD" });
        await ObjectsAsync("New-VirtualDisk", new()
        {
            ["StoragePoolFriendlyName"] = s_m, ["FriendlyName"] = "d", ["StorageTiers"] = new[] { "fast", "slow" },
                ["StorageTierSizes"] = new[] { 4 * Slice, 12 * Slice }, ["WriteCacheSize"] = 0,
        });
        await _host.WriteAsync("d", (int)Slice, Enumerable.Range(0, 16).Select(slice => slice * Slice));
        await _host.WriteAsync("d", 4096, Enumerable.Range(0, 400).Select(i => (12 + (i % 2)) * Slice));
    }

    public ValueTask DisposeAsync() => _host.DisposeAsync();

    [Fact]
    public async Task The_plan_is_told_and_then_carried_out_and_reported()
    {
        JsonElement planned = await SendAsync("Optimize-StorageTier", new() { ["VirtualDisk"] = s_d, ["WhatIf"] = true });
        Assert.Equal(
            "Optimize the tiers of virtual disk 'd': move 2 slices, 2 MB, to faster tiers and 2 slices, 2 MB, to slower ones",
            Steps(planned)[0]);
        Assert.Matches("^Share of the I/O on storage tier 'd_fast': [0-9]\\.[0-9] % before, 9[0-9]\\.[0-9] % after$", Steps(planned)[1]);
        Assert.Matches("^Share of the I/O on storage tier 'd_slow': 9[0-9]\\.[0-9] % before, [0-9]\\.[0-9] % after$", Steps(planned)[2]);
        Assert.Equal("[]", planned.GetProperty("Objects").ToString());
        Assert.Empty(await ObjectsAsync("Get-StorageJob", []));

        JsonElement report = Assert.Single(await ObjectsAsync("Optimize-StorageTier", new() { ["VirtualDisk"] = s_d }));
        Assert.Equal("d Completed 4 2097152 2097152 4194304", Text(
            report, "VirtualDiskFriendlyName", "State", "SlicesPlanned", "BytesPromoted", "BytesDemoted", "PerformanceTierSize"));
        Assert.InRange(report.GetProperty("PercentOfIoBefore").GetDouble(), 0, 10);
        Assert.InRange(report.GetProperty("PercentOfIoAfter").GetDouble(), 90, 100);
        Assert.Equal(
            ["d_fast 4194304 4194304 0 0", "d_slow 12582912 12582912 0 0"],
            report.GetProperty("Tiers").EnumerateArray().Select(tier => Text(tier, "FriendlyName", "Size", "MappedSize", "PinnedSize", "PinnedPercentOfIo")));
        string[] sizes = report.GetProperty("SizesRequired").EnumerateArray().Select(size => Text(size, "PercentOfIo", "SizeRequired")).ToArray();
        Assert.Equal(("100 16777216", "90 2097152", "5 1048576", 20), (sizes[0], sizes[2], sizes[^1], sizes.Length));
        Assert.StartsWith("Virtual disk 'd': 2 MB moved to faster tiers, 2 MB to slower ones.\n\nStorage Tier Optimization Report:\n",
            Text(report, "Report"));
        Assert.Contains("* Current size of the Performance tier: 4.00 MB\n", Text(report, "Report"));
        JsonElement job = Assert.Single(await ObjectsAsync("Get-StorageJob", new() { ["UniqueId"] = new[] { Text(report, "StorageJobUniqueId") } }));
        Assert.Equal("Storage Tiers Optimization Completed", Text(job, "Name", "JobState"));
        // Whose progress is shown.
        Assert.All((string[])["Optimize-StorageTier", "Optimize-Volume"], verb => Assert.Equal(Text(job, "Name"), VerbDescription.Find(verb)!.Verb.JobName));
        Assert.Equal("0 0", Text(Assert.Single(await ObjectsAsync("Optimize-StorageTier", new() { ["VirtualDisk"] = s_d })), "BytesPromoted", "BytesDemoted"));
    }

    [Fact]
    public async Task A_run_moves_no_more_than_it_may_and_tells_what_it_left_out()
    {
        Dictionary<string, object?> limited = new() { ["VirtualDisk"] = s_d, ["MaximumBytes"] = 3 * Slice, ["LatencyTarget"] = 10_000 };
        JsonElement planned = await SendAsync("Optimize-StorageTier", new(limited) { ["WhatIf"] = true });
        Assert.Equal(
            ["Optimize the tiers of virtual disk 'd': move 1 slice, 1 MB, to faster tiers and 1 slice, 1 MB, to slower ones",
                "Leave 2 moves, 2 MB, to a later optimization: -MaximumBytes 3 MB leaves no room for them"],
            Steps(planned).Take(2));
        JsonElement report = Assert.Single(await ObjectsAsync("Optimize-StorageTier", limited));
        Assert.Equal("2 1048576 1048576 2097152", Text(report, "SlicesPlanned", "BytesPromoted", "BytesDemoted", "BytesLeftOut"));
        Assert.Contains("2 MB of moves were left to a later optimization: -MaximumBytes had no room for them.", Text(report, "Report"));
        Assert.Equal("2 0", Text(Assert.Single(await ObjectsAsync("Optimize-StorageTier", new() { ["VirtualDisk"] = s_d })), "SlicesPlanned", "BytesLeftOut"));
    }

    [Theory]
    [InlineData("MaximumBytes", 1048575L, "-MaximumBytes 1 MB (1048575 bytes): less than one slice of virtual disk 'd'. Valid: 1 MB or more.")]
    [InlineData("MaximumBytes", 0L, "-MaximumBytes 0 bytes: less than one slice of virtual disk 'd'. Valid: 1 MB or more.")]
    [InlineData("LatencyTarget", 0L, "-LatencyTarget 0: out of range. Valid: 1 to 10000 milliseconds.")]
    [InlineData("LatencyTarget", 10001L, "-LatencyTarget 10001: out of range. Valid: 1 to 10000 milliseconds.")]
    public async Task Limits_out_of_their_range_are_refused_and_nothing_moves(string parameter, long value, string says)
    {
        foreach (bool isWhatIf in (bool[])[true, false])
        {
            JsonElement refused = await SendAsync("Optimize-StorageTier", new() { ["VirtualDisk"] = s_d, [parameter] = value, ["WhatIf"] = isWhatIf });
            Assert.Equal("5", Error(refused, "Code"));
            Assert.Contains(says, Error(refused, "ExtendedInformation"), StringComparison.Ordinal);
        }

        Assert.Empty(await ObjectsAsync("Get-StorageJob", []));
    }

    [Fact]
    public async Task One_that_is_stopped_says_so_and_reports_what_it_did()
    {
        await ObjectsAsync("New-PhysicalDisk", new() { ["Path"] = new[] { _host.Image("f") }, ["Size"] = 128 << 20, ["MediaType"] = "SSD" });
        await ObjectsAsync("New-PhysicalDisk", new() { ["Path"] = new[] { _host.Image("e") }, ["Size"] = 128 << 20, ["LatencyProfile"] = "HDD15K" });
        await ObjectsAsync("New-StoragePool",
            new() { ["FriendlyName"] = "slowly", ["PhysicalDisks"] = new[] { "[fe]" }, ["ResiliencySettingNameDefault"] = "Simple" });
        await ObjectsAsync("New-StorageTier", new() { ["StoragePoolFriendlyName"] = new[] { "slowly" }, ["FriendlyName"] = "up", ["MediaType"] = "SSD" });
        await ObjectsAsync("New-StorageTier", new() { ["StoragePoolFriendlyName"] = new[] { "slowly" }, ["FriendlyName"] = "low", ["MediaType"] = "HDD" });
        await ObjectsAsync("New-VirtualDisk", new()
        {
            ["StoragePoolFriendlyName"] = new[] { "slowly" }, ["FriendlyName"] = "e", ["StorageTiers"] = new[] { "up", "low" },
                ["StorageTierSizes"] = new[] { 4 * Slice, 12 * Slice }, ["WriteCacheSize"] = 0,
        });
        await _host.WriteAsync("e", (int)Slice, Enumerable.Range(0, 16).Select(slice => slice * Slice));
        await _host.WriteAsync("e", 4096, Enumerable.Range(0, 80).Select(i => (12 + (i % 2)) * Slice));
        await ObjectsAsync("Set-EmulatedDiskFault", new() { ["FriendlyName"] = "e", ["SlowFactor"] = 50 });

        Task<JsonElement> optimize = SendAsync("Optimize-StorageTier", new() { ["FriendlyName"] = new[] { "e_up" } });
        JsonElement[] running = [];
        for (int i = 0; i < 1000 && running.Length == 0 && !optimize.IsCompleted; i++)
        {
            await Task.Delay(10, TestContext.Current.CancellationToken);
            running = await ObjectsAsync("Get-StorageJob", new() { ["JobState"] = new[] { "Running" } });
        }

        await ObjectsAsync("Stop-StorageJob", new() { ["UniqueId"] = new[] { Text(Assert.Single(running), "UniqueId") } });
        JsonElement stopped = await optimize;
        await ObjectsAsync("Set-EmulatedDiskFault", new() { ["FriendlyName"] = "e", ["Clear"] = true });
        Assert.Contains("Optimizing the tiers of virtual disk 'e' was stopped.", Error(stopped, "ExtendedInformation"));
        JsonElement report = Assert.Single(stopped.GetProperty("Objects").EnumerateArray().ToArray());
        Assert.Equal("e Terminated", Text(report, "VirtualDiskFriendlyName", "State"));
        Assert.InRange(report.GetProperty("BytesPromoted").GetInt64(), 0, Slice);
    }

    [Fact]
    public async Task A_disk_is_named_by_any_of_its_tiers_and_optimized_once()
    {
        JsonElement[] tiers = await ObjectsAsync("Get-StorageTier", new() { ["VirtualDisk"] = "d" });
        foreach (Dictionary<string, object?> request in new Dictionary<string, object?>[]
        {
            new() { ["FriendlyName"] = new[] { "d_slow" } }, new() { ["FriendlyName"] = new[] { "d_fast", "d_slow" } },
                new() { ["FriendlyName"] = new[] { "*" } },
            new() { ["UniqueId"] = new[] { Text(tiers[0], "UniqueId") } }, new() { ["InputObject"] = tiers.Select(tier => Text(tier, "UniqueId")).ToArray() },
        })
        {
            Assert.Equal("d", Text(Assert.Single(await ObjectsAsync("Optimize-StorageTier", request)), "VirtualDiskFriendlyName"));
        }

        Assert.Equal("5", Error(await SendAsync("Optimize-StorageTier", new() { ["FriendlyName"] = new[] { "fast" } }), "Code"));
        Assert.Contains("'v' has no tiers", Error(await SendAsync("Optimize-StorageTier", new() { ["VirtualDisk"] = new[] { "v" } }), "ExtendedInformation"));
        Assert.Equal("CmdletizationQuery_NotFound_FriendlyName",
            Error(await SendAsync("Optimize-StorageTier", new() { ["FriendlyName"] = new[] { "none" } }), "ErrorId"));
    }

    [Fact]
    public async Task A_volume_is_named_by_a_path_on_it_or_as_its_disk_is_and_the_report_is_told()
    {
        JsonElement disk = Assert.Single(await ObjectsAsync("Get-VirtualDisk", new() { ["FriendlyName"] = s_d }));
        _host.Files.Put("/v/f", Text(disk, "UniqueId"), new PinnedRange(0, 4096));
        JsonElement reply = await SendAsync("Optimize-Volume", new() { ["Path"] = new[] { "/v" }, ["TierOptimize"] = true });
        Assert.Equal("[] []", Text(reply, "Errors", "Objects"));
        Assert.Contains("Virtual disk 'd': 2 MB moved to faster tiers", Steps(reply)[^1]);
        Assert.Contains("Storage Tier Optimization Report:", Steps(reply)[^1]);
        foreach (Dictionary<string, object?> request in new Dictionary<string, object?>[]
        {
            new() { ["FileSystemLabel"] = new[] { "D*" } }, new() { ["ObjectId"] = new[] { Text(disk, "ObjectId") }, ["TierOptimize"] = true },
                new() { ["Path"] = new[] { "/v", "/v" } },
        })
        {
            JsonElement answer = await SendAsync("Optimize-Volume", request);
            Assert.Equal("[] []", Text(answer, "Errors", "Objects"));
            Assert.Single(Steps(answer), step => step.Contains("Report:", StringComparison.Ordinal));
        }

        Assert.Contains("'/none' cannot be opened", Error(await SendAsync("Optimize-Volume", new() { ["Path"] = new[] { "/none" } }), "ExtendedInformation"));
        Assert.Equal("CmdletizationQuery_NotFound_FileSystemLabel",
            Error(await SendAsync("Optimize-Volume", new() { ["FileSystemLabel"] = new[] { "none" } }), "ErrorId"));
        Assert.Contains("'v' has no tiers", Error(
            await SendAsync("Optimize-Volume", new() { ["FileSystemLabel"] = new[] { "v" }, ["TierOptimize"] = true }), "ExtendedInformation"));
    }

    private Task<JsonElement> SendAsync(string verb, Dictionary<string, object?> request) => _host.SendAsync(verb, request);

    private async Task<JsonElement[]> ObjectsAsync(string verb, Dictionary<string, object?> request)
    {
        JsonElement reply = await _host.SendAsync(verb, request);
        Assert.Equal("[]", reply.GetProperty("Errors").ToString());
        return [.. reply.GetProperty("Objects").EnumerateArray()];
    }

    private static string[] Steps(JsonElement reply) => [.. reply.GetProperty("Steps").EnumerateArray().Select(step => step.GetString()!)];

    private static string Text(JsonElement info, params string[] properties) =>
        string.Join(' ', properties.Select(property => info.GetProperty(property).ToString()));

    private static string Error(JsonElement reply, string property) => Assert.Single(reply.GetProperty("Errors").EnumerateArray().ToArray())
        .GetProperty(property).ToString();
}
