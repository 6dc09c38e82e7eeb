using TierSpaces.Contracts;
using TierSpaces.Host.Supervision;

namespace TierSpaces.Host.Serving;

/// <summary>What the handlers of one host share.</summary>
internal sealed class HostServices(HostPaths paths, ServeOptions options)
{
    private readonly TaskCompletionSource stopRequested = new(TaskCreationOptions.RunContinuationsAsynchronously);

    /// <summary>Where state and sockets are.</summary>
    public HostPaths Paths => paths;

    /// <summary>When the host started, in UTC.</summary>
    public DateTime StartTime { get; } = DateTime.UtcNow;

    /// <summary>Completes when somebody asked the host to stop.</summary>
    public Task StopRequested => stopRequested.Task;

    /// <summary>Asks the host to stop in good order. Returns at once; a second request changes nothing.</summary>
    public void RequestStop() => stopRequested.TrySetResult();

    /// <summary>Process that starts the host again, or null.</summary>
    public int? SupervisorProcessId => options.Supervisor switch
    {
        SupervisorKind.Systemd => 1,
        SupervisorKind.Own when int.TryParse(FileLock.Read(paths.SupervisorLock), out var process) => process,
        _ => null,
    };
}
