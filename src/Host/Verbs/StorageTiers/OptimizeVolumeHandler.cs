using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Tiering;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;
using TierSpaces.Host.Verbs.Volumes;
using TierSpaces.Host.Volumes;

namespace TierSpaces.Host.Verbs.StorageTiers;

/// <summary>
/// Optimize-Volume: optimizes the tiers of the virtual disks that volumes are on, and gives unused space of volumes back. A volume is named as every verb
/// names it, or as its virtual disk is: on Windows, who makes both at once gives both one name. Like there it returns nothing, and tells its report with
/// -Verbose.
/// </summary>
internal sealed class OptimizeVolumeHandler(HostServices services) : VerbHandler<OptimizeVolumeRequest, StorageTierOptimizationInfo>, ILongVerb
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        OptimizeVolumeRequest request, ReplyBuilder<StorageTierOptimizationInfo> reply, CancellationToken cancellation)
    {
        List<StorageErrorInfo> errors = [];
        VolumeSelection selection = await VolumeSelection.ReadAsync(services, errors.Add).ConfigureAwait(false);
        List<VolumeTarget> volumes = await selection.VolumesAsync(
            request.DriveLetter, request.ObjectId, request.Path, request.FileSystemLabel, request.InputObject).ConfigureAwait(false);
        List<VirtualDiskStatus> disks = [.. volumes.Select(static volume => volume.Disk.Status).DistinctBy(static disk => disk.Description.Id)];
        if (volumes.Count == 0)
        {
            disks = await NamedDisksAsync(selection, request, errors, reply).ConfigureAwait(false);
            volumes = [.. (await selection.AllVolumesAsync().ConfigureAwait(false)).Where(volume => disks.Any(disk =>
                disk.Description.Id == volume.Disk.Status.Description.Id))];
        }

        errors.ForEach(reply.Fail);
        bool isDefault = !request.TierOptimize && !request.ReTrim;
        List<VirtualDiskStatus> tiered = [.. disks.Where(disk => request.TierOptimize || (isDefault && HasSeveralTiers(disk)))];
        await new TierOptimizationRuns(services, reply).RunAsync(tiered, TierLimits.None, done => reply.Tell([done.Report])).ConfigureAwait(false);
        foreach (VirtualDiskStatus disk in disks.Where(disk => request.ReTrim || (isDefault && !HasSeveralTiers(disk))))
        {
            await TrimAsync(disk, volumes, reply, cancellation).ConfigureAwait(false);
        }
    }

    // Between one tier nothing moves, so unused space is given back as on a virtual disk without tiers.
    private static bool HasSeveralTiers(VirtualDiskStatus disk) => disk.Description is { IsTiered: true, Tiers.Length: > 1 };

    private async Task TrimAsync(
        VirtualDiskStatus disk, List<VolumeTarget> volumes, ReplyBuilder<StorageTierOptimizationInfo> reply, CancellationToken cancellation)
    {
        List<VolumeTarget> own = [.. volumes.Where(volume => volume.Disk.Status.Description.Id == disk.Description.Id)];
        if (own.Count == 0)
        {
            string name = disk.Description.FriendlyName;
            reply.Fail(new StorageException(
                StorageErrors.NotSupported, $"-ReTrim: virtual disk '{name}' has no volume here.",
                    "Connect it and mount its volume: Connect-VirtualDisk, Add-PartitionAccessPath.",
                name).Error);
        }

        foreach (VolumeTarget volume in own)
        {
            await reply.TryDoAsync($"Give unused space of {volume.Name} ('{volume.Disk.FriendlyName}') back", async () =>
                reply.Tell([await services.Volumes.Repairs.TrimAsync(volume, cancellation).ConfigureAwait(false)])).ConfigureAwait(false);
        }
    }

    /// <summary>Virtual disks by their names or by a path on them, where no volume has the name. An error of a name that fits one of them is taken
    /// back.</summary>
    private async Task<List<VirtualDiskStatus>> NamedDisksAsync(
        VolumeSelection selection, OptimizeVolumeRequest request, List<StorageErrorInfo> errors, ReplyBuilder<StorageTierOptimizationInfo> reply)
    {
        Selector<VirtualDiskStatus> disks = selection.Catalogue.All.VirtualDisks;
        if (request.Path is { } paths)
        {
            errors.Clear();
            return await OfPathsAsync(disks, paths, reply).ConfigureAwait(false);
        }

        if (request.ObjectId is null && request.FileSystemLabel is null)
        {
            return [];
        }

        errors.Clear();
        return request.ObjectId is { } ids
            ? disks.By("ObjectId", disk => Identifiers.ObjectId("MSFT_VirtualDisk", disks.IdOf(disk)), ids, errors.Add)
            : disks.By("FileSystemLabel", static disk => disk.Description.FriendlyName, request.FileSystemLabel!, errors.Add);
    }

    private async Task<List<VirtualDiskStatus>> OfPathsAsync(
        Selector<VirtualDiskStatus> disks, string[] paths, ReplyBuilder<StorageTierOptimizationInfo> reply)
    {
        List<VirtualDiskStatus> found = [];
        foreach (string path in paths)
        {
            await reply.TryAsync(async () => found.Add(disks.One((await BlockingWork.RunAsync(
                () => services.Files.FindVolume(path, nameof(OptimizeVolumeRequest.Path)),
                    $"-Path '{path}'").ConfigureAwait(false)).VirtualDisk))).ConfigureAwait(false);
        }

        return [.. found.Distinct()];
    }
}
