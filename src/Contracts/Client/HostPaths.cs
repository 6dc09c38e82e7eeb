using System.Text;

namespace TierSpaces.Contracts;

/// <summary>Paths of the state and sockets of a host. Each home has at most one host; hosts of different homes run side by side.</summary>
/// <param name="Home">The folder, absolute.</param>
public sealed record HostPaths(string Home)
{
    /// <summary>Environment variable that moves everything.</summary>
    public const string HomeVariable = "TIERSPACES_HOME";

    /// <summary>Line that a host leaves in its lock when a user stops it.</summary>
    public const string StoppedLine = "stopped";

    /// <summary>Longest path a Unix socket can have, in bytes (sun_path less its terminator).</summary>
    public const int SocketPathMax = 107;

    /// <summary>The host as the target of a question or a plan.</summary>
    public string Title => $"TierSpacesHost '{Home}'";

    /// <summary>Socket of the management interface.</summary>
    public string Socket => Path.Combine(Home, "host.sock");

    /// <summary>Held locked by the running host, so that there is never a second one.</summary>
    public string HostLock => Path.Combine(Home, "host.lock");

    /// <summary>
    /// Whether the last host of this home was stopped by a user: then no one but a new command starts another one. False while a host runs, and after one
    /// that died.
    /// </summary>
    public bool WasStopped
    {
        get
        {
            try
            {
                // Shared for writing: .NET would lock the file else, and a host could not take it meanwhile.
                using FileStream file = new(HostLock, FileMode.Open, FileAccess.Read, FileShare.ReadWrite | FileShare.Delete);
                using StreamReader reader = new(file);
                return reader.ReadLine() == StoppedLine;
            }
            catch (Exception e) when (e is IOException or UnauthorizedAccessException)
            {
                return false;
            }
        }
    }

    /// <summary>Held locked by the running supervisor.</summary>
    public string SupervisorLock => Path.Combine(Home, "supervisor.lock");

    /// <summary>Socket at which the supervisor keeps descriptors for the host.</summary>
    public string KeeperSocket => Path.Combine(Home, "keep.sock");

    /// <summary>Log of the host and its supervisor.</summary>
    public string Log => Path.Combine(Home, "host.log");

    /// <summary>Folder of the export sockets.</summary>
    public string Exports => Path.Combine(Home, "nbd");

    /// <summary>Folder of the links to block devices.</summary>
    public string Devices => Path.Combine(Home, "dev");

    /// <summary>Folder of the host's state.</summary>
    public string State => Path.Combine(Home, "state");

    /// <summary>
    /// The home of this user: <c>TIERSPACES_HOME</c>, else <c>/var/lib/tierspaces</c> for root, else
    /// <c>$XDG_STATE_HOME/tierspaces</c> or <c>~/.local/state/tierspaces</c>.
    /// </summary>
    public static HostPaths FromEnvironment() => new(Path.GetFullPath(ChooseHome()));

    /// <summary>Path of the socket at which a virtual disk is served.</summary>
    public string SocketOf(Guid virtualDisk) => Path.Combine(Exports, virtualDisk.ToString("N") + ".sock");

    /// <summary>Checks that a socket of this home can exist.</summary>
    /// <exception cref="StorageException">Its path is longer than the kernel takes.</exception>
    public void CheckSocketPath(string socket)
    {
        int length = Encoding.UTF8.GetByteCount(socket);
        if (length > SocketPathMax)
        {
            throw new StorageException(
                StorageErrors.SocketPathTooLong, $"'{socket}' has {length} bytes; a socket path has at most {SocketPathMax}.",
                $"Choose a shorter {HomeVariable}.", socket);
        }
    }

    private static string ChooseHome()
    {
        if (Environment.GetEnvironmentVariable(HomeVariable) is { Length: > 0 } home)
        {
            return home;
        }

        if (Environment.IsPrivilegedProcess)
        {
            return "/var/lib/tierspaces";
        }

        string state = Environment.GetEnvironmentVariable("XDG_STATE_HOME") is { Length: > 0 } xdg
            ? xdg
            : Path.Combine(Environment.GetFolderPath(Environment.SpecialFolder.UserProfile), ".local", "state");
        return Path.Combine(state, "tierspaces");
    }
}
