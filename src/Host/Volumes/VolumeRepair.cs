using TierSpaces.Contracts;
using TierSpaces.Host.Volumes.FileSystems;

namespace TierSpaces.Host.Volumes;

/// <summary>Checks, repairs, labels, trims and flushes volumes.</summary>
internal sealed class VolumeRepair(VolumeTools tools, VolumeDiskChecks checks, MountService mounts)
{
    /// <summary>The kind of a volume's file system.</summary>
    /// <exception cref="StorageException">It has none, or one that is only mounted here.</exception>
    public static FileSystemKind KindOf(VolumeTarget target) => target.FileSystem is not { } found
        ? throw new StorageException(StorageErrors.NoFileSystem, $"{target.Name} has no file system.", "Format it: Format-Volume.", target.Name)
        : FileSystemChoice.Find(found.Type) ?? throw new StorageException(
            StorageErrors.FileSystemNotSupported, $"{target.Name} holds {found.Type}. Valid: ext4, xfs, btrfs, ntfs.", "Use tools of its own.", target.Name);

    /// <summary>Checks a volume and changes nothing: while it is mounted where its file system can, else as a whole.</summary>
    public Task<RepairStatus> ScanAsync(VolumeTarget target, Action<string> warn, CancellationToken cancellation)
    {
        FileSystemKind kind = KindOf(target);
        FileSystemWork work = new FileSystemWork(tools, target.Node, warn, cancellation);
        return MountService.MountsOf(target).FirstOrDefault() is { } mount ? kind.ScanMountedAsync(work, mount.Path) : kind.ScanAsync(work);
    }

    /// <summary>Unmounts a volume, checks and repairs it, and mounts it again, also where the repair failed.</summary>
    public async Task<RepairStatus> FixAsync(VolumeTarget target, Action<string> warn, CancellationToken cancellation)
    {
        FileSystemKind kind = KindOf(target);
        RequireWritable(target);
        RepairStatus status = RepairStatus.NoErrorsFound;
        FileSystemWork work = new FileSystemWork(tools, target.Node, warn, cancellation);
        await WhileUnmountedAsync(target, async () => status = await kind.FixAsync(work).ConfigureAwait(false), warn).ConfigureAwait(false);
        return status;
    }

    /// <summary>Checks a volume, and repairs it only if there is something to repair.</summary>
    public async Task<RepairStatus> SpotFixAsync(VolumeTarget target, Action<string> warn, CancellationToken cancellation)
    {
        FileSystemKind kind = KindOf(target);
        RequireWritable(target);
        if (kind.ResizesMounted && kind.CanShrink)
        {
            return await ScanAsync(target, warn, cancellation).ConfigureAwait(false);   // a scrub repairs
        }

        await mounts.UnmountAllAsync(target).ConfigureAwait(false);
        RepairStatus found;
        try
        {
            found = await kind.ScanAsync(new FileSystemWork(tools, target.Node, warn, cancellation)).ConfigureAwait(false);
        }
        finally
        {
            await mounts.MountAllAsync(target).ConfigureAwait(false);
        }

        return found == RepairStatus.NoErrorsFound ? found : await FixAsync(target, warn, cancellation).ConfigureAwait(false);
    }

    /// <summary>Checks a label.</summary>
    /// <exception cref="StorageException">The volume cannot have it.</exception>
    public void CheckLabel(VolumeTarget target, string label)
    {
        RequireWritable(target);
        KindOf(target).CheckLabel(label);
    }

    /// <summary>Sets the label of a volume; its access paths stay.</summary>
    public async Task SetLabelAsync(VolumeTarget target, string label, Action<string> warn)
    {
        CheckLabel(target, label);
        FileSystemKind kind = KindOf(target);
        FileSystemWork work = new FileSystemWork(tools, target.Node, warn, CancellationToken.None);
        if (kind.ChangesMounted)
        {
            await kind.SetLabelAsync(work, MountService.MountsOf(target).FirstOrDefault()?.Path, label).ConfigureAwait(false);
        }
        else
        {
            await WhileUnmountedAsync(target, () => kind.SetLabelAsync(work, null, label), warn).ConfigureAwait(false);
        }
    }

    /// <summary>Writes everything that is cached of a volume, and flushes the virtual disk below it.</summary>
    public async Task FlushAsync(VolumeTarget target, CancellationToken cancellation)
    {
        checks.RequireOurs(target.Disk);
        if (MountService.MountsOf(target).FirstOrDefault() is { } mount)
        {
            await tools.RunAsync("sync", VolumeTools.Long, cancellation, "--file-system", mount.Path).ConfigureAwait(false);
        }

        await tools.RunAsync("sync", VolumeTools.Long, cancellation, target.Node).ConfigureAwait(false);   // fsync of a device flushes it
    }

    /// <summary>Gives unused space of a mounted volume back to its virtual disk.</summary>
    /// <returns>Room that was given back, in the words of fstrim.</returns>
    public async Task<string> TrimAsync(VolumeTarget target, CancellationToken cancellation)
    {
        RequireWritable(target);
        string path = MountService.MountsOf(target).FirstOrDefault()?.Path ?? throw new StorageException(
            StorageErrors.NotSupported, $"-ReTrim: {target.Name} is not mounted, and only a mounted file system knows its unused space.",
            "Mount it: Add-PartitionAccessPath.", target.Name);
        return (await tools.RunAsync("fstrim", VolumeTools.Long, cancellation, "--verbose", path).ConfigureAwait(false)).Trim();
    }

    /// <summary>Carries out work on a volume that is not mounted, and mounts it again, also where the work failed.</summary>
    private async Task WhileUnmountedAsync(VolumeTarget target, Func<Task> work, Action<string> warn)
    {
        await mounts.UnmountAllAsync(target).ConfigureAwait(false);
        try
        {
            await work().ConfigureAwait(false);
        }
        finally
        {
            foreach (string failure in await mounts.MountAllAsync(target).ConfigureAwait(false))
            {
                warn($"{target.Name} is not mounted: {failure}");
            }
        }
    }

    private void RequireWritable(VolumeTarget target)
    {
        checks.RequireWritable(target.Disk);
        if (target.IsReadOnly)
        {
            throw new StorageException(StorageErrors.VolumeReadOnly, $"{target.Name} is read-only.", "Set-Partition -IsReadOnly $false makes it writable.",
                target.Name);
        }
    }
}
