using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

// Paths of registered disks. A disk is registered once, by its first path; a device on the same hardware is a further path of it. The paths of a disk are
// opened together, so each of them is locked. While the disk is in use, paths that are gone are closed, and looked for every 5 s.
//
// A second name of an open device (a hard link, a link below /dev/disk) is a path as well. It is not opened: the device is open, and its lock is taken.
//
// Invariants
//  1. A device is added to a disk only if it has the hardware of the disk.
//  2. A disk of which another process has a path open is not opened by another path.
//  3. At most one look at the paths of a disk is under way.

/// <summary>Adds, removes and finds again the paths of registered disks.</summary>
internal sealed class DiskPaths(SubsystemCore core, DiskOpener diskOpener)
{
    private const long LookNs = 5_000_000_000;

    private readonly LaneSignal _lookEnded = new();
    private int _looks;

    /// <summary>Completes when no look at a path is under way. A look holds its device open.</summary>
    internal async LaneTask<Nothing> WaitForLooks()
    {
        while (_looks > 0)
        {
            await _lookEnded.Wait();
        }

        return default;
    }

    /// <summary>Adds a path to a registered disk that is there.</summary>
    /// <param name="disk">The disk.</param>
    /// <param name="uri">URI of the path.</param>
    /// <param name="path">The path, for messages.</param>
    /// <exception cref="ManagementException">The path cannot be opened or kept, or the disk is emulated; nothing was changed.</exception>
    internal async LaneTask<Nothing> Add(RegisteredDisk disk, string uri, string path)
    {
        IDisk? opened = await Open(disk, uri, path);
        try
        {
            await core.Disks.AddPath(disk, uri, path);
        }
        catch (ManagementException)
        {
            await CloseIfOpen(opened);
            throw;
        }

        if (opened is not null && disk.Device.Paths?.Add(uri, opened) != true)
        {
            await opened.Close();
        }

        return default;
    }

    /// <summary>Refuses what <see cref="Add"/> would refuse.</summary>
    internal async LaneTask<Nothing> Check(RegisteredDisk disk, string uri, string path)
    {
        await CloseIfOpen(await Open(disk, uri, path));
        return default;
    }

    /// <summary>Forgets one path of a disk that has several.</summary>
    /// <exception cref="ManagementException">No other path works, or the list of disks cannot be written; nothing was changed.</exception>
    internal async LaneTask<Nothing> Remove(RegisteredDisk disk, string uri, string path)
    {
        CheckRemove(disk, uri, path);
        await core.Disks.RemovePath(disk, uri);
        disk.Device.RemovePath(uri);
        return default;
    }

    /// <summary>Refuses what <see cref="Remove"/> would refuse, but for a list of disks that cannot be written.</summary>
    internal void CheckRemove(RegisteredDisk disk, string uri, string path)
    {
        DiskPath? open = disk.Device.FindPath(uri);
        if (disk.Device.Paths is { IsPresent: true } paths && open is not null && !disk.Device.Aliases.Any(alias => alias != uri)
            && !paths.Paths.Any(other => other != open && other.IsUsable))
        {
            throw new ManagementException(
                ManagementError.PhysicalDiskInUse, $"-Path '{path}': is the only path of physical disk '{core.Disks.NameOf(disk)}' that works.",
                "Make another path work, or unregister the disk by -FriendlyName.");
        }
    }

    /// <summary>Makes registered disks that have one hardware into one disk with several paths: a host that did not know of paths registered both.</summary>
    internal async LaneTask<Nothing> Merge()
    {
        foreach (IGrouping<string, RegisteredDisk> same in core.Disks.All.Where(static disk => disk.Device is { Open: not null, Identity.Hardware.Length: > 0 })
            .GroupBy(static disk => disk.Device.Identity!.Hardware).ToArray())
        {
            foreach (RegisteredDisk other in same.Skip(1))
            {
                if (WhyNoPath(same.First(), other.Stored.Uri).Length == 0)
                {
                    await core.Disks.Merge(same.First(), other);
                    await other.Device.Close();
                    core.Notice($"{other.Stored.Uri} is a path to the hardware of {same.First().Stored.Uri}: they are one physical disk, '{core.Disks.NameOf(same.First())}'.");
                }
            }
        }

        return default;
    }

    /// <summary>Looks at the paths of every disk that is open and has several.</summary>
    internal void LookForPaths()
    {
        foreach (RegisteredDisk disk in core.Disks.All)
        {
            if (disk is { Stored.OtherUris.Count: > 0, Device.PathSearch.IsUnderWay: false, Device.Paths.IsPresent: true })
            {
                NoteFailures(disk);
                if (core.Lane.NowNs >= disk.Device.PathSearch.NextNs)
                {
                    LookFor(disk, disk.Device.Paths).Forget();
                }
            }
        }
    }

    private async LaneTask LookFor(RegisteredDisk disk, MultipathDisk paths)
    {
        disk.Device.PathSearch.Begin();
        _looks++;
        foreach (DiskPath gone in paths.Paths.Where(static path => !path.Disk.IsPresent && path.Disk.InFlight == 0).ToArray())
        {
            paths.Remove(gone);
        }

        foreach (DiskPath path in paths.Paths)
        {
            paths.Try(path).Forget();   // not waited for: it may hang
        }

        foreach (string uri in disk.Stored.Uris.ToArray())
        {
            if (!core.Verbs.IsStopped && paths.IsPresent && !paths.Paths.Any(path => path.Uri == uri)
                && await diskOpener.OpenPath(disk, paths, uri) is { } found)
            {
                if (core.Verbs.IsStopped || disk.Device.Paths != paths || !disk.Stored.Uris.Contains(uri) || !paths.Add(uri, found))
                {
                    await found.Close();
                }
            }
        }

        disk.Device.PathSearch.End(core.Lane.NowNs + LookNs);
        _looks--;
        _lookEnded.NotifyAll();
    }

    private void NoteFailures(RegisteredDisk disk)
    {
        foreach (string uri in disk.Stored.Uris)
        {
            if (disk.Device.WatchPath(uri) is { } works)
            {
                core.Notice(works ? $"Path {uri} of physical disk '{core.Disks.NameOf(disk)}' works again."
                    : $"Warning: path {uri} of physical disk '{core.Disks.NameOf(disk)}' has failed. The disk is used by its other paths.");
            }
        }
    }

    private async LaneTask<IDisk?> Open(RegisteredDisk disk, string uri, string path)
    {
        if (WhyNoPath(disk, uri) is { Length: > 0 } reason)
        {
            throw new ManagementException(
                ManagementError.DuplicateDisk,
                $"-Path '{path}': is a path to the hardware of physical disk '{core.Disks.NameOf(disk)}' ({disk.Stored.Uri}), and {reason}.", "Leave it unregistered.");
        }

        MultipathDisk paths = disk.Device.Paths!;
        IDisk? opened;
        try
        {
            opened = await diskOpener.OpenPath(disk, paths, uri, mustOpen: true);
        }
        catch (DiskOpenException failure)
        {
            throw DiskOpener.ErrorOf(failure, path);
        }

        if (opened is null || paths.Fits(opened))
        {
            return opened;
        }

        string found = $"{ByteText.Exact(opened.Geometry.Length)} in sectors of {opened.Geometry.BlockSize} bytes";
        await opened.Close();
        throw new ManagementException(
            ManagementError.PhysicalDiskNotSupported,
            $"-Path '{path}': is a path to the hardware of physical disk '{core.Disks.NameOf(disk)}' ({disk.Stored.Uri}) with {found}. "
            + $"Valid: {ByteText.Exact(paths.Geometry.Length)} in sectors of {paths.Geometry.BlockSize} bytes.", "Nothing was changed. Attach the device with the size of the disk.");
    }

    private static string WhyNoPath(RegisteredDisk disk, string uri) =>
        DiskUri.Parse(disk.Stored.Uri).Kind == DiskKind.Emulated || DiskUri.Parse(uri).Kind == DiskKind.Emulated ? "an emulated disk has one path"
        : disk.Stored.OtherUris.Count + 1 >= MultipathDisk.PathsMax ? $"the disk has {MultipathDisk.PathsMax} paths already, which is the most"
        : "";

    private static async LaneTask<Nothing> CloseIfOpen(IDisk? opened)
    {
        if (opened is not null)
        {
            await opened.Close();
        }

        return default;
    }
}
