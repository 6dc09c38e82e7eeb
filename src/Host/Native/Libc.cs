using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

namespace TierSpaces.Host.Native;

/// <summary>The few system calls .NET has no face for. Linux numbers, the same on x64 and arm64.</summary>
internal static partial class Libc
{
    /// <summary>flock: exclusive.</summary>
    public const int LockExclusive = 2;

    /// <summary>flock: do not wait.</summary>
    public const int LockNonBlocking = 4;

    /// <summary>The call was interrupted by a signal.</summary>
    public const int EINTR = 4;

    /// <summary>No such device: also what opening a socket as a file says.</summary>
    public const int ENXIO = 6;

    /// <summary>The device is in use.</summary>
    public const int EBUSY = 16;

    /// <summary>open of a block device: fail when somebody else has it exclusively.</summary>
    public const int OpenExclusive = 0x80;

    /// <summary>setpriority: a process; with number 0 on Linux the calling thread alone.</summary>
    public const int PriorityOfThread = 0;

    /// <summary>Permissions 0600.</summary>
    public const int OwnerOnly = 0x180;

    /// <summary>open: do not wait.</summary>
    public const int OpenNonBlocking = 0x800;

    /// <summary>open: not for child processes.</summary>
    public const int OpenCloseOnExec = 0x80000;

    /// <summary>open: read and write.</summary>
    public const int OpenReadWrite = 2;

    /// <summary>open: create when missing.</summary>
    public const int OpenCreate = 0x40;

    /// <summary>open: write at the end.</summary>
    public const int OpenAppend = 0x400;

    /// <summary>open: fail when the path is a symbolic link.</summary>
    public static readonly int OpenNoFollow = RuntimeInformation.ProcessArchitecture == Architecture.Arm64 ? 0x8000 : 0x20000;

    /// <summary>Advisory lock of a whole file, released by the kernel when its last descriptor closes.</summary>
    [LibraryImport("libc", EntryPoint = "flock", SetLastError = true)]
    public static partial int Lock(SafeFileHandle file, int operation);

    /// <summary>Sets the nice value, from -20 to 19.</summary>
    [LibraryImport("libc", EntryPoint = "setpriority", SetLastError = true)]
    public static partial int SetPriority(int which, int who, int nice);

    /// <summary>Starts a session, away from the terminal and its signals.</summary>
    [LibraryImport("libc", EntryPoint = "setsid", SetLastError = true)]
    public static partial int StartSession();

    /// <summary>Opens a file as a bare descriptor.</summary>
    [LibraryImport("libc", EntryPoint = "open", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int Open(string path, int flags, int mode);

    /// <summary>Writes to a bare descriptor.</summary>
    [LibraryImport("libc", EntryPoint = "write", SetLastError = true)]
    public static partial nint Write(int descriptor, ReadOnlySpan<byte> content, nint length);

    /// <summary>Makes one descriptor a copy of another.</summary>
    [LibraryImport("libc", EntryPoint = "dup2", SetLastError = true)]
    public static partial int Duplicate(int from, int to);

    /// <summary>Closes a bare descriptor.</summary>
    [LibraryImport("libc", EntryPoint = "close", SetLastError = true)]
    public static partial int Close(int descriptor);

    /// <summary>Makes a file or folder durable.</summary>
    [LibraryImport("libc", EntryPoint = "fsync", SetLastError = true)]
    public static partial int Synchronize(int descriptor);

    /// <summary>Effective user.</summary>
    [LibraryImport("libc", EntryPoint = "geteuid")]
    public static partial uint EffectiveUser();

    /// <summary>Sends a signal; 0 only asks whether the process is there.</summary>
    [LibraryImport("libc", EntryPoint = "kill", SetLastError = true)]
    public static partial int Kill(int process, int signal);
}
