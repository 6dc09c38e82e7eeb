using TierSpaces.Contracts;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Volumes;

namespace TierSpaces.Host.Verbs.Volumes;

/// <summary>Get-PartitionSupportedSize: returns the sizes that partitions can be resized to.</summary>
internal sealed class GetPartitionSupportedSizeHandler(HostServices services) : VerbHandler<GetPartitionSupportedSizeRequest, PartitionSupportedSizeInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(GetPartitionSupportedSizeRequest request, ReplyBuilder<PartitionSupportedSizeInfo> reply,
        CancellationToken cancellation)
    {
        VolumeSelection selection = await VolumeSelection.ReadAsync(services, reply.Fail).ConfigureAwait(false);
        foreach (VolumeTarget target in await ChosenAsync(selection, request).ConfigureAwait(false))
        {
            await reply.TryAsync(async () =>
            {
                (long least, long most) = await services.Volumes.Resizes.RangeAsync(target).ConfigureAwait(false);
                reply.Add(new PartitionSupportedSizeInfo { SizeMin = (ulong)least, SizeMax = (ulong)most });
            }).ConfigureAwait(false);
        }
    }

    private static async Task<List<VolumeTarget>> ChosenAsync(VolumeSelection selection, GetPartitionSupportedSizeRequest request) =>
        request.DriveLetter is { } letters
            ? selection.ByLetter(await selection.AllPartitionsAsync().ConfigureAwait(false), letters, "MSFT_Partition")
        : request.InputObject is { } references
            ? selection.ById(await selection.AllPartitionsAsync().ConfigureAwait(false), references, "MSFT_Partition")
        : request.DiskId is { } disks ? await selection.PartitionsAtAsync(disks, request.Offset).ConfigureAwait(false)
        : await selection.PartitionsAsync(request.DiskNumber, request.PartitionNumber).ConfigureAwait(false);
}
