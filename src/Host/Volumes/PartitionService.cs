using System.Globalization;
using TierSpaces.Contracts;

namespace TierSpaces.Host.Volumes;

/// <summary>
/// Makes and removes partition tables and partitions through <c>sfdisk</c>. Each call takes a disk whose contents were just read, under its gate, and checks
/// first that the device is still ours. Crash order: (1) the table; (2) the kernel; a host that dies in between leaves a table that the next one tells the
/// kernel.
/// </summary>
internal sealed class PartitionService(
    VolumeTools tools, VolumeDiskChecks checks, PartitionKernel kernel, MountService mounts, VolumeStore store, DiskReader reader)
{
    private const long MbrBytesMax = 2L << 40;
    private const long GptBytesMin = 3 << 20;
    private const int MbrPartitionsMax = 4;
    private const int GptPartitionsMax = 128;

    /// <summary>Reads a disk again after a change.</summary>
    public async Task<VolumeDisk> ReadAsync(VolumeDisk disk) =>
        disk with
        {
            Entry = store.EntryOf(disk.UniqueId), Size = DiskReader.SizeOf(disk.Device) ?? disk.Size,
            Contents = await reader.ReadAgainAsync(disk.Device, disk.Size, disk.SectorSize).ConfigureAwait(false),
        };

    /// <summary>Checks what <see cref="InitializeAsync"/> would refuse; changes nothing.</summary>
    public void CheckInitialize(VolumeDisk disk, PartitionStyle style)
    {
        checks.RequireWritable(disk);
        if (disk.Contents.Style != PartitionStyle.Unknown)
        {
            throw new StorageException(
                StorageErrors.DiskAlreadyInitialized,
                    $"Disk {disk.Number} has a partition table ({disk.Contents.Style}) with {disk.Contents.Partitions.Count} partitions.",
                $"Use it as it is, or erase it first: Clear-Disk {disk.Number} -RemoveData.", disk.FriendlyName);
        }

        VolumeDiskChecks.RequireNothingElse(disk);
        CheckStyle(disk, style);
    }

    /// <summary>Makes a partition table on a blank disk.</summary>
    public async Task<VolumeDisk> InitializeAsync(VolumeDisk disk, PartitionStyle style)
    {
        CheckInitialize(disk, style);
        // sfdisk that tells the kernel also waits for every file system of the machine to be written, and one of them may hang.
        await SfdiskAsync(disk, $"label: {(style == PartitionStyle.MBR ? "dos" : "gpt")}\n", "--wipe", "never", "--no-reread", "--no-tell-kernel")
            .ConfigureAwait(false);
        return await ReadAsync(disk).ConfigureAwait(false);
    }

    /// <summary>Checks whether a disk can have a partition table of a style.</summary>
    /// <exception cref="StorageException">It cannot; the error has the numbers.</exception>
    public static void CheckStyle(VolumeDisk disk, PartitionStyle style)
    {
        if (style == PartitionStyle.MBR && disk.Size > MbrBytesMax)
        {
            throw new StorageException(
                StorageErrors.MbrSizeLimit, $"-PartitionStyle MBR: addresses {SizeText.Exact(MbrBytesMax)}, and disk {disk.Number} has {SizeText.Exact(disk.Size)}.",
                "Use GPT, the default.", "PartitionStyle");
        }

        if (style != PartitionStyle.MBR && disk.Size < GptBytesMin)
        {
            throw new StorageException(
                StorageErrors.TooSmallForGpt, $"-PartitionStyle GPT: needs {SizeText.Exact(GptBytesMin)}, and disk {disk.Number} has {SizeText.Exact(disk.Size)}.",
                "Use MBR, or a larger virtual disk.", "PartitionStyle");
        }
    }

    /// <summary>Checks what <see cref="ClearAsync"/> would refuse; changes nothing.</summary>
    public void CheckClear(VolumeDisk disk, bool removeData, bool removeOem)
    {
        checks.RequireWritable(disk);
        if (disk.Contents.IsBlank)
        {
            throw new StorageException(StorageErrors.DiskNotInitialized, $"Disk {disk.Number} is blank.", "There is nothing to clear.", disk.FriendlyName);
        }

        if (!removeOem && disk.Contents.Partitions.Any(PartitionType.IsOem))
        {
            throw new StorageException(StorageErrors.OemPartitionsPresent, $"Disk {disk.Number} has a recovery partition.", "Give -RemoveOEM as well.",
                "RemoveOEM");
        }

        if (!removeData && (disk.Contents.Partitions.Any(static partition => !PartitionType.IsOem(partition)) || disk.Contents.Style == PartitionStyle.Unknown))
        {
            string what = disk.Contents.Style == PartitionStyle.Unknown
                ? disk.Contents.Whole?.Type ?? disk.Contents.Foreign! : $"{disk.Contents.Partitions.Count} partitions";
            throw new StorageException(StorageErrors.DataPartitionsPresent, $"Disk {disk.Number} holds {what}.", "Give -RemoveData to erase it.", "RemoveData");
        }
    }

    /// <summary>Unmounts everything on a disk and erases its partitions, signatures and partition table.</summary>
    public async Task<VolumeDisk> ClearAsync(VolumeDisk disk, bool removeData, bool removeOem)
    {
        CheckClear(disk, removeData, removeOem);
        VolumeTarget[] targets = disk.Contents.Partitions.Count > 0
            ? [.. disk.Contents.Partitions.Select(partition => new VolumeTarget(disk, partition))] : [new VolumeTarget(disk, null)];
        foreach (VolumeTarget target in targets)
        {
            await mounts.UnmountAllAsync(target).ConfigureAwait(false);
        }

        foreach (VolumeTarget target in targets.Where(static target => target.Partition is not null))
        {
            await WipeAsync(disk, target.Node).ConfigureAwait(false);
            await kernel.DeleteAsync(disk.Device, target.Partition!).ConfigureAwait(false);
        }

        await WipeAsync(disk, disk.Device).ConfigureAwait(false);
        await ForgetAsync(targets).ConfigureAwait(false);
        return await ReadAsync(disk).ConfigureAwait(false);
    }

    /// <summary>Returns the place of a new partition; throws where it cannot be made.</summary>
    public (long Offset, long Size) Plan(VolumeDisk disk, PartitionRequest request)
    {
        checks.RequireWritable(disk);
        VolumeDiskChecks.RequireInitialized(disk);
        bool isGpt = disk.Contents.Style == PartitionStyle.GPT;
        if (disk.Contents.Partitions.Count >= (isGpt ? GptPartitionsMax : MbrPartitionsMax))
        {
            throw new StorageException(
                StorageErrors.PartitionLimit, $"Disk {disk.Number} has {disk.Contents.Partitions.Count} partitions, the most of {disk.Contents.Style}.",
                "Remove one, or use another disk.", disk.FriendlyName);
        }

        if (request.IsActive && isGpt)
        {
            throw new StorageException(StorageErrors.PartitionParameter, "-IsActive: only partitions of an MBR are active.", "Leave it out.", "IsActive");
        }

        if (request.MbrType == MbrType.Extended)
        {
            throw new StorageException(
                StorageErrors.PartitionTypeInvalid, "-MbrType Extended: extended partitions are not made here.", "Use GPT for more than four partitions.",
                    "MbrType");
        }

        if (request.Alignment is { } alignment && (alignment == 0 || alignment % disk.SectorSize != 0))
        {
            throw new StorageException(
                StorageErrors.PartitionAlignment, $"-Alignment {SizeText.Exact(alignment)}: is no multiple of the sector size. Valid: multiples of {disk.SectorSize}.",
                "Leave it out to align to 1 MB and the stripe.", "Alignment");
        }

        return PartitionRoom.Place(
            disk.Contents, disk.SectorSize, request.Alignment ?? disk.Stripe.AlignmentFor(disk.Size), request.Size, request.Offset, disk.SizeAdvice);
    }

    /// <summary>Makes a partition. Old signatures in its place are erased, so that it is not taken for a file system that was there before.</summary>
    public async Task<VolumeTarget> CreateAsync(VolumeDisk disk, PartitionRequest request)
    {
        (long offset, long size) = Plan(disk, request);
        bool isGpt = disk.Contents.Style == PartitionStyle.GPT;
        int number = Enumerable.Range(1, GptPartitionsMax).First(free => disk.Contents.Partitions.All(partition => partition.Number != free));
        string type = isGpt ? request.GptType.Trim('{', '}') : PartitionType.Hex(PartitionType.Hidden((int)request.MbrType, request.IsHidden));
        string line = string.Create(
            CultureInfo.InvariantCulture, $"start={offset / disk.SectorSize}, size={size / disk.SectorSize}, type={type}")
            + (isGpt && request.IsHidden ? $", attrs=\"GUID:{VolumePartition.HiddenBit}\"" : "") + (request.IsActive ? ", bootable" : "") + "\n";
        await SfdiskAsync(disk, line, "--no-reread", "--no-tell-kernel", "--partno", number.ToString(CultureInfo.InvariantCulture)).ConfigureAwait(false);
        VolumeDisk changed = await ReadAsync(disk).ConfigureAwait(false);
        VolumePartition made = changed.Contents.Partitions.First(partition => partition.Number == number);
        await kernel.AddAsync(disk.Device, made).ConfigureAwait(false);
        await WipeAsync(disk, made.Node).ConfigureAwait(false);
        return new VolumeTarget(changed, made with { FileSystem = null });
    }

    /// <summary>Unmounts a partition and removes it with its data.</summary>
    public async Task RemoveAsync(VolumeTarget target)
    {
        checks.RequireWritable(target.Disk);
        await mounts.UnmountAllAsync(target).ConfigureAwait(false);
        await kernel.DeleteAsync(target.Disk.Device, target.Partition!).ConfigureAwait(false);
        await RunOnDiskAsync(target.Disk, "sfdisk", "--no-reread", "--no-tell-kernel", "--delete", target.Disk.Device, Number(target)).ConfigureAwait(false);
        await ForgetAsync(target).ConfigureAwait(false);
    }

    /// <summary>Gives a partition another size in its table, and tells the kernel.</summary>
    public async Task ResizeAsync(VolumeTarget target, long bytes)
    {
        string line = FormattableString.Invariant($", {bytes / target.Disk.SectorSize}\n");   // the start stays
        await SfdiskAsync(target.Disk, line, "--no-reread", "--no-tell-kernel", "--partno", Number(target)).ConfigureAwait(false);
        await kernel.UpdateAsync(target.Disk.Device, target.Partition!.Number).ConfigureAwait(false);
    }

    /// <summary>Runs sfdisk on a disk with further words, for settings of its table.</summary>
    public Task<string> SetAsync(VolumeDisk disk, params string[] words) =>
        RunOnDiskAsync(disk, "sfdisk", ["--no-reread", "--no-tell-kernel", .. words]);

    private static string Number(VolumeTarget target) => target.Partition!.Number.ToString(CultureInfo.InvariantCulture);

    private async Task SfdiskAsync(VolumeDisk disk, string input, params string[] words)
    {
        checks.RequireOurs(disk);
        ToolResult result = await tools.TryAsync("sfdisk", VolumeTools.Short, CancellationToken.None, input, ["--quiet", .. words,
            disk.Device]).ConfigureAwait(false);
        if (result.ExitCode != 0)
        {
            throw VolumeTools.Failure("sfdisk", result);
        }
    }

    private Task<string> RunOnDiskAsync(VolumeDisk disk, string tool, params string[] words)
    {
        checks.RequireOurs(disk);
        return tools.RunAsync(tool, VolumeTools.Short, CancellationToken.None, words);
    }

    private async Task WipeAsync(VolumeDisk disk, string node)
    {
        if (File.Exists(node))
        {
            await RunOnDiskAsync(disk, "wipefs", "--all", "--quiet", node).ConfigureAwait(false);
        }
    }

    private async Task ForgetAsync(params VolumeTarget[] targets)
    {
        foreach (VolumeTarget target in targets)
        {
            foreach (MountEntry entry in mounts.EntriesOf(target))
            {
                await mounts.RemoveAsync(target, entry).ConfigureAwait(false);
            }
        }

        store.Forget(targets[0].Disk.UniqueId, [.. targets.Select(static target => target.Key)]);
    }
}
