using TierSpaces.Contracts;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Volumes;
using TierSpaces.Host.Volumes.FileSystems;

namespace TierSpaces.Host.Verbs.Volumes;

/// <summary>Format-Volume: makes file systems and mounts them where the volumes have access paths.</summary>
internal sealed class FormatVolumeHandler(HostServices services) : VerbHandler<FormatVolumeRequest, VolumeInfo>, ILongVerb
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(FormatVolumeRequest request, ReplyBuilder<VolumeInfo> reply, CancellationToken cancellation)
    {
        (FileSystemKind kind, string? standsFor) = services.Volumes.FileSystems.Choose(request.FileSystem);
        VolumeSelection selection = await VolumeSelection.ReadAsync(services, reply.Fail).ConfigureAwait(false);
        List<VolumeTarget> targets = await selection.VolumesAsync(
            request.DriveLetter, request.ObjectId, request.Path, request.FileSystemLabel, request.InputObject, request.Partition).ConfigureAwait(false);
        Confirmation.Require(
            request, [.. targets.Select(static target => target.FileSystem?.Label ?? target.Name)], (nameof(request.DriveLetter), request.DriveLetter),
            (nameof(request.ObjectId), request.ObjectId), (nameof(request.Path), request.Path), (nameof(request.FileSystemLabel), request.FileSystemLabel),
            (nameof(request.InputObject), request.InputObject));
        if (standsFor is not null && targets.Count > 0)
        {
            reply.Warn($"{standsFor} is not made on this machine: the file system is {kind.Name}.");
        }

        Dictionary<int, FormatRequest> bySector = targets.Select(static target => target.Disk.SectorSize).Distinct().ToDictionary(
            static sectorSize => sectorSize,
            sectorSize => new FormatRequest
            {
                Kind = kind, StandsFor = standsFor, Label = request.NewFileSystemLabel ?? "",
                ClusterSize = FileSystemChoice.ClusterSize(kind, request.FileSystem, standsFor, request.AllocationUnitSize, sectorSize, reply.Warn),
                IsFull = request.Full, NoTrim = request.NoTrim,
            });
        foreach (VolumeTarget target in targets)
        {
            FormatRequest format = bySector[target.Disk.SectorSize];
            await reply.TryDoAsync(
                $"Format {target.Name} ('{target.Disk.FriendlyName}') with {kind.Name}",
                async () =>
                {
                    if (target.FileSystem is { } old && !request.Force)
                    {
                        reply.Warn($"The file system {old.Type}{(old.Label.Length > 0 ? $" ('{old.Label}')" : "")} on {target.Name} was erased.");
                    }

                    VolumeTarget made = await services.Volumes.ChangeAsync(
                        target, Verb.Name, now => services.Volumes.Formats.FormatAsync(now, format, reply.Warn, cancellation)).ConfigureAwait(false);
                    reply.Add(await services.Volumes.ToVolumeInfoAsync(made).ConfigureAwait(false));
                },
                () =>
                {
                    services.Volumes.Formats.Check(target, format);
                    return Task.CompletedTask;
                }).ConfigureAwait(false);
        }
    }
}
