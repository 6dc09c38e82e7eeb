using TierSpaces.Contracts;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Volumes;

namespace TierSpaces.Host.Verbs.Volumes;

/// <summary>Remove-Partition: removes partitions with everything on them.</summary>
internal sealed class RemovePartitionHandler(HostServices services) : VerbHandler<RemovePartitionRequest, PartitionInfo>, ILongVerb
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(RemovePartitionRequest request, ReplyBuilder<PartitionInfo> reply, CancellationToken cancellation)
    {
        VolumeSelection selection = await VolumeSelection.ReadAsync(services, reply.Fail).ConfigureAwait(false);
        List<VolumeTarget> targets = await ChosenAsync(selection, request).ConfigureAwait(false);
        Confirmation.Require(
            request, [.. targets.Select(static target => target.Name)], (nameof(request.DriveLetter), request.DriveLetter), (nameof(request.DiskId),
                request.DiskId),
            (nameof(request.DiskNumber), request.DiskNumber?.Select(static number => $"{number}").ToArray()), (nameof(request.InputObject),
                request.InputObject));
        foreach (VolumeTarget target in targets)
        {
            await reply.TryDoAsync(
                $"Remove {target.Name} ('{target.Disk.FriendlyName}') with everything on it",
                async () =>
                {
                    PartitionInfo before = services.Volumes.ToInfo(target);
                    await services.Volumes.ChangeAsync(target, Verb.Name, async now =>
                    {
                        await services.Volumes.Partitions.RemoveAsync(now).ConfigureAwait(false);
                        return now;
                    }).ConfigureAwait(false);
                    reply.Add(request.PassThru ? [before] : []);
                },
                () =>
                {
                    services.Volumes.Checks.RequireWritable(target.Disk);
                    return Task.CompletedTask;
                }).ConfigureAwait(false);
        }
    }

    private static async Task<List<VolumeTarget>> ChosenAsync(VolumeSelection selection, RemovePartitionRequest request) =>
        request.DriveLetter is { } letters
            ? selection.ByLetter(await selection.AllPartitionsAsync().ConfigureAwait(false), letters, "MSFT_Partition")
        : request.InputObject is { } references
            ? selection.ById(await selection.AllPartitionsAsync().ConfigureAwait(false), references, "MSFT_Partition")
        : request.DiskId is { } disks ? await selection.PartitionsAtAsync(disks, request.Offset).ConfigureAwait(false)
        : await selection.PartitionsAsync(request.DiskNumber, request.PartitionNumber).ConfigureAwait(false);
}
