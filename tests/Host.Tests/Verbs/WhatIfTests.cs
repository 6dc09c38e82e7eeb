using System.Diagnostics;
using System.Text.Json;
using System.Text.RegularExpressions;
using TierSpaces.Contracts;
using TierSpaces.Engine.Formats;

namespace TierSpaces.Host.Tests.Verbs;

/// <summary>Requests that only ask what would be done, in a host in this process.</summary>
public sealed partial class WhatIfTests(InProcessHost host) : IClassFixture<InProcessHost>
{
    private static readonly string[] s_v = ["v"], s_p = ["p"];

    private static readonly Dictionary<string, Dictionary<string, object?>> s_requests = new()
    {
        ["Add-PhysicalDisk"] = new() { ["StoragePoolFriendlyName"] = "p", ["PhysicalDisks"] = new[] { "free" } },
        ["Add-StorageTier"] = new() { ["VirtualDiskFriendlyName"] = new[] { "layered" }, ["StorageTier"] = "memory", ["Size"] = 2 << 20 },
        ["Clear-FileStorageTier"] = new() { ["FilePath"] = "/pinned" },
        ["Connect-VirtualDisk"] = new() { ["FriendlyName"] = s_v },
        ["Disconnect-VirtualDisk"] = new() { ["FriendlyName"] = s_v },
        ["Export-StorageTierHeatMap"] = new() { ["FriendlyName"] = "layered" },
        ["Import-StorageTierHeatMap"] = new() { ["FriendlyName"] = "layered", ["PassThru"] = true },
        ["New-PhysicalDisk"] = new() { ["Size"] = 128 << 20 },
        ["New-StoragePool"] = new() { ["FriendlyName"] = "q", ["PhysicalDisks"] = new[] { "free" } },
        ["New-StorageTier"] = new() { ["StoragePoolFriendlyName"] = s_p, ["FriendlyName"] = "u" },
        ["New-VirtualDisk"] = new() { ["StoragePoolFriendlyName"] = s_p, ["FriendlyName"] = "w", ["Size"] = 16 << 20 },
        ["Optimize-StoragePool"] = new() { ["FriendlyName"] = s_p },
        ["Optimize-StorageTier"] = new() { ["FriendlyName"] = new[] { "layered_up" } },
        ["Optimize-Volume"] = new() { ["FileSystemLabel"] = new[] { "layered" }, ["TierOptimize"] = true },
        ["Register-PhysicalDisk"] = [],
        ["Remove-PhysicalDisk"] = new() { ["StoragePoolFriendlyName"] = "e", ["PhysicalDisks"] = new[] { "empty" } },
        ["Remove-StoragePool"] = new() { ["FriendlyName"] = new[] { "e" } },
        ["Remove-StorageTier"] = new() { ["FriendlyName"] = new[] { "t" } },
        ["Remove-VirtualDisk"] = new() { ["FriendlyName"] = s_v },
        ["Repair-VirtualDisk"] = new() { ["FriendlyName"] = s_v },
        ["Reset-PhysicalDisk"] = new() { ["FriendlyName"] = "free" },
        ["Reset-StorageReliabilityCounter"] = new() { ["PhysicalDisk"] = "a" },
        ["Resize-StorageTier"] = new() { ["FriendlyName"] = new[] { "tiered_t" }, ["Size"] = 8 << 20 },
        ["Resize-VirtualDisk"] = new() { ["FriendlyName"] = s_v, ["Size"] = 64 << 20 },
        ["Set-EmulatedDiskFault"] = new() { ["FriendlyName"] = "emulated", ["Pull"] = true },
        ["Set-FileStorageTier"] = new() { ["FilePath"] = "/file", ["DesiredStorageTierFriendlyName"] = "layered_low", ["Now"] = true },
        ["Set-PhysicalDisk"] = new() { ["FriendlyName"] = "a", ["NewFriendlyName"] = "first" },
        ["Set-ResiliencySetting"] = new() { ["Name"] = new[] { "Mirror" }, ["StoragePool"] = "p", ["InterleaveDefault"] = 65536 },
        ["Set-StoragePool"] = new() { ["FriendlyName"] = "p", ["NewFriendlyName"] = "q" },
        ["Set-StorageSubSystem"] = new() { ["FriendlyName"] = "*", ["VirtualDiskRepairQueueDepth"] = "High" },
        ["Set-StorageTier"] = new() { ["FriendlyName"] = "t", ["NewFriendlyName"] = "u" },
        ["Set-StorageTierSchedule"] = new() { ["StoragePoolFriendlyName"] = s_p, ["Time"] = new[] { "02:00" } },
        ["Set-VirtualDisk"] = new() { ["FriendlyName"] = "v", ["NewFriendlyName"] = "w" },
        ["Start-TierSpacesHost"] = [],
        ["Stop-StorageJob"] = [],
        ["Stop-TierSpacesHost"] = [],
        ["Unregister-PhysicalDisk"] = new() { ["FriendlyName"] = new[] { "free" } },
        ["Update-StoragePool"] = new() { ["FriendlyName"] = s_p },
        ["Update-StorageProviderCache"] = [],
    };

    // Verbs on disks need a block device: command lines of the acceptance tests try them.
    private static readonly Type[] s_ofDisks = [typeof(DiskInfo), typeof(PartitionInfo), typeof(VolumeInfo), typeof(VolumeRepairInfo)];

    public static TheoryData<string> Verbs => [.. VerbDescription.All.Where(verb => verb.Verb.ChangesState
        && !s_ofDisks.Contains(verb.OutputType)).Select(verb => verb.Name)];

    [Theory]
    [MemberData(nameof(Verbs))]
    public async Task It_is_said_and_not_done(string verb)
    {
        await host.SendAsync("New-PhysicalDisk", new() { ["Path"] = new[] { host.Image("emulated") }, ["Size"] = 128 << 20, ["LatencyProfile"] = "NVMe" });
        await host.SendAsync("New-PhysicalDisk", new() { ["Path"] = new[] { host.Image("empty"), host.Image("empty2") }, ["Size"] = 128 << 20 });
        await host.SendAsync("New-StoragePool", new() { ["FriendlyName"] = "e", ["PhysicalDisks"] = new[] { "empty", "empty2" } });
        await host.SendAsync("New-VirtualDisk", new()
        {
            ["StoragePoolFriendlyName"] = s_p, ["FriendlyName"] = "tiered", ["StorageTiers"] = new[] { "t" }, ["StorageTierSizes"] = new[] { 4 << 20 },
                ["NumberOfColumns"] = 1,
        });
        await PinAsync();
        await using LongRepair? job = verb == "Stop-StorageJob" ? await LongRepair.BeginAsync(host) : null;

        string before = await host.StateAsync();
        JsonElement reply = await AskAsync(verb, job is null ? Complete(verb) : new() { ["UniqueId"] = new[] { job.Id } });

        Assert.Equal("[]", reply.GetProperty("Errors").ToString());
        Assert.NotEmpty(Steps(reply));
        RawNumbers.AssertNone(string.Join('\n', Steps(reply)));
        Assert.Equal("[]", reply.GetProperty("Objects").ToString());
        Assert.Equal(before, await host.StateAsync());
    }

    /// <summary>Virtual disk layered of two tiers, with a file pinned and one that is not.</summary>
    private async Task PinAsync()
    {
        await host.SendAsync("New-PhysicalDisk", new() { ["Path"] = new[] { host.Image("upper") }, ["Size"] = 128 << 20, ["MediaType"] = "SSD" });
        await host.SendAsync("New-PhysicalDisk", new() { ["Path"] = new[] { host.Image("lower") }, ["Size"] = 128 << 20, ["MediaType"] = "HDD" });
        await host.SendAsync("New-PhysicalDisk", new() { ["Path"] = new[] { host.Image("top") }, ["Size"] = 128 << 20, ["MediaType"] = "SCM" });
        await host.SendAsync("New-StoragePool",
            new() { ["FriendlyName"] = "m", ["PhysicalDisks"] = new[] { "upper", "lower", "top" }, ["ResiliencySettingNameDefault"] = "Simple" });
        await host.SendAsync("New-StorageTier", new() { ["StoragePoolFriendlyName"] = new[] { "m" }, ["FriendlyName"] = "up", ["MediaType"] = "SSD" });
        await host.SendAsync("New-StorageTier", new() { ["StoragePoolFriendlyName"] = new[] { "m" }, ["FriendlyName"] = "low", ["MediaType"] = "HDD" });
        await host.SendAsync("New-StorageTier", new() { ["StoragePoolFriendlyName"] = new[] { "m" }, ["FriendlyName"] = "memory", ["MediaType"] = "SCM" });
        await host.SendAsync("New-VirtualDisk", new()
        {
            ["StoragePoolFriendlyName"] = new[] { "m" }, ["FriendlyName"] = "layered", ["StorageTiers"] = new[] { "up", "low" },
                ["StorageTierSizes"] = new[] { 4 << 20, 8 << 20 },
        });
        string layered = (await host.SendAsync("Get-VirtualDisk", new() { ["FriendlyName"] = new[] { "layered" } })).GetProperty("Objects")[0].GetProperty(
            "UniqueId").GetString()!;
        host.Files.Put("/pinned", layered, new PinnedRange(0, 4096));
        host.Files.Put("/file", layered, new PinnedRange(4096, 4096));
        await host.SendAsync("Set-FileStorageTier", new() { ["FilePath"] = "/pinned", ["DesiredStorageTierFriendlyName"] = "layered_up" });
        await host.SendAsync("Export-StorageTierHeatMap", new() { ["FriendlyName"] = "layered", ["Path"] = host.Image("exported") });
    }

    /// <summary>Paths of this host are known only once it runs.</summary>
    private Dictionary<string, object?> Complete(string verb)
    {
        if (verb == "Register-PhysicalDisk")
        {
            File.WriteAllBytes(host.Image("old"), new byte[128 << 20]);
            return new() { ["Path"] = new[] { host.Image("old") } };
        }

        return verb switch
        {
            "New-PhysicalDisk" => new(s_requests[verb]) { ["Path"] = new[] { host.Image("new") } },
            "Export-StorageTierHeatMap" => new(s_requests[verb]) { ["Path"] = host.Image("map") },
            "Import-StorageTierHeatMap" => new(s_requests[verb]) { ["Path"] = host.Image("exported") },
            _ => s_requests[verb],
        };
    }

    public static TheoryData<string, string, int> EngineErrors => new()
    {
        { "Add-PhysicalDisk", """{"StoragePoolFriendlyName":"p","PhysicalDisks":["a"]}""", 51002 },
        { "Add-StorageTier", """{"VirtualDiskFriendlyName":["v"],"StorageTier":"t","Size":1048576}""", 1 },
        { "Clear-FileStorageTier", """{"VirtualDiskFriendlyName":["v"],"Offset":0,"Length":1}""", 1 },
        { "New-PhysicalDisk", """{"Path":["/nowhere/new.img"],"Size":134217728}""", 5 },
        { "New-PhysicalDisk", """{"Path":["/etc/hostname"],"Size":134217728}""", 5 },
        { "New-PhysicalDisk", """{"Path":["/tmp/never.img"],"Size":5000}""", 4097 },
        { "Register-PhysicalDisk", """{"Path":["/nowhere/old.img"]}""", 5 },
        { "Remove-PhysicalDisk", """{"StoragePoolFriendlyName":"p","PhysicalDisks":["a"]}""", 51004 },
        { "Remove-PhysicalDisk", """{"StoragePoolFriendlyName":"p","PhysicalDisks":["free"]}""", 8 },
        { "Reset-PhysicalDisk", """{"FriendlyName":"a"}""", 51002 },
        { "Set-FileStorageTier", """{"VirtualDiskFriendlyName":"v","Offset":0,"Length":1,"DesiredStorageTierFriendlyName":"t"}""", 1 },
        { "Set-EmulatedDiskFault", """{"FriendlyName":"free","Pull":true}""", 5 },
        { "Set-PhysicalDisk", """{"FriendlyName":"free","Usage":"Retired"}""", 5 },
        { "Set-PhysicalDisk", """{"FriendlyName":"free","NewFriendlyName":""}""", 5 },
        { "Set-StoragePool", """{"FriendlyName":"p","NewFriendlyName":""}""", 5 },
        { "Optimize-StorageTier", """{"FriendlyName":["t"]}""", 5 },
        { "Optimize-StorageTier", """{"VirtualDisk":["v"]}""", 1 },
        { "Optimize-Volume", """{"FileSystemLabel":["v"],"TierOptimize":true}""", 1 },
        { "Optimize-Volume", """{"Path":["/nowhere"]}""", 5 },
        { "Set-StorageSubSystem", """{"FriendlyName":"*"}""", 5 },
        { "Set-StorageTierSchedule", """{"StoragePoolFriendlyName":["p"],"FreeReservePercent":51}""", 5 },
        { "Set-StorageTierSchedule", """{"StoragePoolFriendlyName":["p"],"Time":[]}""", 5 },
        { "Set-StorageTierSchedule", """{"StoragePoolFriendlyName":["p"]}""", 5 },
        { "Set-StorageTierSchedule", """{"StoragePoolFriendlyName":["Primordial"],"Enabled":true}""", 48000 },
        { "Set-VirtualDisk", """{"FriendlyName":"v","NewFriendlyName":""}""", 5 },
        { "Unregister-PhysicalDisk", """{"FriendlyName":["a"]}""", 51002 },
    };

    [Theory]
    [MemberData(nameof(EngineErrors))]
    public async Task What_the_host_refuses_is_refused_when_it_is_only_asked_about(string verb, string json, int code)
    {
        Dictionary<string, object?> request = JsonSerializer.Deserialize<Dictionary<string, object?>>(json)!;
        string before = await host.StateAsync();
        JsonElement[] asked = Errors(await AskAsync(verb, request));
        JsonElement[] done = Errors(await host.SendAsync(verb, request));

        Assert.Equal(code, Assert.Single(done).GetProperty("Code").GetInt32());
        Assert.Equal(done[0].ToString(), Assert.Single(asked).ToString());
        Assert.Equal(before, await host.StateAsync());
    }

    [Fact]
    public async Task A_job_that_has_ended_is_refused_when_it_is_only_asked_about()
    {
        await host.SendAsync("Repair-VirtualDisk", new() { ["FriendlyName"] = s_v });
        long deadline = Environment.TickCount64 + 10_000;   // a job of a test before this one may still be on its way to its end
        while ((await host.SendAsync("Get-StorageJob", new() { ["JobState"] = new[] { "Running" } })).GetProperty("Objects").GetArrayLength() > 0)
        {
            Assert.True(Environment.TickCount64 < deadline, "A job runs on.");
            await Task.Delay(20, TestContext.Current.CancellationToken);
        }

        Assert.NotEmpty(Errors(await AskAsync("Stop-StorageJob", new() { ["Name"] = new[] { "*" } })));
    }

    [Fact]
    public async Task A_virtual_disk_that_is_connected_stays_as_it_is_and_that_is_said()
    {
        Dictionary<string, object?> request = new() { ["FriendlyName"] = s_v };
        Assert.Equal(["Serve virtual disk 'v' and attach it where the machine allows it"], Steps(await AskAsync("Connect-VirtualDisk", request)));
        await host.SendAsync("Connect-VirtualDisk", new(request) { ["AttachMethod"] = "NbdUri" });
        try
        {
            Assert.Equal(["Leave virtual disk 'v' connected as it is"], Steps(await AskAsync("Connect-VirtualDisk", request)));
            Assert.Equal(
                ["Leave virtual disk 'v' connected as it is, and serve it at 127.0.0.1:18099 too"],
                Steps(await AskAsync("Connect-VirtualDisk", new(request) { ["ListenAddress"] = "127.0.0.1:18099" })));
        }
        finally
        {
            await host.SendAsync("Disconnect-VirtualDisk", request);
        }

        Assert.Equal(["Serve virtual disk 'v' and attach it where the machine allows it"], Steps(await AskAsync("Connect-VirtualDisk", request)));
    }

    [Fact]
    public async Task All_disks_of_a_pool_are_refused_before_the_first_one_has_left()
    {
        string[] paths = new[] { host.Image("all1"), host.Image("all2") };
        await host.SendAsync("New-PhysicalDisk", new() { ["Path"] = paths, ["Size"] = 128 << 20 });
        await host.SendAsync("New-StoragePool", new() { ["FriendlyName"] = "all", ["PhysicalDisks"] = new[] { "all?" } });
        JsonElement reply = await host.SendAsync("Remove-PhysicalDisk", new() { ["StoragePoolFriendlyName"] = "all", ["PhysicalDisks"] = new[] { "all?" } });

        Assert.Equal(5, Assert.Single(Errors(reply)).GetProperty("Code").GetInt32());
        JsonElement left = await host.SendAsync("Get-PhysicalDisk", new() { ["StoragePool"] = "all" });
        Assert.Equal(2, left.GetProperty("Objects").GetArrayLength());
        await host.SendAsync("Remove-StoragePool", new() { ["FriendlyName"] = new[] { "all" } });
    }

    [Theory]
    [InlineData("Remove-StoragePool", "FriendlyName", "p", 48008)]
    [InlineData("Remove-VirtualDisk", "FriendlyName", "absent", 8)]
    [InlineData("Update-StoragePool", "FriendlyName", "Primordial", 48000)]
    public async Task What_would_be_refused_is_refused(string verb, string parameter, string value, int code)
    {
        JsonElement reply = await AskAsync(verb, new() { [parameter] = new[] { value } });

        Assert.Equal(code, Assert.Single(reply.GetProperty("Errors").EnumerateArray().ToArray()).GetProperty("Code").GetInt32());
    }

    [Fact]
    public async Task A_virtual_disk_is_placed_exactly_as_was_said()
    {
        Dictionary<string, object?> request = new Dictionary<string, object?>
        {
            ["StoragePoolFriendlyName"] = s_p, ["FriendlyName"] = "planned", ["Size"] = 24 << 20, ["NumberOfColumns"] = 2,
        };
        string[] said = Steps(await AskAsync("New-VirtualDisk", request));
        JsonElement done = await host.SendAsync("New-VirtualDisk", request);
        Assert.Equal(said, Steps(done));
        await IsWhereSaid("planned", said, 0);

        Dictionary<string, object?> resize = new Dictionary<string, object?> { ["FriendlyName"] = new[] { "planned" }, ["Size"] = 48 << 20 };
        JsonElement[] before = await ExtentsAsync("planned");
        said = Steps(await AskAsync("Resize-VirtualDisk", resize));
        Assert.Equal(said, Steps(await host.SendAsync("Resize-VirtualDisk", resize)));
        await IsWhereSaid("planned", said, before.Length);

        Dictionary<string, object?> remove = new Dictionary<string, object?> { ["FriendlyName"] = new[] { "planned" } };
        Assert.Equal(Steps(await AskAsync("Remove-VirtualDisk", remove)), Steps(await host.SendAsync("Remove-VirtualDisk", remove)));
    }

    [Fact]
    public async Task Slabs_that_move_are_listed_with_their_offsets_and_go_there()
    {
        await host.SendAsync("New-PhysicalDisk", new()
        {
            ["Path"] = Enumerable.Range(1, 4).Select(i => host.Image($"move{i}")).ToArray(), ["Size"] = 128 << 20, ["MediaType"] = "SSD",
        });
        await host.SendAsync("New-StoragePool", new() { ["FriendlyName"] = "moving", ["PhysicalDisks"] = new[] { "move1", "move2", "move3" } });
        await host.SendAsync("New-VirtualDisk", new()
        {
            ["StoragePoolFriendlyName"] = new[] { "moving" }, ["FriendlyName"] = "moved", ["Size"] = 24 << 20, ["ProvisioningType"] = "Fixed",
        });
        await host.SendAsync("Add-PhysicalDisk", new() { ["StoragePoolFriendlyName"] = "moving", ["PhysicalDisks"] = new[] { "move4" } });

        foreach ((string verb, Dictionary<string, object?> request) in ((string, Dictionary<string, object?>)[])
        [
            ("Optimize-StoragePool", new() { ["FriendlyName"] = new[] { "moving" } }),
            ("Set-PhysicalDisk", new() { ["FriendlyName"] = "move2", ["Usage"] = "Retired" }),
        ])
        {
            HashSet<string> expected = await PlacesAsync();
            string[] said = Steps(await AskAsync(verb, request));
            MatchCollection[] moves = [.. said.Where(static line => line.StartsWith("Move ", StringComparison.Ordinal) && !line.Contains("log"))
                .Select(line => Move().Matches(line))];
            Assert.NotEmpty(moves);
            foreach (Match move in moves.SelectMany(static line => line))
            {
                string[] disks = [.. Disk().Matches(said.First(line => line.Contains(move.Value))).Select(static name => name.Groups[1].Value)];
                Assert.True(expected.Remove($"{disks[0]} {move.Groups[1].Value}"));
                Assert.True(expected.Add($"{disks[1]} {move.Groups[2].Value}"));
            }

            Assert.Equal("[]", (await host.SendAsync(verb, request)).GetProperty("Errors").ToString());
            for (Stopwatch watch = Stopwatch.StartNew(); !expected.SetEquals(await PlacesAsync()); await Task.Delay(50, TestContext.Current.CancellationToken))
            {
                Assert.True(watch.Elapsed < TimeSpan.FromSeconds(90), $"{string.Join('\n', said)}\n{string.Join('\n', await PlacesAsync())}");
            }
        }

        string[] cache = Steps(await AskAsync("Set-VirtualDisk", new() { ["FriendlyName"] = "moved", ["WriteCacheSize"] = 3 << 20 }));
        Assert.True(
            cache.Count(static line => Regex.IsMatch(line, "^Place the write cache on physical disk 'move[0-9]': 3 slabs of 1 MB, offsets .*, .*, .*")) == 2,
            string.Join('\n', cache));

        async Task<HashSet<string>> PlacesAsync()
        {
            Dictionary<string, string> names = (await host.SendAsync("Get-PhysicalDisk", [])).GetProperty("Objects").EnumerateArray()
                .ToDictionary(one => one.GetProperty("UniqueId").GetString()!, one => one.GetProperty("FriendlyName").GetString()!);
            return [.. (await ExtentsAsync("moved")).Select(extent =>
                $"{names[extent.GetProperty("PhysicalDiskUniqueId").GetString()!]} {SizeText.Exact(extent.GetProperty("PhysicalDiskOffset").GetInt64())}")];
        }
    }

    [Fact]
    public async Task The_plan_of_a_repair_names_the_disks_that_are_missing()
    {
        await host.SendAsync("New-PhysicalDisk", new()
        {
            ["Path"] = Enumerable.Range(1, 3).Select(i => host.Image($"gone{i}")).ToArray(), ["Size"] = 128 << 20, ["LatencyProfile"] = "NVMe",
        });
        await host.SendAsync("New-StoragePool", new() { ["FriendlyName"] = "gone", ["PhysicalDisks"] = new[] { "gone?" } });
        await host.SendAsync("New-VirtualDisk", new()
        {
            ["StoragePoolFriendlyName"] = new[] { "gone" }, ["FriendlyName"] = "left", ["Size"] = 24 << 20, ["ProvisioningType"] = "Fixed",
            ["NumberOfColumns"] = 1,
        });
        await host.SendAsync("Set-EmulatedDiskFault", new() { ["FriendlyName"] = "gone1", ["Pull"] = true });
        Dictionary<string, object?> request = new() { ["FriendlyName"] = new[] { "left" } };
        string warnings = "";
        for (Stopwatch watch = Stopwatch.StartNew(); warnings.Length == 0 && watch.Elapsed < TimeSpan.FromSeconds(90);)
        {
            await Task.Delay(50, TestContext.Current.CancellationToken);
            warnings = string.Join('\n', (await AskAsync("Repair-VirtualDisk", request)).GetProperty("Warnings").EnumerateArray());
        }

        Assert.StartsWith("Virtual disk 'left': physical disks with copies of it are missing: gone1. The repair leaves", warnings);
        await host.SendAsync("Set-EmulatedDiskFault", new() { ["FriendlyName"] = "gone1", ["Clear"] = true });
        // Its disk would come back amid other tests.
        Assert.Empty(Errors(await host.SendAsync("Remove-VirtualDisk", new() { ["FriendlyName"] = new[] { "left" } })));
        Assert.Empty(Errors(await host.SendAsync("Remove-StoragePool", new() { ["FriendlyName"] = new[] { "gone" } })));
        Assert.Empty(Errors(await host.SendAsync("Unregister-PhysicalDisk", new() { ["FriendlyName"] = new[] { "gone1", "gone2", "gone3" } })));
    }

    /// <summary>Each physical disk has the slabs of each column and copy that its line says.</summary>
    private async Task IsWhereSaid(string disk, string[] said, int known)
    {
        Dictionary<string, string> names = (await host.SendAsync("Get-PhysicalDisk", [])).GetProperty("Objects").EnumerateArray()
            .ToDictionary(one => one.GetProperty("UniqueId").GetString()!, one => one.GetProperty("FriendlyName").GetString()!);
        IOrderedEnumerable<string> real = (await ExtentsAsync(disk)).Skip(known).GroupBy(extent =>
            (names[extent.GetProperty("PhysicalDiskUniqueId").GetString()!], extent.GetProperty("ColumnNumber").GetInt32(), extent.GetProperty("CopyNumber")
                .GetInt32()))
            .Select(group => $"{group.Key} {group.Count()}").Order();
        IOrderedEnumerable<string> lines = said.SelectMany(line => Part().Matches(line).Select(part =>
            $"({Disk().Match(line).Groups[1].Value}, {part.Groups[1].Value}, {part.Groups[2].Value}) {part.Groups[3].Value}")).Order();

        Assert.Equal(real, lines);
    }

    private async Task<JsonElement[]> ExtentsAsync(string disk) =>
        [.. (await host.SendAsync("Get-PhysicalExtent", new() { ["VirtualDisk"] = disk })).GetProperty("Objects").EnumerateArray()];

    private Task<JsonElement> AskAsync(string verb, Dictionary<string, object?> request) =>
        host.SendAsync(verb, new(request) { ["WhatIf"] = true });

    private static string[] Steps(JsonElement reply) => [.. reply.GetProperty("Steps").EnumerateArray().Select(step => step.GetString()!)];

    private static JsonElement[] Errors(JsonElement reply) => [.. reply.GetProperty("Errors").EnumerateArray()];

    [GeneratedRegex("column ([0-9]+) copy ([0-9]+): ([0-9]+)")]
    private static partial Regex Part();

    [GeneratedRegex("([0-9.,]+ [KMGT]?B(?: \\([^)]*\\))?) to ([0-9.,]+ [KMGT]?B(?: \\([^)]*\\))?)")]
    private static partial Regex Move();

    [GeneratedRegex("physical disk '([^']+)'")]
    private static partial Regex Disk();
}
