using System.Text.Json;
using TierSpaces.Contracts;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Tiering;
using TierSpaces.Host.Verbs.StorageTiers;

namespace TierSpaces.Host.Tests.Verbs;

/// <summary>
/// Heat maps listed, exported and imported through verbs, and explained. Virtual disk d has 4 slices of 256 KiB on SSD and 12 on HDD, s has 4 and 8
/// of 1 MiB, l has 4 and 5 000 of 256 KiB. Their heat is imported, since no client uses them.
/// </summary>
public sealed class HeatMapVerbTests : IAsyncLifetime
{
    private const int Slice = 256 << 10;
    private const int Large = 5004;
    private InProcessHost _host = null!;

    public async ValueTask InitializeAsync()
    {
        _host = await InProcessHost.StartAsync();
        await OkAsync("New-PhysicalDisk", new() { ["Path"] = new[] { _host.Image("s") }, ["Size"] = 256 << 20, ["MediaType"] = "SSD" });
        await OkAsync("New-PhysicalDisk", new() { ["Path"] = new[] { _host.Image("h") }, ["Size"] = 2L << 30, ["MediaType"] = "HDD" });
        await OkAsync("New-StoragePool", new() { ["FriendlyName"] = "m", ["PhysicalDisks"] = new[] { "[sh]" }, ["ResiliencySettingNameDefault"] = "Simple" });
        await OkAsync("New-StorageTier", new() { ["StoragePoolFriendlyName"] = new[] { "m" }, ["FriendlyName"] = "fast", ["MediaType"] = "SSD" });
        await OkAsync("New-StorageTier", new() { ["StoragePoolFriendlyName"] = new[] { "m" }, ["FriendlyName"] = "slow", ["MediaType"] = "HDD" });
        await NewDiskAsync("d", Slice, 12);
        await NewDiskAsync("s", 4 * Slice, 8);
        await NewDiskAsync("l", Slice, Large - 4);
    }

    public ValueTask DisposeAsync() => _host.DisposeAsync();

    [Fact]
    public async Task Heat_is_listed_in_order_the_hottest_or_a_range()
    {
        await HeatAsync("d", Slice, 16, (3, 5), (7, 9), (8, 9), (15, 2));
        Assert.Equal(["3 5", "7 9", "8 9", "15 2"], await ListAsync(new() { ["FriendlyName"] = new[] { "d" } }));
        Assert.Equal(["7 9", "8 9", "3 5"], await ListAsync(new() { ["FriendlyName"] = new[] { "d" }, ["Hottest"] = 3 }));
        Assert.Equal(["15 2"], await ListAsync(new() { ["FriendlyName"] = new[] { "d" }, ["Hottest"] = 3, ["Offset"] = 9 * Slice }));
        Assert.Equal(["8 9"], await ListAsync(new() { ["FriendlyName"] = new[] { "d" }, ["Offset"] = (8 * Slice) + 5, ["Length"] = Slice - 5 }));
        Assert.Equal(["7 9", "8 9"], await ListAsync(new() { ["FriendlyName"] = new[] { "d" }, ["Offset"] = (8 * Slice) - 1, ["Length"] = 2 }));
        Assert.Empty(await ListAsync(new() { ["FriendlyName"] = new[] { "s" } }));
    }

    [Fact]
    public async Task A_long_list_comes_in_pages_each_slice_once()
    {
        await HeatAsync("l", Slice, Large, [.. Enumerable.Range(0, Large).Select(slice => (slice, 1 + (slice % 7)))]);
        await HeatAsync("d", Slice, 16, (3, 5));
        Dictionary<string, object?> request = new Dictionary<string, object?> { ["FriendlyName"] = new[] { "l", "absent", "d" } };
        JsonElement first = await _host.SendAsync("Get-StorageTierHeatMap", request);
        Assert.Single(first.GetProperty("Errors").EnumerateArray().ToArray());
        Assert.InRange(first.GetProperty("Objects").GetArrayLength(), GetStorageTierHeatMapHandler.PageObjects, Large);
        List<string> slices = Slices(first);
        while (first.TryGetProperty("NextPage", out JsonElement next))
        {
            request["Page"] = next.GetString();
            first = await _host.SendAsync("Get-StorageTierHeatMap", request);
            Assert.Equal("[]", first.GetProperty("Errors").ToString());
            slices.AddRange(Slices(first));
        }

        Assert.Equal([.. Enumerable.Range(0, Large).Select(slice => $"l {slice}"), "d 3"], slices);
        request["Page"] = "nothing:0";
        Assert.Equal(8, Error(await _host.SendAsync("Get-StorageTierHeatMap", request)).GetProperty("Code").GetInt32());
    }

    [Fact]
    public async Task An_explanation_goes_over_pages_too()
    {
        Dictionary<string, object?> request = new Dictionary<string, object?> { ["FriendlyName"] = new[] { "l", "d" }, ["Length"] = 4L << 30 };
        List<string> slices = [];
        for (string? page = ""; page is not null;)
        {
            JsonElement reply = await OkAsync("Get-StorageTierExplanation", request);
            Assert.InRange(reply.GetProperty("Objects").GetArrayLength(), 1, GetStorageTierExplanationHandler.PageObjects);
            slices.AddRange(Slices(reply));
            request["Page"] = page = reply.TryGetProperty("NextPage", out JsonElement next) ? next.GetString() : null;
        }

        Assert.Equal([.. Enumerable.Range(0, Large).Select(slice => $"l {slice}"), .. Enumerable.Range(0, 16).Select(slice => $"d {slice}")], slices);
    }

    [Fact]
    public async Task A_file_is_explained_slice_by_slice()
    {
        string disk = (await OkAsync("Get-VirtualDisk", new() { ["FriendlyName"] = new[] { "d" } })).GetProperty("Objects")[0].GetProperty("UniqueId")
            .GetString()!;
        _host.Files.Put("/v/f", disk, new PinnedRange(9 * Slice, Slice), new PinnedRange((2 * Slice) + 4096, 4096),
            new PinnedRange((2 * Slice) + 16384, Slice));
        await OkAsync("Set-FileStorageTier", new() { ["FilePath"] = "/v/f", ["DesiredStorageTierFriendlyName"] = "d_slow" });
        JsonElement[] why = (await OkAsync("Get-StorageTierExplanation", new() { ["FilePath"] = "/v/f" })).GetProperty("Objects").EnumerateArray().ToArray();
        Assert.Equal([2, 3, 9], why.Select(slice => slice.GetProperty("Slice").GetInt32()));
        Assert.All(why, slice => Assert.Equal("/v/f d_slow", $"{slice.GetProperty("FilePath")} {slice.GetProperty("PinnedTier")}"));
        Assert.Contains("nothing has been written to it", why[0].GetProperty("Explanation").GetString());
        Assert.Contains("brings it to tier 'd_slow', to which it is pinned", why[0].GetProperty("Explanation").GetString());
        Assert.Equal(["d 0"], Slices(await OkAsync("Get-StorageTierExplanation", new() { ["FriendlyName"] = new[] { "d" } })));
    }

    [Fact]
    public async Task Heat_is_exported_and_imported_into_slices_of_the_same_size_and_larger()
    {
        await HeatAsync("d", Slice, 16, (3, 5), (6, 2), (7, 9));
        string file = _host.Image("heat");
        JsonElement exported = Assert.Single((await ExportAsync("d", file)).GetProperty("Objects").EnumerateArray().ToArray());
        Assert.Equal($"d {Slice} 3 {HeatSnapshot.BlockSize}",
            string.Join(' ', ((string[])["VirtualDiskFriendlyName", "SliceSize", "HotSlices", "Size"]).Select(name => exported.GetProperty(name).ToString())));
        Assert.Equal(HeatSnapshot.BlockSize, new FileInfo(file).Length);
        await OkAsync("Import-StorageTierHeatMap", new() { ["FriendlyName"] = "s", ["Path"] = file, ["PassThru"] = true });
        Assert.Equal(["0 5", "1 11"], await ListAsync(new() { ["FriendlyName"] = new[] { "s" } }));

        await HeatAsync("d", Slice, 16, (1, 1));
        Assert.Equal(["1 1"], await ListAsync(new() { ["FriendlyName"] = new[] { "d" } }));
        await OkAsync("Import-StorageTierHeatMap", new() { ["FriendlyName"] = "d", ["Path"] = file });
        await _host.CloseAsync();
        await _host.OpenAsync();
        Assert.Equal(["3 5", "6 2", "7 9"], await ListAsync(new() { ["FriendlyName"] = new[] { "d" } }));
    }

    [Fact]
    public async Task What_does_not_fit_is_refused_and_changes_nothing()
    {
        await HeatAsync("s", 4 * Slice, 12, (3, 5));
        await HeatAsync("d", Slice, 16, (2, 4));
        string file = _host.Image("heat");
        await ExportAsync("s", file);
        Assert.Contains("where in a larger slice its heat lay is not known", await FailsAsync("Import-StorageTierHeatMap", "d", file));
        Assert.Contains("exists", await FailsAsync("Export-StorageTierHeatMap", "d", file));
        await OkAsync("Export-StorageTierHeatMap", new() { ["FriendlyName"] = "d", ["Path"] = file, ["Force"] = true });
        Assert.False(File.Exists(file + ".part"));
        File.WriteAllBytes(file, File.ReadAllBytes(file)[..^1]);
        Assert.Contains("It ends in the middle", await FailsAsync("Import-StorageTierHeatMap", "d", file));
        File.WriteAllBytes(file, []);
        Assert.Contains("Its end is missing", await FailsAsync("Import-StorageTierHeatMap", "d", file));
        File.WriteAllBytes(file, new byte[HeatSnapshot.BlockSize]);
        Assert.Contains("It is no heat map", await FailsAsync("Import-StorageTierHeatMap", "d", file));
        Assert.Contains("cannot be used by the host", await FailsAsync("Import-StorageTierHeatMap", "d", "/nowhere/at/all"));
        Assert.Contains("is a folder or lies in none", await FailsAsync("Export-StorageTierHeatMap", "d", "/nowhere/at/all"));
        Assert.Contains("has no tiers", await FailsAsync("Export-StorageTierHeatMap", "v", _host.Image("other")));
        Assert.Equal(["2 4"], await ListAsync(new() { ["FriendlyName"] = new[] { "d" } }));
    }

    [Fact]
    public async Task An_export_touches_no_other_file_and_none_without_force()
    {
        string file = _host.Image("heat");
        string other = file + ".part";
        File.WriteAllText(other, "mine");
        await Task.WhenAll(Enumerable.Range(0, 8)
            .Select(_ => OkAsync("Export-StorageTierHeatMap", new() { ["FriendlyName"] = "d", ["Path"] = file, ["Force"] = true })));
        await OkAsync("Import-StorageTierHeatMap", new() { ["FriendlyName"] = "d", ["Path"] = file });
        Assert.Equal("mine", File.ReadAllText(other));
        Assert.Contains("exists", await FailsAsync("Export-StorageTierHeatMap", "d", other));

        string link = _host.Image("link");
        File.CreateSymbolicLink(link, other);
        foreach (string path in ((string[])["/dev/null", link]))
        {
            JsonElement rejected = Error(
                await _host.SendAsync("Export-StorageTierHeatMap", new() { ["FriendlyName"] = "d", ["Path"] = path, ["Force"] = true }));
            Assert.Contains($"-Path '{path}' is no regular file", rejected.GetProperty("ExtendedInformation").GetString());
        }

        Assert.Contains("is no regular file", await FailsAsync("Import-StorageTierHeatMap", "d", "/dev/zero"));
        Assert.Equal("mine", File.ReadAllText(link));
        Assert.Equal(["heat.img", "heat.img.part", "link.img"], Directory.GetFiles(Path.GetDirectoryName(file)!).Select(Path.GetFileName)
            .Where(name => name!.Contains("heat") || name.Contains("link") || name.EndsWith(".part")).Order());
    }

    [Theory]
    [InlineData("Get-StorageTierHeatMap", """{"FriendlyName":["d"],"Hottest":0}""", "-Hottest 0")]
    [InlineData("Get-StorageTierHeatMap", """{"FriendlyName":["d"],"Hottest":10001}""", "1 to 10000")]
    [InlineData("Get-StorageTierHeatMap", """{"FriendlyName":["d"],"Length":0}""", "-Length 0")]
    [InlineData("Get-StorageTierHeatMap", """{"FriendlyName":["d"],"Offset":16777216}""", "-Offset 16 MB is not within virtual disk 'd'")]
    [InlineData("Get-StorageTierHeatMap", """{"FriendlyName":["v"]}""", "has no tiers")]
    [InlineData("Get-StorageTierExplanation", """{"FriendlyName":["d"],"Offset":16777216}""", "-Offset 16 MB is not within virtual disk 'd'")]
    [InlineData("Get-StorageTierExplanation", """{"FriendlyName":["v"]}""", "has no tiers")]
    [InlineData("Get-StorageTierExplanation", """{"FilePath":"/v/none"}""", "-FilePath '/v/none' cannot be opened")]
    [InlineData("Optimize-Volume", """{"Path":["/v/none"]}""", "-Path '/v/none' cannot be opened")]
    [InlineData("Get-FileStorageTier", """{"VolumePath":"/v/none"}""", "-VolumePath '/v/none' cannot be opened")]
    public async Task Numbers_outside_their_range_are_refused(string verb, string json, string text) => Assert.Contains(
        text, Error(await _host.SendAsync(verb, JsonSerializer.Deserialize<Dictionary<string, object?>>(json)!)).GetProperty("ExtendedInformation")
            .GetString());

    [Fact]
    public async Task What_slices_have_to_be_to_move_is_set_and_kept()
    {
        await OkAsync("Set-VirtualDisk", new() { ["FriendlyName"] = "d", ["MinimumHeat"] = 40 });
        await OkAsync("Set-VirtualDisk", new() { ["FriendlyName"] = "d", ["DemoteColdAfter"] = 48, ["HeatHalfLife"] = 6 });
        await _host.CloseAsync();
        await _host.OpenAsync();
        JsonElement.ArrayEnumerator disks = (await OkAsync("Get-VirtualDisk", new() { ["FriendlyName"] = new[] { "d", "s", "v" } })).GetProperty("Objects")
            .EnumerateArray();
        Assert.Equal(["40 48 6", "0 0 24", "  "],
            disks.Select(disk => $"{disk.GetProperty("MinimumHeat")} {disk.GetProperty("DemoteColdAfter")} {disk.GetProperty("HeatHalfLife")}"));
        await OkAsync("Set-VirtualDisk", new() { ["FriendlyName"] = "d", ["DemoteColdAfter"] = 0 });
        Assert.Contains("-MinimumHeat 1000000001: out of range. Valid: 0 to 1000000000 requests", await FailsAsync("MinimumHeat", 1_000_000_001));
        Assert.Contains("-DemoteColdAfter 8761: out of range. Valid: 0 to 8760 hours", await FailsAsync("DemoteColdAfter", 8761));
        Assert.Contains("-HeatHalfLife 0: out of range. Valid: 1 to 8760 hours", await FailsAsync("HeatHalfLife", 0));
        JsonElement rejected = Error(await _host.SendAsync("Set-VirtualDisk", new() { ["FriendlyName"] = "v", ["DemoteColdAfter"] = 1 }));
        Assert.Equal("1 -DemoteColdAfter is for virtual disks with tiers, and 'v' has none.",
            $"{rejected.GetProperty("Code")} {rejected.GetProperty("ExtendedInformation")}");
    }

    private async Task NewDiskAsync(string name, long slice, int slow) => await OkAsync("New-VirtualDisk", new()
    {
        ["StoragePoolFriendlyName"] = new[] { "m" }, ["FriendlyName"] = name, ["StorageTiers"] = new[] { "fast", "slow" },
        ["StorageTierSizes"] = new[] { 4 * slice, slow * slice }, ["SliceSize"] = slice, ["WriteCacheSize"] = 0,
    });

    /// <summary>Gives a virtual disk so many requests on each of these slices.</summary>
    [Fact]
    public async Task Two_files_are_compared()
    {
        (string before, string after, string coarse) = (_host.Image("before"), _host.Image("after"), _host.Image("coarse"));
        await HeatAsync("d", Slice, 16, (3, 5), (7, 9));
        await OkAsync("Export-StorageTierHeatMap", new() { ["FriendlyName"] = "d", ["Path"] = before });
        await HeatAsync("d", Slice, 16, (3, 5), (7, 2), (8, 4));
        await OkAsync("Export-StorageTierHeatMap", new() { ["FriendlyName"] = "d", ["Path"] = after });
        JsonElement reply = await OkAsync(
            "Compare-StorageTierHeatMap", new() { ["ReferencePath"] = before, ["DifferencePath"] = after, ["Greatest"] = 2 });
        Assert.Equal(
            [(7L * Slice, 9, 2, -7), (8L * Slice, 0, 4, 4)],
            reply.GetProperty("Objects").EnumerateArray().Select(static one => (
                one.GetProperty("Offset").GetInt64(), Whole(one, "HeatBefore"), Whole(one, "HeatAfter"), Whole(one, "Change"))));

        await HeatAsync("s", 4 * Slice, 12, (1, 1));
        await OkAsync("Export-StorageTierHeatMap", new() { ["FriendlyName"] = "s", ["Path"] = coarse });
        Assert.Contains($"has slices of {SizeText.Exact(4 * Slice)}, and -ReferencePath '{before}' of {SizeText.Exact(Slice)}", await RefusedAsync(before, coarse));
        Assert.Contains($"-ReferencePath '/nowhere/at/all' cannot be used by the host", await RefusedAsync("/nowhere/at/all", after));
        File.WriteAllBytes(after, File.ReadAllBytes(after)[..^1]);
        Assert.Contains($"-DifferencePath '{after}' cannot be compared. It ends in the middle.", await RefusedAsync(before, after));

        static int Whole(JsonElement one, string property) => (int)Math.Round(one.GetProperty(property).GetDouble());

        async Task<string> RefusedAsync(string reference, string difference)
        {
            JsonElement answer = await _host.SendAsync(
                "Compare-StorageTierHeatMap", new() { ["ReferencePath"] = reference, ["DifferencePath"] = difference });
            return Error(answer).GetProperty("ExtendedInformation").GetString()!;
        }
    }

    private async Task HeatAsync(string disk, int slice, int slices, params (int Slice, int Requests)[] used)
    {
        HeatMap map = new HeatMap(new HeatSettings { SliceBytes = slice }, slices);
        foreach ((int at, int requests) in used)
        {
            for (int i = 0; i < requests; i++)
            {
                map.Record((long)at * slice, 4096, isWrite: true, nowNs: 0);
            }
        }

        HeatSnapshotWriter writer = new HeatSnapshotWriter(map, Guid.NewGuid(), 1, DateTime.UtcNow.Ticks, 0);
        byte[] block = new byte[HeatSnapshot.BlockSize];
        using (FileStream file = File.Create(_host.Image("made")))
        {
            while (writer.Next(block))
            {
                file.Write(block);
            }
        }

        await OkAsync("Import-StorageTierHeatMap", new() { ["FriendlyName"] = disk, ["Path"] = _host.Image("made") });
    }

    /// <summary>
    /// Slice and heat of what is listed, heat to a whole number of requests: time has gone by. A slice that is nowhere has no place among the others.
    /// </summary>
    private async Task<string[]> ListAsync(Dictionary<string, object?> request) =>
        [.. (await OkAsync("Get-StorageTierHeatMap", request)).GetProperty("Objects").EnumerateArray()
            .Select(slice => $"{slice.GetProperty("Slice")} {slice.GetProperty("Rank")}{Math.Round(slice.GetProperty("Heat").GetDouble())}")];

    private static List<string> Slices(JsonElement reply) =>
        [.. reply.GetProperty("Objects").EnumerateArray().Select(slice => $"{slice.GetProperty("VirtualDiskFriendlyName")} {slice.GetProperty("Slice")}")];

    private Task<JsonElement> ExportAsync(string disk, string path) => OkAsync("Export-StorageTierHeatMap", new() { ["FriendlyName"] = disk, ["Path"] = path });

    private async Task<string> FailsAsync(string verb, string disk, string path) =>
        Error(await _host.SendAsync(verb, new() { ["FriendlyName"] = disk, ["Path"] = path })).GetProperty("ExtendedInformation").GetString()!;

    private async Task<string> FailsAsync(string parameter, long value) =>
        Error(await _host.SendAsync("Set-VirtualDisk", new() { ["FriendlyName"] = "d", [parameter] = value })).GetProperty("ExtendedInformation").GetString()!;

    private async Task<JsonElement> OkAsync(string verb, Dictionary<string, object?> request)
    {
        JsonElement reply = await _host.SendAsync(verb, request);
        Assert.True(reply.GetProperty("Errors").GetArrayLength() == 0, reply.GetProperty("Errors").ToString());
        return reply;
    }

    private static JsonElement Error(JsonElement reply) => Assert.Single(reply.GetProperty("Errors").EnumerateArray().ToArray());
}
