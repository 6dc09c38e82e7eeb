using TierSpaces.Contracts;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Management;

namespace TierSpaces.Host.Engine;

/// <summary>The engine inside a host: its lane, its state folder, its subsystem. Started before the host answers, stopped last.</summary>
internal sealed class EngineHost : IAsyncDisposable
{
    private readonly Lane lane;

    private EngineHost(Lane lane, HostState state, StorageSubsystem subsystem)
    {
        this.lane = lane;
        State = state;
        Subsystem = subsystem;
    }

    /// <summary>Every verb over the engine.</summary>
    public StorageSubsystem Subsystem { get; }

    /// <summary>The host's few files.</summary>
    public HostState State { get; }

    /// <summary>Which I/O backend runs.</summary>
    public string Backend => lane.Backend.ToString();

    /// <summary>Why.</summary>
    public string BackendReason => lane.BackendReason;

    /// <summary>Opens what the home knows.</summary>
    /// <exception cref="StorageException">The folders of the home cannot be used.</exception>
    public static async Task<EngineHost> StartAsync(HostPaths paths)
    {
        var lane = LaneFactory.Create("storage");
        try
        {
            Directory.CreateDirectory(paths.Exports, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute);
            var state = new HostState(paths.State, RuntimeFolder(paths));
            var subsystem = await StorageSubsystem.StartAsync(new SubsystemOptions(
                lane, lane.Network, new DiskFactory(), state, paths.Exports, NodeId(state), HostLog.Write)).ConfigureAwait(false);
            return new EngineHost(lane, state, subsystem);
        }
        catch (IOException e)
        {
            lane.Dispose();
            throw new StorageException(StorageErrors.AccessDenied, e.Message, $"Choose another home with {HostPaths.HomeVariable}.", paths.Home, e);
        }
    }

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        await Subsystem.StopAsync().ConfigureAwait(false);
        lane.Dispose();
        State.Dispose();
    }

    /// <summary>Memory that outlives a crash of the process belongs on tmpfs; a folder of the home serves where there is none.</summary>
    private static string RuntimeFolder(HostPaths paths)
    {
        const string shared = "/dev/shm";
        var name = Convert.ToHexString(System.Security.Cryptography.SHA256.HashData(System.Text.Encoding.UTF8.GetBytes(paths.Home)))[..16];
        return Directory.Exists(shared) ? Path.Combine(shared, $"tierspaces-{name}") : Path.Combine(paths.State, "run");
    }

    private static Guid NodeId(HostState state)
    {
        const string file = "node-id";
        if (state.ReadFile(file) is { Length: 16 } known)
        {
            return new Guid(known);
        }

        var id = Guid.NewGuid();
        state.WriteFile(file, id.ToByteArray());
        return id;
    }
}
