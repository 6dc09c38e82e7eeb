using TierSpaces.Contracts;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Volumes;

namespace TierSpaces.Host.Verbs.Volumes;

/// <summary>Resize-Partition: resizes partitions with the file systems on them.</summary>
internal sealed class ResizePartitionHandler(HostServices services) : VerbHandler<ResizePartitionRequest, PartitionInfo>, ILongVerb
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(ResizePartitionRequest request, ReplyBuilder<PartitionInfo> reply, CancellationToken cancellation)
    {
        long size = (long)request.Size!.Value;
        VolumeSelection selection = await VolumeSelection.ReadAsync(services, reply.Fail).ConfigureAwait(false);
        foreach (VolumeTarget target in await ChosenAsync(selection, request).ConfigureAwait(false))
        {
            await reply.TryDoAsync(
                $"Resize {target.Name} ('{target.Disk.FriendlyName}') to {SizeText.Exact(size)}",
                async () =>
                {
                    VolumeTarget resized = await services.Volumes.ChangeAsync(
                        target, Verb.Name, now => services.Volumes.Resizes.ResizeAsync(now, size, reply.Warn, cancellation)).ConfigureAwait(false);
                    reply.Add(request.PassThru ? [services.Volumes.ToInfo(resized)] : []);
                },
                () => services.Volumes.Resizes.CheckAsync(target, size)).ConfigureAwait(false);
        }
    }

    private static async Task<List<VolumeTarget>> ChosenAsync(VolumeSelection selection, ResizePartitionRequest request) =>
        request.DriveLetter is { } letters
            ? selection.ByLetter(await selection.AllPartitionsAsync().ConfigureAwait(false), letters, "MSFT_Partition")
        : request.InputObject is { } references
            ? selection.ById(await selection.AllPartitionsAsync().ConfigureAwait(false), references, "MSFT_Partition")
        : request.DiskId is { } disks ? await selection.PartitionsAtAsync(disks, request.Offset).ConfigureAwait(false)
        : await selection.PartitionsAsync(request.DiskNumber, request.PartitionNumber).ConfigureAwait(false);
}
