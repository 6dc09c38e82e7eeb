using System.Text.Json;
using System.Text.RegularExpressions;
using TierSpaces.Acceptance;
using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Tests.Verbs;

/// <summary>A host in this process, without a socket: pool p of the disks a to d, virtual disk v and storage tier t in it, and the disk free beside.</summary>
public sealed partial class InProcessHost : IAsyncLifetime
{
    private static readonly string[] s_listed =
        ["Get-PhysicalDisk", "Get-StoragePool", "Get-VirtualDisk", "Get-ResiliencySetting", "Get-StorageTier", "Get-StorageTierSchedule"];
    private readonly string _root = Directory.CreateTempSubdirectory("ts").FullName;
    private HostServices _host = null!;
    private VerbDispatcher _verbs = null!;

    /// <summary>Starts one.</summary>
    public static async Task<InProcessHost> StartAsync()
    {
        InProcessHost started = new InProcessHost();
        await started.InitializeAsync();
        return started;
    }

    public async ValueTask InitializeAsync()
    {
        await OpenAsync();
        await SendAsync("New-PhysicalDisk",
            new() { ["Path"] = ((string[])["a", "b", "c", "d", "free"]).Select(Image), ["Size"] = 128 << 20, ["MediaType"] = "SSD" });
        await SendAsync("New-StoragePool", new() { ["FriendlyName"] = "p", ["PhysicalDisks"] = new[] { "[abcd]" } });
        await SendAsync("New-VirtualDisk", new() { ["StoragePoolFriendlyName"] = new[] { "p" }, ["FriendlyName"] = "v", ["Size"] = 16 << 20 });
        await SendAsync("New-StorageTier", new() { ["StoragePoolFriendlyName"] = new[] { "p" }, ["FriendlyName"] = "t", ["MediaType"] = "SSD" });
    }

    /// <summary>The places of files on connected virtual disks, as the host sees them: none, until a test sets one.</summary>
    internal FakeFileMap Files { get; } = new();

    /// <summary>Starts the host, again after <see cref="CloseAsync"/>.</summary>
    public async Task OpenAsync()
    {
        HostSettings settings = new() { AttachesNewDisks = false };   // no device is made of the many disks of these tests
        _host = await HostServices.StartAsync(new HostPaths(_root), new ServeOptions(Detach: false, SupervisorKind.None), settings);
        _host.Files = Files;
        _verbs = new VerbDispatcher(VerbHandlers.Create(_host), _host.Changes);
    }

    /// <summary>Stops the host.</summary>
    public ValueTask CloseAsync() => _host.DisposeAsync();

    public async ValueTask DisposeAsync()
    {
        await SendAsync("Disconnect-VirtualDisk", new() { ["FriendlyName"] = new[] { "*" } });
        await CloseAsync();
        Directory.Delete(_root, recursive: true);
    }

    /// <summary>Path of an image file.</summary>
    public string Image(string name) => Path.Combine(_root, name + ".img");

    /// <summary>Sends a request and returns the reply.</summary>
    public async Task<JsonElement> SendAsync(string verb, Dictionary<string, object?> request)
    {
        return await SendBytesAsync(verb, JsonSerializer.SerializeToUtf8Bytes(request));
    }

    /// <summary>Sends the bytes of a request, which may be none, and returns the reply.</summary>
    public async Task<JsonElement> SendBytesAsync(string verb, byte[] request) =>
        JsonDocument.Parse(await _verbs.AnswerAsync(verb, request, TestContext.Current.CancellationToken)).RootElement;

    /// <summary>Writes ones to places of a virtual disk, one after the other, over its socket: no device is made of it.</summary>
    internal async Task WriteAsync(string virtualDisk, int bytes, IEnumerable<long> offsets)
    {
        VirtualDiskStatus disk = (await _host.Subsystem.VirtualDisks.ListAsync()).Single(disk => disk.Description.FriendlyName == virtualDisk);
        VirtualDiskStatus connected = await _host.Subsystem.VirtualDisks.ConnectAsync(disk.Description.Id.Value);
        using NbdClient client = new(VirtualDiskMapping.NbdUri(virtualDisk, connected.SocketPath));
        byte[] ones = Enumerable.Repeat((byte)1, bytes).ToArray();
        foreach (long offset in offsets)
        {
            client.Send(1, NbdClient.Write, 0, offset, bytes, ones);
            Assert.Equal((1UL, 0U), client.NextAnswer());
        }
    }

    /// <summary>Everything that is listed, masked.</summary>
    public async Task<string> StateAsync()
    {
        string state = "";
        foreach (string verb in s_listed)
        {
            JsonElement.ArrayEnumerator objects = (await SendAsync(verb, [])).GetProperty("Objects").EnumerateArray();
            state += string.Join('\n', objects.Select(info => Masked(info.ToString())).Order(StringComparer.Ordinal));   // their own order is by identifier
        }

        return state;
    }

    /// <summary>Masks the identifiers and folders of this host, and the time until what it does by itself.</summary>
    public string Masked(string text) => TimeLeft().Replace(Identifier().Replace(text.Replace(_root, "ROOT"), "ID"), "TIME");

    [GeneratedRegex("[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}|(?<=\"SerialNumber\":\")[0-9A-F]{16}(?=\")")]
    private static partial Regex Identifier();

    [GeneratedRegex("(?<=(looked for again|given up|repair begins) )(within a second|in [0-9]+ s)")]
    private static partial Regex TimeLeft();
}
