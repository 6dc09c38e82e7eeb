namespace TierSpaces.Host.Attaching;

/// <summary>A use of a block device that is in the way of its end.</summary>
/// <param name="Text">The use, in words: <c>/dev/loop3 is mounted on /mnt/a</c>.</param>
/// <param name="Remedy">The way to end the use.</param>
internal sealed record DeviceUse(string Text, string Remedy)
{
    /// <summary>Returns the use of a device: by mounts first, then by other drivers, then by programs; null when nothing uses it.</summary>
    /// <param name="device">The device.</param>
    /// <param name="answers">Whether it answers requests. One that does not is not opened; mounts that only other processes see are not found then.</param>
    public static DeviceUse? Of(string device, bool answers)
    {
        if (!(answers ? BlockDevice.IsInUse(device) : BlockDevice.IsClaimed(device)))
        {
            return BlockDeviceUsers.Of(device) is { } user ? new DeviceUse($"{device} is opened by {user}", "End it, or let it close the device.") : null;
        }

        string[] mounts = BlockDevice.MountPoints(device);
        return mounts.Length > 0
            ? new DeviceUse($"{device} is mounted on {string.Join(", ", mounts)}", $"Unmount it: umount {mounts[0]}.")
            : new DeviceUse($"{device} is held by another driver", "Stop what uses it.");
    }
}
