using TierSpaces.Contracts;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Volumes;

namespace TierSpaces.Host.Verbs.Volumes;

/// <summary>Remove-PartitionAccessPath: unmounts the volumes of partitions from a drive letter or a folder.</summary>
internal sealed class RemovePartitionAccessPathHandler(HostServices services) : VerbHandler<RemovePartitionAccessPathRequest, PartitionInfo>, ILongVerb
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(RemovePartitionAccessPathRequest request, ReplyBuilder<PartitionInfo> reply, CancellationToken cancellation)
    {
        VolumeSelection selection = await VolumeSelection.ReadAsync(services, reply.Fail).ConfigureAwait(false);
        foreach (VolumeTarget target in await ChosenAsync(selection, request).ConfigureAwait(false))
        {
            await reply.TryAsync(async () =>
            {
                foreach (MountEntry entry in Meant(target, request))
                {
                    await reply.DoAsync(
                        $"Unmount {target.Name} ('{target.Disk.FriendlyName}') from {entry.Path}",
                        () => services.Volumes.ChangeAsync(target, Verb.Name, async now =>
                        {
                            await services.Volumes.Mounts.RemoveAsync(now, entry).ConfigureAwait(false);
                            return now;
                        })).ConfigureAwait(false);
                }

                reply.Add(request.PassThru && !reply.IsWhatIf ? [services.Volumes.ToInfo(target)] : []);
            }).ConfigureAwait(false);
        }
    }

    /// <summary>The access path that is named; the drive letter by which the partition was selected where none is.</summary>
    private MountEntry[] Meant(VolumeTarget target, RemovePartitionAccessPathRequest request)
    {
        MountEntry[] entries = services.Volumes.Mounts.EntriesOf(target);
        if (request.AccessPath is null)
        {
            return entries.Length <= 1 || request.DriveLetter is null ? entries : [.. entries.Where(static entry => entry.Letter.Length > 0)];
        }

        (string? letter, string? path) = AccessPath.Parse(request.AccessPath);
        MountEntry? meant = entries.FirstOrDefault(entry => letter is not null ? entry.Letter == letter : entry.Path == path);
        return meant is not null ? [meant] : throw new StorageException(
            StorageErrors.AccessPathInvalid,
            $"-AccessPath '{request.AccessPath}': is no access path of {target.Name}. "
            + $"Valid: {(entries.Length == 0 ? "it has none" : string.Join(", ", entries.Select(static entry => entry.AccessPath)))}.",
            "Get-Partition lists its access paths.", request.AccessPath);
    }

    private static async Task<List<VolumeTarget>> ChosenAsync(VolumeSelection selection, RemovePartitionAccessPathRequest request) =>
        request.DriveLetter is { } letters
            ? selection.ByLetter(await selection.AllPartitionsAsync().ConfigureAwait(false), letters, "MSFT_Partition")
        : request.InputObject is { } references
            ? selection.ById(await selection.AllPartitionsAsync().ConfigureAwait(false), references, "MSFT_Partition")
        : request.DiskId is { } disks ? await selection.PartitionsAtAsync(disks, request.Offset).ConfigureAwait(false)
        : await selection.PartitionsAsync(request.DiskNumber, request.PartitionNumber).ConfigureAwait(false);
}
