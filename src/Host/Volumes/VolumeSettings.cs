using System.Globalization;
using TierSpaces.Contracts;

namespace TierSpaces.Host.Volumes;

/// <summary>Settings of disks and partitions: offline, read-only, style of the table, attributes, drive letter.</summary>
internal sealed class VolumeSettings(VolumeTools tools, VolumeDiskChecks checks, PartitionService partitions, MountService mounts, VolumeStore store)
{
    /// <summary>Takes a disk offline, which unmounts everything on it, or online, which mounts it again.</summary>
    public async Task SetOfflineAsync(VolumeDisk disk, bool isOffline)
    {
        if (isOffline)
        {
            await UnmountAsync(disk).ConfigureAwait(false);
        }

        store.Put(disk.Entry with { IsOffline = isOffline });
        if (!isOffline)
        {
            await MountAsync(disk with { Entry = disk.Entry with { IsOffline = false } }).ConfigureAwait(false);
        }
    }

    /// <summary>Makes a disk read-only or writable. Its volumes are unmounted before and mounted again after.</summary>
    public async Task SetReadOnlyAsync(VolumeDisk disk, bool isReadOnly)
    {
        checks.RequireOurs(disk);
        await UnmountAsync(disk).ConfigureAwait(false);
        store.Put(disk.Entry with { IsReadOnly = isReadOnly });
        await tools.RunAsync("blockdev", VolumeTools.Short, CancellationToken.None, isReadOnly ? "--setro" : "--setrw", disk.Device).ConfigureAwait(false);
        await MountAsync(disk with { Entry = disk.Entry with { IsReadOnly = isReadOnly } }).ConfigureAwait(false);
    }

    /// <summary>Checks what <see cref="ConvertAsync"/> would refuse; changes nothing.</summary>
    public void CheckConvert(VolumeDisk disk, PartitionStyle style)
    {
        checks.RequireWritable(disk);
        VolumeDiskChecks.RequireInitialized(disk);
        if (style == PartitionStyle.Unknown)
        {
            throw new StorageException(
                StorageErrors.InvalidParameter, "-PartitionStyle Unknown: is no kind of partition table. Valid: MBR, GPT.", "Clear-Disk removes the table.",
                    "PartitionStyle");
        }

        if (disk.Contents.Partitions.Count > 0)
        {
            throw new StorageException(
                StorageErrors.StyleHasPartitions, $"-PartitionStyle {style}: disk {disk.Number} has {disk.Contents.Partitions.Count} partitions.",
                "Remove them first: Remove-Partition, or Clear-Disk -RemoveData.", "PartitionStyle");
        }

        PartitionService.CheckStyle(disk, style);
    }

    /// <summary>Replaces an empty partition table by one of another style.</summary>
    public async Task ConvertAsync(VolumeDisk disk, PartitionStyle style)
    {
        CheckConvert(disk, style);
        if (disk.Contents.Style != style)
        {
            VolumeDisk blank = await partitions.ClearAsync(disk, removeData: true, removeOem: true).ConfigureAwait(false);
            await partitions.InitializeAsync(blank, style).ConfigureAwait(false);
        }
    }

    /// <summary>Checks what <see cref="ChangeAsync"/> would refuse; changes nothing.</summary>
    public void Check(VolumeTarget target, PartitionChange change)
    {
        checks.RequireWritable(target.Disk);
        bool isGpt = target.Disk.Contents.Style == PartitionStyle.GPT;
        (string Name, bool IsWrong)[] wrong =
        [
            ("GptType", change.GptType is not null && !isGpt), ("MbrType", change.MbrType is not null && isGpt), ("IsActive", change.IsActive is not null
                && isGpt),
            ("IsReadOnly, -IsShadowCopy, -NoDefaultDriveLetter", change.Attributes.Count > 0 && !isGpt),
        ];
        if (wrong.FirstOrDefault(static one => one.IsWrong) is { Name: { } name })
        {
            throw new StorageException(
                StorageErrors.PartitionParameter, $"-{name}: {target.Name} is in a {target.Disk.Contents.Style}, which has no such setting.", "Leave it out.",
                    name);
        }

        if (change.IsHidden == true && mounts.EntriesOf(target).Length > 0)
        {
            throw new StorageException(
                StorageErrors.HiddenPartition, $"-IsHidden: {target.Name} has access paths.", "Remove them first: Remove-PartitionAccessPath.", "IsHidden");
        }
    }

    /// <summary>Changes a partition. Its volume is unmounted where a new attribute takes a new mount to have an effect.</summary>
    public async Task ChangeAsync(VolumeTarget target, PartitionChange change)
    {
        Check(target, change);
        if (change.Letter is { } letter)
        {
            await SetLetterAsync(target, letter).ConfigureAwait(false);
        }
        else if (change.IsOffline is { } isOffline)
        {
            await SetOfflineAsync(target, isOffline).ConfigureAwait(false);
        }
        else
        {
            await SetAttributesAsync(target, change).ConfigureAwait(false);
        }
    }

    private async Task SetLetterAsync(VolumeTarget target, string letter)
    {
        MountEntry? old = mounts.EntriesOf(target).FirstOrDefault(static entry => entry.Letter.Length > 0);
        if (old?.Letter == letter)
        {
            return;
        }

        if (mounts.UsedLetters.Contains(letter))
        {
            throw new StorageException(
                StorageErrors.AccessPathInUse, $"-NewDriveLetter {letter}: is that of another volume.", "Choose another one: Get-Volume lists them.", letter);
        }

        if (old is not null)
        {
            await mounts.RemoveAsync(target, old).ConfigureAwait(false);
        }

        await mounts.AddAsync(target, letter, null).ConfigureAwait(false);
    }

    private async Task SetOfflineAsync(VolumeTarget target, bool isOffline)
    {
        if (isOffline)
        {
            await mounts.UnmountAllAsync(target).ConfigureAwait(false);
        }

        store.SetOffline(target.Disk.UniqueId, target.Key, isOffline);
        await mounts.MountAllAsync(target).ConfigureAwait(false);
    }

    private async Task SetAttributesAsync(VolumeTarget target, PartitionChange change)
    {
        string number = target.Partition!.Number.ToString(CultureInfo.InvariantCulture);
        string device = target.Disk.Device;
        if (change.Attributes.ContainsKey(VolumePartition.ReadOnlyBit))
        {
            await mounts.UnmountAllAsync(target).ConfigureAwait(false);
        }

        if (change.GptType is { } type)
        {
            await partitions.SetAsync(target.Disk, "--part-type", device, number, type.Trim('{', '}')).ConfigureAwait(false);
        }

        if (target.Partition.MbrType is { } present && (change.MbrType is not null || change.IsHidden is not null))
        {
            int changed = PartitionType.Hidden(change.MbrType ?? present, change.IsHidden ?? target.Partition.IsHidden);
            await partitions.SetAsync(target.Disk, "--part-type", device, number, PartitionType.Hex(changed)).ConfigureAwait(false);
        }

        if (change.IsActive is { } isActive)
        {
            await partitions.SetAsync(target.Disk, ["--activate", device, .. isActive ? (string[])[number] : ["-"]]).ConfigureAwait(false);
        }

        if (target.Partition.GptType is not null && (change.Attributes.Count > 0 || change.IsHidden is not null))
        {
            IEnumerable<int> bits = Enumerable.Range(0, 64).Where(bit => bit == VolumePartition.HiddenBit && change.IsHidden is { } isHidden
                ? isHidden : change.Attributes.GetValueOrDefault(bit, target.Partition.Attributes.Contains(bit)));
            string words = string.Join(',', bits);
            await partitions.SetAsync(target.Disk, "--part-attrs", device, number, words.Length > 0 ? $"GUID:{words}" : "").ConfigureAwait(false);
        }

        VolumeDisk now = await partitions.ReadAsync(target.Disk).ConfigureAwait(false);
        await mounts.MountAllAsync(new VolumeTarget(now, now.Contents.Partitions.First(partition => partition.Number == target.Partition.Number)))
            .ConfigureAwait(false);
    }

    private async Task UnmountAsync(VolumeDisk disk)
    {
        foreach (VolumeTarget volume in disk.Volumes)
        {
            await mounts.UnmountAllAsync(volume).ConfigureAwait(false);
        }
    }

    private async Task MountAsync(VolumeDisk disk)
    {
        foreach (VolumeTarget volume in disk.Volumes)
        {
            await mounts.MountAllAsync(volume).ConfigureAwait(false);
        }
    }
}
