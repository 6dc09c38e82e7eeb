using TierSpaces.Contracts;
using TierSpaces.Engine.Lanes.Native;
using TierSpaces.Host.Native;

namespace TierSpaces.Host.Supervision;

/// <summary>Detaches a process from its caller: its own session, no terminal, standard streams to the log.</summary>
internal static class Detachment
{
    /// <summary>Leaves the session of the caller. Does nothing if the process already leads a process group.</summary>
    public static void LeaveSession() => _ = ProcessCalls.StartSession();

    /// <summary>
    /// Replaces the standard streams: input from nowhere, output and errors to the log in the host's folder. The runtime's report of a
    /// crash goes there too.
    /// </summary>
    public static void RedirectToLog(HostPaths paths)
    {
        int append = Libc.OpenReadWrite | Libc.OpenCreate | Libc.OpenAppend | Libc.OpenNoFollow;
        Replace(0, "/dev/null", 0);
        Replace(1, paths.Log, append);
        Replace(2, paths.Log, append);
    }

    private static void Replace(int standard, string path, int flags)
    {
        int descriptor = Libc.OpenPath(path, flags, Libc.OwnerOnly);
        if (descriptor >= 0)
        {
            _ = ProcessCalls.Duplicate(descriptor, standard);
            _ = Libc.Close(descriptor);
        }
    }
}
