using System.Runtime.InteropServices;

namespace TierSpaces.Host.Native;

/// <summary>System calls on processes and their standard streams, which only the host makes.</summary>
internal static partial class ProcessCalls
{
    /// <summary>setpriority: a process; with number 0 on Linux the calling thread alone.</summary>
    public const int PriorityOfThread = 0;

    /// <summary>Sets the nice value, from -20 to 19.</summary>
    [LibraryImport("libc", EntryPoint = "setpriority")]
    public static partial int SetPriority(int which, int who, int nice);

    /// <summary>Starts a session, away from the terminal and its signals.</summary>
    [LibraryImport("libc", EntryPoint = "setsid")]
    public static partial int StartSession();

    /// <summary>Makes one descriptor a copy of another.</summary>
    [LibraryImport("libc", EntryPoint = "dup2")]
    public static partial int Duplicate(int from, int to);

    /// <summary>Sends a signal; 0 only asks whether the process is there.</summary>
    [LibraryImport("libc", EntryPoint = "kill")]
    public static partial int Kill(int process, int signal);
}
