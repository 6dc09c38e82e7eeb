using System.Text.Json;

namespace TierSpaces.Host.Tests.Verbs;

/// <summary>A repair that lasts until it is stopped: its disks are emulated and slow.</summary>
internal sealed class LongRepair : IAsyncDisposable
{
    private static readonly string[] s_disks = ["slow1", "slow2"], s_space = ["slowly"];
    private readonly InProcessHost _host;
    private readonly Task<JsonElement> _repair;

    /// <summary>Identifier of its job.</summary>
    internal string Id { get; private set; } = "";

    private LongRepair(InProcessHost host)
    {
        _host = host;
        _repair = host.SendAsync("Repair-VirtualDisk", new() { ["FriendlyName"] = s_space });
    }

    /// <summary>Begins one, and waits until its job is at work.</summary>
    internal static async Task<LongRepair> BeginAsync(InProcessHost host)
    {
        await host.SendAsync("New-PhysicalDisk", new() { ["Path"] = s_disks.Select(host.Image), ["Size"] = 256 << 20, ["LatencyProfile"] = "HDD7200" });
        await host.SendAsync("New-StoragePool", new() { ["FriendlyName"] = "slow", ["PhysicalDisks"] = s_disks });
        await host.SendAsync("New-VirtualDisk", new() { ["StoragePoolFriendlyName"] = new[] { "slow" }, ["FriendlyName"] = "slowly", ["Size"] = 64 << 20 });
        foreach (string disk in s_disks)
        {
            await host.SendAsync("Set-EmulatedDiskFault", new() { ["FriendlyName"] = disk, ["SlowFactor"] = 100 });
        }

        LongRepair begun = new LongRepair(host);
        for (int i = 0; i < 1000 && await begun.RunningAsync() == 0; i++)
        {
            await Task.Delay(10, TestContext.Current.CancellationToken);
        }

        Assert.Equal(1, await begun.RunningAsync());
        begun.Id = (await begun.JobsAsync())[0].GetProperty("UniqueId").GetString()!;
        return begun;
    }

    public async ValueTask DisposeAsync()
    {
        await _host.SendAsync("Stop-StorageJob", new() { ["UniqueId"] = new[] { Id } });
        await _repair;
        Assert.Equal(0, await RunningAsync());
        foreach (string disk in s_disks)
        {
            await _host.SendAsync("Set-EmulatedDiskFault", new() { ["FriendlyName"] = disk, ["Clear"] = true });
        }

        await _host.SendAsync("Remove-VirtualDisk", new() { ["FriendlyName"] = s_space });
        await _host.SendAsync("Remove-StoragePool", new() { ["FriendlyName"] = new[] { "slow" } });
    }

    private async Task<int> RunningAsync() => (await JobsAsync()).GetArrayLength();

    private async Task<JsonElement> JobsAsync() =>
        (await _host.SendAsync("Get-StorageJob", new() { ["JobState"] = new[] { "Running" } })).GetProperty("Objects");
}
