using System.Diagnostics;
using TierSpaces.Contracts;

namespace TierSpaces.Host.Supervision;

/// <summary>
/// The small process that starts the host again when it dies. Model: two processes, two locks. The host holds <c>host.lock</c>,
/// the supervisor holds <c>supervisor.lock</c>, and each waits in the kernel for the other's. A process that gets the other's lock
/// knows that the other is dead, releases the lock, and starts the other again. Neither is the other's parent, so each outlives
/// the other.
/// <list type="number">
/// <item>A host that stops on request leaves the line <c>stopped</c> in its lock; any other line means that it died.</item>
/// <item>A supervisor whose home has vanished ends.</item>
/// <item>There is at most one supervisor per home: a second one ends at once.</item>
/// </list>
/// </summary>
internal static class Supervisor
{
    /// <summary>Word of the command line that runs a supervisor.</summary>
    public const string Command = "supervise";

    /// <summary>Watches over the host of a home until it is stopped in good order.</summary>
    public static int Run(HostPaths paths)
    {
        Detachment.LeaveSession();
        using LockFile? mine = LockFile.TryTake(paths.SupervisorLock);
        mine?.Write($"{Environment.ProcessId}");
        Console.Out.WriteLine(ProcessHostLauncher.ReadyLine);
        if (mine is not null)
        {
            HostLog.WriteTo(paths.Log);
            Detachment.RedirectToLog(paths);
            Watch(paths);
        }

        return 0;
    }

    private static void Watch(HostPaths paths)
    {
        Backoff backoff = new Backoff();
        Stopwatch? served = null;   // time since the last start was ready; zero if it never was
        while (HostDied(paths))
        {
            TimeSpan wait = backoff.Next(served?.Elapsed);
            HostLog.Write($"supervisor: the host died; it is started again{(wait > TimeSpan.Zero ? $" in {wait.TotalSeconds} s" : "")}");
            Thread.Sleep(wait);
            served = new Stopwatch();
            if (ChildProcess.Start(paths, "serve", ProcessHostLauncher.DetachOption) is { Length: > 0 } complaint)
            {
                HostLog.Write($"supervisor: the host did not start: {complaint}");
            }
            else
            {
                served.Start();
            }
        }
    }

    /// <summary>Waits for the end of the host. True when it must be started again.</summary>
    private static bool HostDied(HostPaths paths)
    {
        if (!File.Exists(paths.HostLock))
        {
            return false;
        }

        using LockFile host = LockFile.Wait(paths.HostLock);
        return File.Exists(paths.HostLock) && LockFile.Read(paths.HostLock) != HostPaths.StoppedLine;
    }
}
