using TierSpaces.Contracts;
using TierSpaces.Host.Attaching;

namespace TierSpaces.Host.Volumes;

/// <summary>Checks before a change of a disk.</summary>
/// <param name="attachments">Attached devices.</param>
internal sealed class VolumeDiskChecks(AttachManager attachments)
{
    /// <summary>Checks that the device is still the one that was made for the virtual disk, and that it may be written to.</summary>
    /// <exception cref="StorageException">The device is gone, offline, read-only, or does not answer.</exception>
    public void RequireWritable(VolumeDisk disk)
    {
        RequireOurs(disk);
        RequireOnline(disk);
        if (disk.IsReadOnly)
        {
            throw new StorageException(
                StorageErrors.DiskReadOnly, $"Disk {disk.Number} is read-only.",
                disk.Entry.IsReadOnly ? $"Set-Disk {disk.Number} -IsReadOnly $false makes it writable."
                    : $"Set-VirtualDisk '{disk.FriendlyName}' -Access ReadWrite makes it writable.",
                Name(disk));
        }

        RequireRead(disk);
    }

    /// <summary>Checks that a disk could be read.</summary>
    /// <exception cref="StorageException">It could not.</exception>
    public static void RequireRead(VolumeDisk disk)
    {
        if (disk.Contents.Fault is { } fault)
        {
            throw new StorageException(StorageErrors.UnexpectedIOError, fault, "See whether the virtual disk answers: Get-VirtualDisk.", Name(disk));
        }
    }

    /// <summary>Checks that a disk is not offline.</summary>
    /// <exception cref="StorageException">It is.</exception>
    public static void RequireOnline(VolumeDisk disk)
    {
        if (disk.Entry.IsOffline)
        {
            throw new StorageException(StorageErrors.DiskOffline, $"Disk {disk.Number} is offline.",
                $"Bring it online: Set-Disk {disk.Number} -IsOffline $false.", Name(disk));
        }
    }

    /// <summary>Checks that the device is still the one that was made for the virtual disk.</summary>
    /// <exception cref="StorageException">It is not.</exception>
    public void RequireOurs(VolumeDisk disk)
    {
        if (attachments.IntactRecordOf(disk.UniqueId)?.Device != disk.Device)
        {
            throw new StorageException(
                StorageErrors.NoBlockDevice, $"{disk.Device} is not the device of virtual disk '{disk.FriendlyName}' any more.",
                $"Connect it again: Connect-VirtualDisk '{disk.FriendlyName}'.", Name(disk));
        }
    }

    /// <summary>Checks that a disk has a partition table.</summary>
    /// <exception cref="StorageException">It has none; the error says what it has.</exception>
    public static void RequireInitialized(VolumeDisk disk)
    {
        if (disk.Contents.Style != PartitionStyle.Unknown)
        {
            return;
        }

        RequireNothingElse(disk);
        throw new StorageException(StorageErrors.DiskNotInitialized, $"Disk {disk.Number} has no partition table.",
            $"Make one: Initialize-Disk {disk.Number}.", Name(disk));
    }

    /// <summary>Checks that a disk without a partition table holds nothing.</summary>
    /// <exception cref="StorageException">It holds a file system or something else.</exception>
    public static void RequireNothingElse(VolumeDisk disk)
    {
        string? found = disk.Contents.Whole is { } whole ? $"the file system {whole.Type}{(whole.Label.Length > 0 ? $" ('{whole.Label}')" : "")}"
            : disk.Contents.Foreign;
        if (found is not null)
        {
            throw new StorageException(
                StorageErrors.DiskNotBlank, $"Disk {disk.Number} ({disk.Device}) has no partition table and holds {found}.",
                $"If its data is not needed, erase it: Clear-Disk {disk.Number} -RemoveData (or wipefs --all {disk.Device}).", Name(disk));
        }
    }

    private static string Name(VolumeDisk disk) => disk.FriendlyName;
}
