using System.Diagnostics;
using TierSpaces.Contracts;

namespace TierSpaces.Host.Supervision;

/// <summary>
/// The host's half of the pair (see <see cref="Supervisor"/>): one thread that waits for the supervisor's lock and starts a
/// supervisor whenever it gets it. A background thread: it ends with the host.
/// </summary>
/// <param name="paths">Home of the host.</param>
/// <param name="started">Called when a supervisor was started.</param>
internal sealed class SupervisorGuard(HostPaths paths, Action started)
{
    private volatile bool _stopping;

    /// <summary>Starts watching, and with it the first supervisor.</summary>
    public void Start() => new Thread(Watch) { IsBackground = true, Name = "supervisor guard" }.Start();

    /// <summary>From now on a dead supervisor stays dead.</summary>
    public void Stop() => _stopping = true;

    private void Watch()
    {
        Backoff backoff = new Backoff();
        Stopwatch? served = null;   // time since the last start was ready; zero if it never was
        while (true)
        {
            LockFile.Wait(paths.SupervisorLock).Dispose();
            Thread.Sleep(backoff.Next(served?.Elapsed));
            if (_stopping)
            {
                return;
            }

            served = new Stopwatch();
            if (ChildProcess.Start(paths, Supervisor.Command) is { Length: > 0 } complaint)
            {
                HostLog.Write($"the supervisor did not start: {complaint}");
            }
            else
            {
                served.Start();
                started();
            }
        }
    }
}
