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
/// <item>The supervisor keeps descriptors that the next host takes over (<see cref="DescriptorKeeper"/>). While it keeps some it outlives a host that stops
/// on request.</item>
/// </list>
/// </summary>
internal static class Supervisor
{
    /// <summary>Word of the command line that runs a supervisor.</summary>
    public const string Command = "supervise";

    private static readonly TimeSpan s_waitInterval = TimeSpan.FromMilliseconds(200);

    /// <summary>Watches over the host of a home until it is stopped in good order.</summary>
    public static int Run(HostPaths paths)
    {
        Detachment.LeaveSession();
        using LockFile? mine = LockFile.TryTake(paths.SupervisorLock);
        mine?.Write($"{Environment.ProcessId}");
        using DescriptorKeeper? keeper = mine is null ? null : DescriptorKeeper.Start(paths.KeeperSocket);
        Console.Out.WriteLine(ProcessHostLauncher.ReadyLine);
        if (keeper is not null)
        {
            HostLog.WriteTo(paths.Log);
            Detachment.RedirectToLog(paths);
            do
            {
                Watch(paths);
            }
            while (NextHostComes(paths, keeper));
        }

        return 0;
    }

    /// <summary>
    /// While descriptors are kept, devices of a host that was stopped wait for the next one. Waits for that one; false when there is nothing to keep.
    /// </summary>
    private static bool NextHostComes(HostPaths paths, DescriptorKeeper keeper)
    {
        while (keeper.Count > 0 && File.Exists(paths.HostLock))
        {
            if (LockFile.Read(paths.HostLock) != HostPaths.StoppedLine)
            {
                return true;
            }

            Thread.Sleep(s_waitInterval);
        }

        return false;
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
