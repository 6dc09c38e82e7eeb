namespace TierSpaces.Engine.Devices.Identity;

/// <summary>Reads the sensors of a block device from the kernel's hardware monitor. An image file has no sensors.</summary>
public static class DiskSensors
{
    /// <summary>Returns the current temperature and the highest that the device allows, in degrees Celsius; null for a value without a sensor.</summary>
    /// <param name="devicePath">Path of the device, for example /dev/nvme0n1.</param>
    /// <param name="sysfs">Root of sysfs.</param>
    public static (byte? Celsius, byte? CelsiusMax) Temperature(string devicePath, string sysfs = "/sys")
    {
        string device = Path.Combine(sysfs, "class", "block", Path.GetFileName(devicePath), "device");
        foreach (string folder in (string[])[Path.Combine(device, "hwmon"), device])
        {
            string? monitor = Directory.Exists(folder) ? Directory.EnumerateDirectories(folder, "hwmon?*").Order().FirstOrDefault() : null;
            if (monitor is not null)
            {
                return (Degrees(monitor, "temp1_input"), Degrees(monitor, "temp1_max"));
            }
        }

        return (null, null);
    }

    // The kernel tells thousandths of a degree.
    private static byte? Degrees(string folder, string attribute) =>
        long.TryParse(SysfsNode.ReadText(Path.Combine(folder, attribute)), out long value) && value is >= 0 and <= 255_000 ? (byte)(value / 1000) : null;
}
