using System.Text.Json;

namespace TierSpaces.Host.Tests.Verbs;

/// <summary>Storage tiers as verbs make, show, change and remove them.</summary>
public sealed class StorageTierVerbTests : IAsyncLifetime
{
    private InProcessHost _host = null!;

    public async ValueTask InitializeAsync() => _host = await InProcessHost.StartAsync();

    public ValueTask DisposeAsync() => _host.DisposeAsync();

    [Fact]
    public async Task What_a_template_leaves_open_is_shown_as_it_would_be_decided()
    {
        JsonElement tier = Assert.Single(await ObjectsAsync("Get-StorageTier", Named("t")));
        Assert.Equal("SSD Mirror 2 1  262144 Fixed Unknown", Text(tier));
        await ObjectsAsync("Set-ResiliencySetting", new()
        {
            ["Name"] = new[] { "Mirror" }, ["StoragePool"] = "p", ["NumberOfDataCopiesDefault"] = 3, ["InterleaveDefault"] = 65536,
        });
        Assert.Equal("SSD Mirror 3 2  65536 Fixed Unknown", Text(Assert.Single(await ObjectsAsync("Get-StorageTier", Named("t")))));
        await ObjectsAsync("Set-StoragePool",
            new() { ["FriendlyName"] = "p", ["ResiliencySettingNameDefault"] = "Simple", ["ProvisioningTypeDefault"] = "Thin" });
        Assert.Equal("SSD Simple 1 0  262144 Thin Unknown", Text(Assert.Single(await ObjectsAsync("Get-StorageTier", Named("t")))));
    }

    [Fact]
    public async Task What_a_template_says_is_kept_through_a_restart()
    {
        await ObjectsAsync("New-StorageTier", New(
            "slow", ("MediaType", "HDD"), ("NumberOfDataCopies", 3), ("NumberOfColumns", 4), ("Interleave", 65536), ("ProvisioningType", "Thin"),
            ("Description", "rotating")));
        await _host.CloseAsync();
        await _host.OpenAsync();
        JsonElement tier = Assert.Single(await ObjectsAsync("Get-StorageTier", Named("slow")));
        Assert.Equal("HDD Mirror 3 2 4 65536 Thin Unknown", Text(tier));
        Assert.Equal("rotating", tier.GetProperty("Description").GetString());
    }

    [Theory]
    [InlineData("NumberOfDataCopies", 1, "Simple 1")]
    [InlineData("PhysicalDiskRedundancy", 0, "Simple 1")]
    [InlineData("PhysicalDiskRedundancy", 2, "Mirror 3")]
    [InlineData("ResiliencySettingName", "simple", "Simple 1")]
    public async Task One_of_layout_copies_and_redundancy_decides_the_others(string parameter, object value, string expected)
    {
        JsonElement made = Assert.Single(await ObjectsAsync("New-StorageTier", New("n", (parameter, value))));
        Assert.Equal(expected, $"{made.GetProperty("ResiliencySettingName")} {made.GetProperty("NumberOfDataCopies")}");
    }

    [Fact]
    public async Task Attributes_that_are_set_leave_the_others_alone()
    {
        await ObjectsAsync("New-StorageTier", New("n", ("NumberOfDataCopies", 3), ("NumberOfColumns", 2)));
        await SetAsync("n", ("MediaType", "SCM"));
        await SetAsync("n", ("ResiliencySettingName", "Mirror"));
        Assert.Equal("SCM Mirror 3 2 2 262144 Fixed Unknown", Text(Assert.Single(await ObjectsAsync("Get-StorageTier", Named("n")))));
        await SetAsync("n", ("NumberOfDataCopies", 2), ("NumberOfColumns", 0));
        Assert.Equal("SCM Mirror 2 1  262144 Fixed Unknown", Text(Assert.Single(await ObjectsAsync("Get-StorageTier", Named("n")))));
        await SetAsync("n", ("ResiliencySettingName", "Simple"));
        await SetAsync("n", ("NewFriendlyName", "m"));
        Assert.Equal("SCM Simple 1 0  262144 Fixed Unknown", Text(Assert.Single(await ObjectsAsync("Get-StorageTier", Named("m")))));
    }

    [Theory]
    [InlineData("New-StorageTier", "FriendlyName", "T", 5, "-FriendlyName 'T' is the name of another storage tier of storage pool 'p'.")]
    [InlineData("New-StorageTier", "FriendlyName", "", 5,
        "-FriendlyName '': is empty. Valid: 1 to 256 characters, at least one of them visible, no control characters.")]
    [InlineData("New-StorageTier", "NumberOfColumns", 65, 49006, "-NumberOfColumns 65: out of range. Valid: 0 to 64.")]
    [InlineData("New-StorageTier", "NumberOfDataCopies", 4, 49003, "-NumberOfDataCopies 4: not possible with Mirror. Valid: 2 and 3.")]
    [InlineData("New-StorageTier", "PhysicalDiskRedundancy", 3, 49002, "-PhysicalDiskRedundancy 3: not possible with Mirror. Valid: 1 and 2.")]
    [InlineData("New-StorageTier", "Interleave", 4096, 49005,
        "-Interleave 4 KB is not a power of two from 16 KB to 1 MB (the slab of this pool has 1 MB).")]
    [InlineData("New-StorageTier", "Interleave", ulong.MaxValue, 49005, "-Interleave 16384 PB (18446744073709551615 bytes): is too large. Valid: 0 to 8192 PB (9223372036854775807 bytes).")]
    [InlineData("New-StorageTier", "ResiliencySettingName", "Magic", 49000, "-ResiliencySettingName 'Magic' is not one of Simple, Mirror, Parity.")]
    [InlineData("New-StorageTier", "ProvisioningType", "Unknown", 5, "-ProvisioningType Unknown: not possible. Valid: Thin and Fixed.")]
    [InlineData("Set-StorageTier", "NewFriendlyName", "other", 5, "-NewFriendlyName 'other' is the name of another storage tier of storage pool 'p'.")]
    [InlineData("Set-StorageTier", "NumberOfDataCopies", 4, 49003, "-NumberOfDataCopies 4: not possible with Mirror. Valid: 2 and 3.")]
    public async Task What_cannot_be_is_refused_and_changes_nothing(string verb, string parameter, object value, int code, string why)
    {
        await ObjectsAsync("New-StorageTier", New("other"));
        Dictionary<string, object?> request = verb == "New-StorageTier" ? New("n") : new() { ["FriendlyName"] = "t" };
        request[parameter] = value;
        foreach (bool whatIf in (bool[])[true, false])
        {
            request["WhatIf"] = whatIf;
            string before = await _host.StateAsync();
            JsonElement error = Assert.Single((await _host.SendAsync(verb, request)).GetProperty("Errors").EnumerateArray().ToArray());
            Assert.Equal((code, why), (error.GetProperty("Code").GetInt32(), error.GetProperty("ExtendedInformation").GetString()));
            Assert.Equal(before, await _host.StateAsync());
        }
    }

    [Fact]
    public async Task A_description_has_a_limit()
    {
        JsonElement error = Assert.Single((await _host.SendAsync("New-StorageTier", New("n", ("Description", new string('x', 1025))))).GetProperty("Errors")
            .EnumerateArray().ToArray());
        Assert.Equal("-Description has 1025 characters; at most 1024 are possible.", error.GetProperty("ExtendedInformation").GetString());
        await ObjectsAsync("New-StorageTier", New("n", ("FriendlyName", new string('é', 256)), ("Description", new string('é', 1024))));
    }

    [Fact]
    public async Task Templates_are_listed_by_pool_and_medium()
    {
        await ObjectsAsync("New-StorageTier", New("slow", ("MediaType", "HDD")));
        Assert.Equal(["slow", "t"], Names(await ObjectsAsync("Get-StorageTier", [])));
        Assert.Equal(["slow", "t"], Names(await ObjectsAsync("Get-StorageTier", new() { ["StoragePool"] = "p" })));
        Assert.Equal(["slow"], Names(await ObjectsAsync("Get-StorageTier", new() { ["MediaType"] = new[] { "HDD", "SCM" } })));
        Assert.Empty(await ObjectsAsync("Get-StorageTier", new() { ["VirtualDisk"] = "v" }));
    }

    [Fact]
    public async Task A_pool_that_is_read_only_keeps_its_templates_as_they_are()
    {
        await ObjectsAsync("Set-StoragePool", new() { ["FriendlyName"] = "p", ["IsReadOnly"] = true });
        foreach ((string? verb, Dictionary<string, object?>? request) in new (string, Dictionary<string, object?>)[]
        {
            ("New-StorageTier", New("n")), ("Set-StorageTier", new() { ["FriendlyName"] = "t", ["MediaType"] = "HDD" }), ("Remove-StorageTier", Named("t")),
        })
        {
            JsonElement error = Assert.Single((await _host.SendAsync(verb, request)).GetProperty("Errors").EnumerateArray().ToArray());
            Assert.Equal(48007, error.GetProperty("Code").GetInt32());
        }

        Assert.Equal(["t"], Names(await ObjectsAsync("Get-StorageTier", [])));
    }

    [Fact]
    public async Task A_template_is_removed()
    {
        JsonElement told = await _host.SendAsync("Remove-StorageTier", new() { ["FriendlyName"] = new[] { "t" }, ["WhatIf"] = true });
        Assert.Equal("Remove storage tier 't'", Assert.Single(told.GetProperty("Steps").EnumerateArray().ToArray()).GetString());
        Assert.Single(await ObjectsAsync("Remove-StorageTier", new() { ["FriendlyName"] = new[] { "t" }, ["PassThru"] = true }));
        Assert.Empty(await ObjectsAsync("Get-StorageTier", []));
    }

    private static Dictionary<string, object?> New(string name, params (string Name, object Value)[] more) =>
        With(new() { ["StoragePoolFriendlyName"] = new[] { "p" }, ["FriendlyName"] = name }, more);

    private static Dictionary<string, object?> With(Dictionary<string, object?> request, (string Name, object Value)[] more)
    {
        Array.ForEach(more, pair => request[pair.Name] = pair.Value);
        return request;
    }

    private static Dictionary<string, object?> Named(string name) => new() { ["FriendlyName"] = new[] { name } };

    private static string[] Names(JsonElement[] tiers) => [.. tiers.Select(tier => tier.GetProperty("FriendlyName").GetString()!)];

    private static string Text(JsonElement tier) => string.Join(' ', ((string[])[
        "MediaType", "ResiliencySettingName", "NumberOfDataCopies", "PhysicalDiskRedundancy", "NumberOfColumns", "Interleave", "ProvisioningType", "TierClass",
    ]).Select(property => tier.GetProperty(property).ToString()));

    private Task SetAsync(string name, params (string Name, object Value)[] changes) =>
        ObjectsAsync("Set-StorageTier", With(new() { ["FriendlyName"] = name }, changes));

    private async Task<JsonElement[]> ObjectsAsync(string verb, Dictionary<string, object?> request)
    {
        JsonElement reply = await _host.SendAsync(verb, request);
        Assert.Equal("[]", reply.GetProperty("Errors").ToString());
        return [.. reply.GetProperty("Objects").EnumerateArray()];
    }
}
