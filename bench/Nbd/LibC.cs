using System.Runtime.InteropServices;

namespace TierSpaces.Bench.Nbd;

/// <summary>The few system calls of the load client and its clocks; nothing of the engine is used, so nothing of it is measured twice.</summary>
internal static unsafe class LibC
{
    internal const int DontWait = 0x40;
    internal const int NoSignal = 0x4000;
    internal const short PollIn = 1;
    internal const short PollOut = 4;
    internal const int TryAgain = 11;
    internal const int Interrupted = 4;

    internal struct Vector
    {
        internal void* Base;
        internal nuint Length;
    }

    internal struct MessageHeader
    {
        internal void* Name;
        internal uint NameLength;
        internal Vector* Vectors;
        internal nuint VectorCount;
        internal void* Control;
        internal nuint ControlLength;
        internal int Flags;
    }

    internal struct PollEntry
    {
        internal int Descriptor;
        internal short Events;
        internal short Returned;
    }

    [DllImport("libc", EntryPoint = "socket", SetLastError = true)]
    internal static extern int Socket(int family, int type, int protocol);

    [DllImport("libc", EntryPoint = "connect", SetLastError = true)]
    internal static extern int Connect(int descriptor, byte* address, uint length);

    [DllImport("libc", EntryPoint = "close")]
    internal static extern int Close(int descriptor);

    [DllImport("libc", EntryPoint = "recv", SetLastError = true)]
    internal static extern nint Receive(int descriptor, void* target, nuint length, int flags);

    [DllImport("libc", EntryPoint = "sendmsg", SetLastError = true)]
    internal static extern nint SendMessage(int descriptor, MessageHeader* message, int flags);

    [DllImport("libc", EntryPoint = "poll", SetLastError = true)]
    internal static extern int Poll(PollEntry* entries, ulong count, int timeoutMs);

    /// <summary>Processor time of this thread so far, in seconds.</summary>
    internal static double ThreadSeconds()
    {
        const int threadProcessorTime = 3;
        TimeSpec time = default;
        return GetTime(threadProcessorTime, &time) == 0 ? time.Seconds + (time.Nanoseconds / 1e9) : throw new IOException("clock_gettime failed.");
    }

    /// <summary>Nice value of this process, −20 to 19: programs that it starts have the same.</summary>
    internal static int Niceness() => GetPriority(0, 0);

    private struct TimeSpec
    {
        internal long Seconds;
        internal long Nanoseconds;
    }

    [DllImport("libc", EntryPoint = "getpriority")]
    private static extern int GetPriority(int which, int id);

    [DllImport("libc", EntryPoint = "clock_gettime")]
    private static extern int GetTime(int clock, TimeSpec* time);
}
