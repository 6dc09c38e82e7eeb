using TierSpaces.Contracts;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Volumes;

namespace TierSpaces.Host.Verbs.Volumes;

/// <summary>Set-Partition: changes the drive letter and the attributes of partitions.</summary>
internal sealed class SetPartitionHandler(HostServices services) : VerbHandler<SetPartitionRequest, PartitionInfo>, ILongVerb
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(SetPartitionRequest request, ReplyBuilder<PartitionInfo> reply, CancellationToken cancellation)
    {
        if (request is { GptType: null, MbrType: null, IsActive: null, IsHidden: null, IsReadOnly: null, IsShadowCopy: null, NoDefaultDriveLetter: null,
            IsOffline: null, NewDriveLetter: null })
        {
            throw new StorageException(
                StorageErrors.NothingToChange, "No setting was given. Valid: -NewDriveLetter, -IsOffline, or one or more attributes.", "Give one of them.");
        }

        PartitionChange change = PartitionChange.Of(request);
        VolumeSelection selection = await VolumeSelection.ReadAsync(services, reply.Fail).ConfigureAwait(false);
        foreach (VolumeTarget target in await ChosenAsync(selection, request).ConfigureAwait(false))
        {
            await reply.TryDoAsync(
                $"Change {target.Name} ('{target.Disk.FriendlyName}')",
                () => services.Volumes.ChangeAsync(target, Verb.Name, async now =>
                {
                    await services.Volumes.Settings.ChangeAsync(now, change).ConfigureAwait(false);
                    return now;
                }),
                () =>
                {
                    services.Volumes.Settings.Check(target, change);
                    return Task.CompletedTask;
                }).ConfigureAwait(false);
        }
    }

    private static async Task<List<VolumeTarget>> ChosenAsync(VolumeSelection selection, SetPartitionRequest request) =>
        request.DriveLetter is { } letter
            ? selection.ByLetter(await selection.AllPartitionsAsync().ConfigureAwait(false), [letter], "MSFT_Partition")
        : request.InputObject is { } references
            ? selection.ById(await selection.AllPartitionsAsync().ConfigureAwait(false), references, "MSFT_Partition")
        : request.DiskId is { } disk ? await selection.PartitionsAtAsync([disk], [request.Offset!.Value]).ConfigureAwait(false)
        : await selection.PartitionsAsync([request.DiskNumber!.Value], [request.PartitionNumber!.Value]).ConfigureAwait(false);
}
