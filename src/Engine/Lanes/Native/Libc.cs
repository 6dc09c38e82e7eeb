using System.Runtime.InteropServices;

namespace TierSpaces.Engine.Lanes.Native;

// The C library, as far as Lanes, Devices and the host call it. Every signature is blittable; a result of -1 means that
// LastError() holds the errno, which the runtime preserves from the call to the next managed statement.

/// <summary>Raw calls of the C library and the constants they take.</summary>
internal static unsafe partial class Libc
{
    private const string Library = "libc";

    internal static readonly bool IsArm64 = RuntimeInformation.ProcessArchitecture == Architecture.Arm64;

    internal static int LastError() => Marshal.GetLastSystemError();

    /// <summary>A count, or the negative errno, of a call that answered <paramref name="result"/>.</summary>
    internal static int CountOrError(nint result) => result >= 0 ? (int)result : -LastError();

    [DllImport(Library, EntryPoint = "syscall")]
    internal static extern nint SystemCall(nint number, nint a, nint b, nint c, nint d, nint e, nint f);

    [DllImport(Library, EntryPoint = "close")]
    internal static extern int Close(int descriptor);

    [DllImport(Library, EntryPoint = "read")]
    internal static extern nint Read(int descriptor, void* buffer, nuint length);

    [DllImport(Library, EntryPoint = "write")]
    internal static extern nint Write(int descriptor, void* buffer, nuint length);

    [DllImport(Library, EntryPoint = "mmap")]
    internal static extern void* Map(void* address, nuint length, int protection, int flags, int descriptor, long offset);

    [DllImport(Library, EntryPoint = "munmap")]
    internal static extern int Unmap(void* address, nuint length);

    [DllImport(Library, EntryPoint = "madvise")]
    internal static extern int Advise(void* address, nuint length, int advice);

    [DllImport(Library, EntryPoint = "mlock")]
    internal static extern int LockMemory(void* address, nuint length);

    [DllImport(Library, EntryPoint = "munlock")]
    internal static extern int UnlockMemory(void* address, nuint length);

    [DllImport(Library, EntryPoint = "readv")]
    internal static extern nint ReadVector(int descriptor, IoVector* vectors, int count);

    [DllImport(Library, EntryPoint = "writev")]
    internal static extern nint WriteVector(int descriptor, IoVector* vectors, int count);

    [DllImport(Library, EntryPoint = "eventfd")]
    internal static extern int EventDescriptor(uint initial, int flags);

    [DllImport(Library, EntryPoint = "prctl")]
    internal static extern int ProcessControl(int option, nuint a, nuint b, nuint c, nuint d);

    /// <summary>Writes bytes: a count, or -1 with the errno in <see cref="LastError"/>.</summary>
    internal static nint Write(int descriptor, ReadOnlySpan<byte> content)
    {
        fixed (byte* bytes = content)
        {
            return Write(descriptor, bytes, (nuint)content.Length);
        }
    }

    /// <summary>Time since the machine was started, suspended time included, in nanoseconds.</summary>
    internal static long BootTimeNs()
    {
        long* time = stackalloc long[2];   // struct timespec
        GetTime(ClockBootTime, time);
        return (time[0] * 1_000_000_000) + time[1];
    }

    /// <summary>A NUL-terminated UTF-8 copy for a path argument.</summary>
    internal static byte[] PathBytes(string path) => System.Text.Encoding.UTF8.GetBytes(path + '\0');

    [SuppressGCTransition]
    [DllImport(Library, EntryPoint = "clock_gettime")]
    private static extern int GetTime(int clock, long* time);

    private const int ClockBootTime = 7;
    internal const int ProtectionReadWrite = 3;
    internal const int MapShared = 1;
    internal const int MapPopulate = 0x8000;
    internal const int AdviseHugePages = 14;   // MADV_HUGEPAGE
    internal const int EventCloseOnExec = 0x80000;
    internal const int EventNonblocking = 0x800;
    internal const int SetTimerSlack = 29;
    internal const int SetIoFlusher = 57;

    internal static bool MapFailed(void* address) => (nint)address == -1;
}
