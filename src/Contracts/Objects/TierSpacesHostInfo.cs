namespace TierSpaces.Contracts;

/// <summary>The host process: what Get-TierSpacesHost and <c>tierspaces status</c> return.</summary>
[WindowsClass("TierSpaces_Host", "ProcessId", "Version", "HealthStatus", "IOBackend", "IOBackendReason", "Lanes", "Pools", "Home")]
public sealed record TierSpacesHostInfo
{
    /// <summary>Process identifier of the host.</summary>
    public int ProcessId { get; init; }

    /// <summary>Process identifier of what restarts it: its supervisor, or 1 for systemd; null when nothing does.</summary>
    public int? SupervisorProcessId { get; init; }

    /// <summary>Version of TierSpaces.</summary>
    public string Version { get; init; } = "";

    /// <summary>Version of .NET it runs on.</summary>
    public string Runtime { get; init; } = "";

    /// <summary>Time at which the host started, in UTC.</summary>
    public DateTime StartTime { get; init; }

    /// <summary>Folder of its state and sockets.</summary>
    public string Home { get; init; } = "";

    /// <summary>Socket of its management interface.</summary>
    public string Socket { get; init; } = "";

    /// <summary>io_uring or ThreadPool.</summary>
    public string IOBackend { get; init; } = "";

    /// <summary>Reason for the choice of the back end.</summary>
    public string IOBackendReason { get; init; } = "";

    /// <summary>Number of data lanes: threads that serve virtual disks, each on a core of its own.</summary>
    public int Lanes { get; init; }

    /// <summary>Friendly names of the open pools.</summary>
    public string[] Pools { get; init; } = [];

    /// <summary>
    /// Worst health of the pools, virtual disks, physical disks and volumes of the host: Healthy, Warning or Unhealthy. A pool that is not open is Unhealthy.
    /// </summary>
    public string HealthStatus { get; init; } = "";

    /// <summary>A line for each object that is not healthy: severity, object, pool, status and reason.</summary>
    public string[] Faults { get; init; } = [];

    /// <summary>Number of virtual disks being served.</summary>
    public int ConnectedVirtualDisks { get; init; }
}
