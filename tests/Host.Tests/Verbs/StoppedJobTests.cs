using System.Text.Json;

namespace TierSpaces.Host.Tests.Verbs;

/// <summary>Storage jobs that are stopped by their name, in a host in this process.</summary>
public sealed class StoppedJobTests(InProcessHost host) : IClassFixture<InProcessHost>
{
    [Theory]
    [InlineData("Name", "Repair")]
    [InlineData("Name", "Rep*")]
    [InlineData("InputObject", "Repair")]
    public async Task A_stop_by_name_takes_the_job_that_runs_and_not_those_that_have_ended(string parameter, string name)
    {
        await host.SendAsync("Repair-VirtualDisk", new() { ["FriendlyName"] = new[] { "v" } });
        await host.SendAsync("Repair-VirtualDisk", new() { ["FriendlyName"] = new[] { "v" } });
        await using LongRepair job = await LongRepair.BeginAsync(host);
        Dictionary<string, object?> request = new() { [parameter] = new[] { name }, ["PassThru"] = true };

        JsonElement asked = await host.SendAsync("Stop-StorageJob", new(request) { ["WhatIf"] = true });
        JsonElement stopped = await host.SendAsync("Stop-StorageJob", request);
        JsonElement again = await host.SendAsync("Stop-StorageJob", request);

        Assert.Equal("[]", asked.GetProperty("Errors").ToString());
        Assert.Equal("[]", stopped.GetProperty("Errors").ToString());
        Assert.Equal(job.Id, Assert.Single(stopped.GetProperty("Objects").EnumerateArray()).GetProperty("UniqueId").GetString());
        JsonElement error = Assert.Single(again.GetProperty("Errors").EnumerateArray());
        Assert.Equal(5, error.GetProperty("Code").GetInt32());
        Assert.Contains("has ended", error.ToString());
    }

    [Fact]
    public async Task A_stop_by_identifier_of_a_job_that_has_ended_is_refused_while_another_of_its_name_runs()
    {
        await host.SendAsync("Repair-VirtualDisk", new() { ["FriendlyName"] = new[] { "v" } });
        JsonElement jobs = (await host.SendAsync("Get-StorageJob", new() { ["JobState"] = new[] { "Completed" } })).GetProperty("Objects");
        await using LongRepair job = await LongRepair.BeginAsync(host);

        JsonElement reply = await host.SendAsync("Stop-StorageJob", new() { ["InputObject"] = new[] { jobs[0].GetProperty("UniqueId").GetString() } });

        Assert.Equal(5, Assert.Single(reply.GetProperty("Errors").EnumerateArray()).GetProperty("Code").GetInt32());
    }
}
