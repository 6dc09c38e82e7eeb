namespace TierSpaces.Engine.Lanes.Native;

/// <summary>Linux error numbers that decide something here; the same on x86-64 and arm64.</summary>
internal static class Errno
{
    internal const int EPERM = 1;
    internal const int ENOENT = 2;
    internal const int EINTR = 4;
    internal const int EIO = 5;
    internal const int ENXIO = 6;
    internal const int EAGAIN = 11;
    internal const int ENOMEM = 12;
    internal const int EACCES = 13;
    internal const int EBUSY = 16;
    internal const int EEXIST = 17;
    internal const int ENODEV = 19;
    internal const int ENOTDIR = 20;
    internal const int EINVAL = 22;
    internal const int ENFILE = 23;
    internal const int EMFILE = 24;
    internal const int ENOTTY = 25;
    internal const int ETXTBSY = 26;
    internal const int EFBIG = 27;
    internal const int ENOSPC = 28;
    internal const int EROFS = 30;
    internal const int EPIPE = 32;
    internal const int ENOSYS = 38;
    internal const int ETIME = 62;
    internal const int EOPNOTSUPP = 95;
    internal const int EADDRINUSE = 98;
    internal const int ENOBUFS = 105;
    internal const int ECONNRESET = 104;
    internal const int ESHUTDOWN = 108;
    internal const int ETIMEDOUT = 110;
    internal const int ECONNREFUSED = 111;
    internal const int ESTALE = 116;
    internal const int EDQUOT = 122;
    internal const int ECANCELED = 125;

    /// <summary>The system's words for an error number, for messages.</summary>
    internal static string Describe(int errno) => System.Runtime.InteropServices.Marshal.GetPInvokeErrorMessage(errno);
}
