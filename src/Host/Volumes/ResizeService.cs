using TierSpaces.Contracts;
using TierSpaces.Host.Volumes.FileSystems;

namespace TierSpaces.Host.Volumes;

/// <summary>
/// Resizes a partition with the file system on it. Crash order: growing, (1) the partition, (2) the file system; shrinking, (1) the file system, (2) the
/// partition. So the file system is never larger than its partition, and repeating the verb completes what a crash interrupted.
/// </summary>
internal sealed class ResizeService(VolumeTools tools, VolumeDiskChecks checks, PartitionService partitions, MountService mounts, string folder)
{
    private const long MiB = 1 << 20;

    /// <summary>Least and greatest size in bytes. The least one of a file system that cannot shrink is the present one.</summary>
    public async Task<(long Min, long Max)> RangeAsync(VolumeTarget target)
    {
        VolumePartition partition = target.Partition!;
        long next = target.Disk.Contents.Partitions.Where(other => other.Offset > partition.Offset).Select(static other => other.Offset)
            .DefaultIfEmpty(target.Disk.Contents.Usable.End).Min();
        long most = PartitionRoom.RoundDown(next - partition.Offset, Math.Max(target.Disk.SectorSize, 4096));
        if (target.FileSystem is not { } found)
        {
            return (MiB, most);
        }

        FileSystemKind? kind = FileSystemChoice.Find(found.Type);
        if (kind is null || !kind.CanShrink)
        {
            return (partition.Size, kind is null ? partition.Size : most);
        }

        FileSystemWork work = new FileSystemWork(tools, target.Node, static _ => { }, CancellationToken.None);
        long least = kind.ResizesMounted
            ? await mounts.WhileMountedAsync(target, folder, path => kind.SizeMinAsync(work, path)).ConfigureAwait(false)
            : await kind.SizeMinAsync(work, MountService.MountsOf(target).FirstOrDefault()?.Path).ConfigureAwait(false);
        return (Math.Min(PartitionRoom.RoundUp(least, MiB), partition.Size), most);
    }

    /// <summary>Checks what <see cref="ResizeAsync"/> would refuse; changes nothing.</summary>
    public async Task CheckAsync(VolumeTarget target, long size)
    {
        checks.RequireWritable(target.Disk);
        FileSystemKind? kind = target.FileSystem is { } found ? FileSystemChoice.Find(found.Type) : null;
        if (target.FileSystem is { } unknown && kind is null)
        {
            throw new StorageException(
                StorageErrors.UnknownFileSystem, $"{target.Name} holds {unknown.Type}, which is not resized here.", "Resize it with tools of its own.",
                    target.Name);
        }

        (long min, long max) = await RangeAsync(target).ConfigureAwait(false);
        if (size < min || size > max)
        {
            string reason = size < min && kind is { CanShrink: false } ? $" {kind.Name} cannot be made smaller." : "";
            throw new StorageException(
                StorageErrors.SizeNotSupported, $"-Size {SizeText.Exact(size)}: out of range. Valid: {SizeText.Exact(min)} to {SizeText.Exact(max)}.{reason}",
                size <= max ? "Give a size in that range."
                    : target.Disk.SizeAdvice is { } advice ? $"Give a size in that range. {advice}"
                    : "Give a size in that range, or make the virtual disk larger: Resize-VirtualDisk.",
                "Size");
        }
    }

    /// <summary>Resizes one. A file system that is resized while not mounted is unmounted for as long.</summary>
    public async Task<VolumeTarget> ResizeAsync(VolumeTarget target, long bytes, Action<string> warn, CancellationToken cancellation)
    {
        await CheckAsync(target, bytes).ConfigureAwait(false);
        long size = PartitionRoom.RoundDown(bytes, Math.Max(target.Disk.SectorSize, 4096));
        try
        {
            await ChangeAsync(target, size, new FileSystemWork(tools, target.Node, warn, cancellation)).ConfigureAwait(false);
        }
        catch
        {
            await mounts.MountAllAsync(target).ConfigureAwait(false);
            throw;
        }

        VolumeDisk disk = await partitions.ReadAsync(target.Disk).ConfigureAwait(false);
        VolumeTarget now = new VolumeTarget(disk, disk.Contents.Partitions.First(partition => partition.Key == target.Key));
        foreach (string failure in await mounts.MountAllAsync(now).ConfigureAwait(false))
        {
            warn($"{now.Name} is resized and not mounted: {failure}");
        }

        return now;
    }

    private async Task ChangeAsync(VolumeTarget target, long size, FileSystemWork work)
    {
        FileSystemKind? kind = target.FileSystem is { } found ? FileSystemChoice.Find(found.Type) : null;
        if (kind is not null && size < target.Size)
        {
            await ShrinkAsync(target, kind, work, size).ConfigureAwait(false);
        }

        if (size != target.Size)
        {
            await partitions.ResizeAsync(target, size).ConfigureAwait(false);
        }

        if (kind is not null && size >= target.Size)
        {
            await GrowAsync(target, kind, work).ConfigureAwait(false);
        }
    }

    private async Task ShrinkAsync(VolumeTarget target, FileSystemKind kind, FileSystemWork work, long size)
    {
        if (kind.ResizesMounted)
        {
            await mounts.WhileMountedAsync(target, folder, async path =>
            {
                await kind.ShrinkAsync(work, path, size).ConfigureAwait(false);
                return path;
            }).ConfigureAwait(false);
            return;
        }

        await mounts.UnmountAllAsync(target).ConfigureAwait(false);
        await kind.ShrinkAsync(work, null, size).ConfigureAwait(false);
    }

    private async Task GrowAsync(VolumeTarget target, FileSystemKind kind, FileSystemWork work)
    {
        if (kind.ResizesMounted)
        {
            await mounts.WhileMountedAsync(target, folder, async path =>
            {
                await kind.GrowAsync(work, path).ConfigureAwait(false);
                return path;
            }).ConfigureAwait(false);
            return;
        }

        if (!kind.ChangesMounted)
        {
            await mounts.UnmountAllAsync(target).ConfigureAwait(false);
        }

        string? mountPoint = MountService.MountsOf(target).FirstOrDefault()?.Path;
        try
        {
            await kind.GrowAsync(work, mountPoint).ConfigureAwait(false);
        }
        catch (StorageException e) when (mountPoint is not null && e.Error.Code == StorageErrors.Failed.Code)
        {
            // A container may not resize what is mounted (that takes CAP_SYS_RESOURCE); what is not mounted it may.
            await mounts.UnmountAllAsync(target).ConfigureAwait(false);
            await kind.GrowAsync(work, null).ConfigureAwait(false);
        }
    }
}
