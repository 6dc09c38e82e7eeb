using TierSpaces.Contracts;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Subsystems;
using TierSpaces.Host.Volumes;

namespace TierSpaces.Host.Verbs.Volumes;

/// <summary>Get-Partition: lists partitions.</summary>
internal sealed class GetPartitionHandler(HostServices services) : VerbHandler<GetPartitionRequest, PartitionInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(GetPartitionRequest request, ReplyBuilder<PartitionInfo> reply, CancellationToken cancellation)
    {
        VolumeSelection selection = await VolumeSelection.ReadAsync(services, reply.Fail).ConfigureAwait(false);
        reply.Add((await ChosenAsync(selection, request).ConfigureAwait(false)).Select(services.Volumes.ToInfo));
        await selection.WarnOfUnreadAsync("Partitions", reply.Warn).ConfigureAwait(false);
    }

    private static async Task<List<VolumeTarget>> ChosenAsync(VolumeSelection selection, GetPartitionRequest request)
    {
        if (request.StorageSubSystem is { } subsystem)
        {
            LocalSubsystem.Selector.One(subsystem);
        }

        if (request.DiskId is { } disks)
        {
            return await selection.PartitionsAtAsync(disks, request.Offset).ConfigureAwait(false);
        }

        if (request.Disk is { } disk)
        {
            return VolumeSelection.PartitionsOf(await selection.Catalogue.ReadAsync(selection.Disks(null, null, null, null, [disk])).ConfigureAwait(false));
        }

        if (request.DiskNumber is not null || request.PartitionNumber is not null)
        {
            return await selection.PartitionsAsync(request.DiskNumber, request.PartitionNumber).ConfigureAwait(false);
        }

        List<VolumeTarget> all = await selection.AllPartitionsAsync().ConfigureAwait(false);
        string[]? ids = request.UniqueId ?? (request.Volume is { } volume ? [volume] : null);
        return request.DriveLetter is { } letters ? selection.ByLetter(all, letters, "MSFT_Partition")
            : ids is not null ? selection.ById(all, ids, "MSFT_Partition")
            : all;
    }
}
