using System.Text.Json;
using System.Text.RegularExpressions;
using TierSpaces.Contracts;
using TierSpaces.Host.CommandLine;
using TierSpaces.Host.Tests.Verbs;
using TierSpaces.Host.Verbs.Subsystems;

namespace TierSpaces.Host.Tests.Metrics;

/// <summary>The performance counter classes of Windows: names as documented, values as counted, a reason for each that is left out.</summary>
public sealed partial class CounterSetTests : IAsyncLifetime
{
    private const long Mebibyte = 1 << 20;

    private static readonly (string Set, string Counter)[] s_documented = [.. File
        .ReadAllLines(Path.Combine(AppContext.BaseDirectory, "Facts", "counters.tsv")).Skip(1)
        .Select(static line => line.Split('\t')).Select(static cells => (cells[0][CounterSets.Prefix.Length..], cells[1]))];

    private InProcessHost _host = null!;

    public async ValueTask InitializeAsync() => _host = await InProcessHost.StartAsync();

    public ValueTask DisposeAsync() => _host.DisposeAsync();

    [Fact]
    public void Every_documented_counter_is_printed_or_left_out_with_a_reason()
    {
        (string, string)[] printed = [.. CounterSets.All.SelectMany(static set => set.Counters.Select(counter => (set.Name, counter)))];
        (string Set, string Counter, string Reason)[] leftOut = [.. LeftOut()];
        Assert.Equal(6, CounterSets.All.Length);
        Assert.Equal(s_documented.Order(), printed.Concat(leftOut.Select(static row => (row.Set, row.Counter))).Order());
        Assert.All(leftOut, static row => Assert.NotEmpty(row.Reason));
    }

    [Fact]
    public async Task Counters_say_what_clients_did_in_the_second()
    {
        await MakeTieredDiskAsync();
        await _host.WriteAsync("tiered", 4096, Enumerable.Range(0, 8).Select(static slice => slice * Mebibyte));
        Task<JsonElement> reading = _host.SendAsync("Get-StorageCounter", new() { ["CounterSet"] = new[] { "*" }, ["VirtualDisk"] = new[] { "tiered" } });
        while (!reading.IsCompleted)
        {
            await _host.WriteAsync("tiered", 4096, [0, Mebibyte]);
        }

        StorageCounterSampleInfo[] samples = Samples(await reading);
        Assert.Equal(
            CounterSets.All.Select(static set => set.Name).Except(["StorageSpacesWriteCache"]).Order(),
            samples.Select(static sample => sample.CounterSet).Distinct().Order());
        double bytes = Of("StorageSpacesVirtualDiskIo", "VirtualDiskWriteBytesPersec");
        Assert.True(bytes > 0);
        Assert.Equal(bytes, Of("StorageSpacesTier", "TierWriteBytesPersec"), tolerance: 8192 * 2);   // the two are read one after the other
        Assert.Equal(4096, samples.Single(static sample => sample is { InstanceName: "tiered_upper", CounterName: "TierWriteBytesAverage" }).CookedValue);
        Assert.True(Of("StorageSpacesTier", "TierWritesPersec") > 0);
        Assert.Equal(0, Of("StorageSpacesTier", "TierReadsPersec"));
        Assert.True(Of("StorageSpacesDrt", "DirtyCount") >= 1);
        Assert.Equal(Of("StorageSpacesVirtualDisk", "VirtualDiskTotalBytes"), Of("StorageSpacesVirtualDisk", "VirtualDiskActiveBytes"));
        Assert.True(Of("StorageSpacesVirtualDisk", "VirtualDiskTotal") > 0);
        Assert.Equal(0, Of("StorageSpacesVirtualDiskMap", "VirtualDiskMapsPersec"));   // its rows were made before

        double Of(string set, string counter) =>
            samples.Where(sample => sample.CounterSet == set && sample.CounterName == counter).Sum(static sample => sample.CookedValue);
    }

    [Fact]
    public async Task A_write_cache_says_what_it_took()
    {
        await _host.SendAsync("New-PhysicalDisk",
            new() { ["Path"] = new[] { _host.Image("rotating1"), _host.Image("rotating2") }, ["Size"] = 128 << 20, ["MediaType"] = "HDD" });
        await _host.SendAsync("Add-PhysicalDisk", new() { ["StoragePoolFriendlyName"] = "p", ["PhysicalDisks"] = new[] { "rotating?" } });
        await _host.SendAsync("New-VirtualDisk", new()
        {
            ["StoragePoolFriendlyName"] = new[] { "p" }, ["FriendlyName"] = "cached", ["Size"] = 8 << 20, ["MediaType"] = "HDD", ["WriteCacheSize"] = 4 << 20,
        });
        await _host.WriteAsync("cached", 4096, [0]);
        Task<JsonElement> reading = _host.SendAsync("Get-StorageCounter", new() { ["CounterSet"] = new[] { "*WriteCache" } });
        while (!reading.IsCompleted)
        {
            await _host.WriteAsync("cached", 4096, [0, Mebibyte]);
        }

        Dictionary<string, double> samples = Samples(await reading).ToDictionary(static sample => sample.CounterName, static sample => sample.CookedValue);
        Assert.Equal(4 * Mebibyte, samples["CacheSize"]);
        Assert.Equal(100, samples["WriteCachePercent"]);
        Assert.Equal(0, samples["WriteBypassPercent"]);
        Assert.InRange(samples["WriteCacheBytesPersec"], 1, double.MaxValue);
        Assert.InRange(samples["CacheUsedBytes"], samples["CacheDataBytes"], 4 * Mebibyte);
        Assert.InRange(samples["CacheDataBytes"], 0, 2 * 4096);
    }

    [Fact]
    public async Task An_unknown_counter_set_is_refused_with_the_known_ones()
    {
        JsonElement reply = await _host.SendAsync("Get-StorageCounter", new() { ["CounterSet"] = new[] { "StorageSpacesTier", "Disk" } });
        string message = reply.GetProperty("Errors")[0].Deserialize(ContractsJson.Default.StorageErrorInfo)!.OneLine;
        Assert.Contains("-CounterSet 'Disk': no such counter set. Valid: StorageSpacesDrt, StorageSpacesTier,", message);
        Assert.Empty(reply.GetProperty("Objects").EnumerateArray());
    }

    [Fact]
    public async Task The_command_prints_the_samples_alone()
    {
        JsonElement reply = await _host.SendAsync("Get-StorageCounter", new() { ["CounterSet"] = new[] { CounterSets.Prefix + "StorageSpacesDrt" } });
        (StringWriter table, StringWriter json, StringWriter error) = (new(), new(), new());
        VerbDescription verb = VerbDescription.Find("Get-StorageCounter")!;
        Assert.Equal(0, ReplyText.Print(verb, reply, asJson: false, table, error));
        Assert.Matches("^InstanceName CounterName +CookedValue\\n", table.ToString());
        Assert.Matches("v +CleanCount +[0-9]+\\n", table.ToString());
        Assert.Equal(0, ReplyText.Print(verb, reply, asJson: true, json, error));
        Assert.Equal("v", JsonDocument.Parse(json.ToString()).RootElement[0].GetProperty("InstanceName").GetString());
    }

    private static StorageCounterSampleInfo[] Samples(JsonElement reply) =>
        [.. reply.Deserialize(ContractsJson.Default.VerbReplyStorageCounterInfo)!.Objects.Select(static info => info.Sample!)];

    private async Task MakeTieredDiskAsync()
    {
        await _host.SendAsync("New-PhysicalDisk", new() { ["Path"] = new[] { _host.Image("tier1") }, ["Size"] = 128 << 20, ["MediaType"] = "SSD" });
        await _host.SendAsync("New-PhysicalDisk", new() { ["Path"] = new[] { _host.Image("tier2") }, ["Size"] = 128 << 20, ["MediaType"] = "HDD" });
        await _host.SendAsync("New-StoragePool",
            new() { ["FriendlyName"] = "m", ["PhysicalDisks"] = new[] { "tier?" }, ["ResiliencySettingNameDefault"] = "Simple" });
        await _host.SendAsync("New-StorageTier", new() { ["StoragePoolFriendlyName"] = new[] { "m" }, ["FriendlyName"] = "upper", ["MediaType"] = "SSD" });
        await _host.SendAsync("New-StorageTier", new() { ["StoragePoolFriendlyName"] = new[] { "m" }, ["FriendlyName"] = "lower", ["MediaType"] = "HDD" });
        await _host.SendAsync("New-VirtualDisk", new()
        {
            ["StoragePoolFriendlyName"] = new[] { "m" }, ["FriendlyName"] = "tiered", ["StorageTiers"] = new[] { "upper", "lower" },
            ["StorageTierSizes"] = new[] { 4 << 20, 8 << 20 }, ["WriteCacheSize"] = 0,
        });
    }

    /// <summary>Rows of docs/counters.md: set, counters, reason.</summary>
    private static IEnumerable<(string Set, string Counter, string Reason)> LeftOut()
    {
        string page = File.ReadAllText(Path.Combine(AppContext.BaseDirectory, "docs", "counters.md"));
        foreach (Match row in Row().Matches(page[page.IndexOf("## Left out", StringComparison.Ordinal)..]))
        {
            foreach (Match name in Name().Matches(row.Groups[2].Value))
            {
                yield return (row.Groups[1].Value, name.Groups[1].Value, row.Groups[3].Value.Trim());
            }
        }
    }

    [GeneratedRegex(@"^\| (\w+) \| (.*?) \| (.*) \|$", RegexOptions.Multiline)]
    private static partial Regex Row();

    [GeneratedRegex(@"`(\w+)`")]
    private static partial Regex Name();
}
