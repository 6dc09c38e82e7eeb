using TierSpaces.Contracts;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Volumes;

namespace TierSpaces.Host.Verbs.Volumes;

/// <summary>Repair-Volume: checks and repairs file systems.</summary>
internal sealed class RepairVolumeHandler(HostServices services) : VerbHandler<RepairVolumeRequest, VolumeRepairInfo>, ILongVerb
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(RepairVolumeRequest request, ReplyBuilder<VolumeRepairInfo> reply, CancellationToken cancellation)
    {
        if (new[] { request.Scan, request.SpotFix, request.OfflineScanAndFix }.Count(static given => given) > 1)
        {
            throw new StorageException(
                StorageErrors.InvalidParameter, "-Scan, -SpotFix, -OfflineScanAndFix: at most one of them.", "Give one of them.", nameof(request.Scan));
        }

        string work = request.OfflineScanAndFix ? "Unmount, check, repair and mount" : request.SpotFix ? "Check and, if needed, repair" : "Check";
        VolumeSelection selection = await VolumeSelection.ReadAsync(services, reply.Fail).ConfigureAwait(false);
        List<VolumeTarget> targets = await selection.VolumesAsync(
            request.DriveLetter, request.ObjectId, request.Path, request.FileSystemLabel, request.InputObject).ConfigureAwait(false);
        foreach (VolumeTarget target in targets)
        {
            await reply.TryDoAsync(
                $"{work} {target.Name} ('{target.Disk.FriendlyName}')",
                async () =>
                {
                    RepairStatus status = await services.Volumes.ChangeAsync(
                        target, Verb.Name, now => RunAsync(now, request, reply.Warn, cancellation)).ConfigureAwait(false);
                    reply.Add(new VolumeRepairInfo
                    {
                        DriveLetter = services.Volumes.Mounts.LetterOf(target), FileSystemLabel = target.FileSystem?.Label ?? "",
                        RepairStatus = DisplayName.Of(status),
                    });
                },
                () =>
                {
                    VolumeRepair.KindOf(target);
                    return Task.CompletedTask;
                }).ConfigureAwait(false);
        }
    }

    private Task<RepairStatus> RunAsync(VolumeTarget target, RepairVolumeRequest request, Action<string> warn, CancellationToken cancellation) =>
        request.OfflineScanAndFix ? services.Volumes.Repairs.FixAsync(target, warn, cancellation)
        : request.SpotFix ? services.Volumes.Repairs.SpotFixAsync(target, warn, cancellation)
        : services.Volumes.Repairs.ScanAsync(target, warn, cancellation);
}
