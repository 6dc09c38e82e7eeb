using TierSpaces.Contracts;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Volumes;

namespace TierSpaces.Host.Verbs.Volumes;

/// <summary>Add-PartitionAccessPath: mounts the volumes of partitions at a drive letter or a folder.</summary>
internal sealed class AddPartitionAccessPathHandler(HostServices services) : VerbHandler<AddPartitionAccessPathRequest, PartitionInfo>, ILongVerb
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(AddPartitionAccessPathRequest request, ReplyBuilder<PartitionInfo> reply, CancellationToken cancellation)
    {
        if (request.AccessPath is null == !request.AssignDriveLetter)
        {
            throw new StorageException(
                StorageErrors.InvalidParameter, "-AccessPath or -AssignDriveLetter: exactly one of them.", "Give one of them.", nameof(request.AccessPath));
        }

        VolumeSelection selection = await VolumeSelection.ReadAsync(services, reply.Fail).ConfigureAwait(false);
        foreach (VolumeTarget target in await ChosenAsync(selection, request).ConfigureAwait(false))
        {
            (string? letter, string? path) = request.AssignDriveLetter
                ? (services.Volumes.Mounts.LetterOf(target) ?? DriveLetter.FirstFree(services.Volumes.Mounts.UsedLetters), null)
                : AccessPath.Parse(request.AccessPath!);
            await reply.TryDoAsync(
                $"Mount {target.Name} ('{target.Disk.FriendlyName}') at {path ?? services.Volumes.Mounts.FolderOf(letter!)}",
                async () =>
                {
                    VolumeTarget mounted = await services.Volumes.ChangeAsync(target, Verb.Name, async now =>
                    {
                        VolumeDiskChecks.RequireOnline(now.Disk);
                        await services.Volumes.Mounts.AddAsync(now, letter, path).ConfigureAwait(false);
                        return now;
                    }).ConfigureAwait(false);
                    reply.Add(request.PassThru ? [services.Volumes.ToInfo(mounted)] : []);
                },
                () => services.Volumes.Mounts.CheckAsync(target, letter, path)).ConfigureAwait(false);
        }
    }

    private static async Task<List<VolumeTarget>> ChosenAsync(VolumeSelection selection, AddPartitionAccessPathRequest request) =>
        request.DriveLetter is { } letters
            ? selection.ByLetter(await selection.AllPartitionsAsync().ConfigureAwait(false), letters, "MSFT_Partition")
        : request.InputObject is { } references
            ? selection.ById(await selection.AllPartitionsAsync().ConfigureAwait(false), references, "MSFT_Partition")
        : request.DiskId is { } disks ? await selection.PartitionsAtAsync(disks, request.Offset).ConfigureAwait(false)
        : await selection.PartitionsAsync(request.DiskNumber, request.PartitionNumber).ConfigureAwait(false);
}
