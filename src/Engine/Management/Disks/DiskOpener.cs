using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Devices.Emulated;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

// Invariants
//  1. A registered disk that is not a member of an open pool is open here (and so locked), or says why not.

/// <summary>Opens registered disks, meters them, and reads what they hold.</summary>
internal sealed class DiskOpener(SubsystemCore core)
{
    private readonly DiskWatch _watch = new(core.Lane, core.Options.Deadlines);

    /// <summary>Opens a registered disk that no pool owns and reads its label. One that cannot be opened says why.</summary>
    /// <exception cref="ManagementException">It cannot be opened, and <paramref name="mustOpen"/> is set.</exception>
    internal async LaneTask<Nothing> Open(RegisteredDisk disk, bool mustOpen = false)
    {
        disk.Problem = "";
        disk.IsSplit = false;
        disk.IsStillHeld = false;
        try
        {
            disk.Disk ??= OpenDevice(disk);
            disk.Identity = disk.Disk.Identity;
            if (!disk.Disk.IsPresent)
            {
                await disk.Disk.Close();
                disk.Disk = null;
                throw new DiskOpenException(DiskOpenFailure.NotFound, $"{disk.Identity.Uri} is not there.");
            }

            core.Disks.Saw(disk, await PoolScan.Scan(core.Lane, disk.Disk));
        }
        catch (DiskOpenException failure)
        {
            disk.Problem = failure.Message;
            disk.IsStillHeld = failure.Failure == DiskOpenFailure.StillHeld;
            disk.Scan = null;
            if (mustOpen)
            {
                throw new ManagementException(
                    failure.Failure switch
                    {
                        DiskOpenFailure.NotFound => ManagementError.FileNotFound,
                        DiskOpenFailure.PermissionDenied => ManagementError.AccessDenied,
                        DiskOpenFailure.InUse or DiskOpenFailure.StillHeld => ManagementError.InUse,
                        DiskOpenFailure.Unsuitable => ManagementError.PhysicalDiskNotSupported,
                        _ => ManagementError.Failed,
                    },
                    failure.Message);
            }
        }

        return default;
    }

    /// <summary>Closes a disk that no pool owns, and with it its lock and descriptor.</summary>
    internal static async LaneTask<Nothing> Close(RegisteredDisk disk)
    {
        if (disk.Disk is { } open)
        {
            disk.Disk = null;
            await open.Close();
        }

        return default;
    }

    /// <summary>Opens what is now where a missing disk was. Null, and nothing is open, if it is not there, or is not what it was.</summary>
    internal async LaneTask<(IDisk Disk, PoolScan Scan)?> Seek(RegisteredDisk disk)
    {
        DiskLabel? label = disk.Scan?.Label;
        IDisk found;
        try
        {
            found = OpenDevice(disk);
        }
        catch (DiskOpenException)
        {
            return null;   // still away
        }

        PoolScan? scan = found.IsPresent ? await PoolScan.Scan(core.Lane, found) : null;
        if (scan is { Kind: not ScanKind.Unreadable } && (label is null || (scan.Label is { } same && same.Pool == label.Pool && same.Disk == label.Disk)))
        {
            return (found, scan);
        }

        await found.Close();
        return null;
    }

    private MeteredDisk OpenDevice(RegisteredDisk disk) =>
        disk.LastOpened = new MeteredDisk(core.Lane, WithFault(disk, core.Options.Factory.Open(core.Lane, disk.Uri, disk.Overrides)), _watch);

    private static IDisk WithFault(RegisteredDisk disk, IDisk opened)
    {
        disk.Emulated = opened as EmulatedDisk;
        if (disk.Emulated is { } emulated)
        {
            emulated.Fault = disk.Fault;
        }

        return opened;
    }
}
