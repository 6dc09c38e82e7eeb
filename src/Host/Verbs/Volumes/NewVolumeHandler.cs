using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.VirtualDisks;
using TierSpaces.Host.Volumes;
using TierSpaces.Host.Volumes.FileSystems;

namespace TierSpaces.Host.Verbs.Volumes;

/// <summary>New-Volume: makes a volume in one step, from a pool or a disk to a mounted path.</summary>
internal sealed class NewVolumeHandler(HostServices services) : VerbHandler<NewVolumeRequest, VolumeInfo>, ILongVerb
{
    private static readonly string[] s_tools = ["sfdisk", "partx", "wipefs", "blkid", "mount", "umount"];

    /// <inheritdoc/>
    protected override async Task HandleAsync(NewVolumeRequest request, ReplyBuilder<VolumeInfo> reply, CancellationToken cancellation)
    {
        NewVolumePlan plan = await PlanAsync(request, reply.Warn).ConfigureAwait(false);
        Func<Task<VolumeTarget>> make = request is { Disk: null, DiskNumber: null, DiskPath: null, DiskUniqueId: null }
            ? await InPoolAsync(request, plan, reply, cancellation).ConfigureAwait(false)
            : await OnDiskAsync(request, plan, reply, cancellation).ConfigureAwait(false);
        string place = plan.Path ?? services.Volumes.Mounts.FolderOf(plan.Letter!);
        await reply.DoAsync(
            $"Make a partition, format it with {plan.Format.Kind.Name} as '{plan.Format.Label}' and mount it at {place}",
            async () => reply.Add(await services.Volumes.ToVolumeInfoAsync(await make().ConfigureAwait(false)).ConfigureAwait(false))).ConfigureAwait(false);
    }

    private async Task<Func<Task<VolumeTarget>>> InPoolAsync(
        NewVolumeRequest request, NewVolumePlan plan, ReplyBuilder<VolumeInfo> reply, CancellationToken cancellation)
    {
        Catalogue all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        StoragePoolTarget pool = all.Pools.SelectOne(
            request.StoragePoolFriendlyName, request.StoragePoolUniqueId, request.StoragePoolName, request.StoragePool);
        NewVirtualDiskRequest asked = VirtualDiskOf(request);
        TierParameters.RequireOneSize(asked);
        VirtualDiskRequest disk = NewVirtualDiskHandler.Translate(all, pool.Concrete, asked);
        VirtualDiskPlacement placement = await services.Subsystem.Placements.PlanNewAsync(pool.Id, disk).ConfigureAwait(false);
        NewVolumePlan whole = WithClusterSize(plan, request, placement.Disk.LogicalSectorSize, reply.Warn);
        whole.Format.Kind.CheckSize(placement.Disk.SizeBytes, whole.Format.ClusterSize);
        if (reply.IsWhatIf)
        {
            reply.Tell(PlacementText.OfNew(placement, all, pool.FriendlyName));
            placement.Remarks.ToList().ForEach(reply.Warn);
        }

        return () => services.VolumeMaker.MakeInPoolAsync(pool.Id, disk, whole, reply.Warn, cancellation);
    }

    private async Task<Func<Task<VolumeTarget>>> OnDiskAsync(
        NewVolumeRequest request, NewVolumePlan plan, ReplyBuilder<VolumeInfo> reply, CancellationToken cancellation)
    {
        VolumeSelection selection = await VolumeSelection.ReadAsync(services, static error => throw new StorageException(error)).ConfigureAwait(false);
        List<VolumeDisk> disks = selection.Disks(
            request.DiskNumber is { } number ? [number] : null, ListOf(request.DiskUniqueId), null, ListOf(request.DiskPath), ListOf(request.Disk));
        VolumeDisk disk = disks is [var one] ? one : throw new StorageException(
            StorageErrors.InvalidParameter, $"{disks.Count} disks fit; New-Volume makes a volume on one.", "Name one disk: Get-Disk lists them.", "Disk");
        NewVolumePlan whole = WithClusterSize(plan, request, disk.SectorSize, reply.Warn);
        if (reply.IsWhatIf)
        {
            services.VolumeMaker.CheckDisk(await selection.Catalogue.ReadAsync(disk).ConfigureAwait(false), whole);
        }

        return () => services.VolumeMaker.MakeOnDiskAsync(disk, whole, reply.Warn, cancellation);
    }

    /// <summary>The plan with the size of an allocation unit that was requested.</summary>
    /// <exception cref="StorageException">The file system has no such size on a disk with these sectors.</exception>
    private static NewVolumePlan WithClusterSize(NewVolumePlan plan, NewVolumeRequest request, int sectorSize, Action<string> warn)
    {
        FormatRequest format = plan.Format;
        uint? clusterSize = FileSystemChoice.ClusterSize(
            format.Kind, request.FileSystem, format.StandsFor, request.AllocationUnitSize, sectorSize, warn);
        if (clusterSize is { } size)
        {
            format.Kind.CheckClusterSize(size, sectorSize);
        }

        return plan with { Format = format with { ClusterSize = clusterSize } };
    }

    /// <summary>Checks everything that can be checked before a disk is chosen.</summary>
    private async Task<NewVolumePlan> PlanAsync(NewVolumeRequest request, Action<string> warn)
    {
        (FileSystemKind kind, string? standsFor) = services.Volumes.FileSystems.Choose(request.FileSystem);
        services.Volumes.Tools.Require(kind.MakeTool);
        Array.ForEach(s_tools, tool => services.Volumes.Tools.Require(tool));
        string name = request.FriendlyName!;
        string label = kind.Cut(name);
        kind.CheckLabel(label);
        (string? letter, string? path) = request.AccessPath is { } given ? AccessPath.Parse(given) : (null, null);
        if (request.DriveLetter is { } text)
        {
            if (request.AccessPath is not null)
            {
                throw new StorageException(
                    StorageErrors.InvalidParameter, "-DriveLetter and -AccessPath: only one of them.", "Add the other one later: Add-PartitionAccessPath.",
                    "AccessPath");
            }

            letter = DriveLetter.Parse(text, nameof(request.DriveLetter));
        }

        path ??= letter is null ? services.Volumes.Mounts.FolderOf(name) : null;
        await services.Volumes.Mounts.CheckFreeAsync(letter, path).ConfigureAwait(false);
        if (label != name)
        {
            warn($"The label is '{label}': labels have up to {kind.LabelMax} {kind.Unit} on {kind.Name}.");
        }

        if (standsFor is not null)
        {
            warn($"{standsFor} is not made on this machine: the file system is {kind.Name}.");
        }

        return new NewVolumePlan(new FormatRequest { Kind = kind, StandsFor = standsFor, Label = label, NoTrim = true }, letter, path);
    }

    private static NewVirtualDiskRequest VirtualDiskOf(NewVolumeRequest request) => new()
    {
        FriendlyName = request.FriendlyName,
        Size = request.Size,
        UseMaximumSize = request.UseMaximumSize,
        ResiliencySettingName = request.ResiliencySettingName,
        ProvisioningType = request.ProvisioningType,
        MediaType = request.MediaType,
        PhysicalDiskRedundancy = request.PhysicalDiskRedundancy,
        NumberOfDataCopies = request.NumberOfDataCopies,
        NumberOfColumns = request.NumberOfColumns,
        StorageTiers = Joined(request.StorageTiers, request.StorageTierFriendlyNames),
        StorageTierSizes = request.StorageTierSizes,
        WriteCacheSize = request.WriteCacheSize,
        StorageFaultDomainsToUse = Joined(request.StorageFaultDomainsToUse, request.StorageFaultDomainsToUseFriendlyNames),
    };

    private static string[]? Joined(string[]? one, string[]? other) => one is null ? other : other is null ? one : [.. one, .. other];

    private static string[]? ListOf(string? text) => text is null ? null : [text];
}
