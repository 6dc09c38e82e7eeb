using TierSpaces.Contracts;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Volumes;

namespace TierSpaces.Host.Verbs.Volumes;

/// <summary>New-Partition: makes partitions on initialized disks, with a drive letter where one is asked for.</summary>
internal sealed class NewPartitionHandler(HostServices services) : VerbHandler<NewPartitionRequest, PartitionInfo>, ILongVerb
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(NewPartitionRequest request, ReplyBuilder<PartitionInfo> reply, CancellationToken cancellation)
    {
        if (request is { Size: null, UseMaximumSize: false } || request is { Size: not null, UseMaximumSize: true })
        {
            throw new StorageException(StorageErrors.SizeOrMaximum, "-Size or -UseMaximumSize: exactly one of them.", "Give one of them.", "Size");
        }

        if (request is { DriveLetter: not null, AssignDriveLetter: true })
        {
            throw new StorageException(
                StorageErrors.InvalidParameter, $"-DriveLetter '{request.DriveLetter}' and -AssignDriveLetter: at most one of them.", "Leave one of them out.",
                nameof(request.AssignDriveLetter));
        }

        PartitionRequest partition = new PartitionRequest
        {
            Size = (long?)request.Size, Offset = (long?)request.Offset, Alignment = request.Alignment,
            GptType = request.GptType is { } type ? PartitionType.ParseGpt(type) : PartitionType.BasicData,
            MbrType = request.MbrType ?? MbrType.Huge, IsActive = request.IsActive, IsHidden = request.IsHidden,
        };
        string? letter = request.DriveLetter is { } text ? DriveLetter.Parse(text, nameof(request.DriveLetter)) : null;
        if (partition.IsHidden && (letter is not null || request.AssignDriveLetter))
        {
            throw new StorageException(StorageErrors.HiddenPartition, "-IsHidden: a hidden partition has no drive letter.", "Leave one of the two out.",
                "IsHidden");
        }

        VolumeSelection selection = await VolumeSelection.ReadAsync(services, reply.Fail).ConfigureAwait(false);
        List<VolumeDisk> disks = request.DiskId is { } ids ? selection.ByDiskId(ids) : selection.Disks(request.DiskNumber, null, null, request.DiskPath,
            request.InputObject);
        foreach (VolumeDisk disk in disks)
        {
            await reply.TryDoAsync(
                $"Make a partition on disk {disk.Number} ('{disk.FriendlyName}')",
                async () =>
                {
                    VolumeTarget made = await services.Volumes.ChangeAsync(
                        disk, Verb.Name, now => MakeAsync(now, partition, letter, request.AssignDriveLetter)).ConfigureAwait(false);
                    reply.Add(services.Volumes.ToInfo(made));
                },
                async () => services.Volumes.Partitions.Plan(await selection.Catalogue.ReadAsync(disk).ConfigureAwait(false), partition)).ConfigureAwait(false);
        }
    }

    /// <summary>Makes one. A partition whose letter cannot be had is not made.</summary>
    private async Task<VolumeTarget> MakeAsync(VolumeDisk disk, PartitionRequest partition, string? letter, bool assigns)
    {
        services.Volumes.Partitions.Plan(disk, partition);
        string? wanted = letter ?? (assigns ? DriveLetter.FirstFree(services.Volumes.Mounts.UsedLetters) : null);
        if (wanted is not null)
        {
            await services.Volumes.Mounts.CheckAsync(new VolumeTarget(disk, null), wanted, null).ConfigureAwait(false);
        }

        VolumeTarget made = await services.Volumes.Partitions.CreateAsync(disk, partition).ConfigureAwait(false);
        if (wanted is not null)
        {
            await services.Volumes.Mounts.AddAsync(made, wanted, null).ConfigureAwait(false);
        }

        return made;
    }
}
