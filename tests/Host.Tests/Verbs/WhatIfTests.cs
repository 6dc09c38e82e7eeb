using System.Text.Json;
using System.Text.RegularExpressions;
using TierSpaces.Contracts;

namespace TierSpaces.Host.Tests.Verbs;

/// <summary>Requests that only ask what would be done, in a host in this process.</summary>
public sealed partial class WhatIfTests(InProcessHost host) : IClassFixture<InProcessHost>
{
    private static readonly string[] v = ["v"], p = ["p"];

    private static readonly Dictionary<string, Dictionary<string, object?>> requests = new()
    {
        ["Add-PhysicalDisk"] = new() { ["StoragePoolFriendlyName"] = "p", ["PhysicalDisks"] = new[] { "free" } },
        ["Connect-VirtualDisk"] = new() { ["FriendlyName"] = v },
        ["Disconnect-VirtualDisk"] = new() { ["FriendlyName"] = v },
        ["New-PhysicalDisk"] = new() { ["Path"] = new[] { "/nowhere/new.img" }, ["Size"] = 128 << 20 },
        ["New-StoragePool"] = new() { ["FriendlyName"] = "q", ["PhysicalDisks"] = new[] { "free" } },
        ["New-VirtualDisk"] = new() { ["StoragePoolFriendlyName"] = p, ["FriendlyName"] = "w", ["Size"] = 16 << 20 },
        ["Optimize-StoragePool"] = new() { ["FriendlyName"] = p },
        ["Register-PhysicalDisk"] = new() { ["Path"] = new[] { "/nowhere/old.img" } },
        ["Remove-PhysicalDisk"] = new() { ["StoragePoolFriendlyName"] = "p", ["PhysicalDisks"] = new[] { "a" } },
        ["Remove-StoragePool"] = new() { ["FriendlyName"] = new[] { "e" } },
        ["Remove-VirtualDisk"] = new() { ["FriendlyName"] = v },
        ["Repair-VirtualDisk"] = new() { ["FriendlyName"] = v },
        ["Reset-PhysicalDisk"] = new() { ["FriendlyName"] = "free" },
        ["Reset-StorageReliabilityCounter"] = new() { ["PhysicalDisk"] = "a" },
        ["Resize-VirtualDisk"] = new() { ["FriendlyName"] = v, ["Size"] = 64 << 20 },
        ["Set-EmulatedDiskFault"] = new() { ["FriendlyName"] = "emulated", ["Pull"] = true },
        ["Set-PhysicalDisk"] = new() { ["FriendlyName"] = "a", ["NewFriendlyName"] = "first" },
        ["Set-ResiliencySetting"] = new() { ["Name"] = new[] { "Mirror" }, ["StoragePool"] = "p", ["InterleaveDefault"] = 65536 },
        ["Set-StoragePool"] = new() { ["FriendlyName"] = "p", ["NewFriendlyName"] = "q" },
        ["Set-VirtualDisk"] = new() { ["FriendlyName"] = "v", ["NewFriendlyName"] = "w" },
        ["Start-TierSpacesHost"] = [],
        ["Stop-StorageJob"] = new() { ["Name"] = new[] { "*" } },
        ["Stop-TierSpacesHost"] = [],
        ["Unregister-PhysicalDisk"] = new() { ["FriendlyName"] = new[] { "free" } },
        ["Update-StoragePool"] = new() { ["FriendlyName"] = p },
    };

    public static TheoryData<string> Verbs => [.. VerbDescription.All.Where(verb => verb.Verb.ChangesState).Select(verb => verb.Name)];

    [Theory]
    [MemberData(nameof(Verbs))]
    public async Task It_is_said_and_not_done(string verb)
    {
        await host.SendAsync("New-PhysicalDisk", new() { ["Path"] = new[] { host.Image("emulated") }, ["Size"] = 128 << 20, ["LatencyProfile"] = "NVMe" });
        await host.SendAsync("New-PhysicalDisk", new() { ["Path"] = new[] { host.Image("empty") }, ["Size"] = 128 << 20 });
        await host.SendAsync("New-StoragePool", new() { ["FriendlyName"] = "e", ["PhysicalDisks"] = new[] { "empty" } });
        if (verb == "Stop-StorageJob")
        {
            await host.SendAsync("Repair-VirtualDisk", new() { ["FriendlyName"] = v });
        }

        var before = await host.StateAsync();
        var reply = await AskAsync(verb, requests[verb]);

        Assert.Equal("[]", reply.GetProperty("Errors").ToString());
        Assert.NotEmpty(Steps(reply));
        Assert.Equal("[]", reply.GetProperty("Objects").ToString());
        Assert.Equal(before, await host.StateAsync());
    }

    [Theory]
    [InlineData("Remove-StoragePool", "FriendlyName", "p", 48008)]
    [InlineData("Remove-VirtualDisk", "FriendlyName", "nobody", 8)]
    [InlineData("Update-StoragePool", "FriendlyName", "Primordial", 48000)]
    public async Task What_would_be_refused_is_refused(string verb, string parameter, string value, int code)
    {
        var reply = await AskAsync(verb, new() { [parameter] = new[] { value } });

        Assert.Equal(code, Assert.Single(reply.GetProperty("Errors").EnumerateArray().ToArray()).GetProperty("Code").GetInt32());
    }

    [Fact]
    public async Task A_virtual_disk_is_placed_exactly_as_was_said()
    {
        var request = new Dictionary<string, object?>
        {
            ["StoragePoolFriendlyName"] = p, ["FriendlyName"] = "planned", ["Size"] = 24 << 20, ["NumberOfColumns"] = 2,
        };
        var said = Steps(await AskAsync("New-VirtualDisk", request));
        var done = await host.SendAsync("New-VirtualDisk", request);
        Assert.Equal(said, Steps(done));
        await IsWhereSaid("planned", said, 0);

        var resize = new Dictionary<string, object?> { ["FriendlyName"] = new[] { "planned" }, ["Size"] = 48 << 20 };
        var before = await ExtentsAsync("planned");
        said = Steps(await AskAsync("Resize-VirtualDisk", resize));
        Assert.Equal(said, Steps(await host.SendAsync("Resize-VirtualDisk", resize)));
        await IsWhereSaid("planned", said, before.Length);

        var remove = new Dictionary<string, object?> { ["FriendlyName"] = new[] { "planned" } };
        Assert.Equal(Steps(await AskAsync("Remove-VirtualDisk", remove)), Steps(await host.SendAsync("Remove-VirtualDisk", remove)));
    }

    /// <summary>Each physical disk has the slabs of each column and copy that its line says.</summary>
    private async Task IsWhereSaid(string disk, string[] said, int known)
    {
        var names = (await host.SendAsync("Get-PhysicalDisk", [])).GetProperty("Objects").EnumerateArray()
            .ToDictionary(one => one.GetProperty("UniqueId").GetString()!, one => one.GetProperty("FriendlyName").GetString()!);
        var real = (await ExtentsAsync(disk)).Skip(known).GroupBy(extent =>
            (names[extent.GetProperty("PhysicalDiskUniqueId").GetString()!], extent.GetProperty("ColumnNumber").GetInt32(), extent.GetProperty("CopyNumber").GetInt32()))
            .Select(group => $"{group.Key} {group.Count()}").Order();
        var lines = said.SelectMany(line => Part().Matches(line).Select(part =>
            $"({Disk().Match(line).Groups[1].Value}, {part.Groups[1].Value}, {part.Groups[2].Value}) {part.Groups[3].Value}")).Order();

        Assert.Equal(real, lines);
    }

    private async Task<JsonElement[]> ExtentsAsync(string disk) =>
        [.. (await host.SendAsync("Get-PhysicalExtent", new() { ["VirtualDisk"] = disk })).GetProperty("Objects").EnumerateArray()];

    private Task<JsonElement> AskAsync(string verb, Dictionary<string, object?> request) =>
        host.SendAsync(verb, new(request) { ["WhatIf"] = true });

    private static string[] Steps(JsonElement reply) => [.. reply.GetProperty("Steps").EnumerateArray().Select(step => step.GetString()!)];

    [GeneratedRegex("column ([0-9]+) copy ([0-9]+): ([0-9]+)")]
    private static partial Regex Part();

    [GeneratedRegex("physical disk '([^']+)'")]
    private static partial Regex Disk();
}
