using TierSpaces.Engine.Lanes.Native;

namespace TierSpaces.Engine.Devices.Raw;

/// <summary>
/// Whether an open device that is not foreign is still there with its size. The kernel answers from its own memory (BLKGETSIZE64; statx without a
/// synchronization), so lanes may ask. A foreign file is looked at by a status operation.
/// </summary>
internal static class DevicePresence
{
    internal static bool IsThere(OpenedDevice device) => device.IsBlockDevice
        ? DeviceOpener.SizeOf(device.Descriptor, isBlockDevice: true) >= device.SizeBytes
        : Libc.KnownStatusOf(device.Descriptor, out FileStatus status) == 0 && status.LinkCount > 0 && status.Size >= device.SizeBytes;
}
