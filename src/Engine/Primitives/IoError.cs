namespace TierSpaces.Engine.Primitives;

/// <summary>
/// Outcome of an I/O request. Values are Linux errno numbers, so that an error crosses from the system call
/// to the NBD reply unchanged; zero is success. I/O never throws for a device error, only for a caller's mistake.
/// </summary>
public enum IoError
{
    /// <summary>Success.</summary>
    None = 0,

    /// <summary>Operation not permitted (read-only store).</summary>
    NotPermitted = 1,

    /// <summary>The device could not read or write (EIO).</summary>
    Io = 5,

    /// <summary>The device is gone (ENXIO).</summary>
    DeviceGone = 6,

    /// <summary>Resource temporarily unavailable (EAGAIN).</summary>
    TryAgain = 11,

    /// <summary>No memory for the request (ENOMEM).</summary>
    NoMemory = 12,

    /// <summary>The device or its file no longer exists (ENODEV).</summary>
    NoDevice = 19,

    /// <summary>Offset, length or alignment outside what the store accepts (EINVAL).</summary>
    InvalidArgument = 22,

    /// <summary>No space left below (ENOSPC): a full host file system or a full thin pool.</summary>
    NoSpace = 28,

    /// <summary>The store is read-only (EROFS).</summary>
    ReadOnly = 30,

    /// <summary>The request is larger than the store accepts (EOVERFLOW).</summary>
    TooLarge = 75,

    /// <summary>Not supported by the device (EOPNOTSUPP).</summary>
    NotSupported = 95,

    /// <summary>The store was closed while the request was pending (ESHUTDOWN).</summary>
    ShutDown = 108,

    /// <summary>A deadline passed (ETIMEDOUT).</summary>
    TimedOut = 110,

    /// <summary>The request was cancelled (ECANCELED).</summary>
    Cancelled = 125,
}
