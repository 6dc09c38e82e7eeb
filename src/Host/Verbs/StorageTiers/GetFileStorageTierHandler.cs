using TierSpaces.Contracts;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Attaching;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;
using TierSpaces.Host.Verbs.Volumes;
using TierSpaces.Host.Volumes;

namespace TierSpaces.Host.Verbs.StorageTiers;

/// <summary>Get-FileStorageTier: lists pinned files, of a volume or one by its path, or all pins of virtual disks.</summary>
internal sealed class GetFileStorageTierHandler(HostServices services) : VerbHandler<GetFileStorageTierRequest, FileStorageTierInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        GetFileStorageTierRequest request, ReplyBuilder<FileStorageTierInfo> reply, CancellationToken cancellation)
    {
        if (request.VolumeDriveLetter is not null || request.Volume is not null)
        {
            reply.Add((await OnVolumeAsync(await ChosenAsync(request).ConfigureAwait(false)).ConfigureAwait(false)).Select(pin => pin.ToInfo()));
        }
        else if (request.VolumePath is { } volume)
        {
            reply.Add((await OnVolumeAsync(services, volume).ConfigureAwait(false)).Select(pin => pin.ToInfo()));
        }
        else if (request.FilePath is { } path)
        {
            reply.Add((await OfFileAsync(services, path).ConfigureAwait(false)).Select(pin => pin.ToInfo()));
        }
        else
        {
            await ListOfDisksAsync(request, reply).ConfigureAwait(false);
        }
    }

    /// <summary>The pins of a file: one on each virtual disk that it was on when it was pinned.</summary>
    /// <exception cref="StorageException">It is not pinned.</exception>
    internal static async Task<PinStatus[]> OfFileAsync(HostServices services, string path)
    {
        PinStatus[] all = await services.Subsystem.Pins.ListAsync(null).ConfigureAwait(false);
        PinStatus[] pins = [.. all.Where(pin => !pin.IsRange && pin.Pin.Label == path)];
        return pins.Length > 0 ? pins : throw StorageException.NotFound("MSFT_FileStorageTier", "FilePath", path);
    }

    private async Task ListOfDisksAsync(GetFileStorageTierRequest request, ReplyBuilder<FileStorageTierInfo> reply)
    {
        Catalogue all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        List<VirtualDiskStatus> disks = all.VirtualDisks.Select(
            request.VirtualDiskFriendlyName, request.VirtualDiskUniqueId, null, request.VirtualDisk, reply.Fail);
        foreach (SliceRange range in SliceRange.Of(disks, request.Offset, request.Length, page: null))
        {
            await reply.TryAsync(() =>
            {
                IReadOnlyList<PinStatus> pins = all.Now.Pins(range.Id);
                range.Check();
                reply.Add(pins.Where(pin => pin.Pin.Ranges.Any(range.Touches)).Select(pin => pin.ToInfo()));
                return Task.CompletedTask;
            }).ConfigureAwait(false);
        }
    }

    private static async Task<PinStatus[]> OnVolumeAsync(HostServices services, string path)
    {
        VolumePlace place = services.Files.FindVolume(path, nameof(GetFileStorageTierRequest.VolumePath));
        return On(await services.Subsystem.Pins.ListAsync(null).ConfigureAwait(false), place);
    }

    private async Task<VolumeTarget> ChosenAsync(GetFileStorageTierRequest request)
    {
        if (request.Volume is { } reference)
        {
            return await VolumeSelection.OneVolumeAsync(services, await Catalogue.ReadAsync(services).ConfigureAwait(false), reference).ConfigureAwait(false);
        }

        VolumeSelection selection = await VolumeSelection.ReadAsync(services, static error => throw new StorageException(error)).ConfigureAwait(false);
        return selection.ByLetter(await selection.AllVolumesAsync().ConfigureAwait(false), [request.VolumeDriveLetter!], "MSFT_Volume")[0];
    }

    private async Task<PinStatus[]> OnVolumeAsync(VolumeTarget volume)
    {
        PinnedRange range = new PinnedRange(volume.Partition?.Offset ?? 0, volume.Size);
        return On(await services.Subsystem.Pins.ListAsync(null).ConfigureAwait(false), new VolumePlace(volume.Disk.UniqueId, range));
    }

    private static PinStatus[] On(PinStatus[] pins, VolumePlace place) =>
        [.. pins.Where(pin => Identifiers.OfVirtualDisk(pin.VirtualDisk.Id.Value) == place.VirtualDisk && !pin.IsRange
            && pin.Pin.Ranges[0].Offset >= place.Range.Offset && pin.Pin.Ranges[0].Offset < place.Range.End)];
}
