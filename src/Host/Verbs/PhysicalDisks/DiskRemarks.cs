using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Management;

namespace TierSpaces.Host.Verbs.PhysicalDisks;

/// <summary>Warnings about disks that work and are not what an administrator may expect of them.</summary>
internal static class DiskRemarks
{
    private const int LargeSector = 4096;

    /// <summary>Returns the warnings that the bus of a disk calls for when it is made or registered.</summary>
    public static IEnumerable<string> OfBus(PhysicalDiskStatus disk)
    {
        if (IsRaid(disk))
        {
            yield return $"Physical disk '{disk.FriendlyName}' is a RAID volume: identity and health of the disks below are hidden. TierSpaces sees neither their "
                + "errors nor which of them failed, and cannot repair single disks. "
                + (disk.IsForced ? "Set the controller to pass its disks through if it can." : "It is not pooled unless it is registered with -Force.");
        }

        if (disk.BusType == BusType.USB)
        {
            yield return $"Physical disk '{disk.FriendlyName}' is connected by USB: that is slow and not for performance. A disk that is unplugged is missing.";
        }
    }

    /// <summary>Returns the warnings about disks that join a pool.</summary>
    /// <param name="disks">The disks.</param>
    /// <param name="hasSmallSectors">Whether a virtual disk of the pool has logical sectors of 512 bytes, or the pool gives such to new ones.</param>
    public static IEnumerable<string> OfPooling(IEnumerable<PhysicalDiskStatus> disks, bool hasSmallSectors)
    {
        PhysicalDiskStatus[] joining = [.. disks];
        string usb = Names(joining.Where(static disk => disk.BusType == BusType.USB));
        string raid = Names(joining.Where(IsRaid));
        string large = Names(joining.Where(static disk => disk.LogicalSectorSize == LargeSector));
        if (usb.Length > 0)
        {
            yield return $"USB disks are slow and not for performance; virtual disks are as slow as their slowest disk. Connected by USB: {usb}.";
        }

        if (raid.Length > 0)
        {
            yield return $"Identity and health of disks below a RAID are hidden from the storage pool. RAID volumes: {raid}.";
        }

        if (hasSmallSectors && large.Length > 0)
        {
            yield return $"Virtual disks of the storage pool have or get logical sectors of 512 bytes, and these disks have sectors of {LargeSector} bytes: {large}. "
                + "Writes that are smaller read, change and write a whole sector. New-VirtualDisk -LogicalSectorSize 4096 avoids that.";
        }
    }

    // md and device-mapper are disks of the bus "Storage Spaces"; they are in pools only if that was forced.
    private static bool IsRaid(PhysicalDiskStatus disk) => disk.BusType == BusType.RAID || (disk.IsForced && disk.BusType == BusType.Spaces);

    private static string Names(IEnumerable<PhysicalDiskStatus> disks) => string.Join(", ", disks.Select(static disk => $"'{disk.FriendlyName}'"));
}
