using TierSpaces.Contracts;
using TierSpaces.Host.Volumes.FileSystems;

namespace TierSpaces.Host.Volumes;

/// <summary>A file system to make.</summary>
internal sealed record FormatRequest
{
    /// <summary>Kind.</summary>
    public required FileSystemKind Kind { get; init; }

    /// <summary>Requested name where the kind is made in place of another file system; null else.</summary>
    public string? StandsFor { get; init; }

    /// <summary>Label; empty for none.</summary>
    public string Label { get; init; } = "";

    /// <summary>Bytes of an allocation unit; null for the default.</summary>
    public uint? ClusterSize { get; init; }

    /// <summary>Whether all of the volume is zeroed before.</summary>
    public bool IsFull { get; init; }

    /// <summary>Whether the volume is not trimmed before.</summary>
    public bool NoTrim { get; init; }
}

/// <summary>
/// Makes file systems. The stripe of the virtual disk is passed on, so that whole stripes are written. A format that is ended early leaves the volume
/// without a file system.
/// </summary>
internal sealed class FormatService(VolumeTools tools, VolumeDiskChecks checks, MountService mounts, VolumeStore store, PartitionService partitions)
{
    /// <summary>Checks what <see cref="FormatAsync"/> would refuse; changes nothing.</summary>
    public void Check(VolumeTarget target, FormatRequest request)
    {
        checks.RequireWritable(target.Disk);
        if (target.IsReadOnly)
        {
            throw new StorageException(StorageErrors.VolumeReadOnly, $"{target.Name} is read-only.", "Set-Partition -IsReadOnly $false makes it writable.",
                target.Name);
        }

        request.Kind.CheckSize(target.Size, request.ClusterSize);
        request.Kind.CheckLabel(request.Label);
        if (request.ClusterSize is { } size)
        {
            request.Kind.CheckClusterSize(size, target.Disk.SectorSize);
        }

        tools.Require(request.Kind.MakeTool);
    }

    /// <summary>Makes a file system and mounts it where the volume has access paths; one with a label and no access path is mounted at its label.</summary>
    /// <param name="target">The volume.</param>
    /// <param name="request">The file system.</param>
    /// <param name="warn">Takes remarks for the user.</param>
    /// <param name="cancellation">Ends it early.</param>
    /// <returns>The volume as it is now.</returns>
    public async Task<VolumeTarget> FormatAsync(VolumeTarget target, FormatRequest request, Action<string> warn, CancellationToken cancellation)
    {
        Check(target, request);
        await mounts.UnmountAllAsync(target).ConfigureAwait(false);
        await WipeAsync(target).ConfigureAwait(false);
        try
        {
            if (request.IsFull)
            {
                await tools.RunAsync("blkdiscard", VolumeTools.Long, cancellation, "--zeroout", "--force", target.Node).ConfigureAwait(false);
            }

            FormatPlan plan = new FormatPlan(target.Node, target.Size, request.Label, request.ClusterSize, target.Disk.Stripe, request.NoTrim);
            await tools.RunAsync(request.Kind.MakeTool, VolumeTools.Long, cancellation, request.Kind.MakeWords(plan)).ConfigureAwait(false);
        }
        catch (OperationCanceledException)
        {
            await WipeAsync(target).ConfigureAwait(false);
            throw;
        }

        Record(target, request);
        VolumeDisk disk = await partitions.ReadAsync(target.Disk).ConfigureAwait(false);
        VolumeTarget made = disk.Volumes.First(volume => volume.Key == target.Key);
        await MountAsync(made, request.Label, warn).ConfigureAwait(false);
        return made;
    }

    private async Task MountAsync(VolumeTarget made, string label, Action<string> warn)
    {
        if (label.Length > 0 && mounts.EntriesOf(made).Length == 0 && made.Partition is not { IsHidden: true }
            && made.Partition?.Attributes.Contains(VolumePartition.NoDriveLetterBit) != true)
        {
            try
            {
                await mounts.AddAsync(made, null, mounts.FolderOf(label)).ConfigureAwait(false);
            }
            catch (StorageException e)
            {
                warn($"{made.Name} is formatted and not mounted at {mounts.FolderOf(label)}: {e.Error.OneLine}");
            }
        }

        foreach (string failure in await mounts.MountAllAsync(made).ConfigureAwait(false))
        {
            warn($"{made.Name} is formatted and not mounted: {failure}");
        }
    }

    private void Record(VolumeTarget target, FormatRequest request) => store.Change(state =>
    {
        FormatEntry[] others = [.. state.Formats.Where(format => format.VirtualDisk != target.Disk.UniqueId || format.Partition != target.Key)];
        return others.Length == state.Formats.Length && request.StandsFor is null
            ? state
            : state with { Formats = [.. others, .. request.StandsFor is { } name ? (FormatEntry[])[new FormatEntry(target.Disk.UniqueId, target.Key, name)]
                : []] };
    });

    private Task WipeAsync(VolumeTarget target)
    {
        checks.RequireOurs(target.Disk);
        return tools.RunAsync("wipefs", VolumeTools.Short, CancellationToken.None, "--all", "--quiet", target.Node);
    }
}
