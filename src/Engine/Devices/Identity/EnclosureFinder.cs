namespace TierSpaces.Engine.Devices.Identity;

// The kernel's enclosure services driver (ses) gives each enclosure a folder in /sys/class/enclosure, with a folder for each slot. The device of a disk in a
// slot has a link named "enclosure_device:<slot>" to that folder.

/// <summary>Finds the enclosure and the slot of a block device in sysfs.</summary>
internal static class EnclosureFinder
{
    private const string LinkPrefix = "enclosure_device:";

    /// <summary>Returns the slot of a disk, or null if no enclosure reports it.</summary>
    internal static EnclosureSlot? Find(SysfsNode disk, string sysRoot)
    {
        string device = Path.Combine(disk.DiskFolder, "device");
        string? link = Directory.Exists(device)
            ? Directory.EnumerateFileSystemEntries(device, LinkPrefix + "*").Order(StringComparer.Ordinal).FirstOrDefault() : null;
        if (link is null || Directory.ResolveLinkTarget(link, returnFinalTarget: true)?.FullName is not { } slot)
        {
            return null;
        }

        string enclosure = Path.GetDirectoryName(slot.TrimEnd('/'))!;
        string name = Path.GetFileName(enclosure);
        string id = SysfsNode.ReadText(Path.Combine(enclosure, "id"));
        int number = Array.IndexOf(Names(sysRoot), name);
        bool hasNumber = int.TryParse(SysfsNode.ReadText(Path.Combine(slot, "slot")), out int slotNumber);
        return new EnclosureSlot(id.Length > 0 ? id : name, Math.Max(number, 0), hasNumber ? slotNumber : -1);
    }

    private static string[] Names(string sysRoot)
    {
        string folder = Path.Combine(sysRoot, "class", "enclosure");
        return Directory.Exists(folder)
            ? [.. Directory.EnumerateFileSystemEntries(folder).Select(static path => Path.GetFileName(path)).Order(StringComparer.Ordinal)] : [];
    }
}
