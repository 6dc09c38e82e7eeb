using TierSpaces.Engine.Lanes.Native;

namespace TierSpaces.Engine.Lanes.Sockets;

/// <summary>
/// Descriptors that no connection of a client may take: disks that are opened again, state files and the management socket need them. The
/// system gives the lowest free number to a new descriptor, so its number tells how many are open.
/// </summary>
internal static class DescriptorReserve
{
    private const int Least = 64;
    private const int Most = 1024;
    private const int Share = 16;   // of the limit

    /// <summary>Whether a new descriptor with this number is one of the reserve.</summary>
    internal static bool IsReserved(int descriptor) => descriptor >= FirstReserved(Libc.DescriptorLimit());

    /// <summary>A sixteenth of the limit (RLIMIT_NOFILE), 64 to 1024 descriptors, at most half of the limit.</summary>
    internal static long FirstReserved(long limit) => limit - Math.Min(Math.Clamp(limit / Share, Least, Most), limit / 2);

    /// <summary>A descriptor that is held in order to be given up; negative when there is none.</summary>
    internal static int OpenSpare() => Libc.OpenPath("/dev/null", Libc.OpenReadOnly);
}
