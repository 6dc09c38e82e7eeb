using TierSpaces.Contracts;
using TierSpaces.Engine.Lanes.Native;
using TierSpaces.Host.Native;

namespace TierSpaces.Host.Supervision;

/// <summary>Turns a process into one that stands alone: its own session, no terminal, standard streams to the log.</summary>
internal static class Detachment
{
    /// <summary>Leaves the session of whoever started us. Does nothing for a process that leads a group already.</summary>
    public static void LeaveSession() => _ = ProcessCalls.StartSession();

    /// <summary>
    /// Lets go of the streams we were given: input from nowhere, output and errors to the log of the home. What the runtime says of
    /// a crash goes there too.
    /// </summary>
    public static void RedirectToLog(HostPaths paths)
    {
        var append = Libc.OpenReadWrite | Libc.OpenCreate | Libc.OpenAppend | Libc.OpenNoFollow;
        Replace(0, "/dev/null", 0);
        Replace(1, paths.Log, append);
        Replace(2, paths.Log, append);
    }

    private static void Replace(int standard, string path, int flags)
    {
        var descriptor = Libc.OpenPath(path, flags, Libc.OwnerOnly);
        if (descriptor >= 0)
        {
            _ = ProcessCalls.Duplicate(descriptor, standard);
            _ = Libc.Close(descriptor);
        }
    }
}
