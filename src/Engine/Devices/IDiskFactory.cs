using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Devices;

/// <summary>Properties of a disk that the user states instead of the system; null: the system states it.</summary>
public sealed record DiskOverrides(
    MediaType? MediaType = null,
    BusType? BusType = null,
    uint? SpindleSpeed = null,
    int? LogicalSectorSize = null,
    int? PhysicalSectorSize = null,
    bool? IsWriteCacheEnabled = null);

/// <summary>A disk could not be opened. The message names the disk; the kind decides what the caller does.</summary>
public sealed class DiskOpenException(DiskOpenFailure failure, string message, Exception? inner = null) : Exception(message, inner)
{
    /// <summary>Kind of failure.</summary>
    public DiskOpenFailure Failure { get; } = failure;
}

/// <summary>Kinds of failure to open a disk.</summary>
public enum DiskOpenFailure
{
    /// <summary>No such file or device.</summary>
    NotFound,

    /// <summary>The caller may not open it.</summary>
    PermissionDenied,

    /// <summary>Another process, or this one, has it open exclusively.</summary>
    InUse,

    /// <summary>A process that has exited still has it open; the kernel is about to release it.</summary>
    StillHeld,

    /// <summary>Not a regular file or block device, a bad URI, or an unusable size.</summary>
    Unsuitable,

    /// <summary>The device answered with an error.</summary>
    Failed,

    /// <summary>The call that opens it has not returned in time: its file system or device hangs.</summary>
    NoAnswer,
}

/// <summary>Names of a device and its hardware.</summary>
/// <param name="DeviceKey">As in <see cref="DiskIdentity"/>.</param>
/// <param name="Hardware">As in <see cref="DiskIdentity"/>.</param>
public readonly record struct DeviceNames(string DeviceKey, string Hardware)
{
    /// <summary>Nothing is known, or nothing is there.</summary>
    public static DeviceNames None { get; } = new("", "");
}

/// <summary>Access that a disk is opened with.</summary>
public enum DiskUse
{
    /// <summary>Reads and writes, by one opener at a time.</summary>
    ReadWrite,

    /// <summary>Reads alone, by any number of openers. The disk may be write-protected; a write ends with <see cref="IoError.ReadOnly"/>.</summary>
    Read,
}

/// <summary>The one way disks are opened, by URI, so that nothing above Devices holds a descriptor.</summary>
public interface IDiskFactory
{
    /// <summary>
    /// Opens a disk on a lane, which goes on meanwhile: the system calls, which may block for any time, are made on a thread. URIs:
    /// <c>file:/path</c>, <c>block:/dev/x</c>, <c>emulated:/path?profile=HDD10K</c>.
    /// </summary>
    /// <param name="lane">Lane that will use the disk.</param>
    /// <param name="uri">URI of the disk.</param>
    /// <param name="overrides">Properties that replace those the system reports.</param>
    /// <param name="use">Opened for writing, a disk has no other opener; opened for reading, none that writes.</param>
    /// <exception cref="DiskOpenException">It could not be opened; nothing was changed. Thrown when the result is read.</exception>
    LaneTask<IDisk> Open(ILane lane, string uri, DiskOverrides overrides, DiskUse use = DiskUse.ReadWrite);

    /// <summary>
    /// Names the device behind a URI and its hardware without opening it as a disk, see <see cref="DiskIdentity"/>. The system calls are made on a thread. The
    /// names are empty where nothing is known, or nothing is there.
    /// </summary>
    LaneTask<DeviceNames> NameDevice(ILane lane, string uri);
}
