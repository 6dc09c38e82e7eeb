using TierSpaces.Engine.Devices;
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
    private readonly DeviceOpenings _openings = new(core);

    /// <summary>Signatures of other software on disks.</summary>
    internal DiskSignatures Signatures { get; } = new(core);

    /// <summary>Opens a registered disk that no pool owns and reads its label. One that cannot be opened says why.</summary>
    /// <param name="disk">The disk.</param>
    /// <param name="mustOpen">Whether a disk that cannot be opened is an error.</param>
    /// <param name="isNew">Whether its image was made a moment ago: nothing but zeros is on it.</param>
    /// <exception cref="ManagementException">It cannot be opened, and <paramref name="mustOpen"/> is set.</exception>
    internal async LaneTask<Nothing> Open(RegisteredDisk disk, bool mustOpen = false, bool isNew = false)
    {
        disk.BeginOpening();
        try
        {
            IDisk device = disk.Device.Open ?? await OpenDevice(disk);
            disk.Device.Opened(device);
            if (await device.CheckPresence() is IoError.NoDevice or IoError.DeviceGone)
            {
                await disk.Device.Close();
                throw new DiskOpenException(DiskOpenFailure.NotFound, $"{device.Identity.Uri} is not there.");
            }

            core.Disks.Saw(disk, isNew ? await PoolScan.Scan(core.Lane, device) : await Signatures.Scan(device));
        }
        catch (DiskOpenException failure)
        {
            disk.Lost(failure.Message, KindOf(failure.Failure));
            if (mustOpen)
            {
                throw ErrorOf(failure, DiskUri.Parse(disk.Stored.Uri).Path);
            }
        }

        return default;
    }

    /// <summary>The error of a verb that needs a device which cannot be opened.</summary>
    internal static ManagementException ErrorOf(DiskOpenException failure, string path)
    {
        bool isSilent = failure.Failure == DiskOpenFailure.NoAnswer;
        return new ManagementException(
            failure.Failure switch
            {
                DiskOpenFailure.NotFound => ManagementError.FileNotFound,
                DiskOpenFailure.PermissionDenied => ManagementError.AccessDenied,
                DiskOpenFailure.InUse or DiskOpenFailure.StillHeld => ManagementError.InUse,
                DiskOpenFailure.Unsuitable => ManagementError.PhysicalDiskNotSupported,
                DiskOpenFailure.NoAnswer => ManagementError.Timeout,
                _ => ManagementError.Failed,
            },
            (isSilent ? $"-Path '{path}': " : "") + failure.Message,
            isSilent ? "Nothing was changed. Make the file system or device answer again, then repeat the command." : "");
    }

    /// <summary>
    /// Opens a device that is not registered, or returns the registered disk to whose hardware it is a path; then it is not open. The judgement is of the
    /// device that was opened, whatever its path leads to later.
    /// </summary>
    /// <param name="disk">The device, as it would be registered.</param>
    /// <param name="isNew">Whether its image was made a moment ago: nothing but zeros is on it.</param>
    /// <exception cref="ManagementException">It cannot be opened, and is no path to the hardware of a registered disk.</exception>
    internal async LaneTask<RegisteredDisk?> OpenUnlessPath(RegisteredDisk disk, bool isNew = false)
    {
        try
        {
            await Open(disk, mustOpen: true, isNew);
        }
        catch (ManagementException failure) when (failure.Error == ManagementError.InUse)
        {
            // This process has it open itself, where its path is another name of an open device.
            if (FindByHardware((await _openings.NameDevice(disk.Stored.Uri)).Hardware) is { } open)
            {
                return open;
            }

            throw;
        }

        RegisteredDisk? known = FindByHardware(disk.Device.Identity!.Hardware);
        if (known is not null)
        {
            await disk.Device.Close();
        }

        return known;
    }

    private RegisteredDisk? FindByHardware(string hardware) => hardware.Length == 0 ? null
        : core.Disks.All.FirstOrDefault(disk => disk.Device.Paths is { IsPresent: true } paths && paths.Identity.Hardware == hardware);

    /// <summary>
    /// Opens a further path of an open disk. Null: it is a further name of a device that is open already, or the device is not there or has other hardware.
    /// </summary>
    /// <param name="disk">The disk.</param>
    /// <param name="paths">Its open paths.</param>
    /// <param name="uri">URI of the path.</param>
    /// <param name="mustOpen">Whether a device that cannot be opened is an error.</param>
    /// <exception cref="DiskOpenException">It cannot be opened, and <paramref name="mustOpen"/> is set.</exception>
    internal async LaneTask<IDisk?> OpenPath(RegisteredDisk disk, MultipathDisk paths, string uri, bool mustOpen = false)
    {
        DeviceNames names = await _openings.NameDevice(uri);
        bool isOfDisk = names.Hardware.Length > 0 && names.Hardware == paths.Identity.Hardware;
        bool isAlias = isOfDisk && paths.Paths.Any(path => path.Disk.Identity.DeviceKey == names.DeviceKey);
        disk.Device.PathNamed(uri, isAlias);
        if (!isOfDisk || isAlias)
        {
            return null;
        }

        try
        {
            IDisk opened = await _openings.Open(uri, disk.Stored.Overrides);
            if (opened.Identity.Hardware == names.Hardware)
            {
                return opened;
            }

            await opened.Close();
        }
        catch (DiskOpenException) when (!mustOpen)
        {
            // looked for again
        }

        return null;
    }

    /// <summary>Opens what is now where a missing disk was. Null, and nothing is open, if it is not there, or is not what it was.</summary>
    internal async LaneTask<(IDisk Disk, PoolScan Scan)?> Seek(RegisteredDisk disk)
    {
        DiskLabel? label = disk.Condition.Label;
        IDisk found;
        try
        {
            found = await OpenDevice(disk);
        }
        catch (DiskOpenException)
        {
            return null;   // still away
        }

        PoolScan? scan = await found.CheckPresence() == IoError.None ? await PoolScan.Scan(core.Lane, found) : null;
        if (scan is { Kind: not ScanKind.Unreadable } && (label is null || (scan.Label is { } same && same.Pool == label.Pool && same.Disk == label.Disk)))
        {
            return (found, scan);
        }

        await found.Close();
        return null;
    }

    private static CannotPoolKind KindOf(DiskOpenFailure failure) => failure switch
    {
        DiskOpenFailure.NotFound or DiskOpenFailure.NoAnswer => CannotPoolKind.Offline,
        DiskOpenFailure.InUse => CannotPoolKind.ReservedBySubsystem,
        DiskOpenFailure.StillHeld => CannotPoolKind.Starting,
        DiskOpenFailure.PermissionDenied or DiskOpenFailure.Unsuitable => CannotPoolKind.Other,
        _ => CannotPoolKind.NotHealthy,
    };

    private async LaneTask<MeteredDisk> OpenDevice(RegisteredDisk disk)
    {
        MultipathDisk paths = await OpenFirst(disk);
        foreach (string uri in disk.Stored.Uris.Where(uri => uri != paths.Paths[0].Uri).ToArray())
        {
            try
            {
                if (await OpenPath(disk, paths, uri, mustOpen: true) is { } opened && !paths.Add(uri, opened))
                {
                    await opened.Close();
                }
            }
            catch (DiskOpenException failure) when (IsElsewhere(failure))
            {
                await paths.Close();
                throw;
            }
            catch (DiskOpenException)
            {
                // not there, or it does not answer: it is looked for while the disk is in use
            }
        }

        return disk.Device.PathsOpened(core.Lane, paths, _watch);
    }

    /// <summary>Opens a disk by the first path that is there.</summary>
    private async LaneTask<MultipathDisk> OpenFirst(RegisteredDisk disk)
    {
        DiskOpenException? first = null;
        foreach (string uri in disk.Stored.Uris.ToArray())
        {
            try
            {
                return new MultipathDisk(core.Lane, uri, await _openings.Open(uri, disk.Stored.Overrides));
            }
            catch (DiskOpenException failure) when (!IsElsewhere(failure))
            {
                first ??= failure;
            }
        }

        throw first!;
    }

    /// <summary>Whether another process may be using the device: then the disk is not opened by another path either.</summary>
    private static bool IsElsewhere(DiskOpenException failure) =>
        failure.Failure is DiskOpenFailure.InUse or DiskOpenFailure.StillHeld;
}
