using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Devices;

/// <summary>Errors of a request that the path it took may have caused.</summary>
internal static class PathErrors
{
    /// <summary>
    /// Whether another path may do what ended with this error. A flush that the device itself failed is never repeated. A block device that has become smaller
    /// answers a write behind its end with ENOSPC.
    /// </summary>
    internal static bool MayBeOfPath(IoError error, PathOperation operation, bool isPresent) => error switch
    {
        IoError.DeviceGone or IoError.NoDevice or IoError.NotPermitted => true,
        IoError.Io or IoError.TimedOut or IoError.NoSpace => operation != PathOperation.Flush || !isPresent,
        _ => false,
    };
}

/// <summary>Kind of a request to a disk with several paths.</summary>
internal enum PathOperation : byte
{
    Read,
    Write,
    Flush,
    Unmap,
    Zero,
}
