using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Lanes.Native;

/// <summary>From what a system call answered to what the engine decides on.</summary>
internal static class IoErrors
{
    /// <summary>
    /// The <see cref="IoError"/> of a positive errno. Quotas and file size limits count as a full host; a stale network
    /// handle as a device that is gone; whatever the engine has no decision for is <see cref="IoError.Io"/>.
    /// </summary>
    internal static IoError FromErrno(int errno) => errno switch
    {
        0 => IoError.None,
        Errno.EPERM or Errno.EACCES => IoError.NotPermitted,
        Errno.ENXIO or Errno.ESTALE => IoError.DeviceGone,
        Errno.EAGAIN => IoError.TryAgain,
        Errno.ENOMEM or Errno.ENOBUFS => IoError.NoMemory,
        Errno.ENODEV => IoError.NoDevice,
        Errno.EINVAL => IoError.InvalidArgument,
        Errno.ENOSPC or Errno.EDQUOT or Errno.EFBIG => IoError.NoSpace,
        Errno.EROFS => IoError.ReadOnly,
        Errno.EOPNOTSUPP => IoError.NotSupported,
        Errno.EPIPE or Errno.ECONNRESET or Errno.ESHUTDOWN => IoError.ShutDown,
        Errno.ETIMEDOUT => IoError.TimedOut,
        Errno.ECANCELED => IoError.Cancelled,
        _ => IoError.Io,
    };

    /// <summary>The <see cref="IoError"/> of a result that is a count or a negative errno.</summary>
    internal static IoError FromResult(int result) => result >= 0 ? IoError.None : FromErrno(-result);
}
