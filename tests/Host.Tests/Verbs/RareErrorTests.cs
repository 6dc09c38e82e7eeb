using System.Text.Json;
using TierSpaces.Contracts;

namespace TierSpaces.Host.Tests.Verbs;

/// <summary>Errors that take some preparation.</summary>
public sealed class RareErrorTests : IAsyncLifetime
{
    private InProcessHost _host = null!;

    public async ValueTask InitializeAsync() => _host = await InProcessHost.StartAsync();

    public ValueTask DisposeAsync() => _host.DisposeAsync();

    [Fact]
    public async Task A_pool_that_cannot_open_is_not_changed()
    {
        await _host.CloseAsync();
        foreach (string disk in (string[])["a", "b", "c"])
        {
            File.Delete(_host.Image(disk));
        }

        await _host.OpenAsync();
        await FailsAsync(
            "PoolStateForbids", 48006, "New-VirtualDisk", new() { ["StoragePoolFriendlyName"] = new[] { "p" }, ["FriendlyName"] = "w", ["Size"] = 16 << 20 });
        await FailsAsync("PoolStateForbids", 48006, "Remove-VirtualDisk", new() { ["FriendlyName"] = new[] { "v" } });
    }

    [Fact]
    public Task What_is_no_disk_is_not_registered() =>
        FailsAsync("PhysicalDiskNotSupported", 51000, "Register-PhysicalDisk", new() { ["Path"] = new[] { "/dev/null" } });

    [Fact]
    public async Task A_damaged_member_is_not_pooled()
    {
        await _host.SendAsync("New-PhysicalDisk", new() { ["Path"] = new[] { _host.Image("other") }, ["Size"] = 128 << 20 });
        await _host.SendAsync("New-StoragePool", new() { ["FriendlyName"] = "gone", ["PhysicalDisks"] = new[] { "other" } });
        await _host.CloseAsync();
        using (FileStream image = File.OpenWrite(_host.Image("other")))
        {
            image.SetLength(100 << 20);
        }

        await _host.OpenAsync();
        await FailsAsync("DamagedMember", 5, "New-StoragePool", new() { ["FriendlyName"] = "again", ["PhysicalDisks"] = new[] { "other" } });
    }

    [Fact]
    public async Task A_disk_of_another_host_is_not_registered()
    {
        await using InProcessHost other = await InProcessHost.StartAsync();
        await FailsAsync("InUse", 6, "Register-PhysicalDisk", new() { ["Path"] = new[] { other.Image("free") } });
        await FailsAsync("InUse", 6, "Register-PhysicalDisk", new() { ["Path"] = new[] { other.Image("a") } });
    }

    [Fact]
    public async Task A_disk_for_which_the_file_system_has_no_room_is_not_made()
    {
        await FailsAsync("FileSystemFull", 5, "New-PhysicalDisk",
            new() { ["Path"] = new[] { _host.Image("huge") }, ["Size"] = 1L << 50, ["Preallocate"] = true });
        Assert.False(File.Exists(_host.Image("huge")));
    }

    [Fact]
    public void A_socket_path_has_a_longest_length()
    {
        string home = "/tmp/" + new string('h', 200);
        StorageErrorInfo error = Assert.Throws<StorageException>(() => new HostPaths(home).CheckSocketPath(new HostPaths(home).Socket)).Error;
        Assert.Equal(StorageErrors.SocketPathTooLong.Word, error.Word);
    }

    private async Task FailsAsync(string word, int code, string verb, Dictionary<string, object?> request)
    {
        JsonElement reply = await _host.SendAsync(verb, request);
        JsonElement error = Assert.Single(reply.GetProperty("Errors").EnumerateArray().ToArray());
        Assert.Equal((word, code), (error.GetProperty("Word").GetString(), error.GetProperty("Code").GetInt32()));
    }
}
