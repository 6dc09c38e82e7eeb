using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Verbs.StorageTiers;

/// <summary>Get-FileStorageTier: lists pinned files, of a volume or one by its path.</summary>
internal sealed class GetFileStorageTierHandler(HostServices services) : VerbHandler<GetFileStorageTierRequest, FileStorageTierInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        GetFileStorageTierRequest request, ReplyBuilder<FileStorageTierInfo> reply, CancellationToken cancellation)
    {
        var pins = request.VolumePath is { } volume
            ? await OnVolumeAsync(services, volume).ConfigureAwait(false)
            : await OfFileAsync(services, request.FilePath!).ConfigureAwait(false);
        reply.Add(pins.Select(pin => pin.ToInfo()));
    }

    /// <summary>The pins of a file: one on each virtual disk that it was on when it was pinned.</summary>
    /// <exception cref="StorageException">It is not pinned.</exception>
    internal static async Task<PinStatus[]> OfFileAsync(HostServices services, string path)
    {
        var all = await services.Subsystem.PinsAsync(null).ConfigureAwait(false);
        PinStatus[] pins = [.. all.Where(pin => pin.Pin.Label == path)];
        return pins.Length > 0 ? pins : throw StorageException.NotFound("MSFT_FileStorageTier", "FilePath", path);
    }

    private static async Task<PinStatus[]> OnVolumeAsync(HostServices services, string path)
    {
        var place = services.Files.FindVolume(path, nameof(GetFileStorageTierRequest.VolumePath));
        var all = await services.Subsystem.PinsAsync(null).ConfigureAwait(false);
        return [.. all.Where(pin => Identifiers.OfVirtualDisk(pin.VirtualDisk.Id.Value) == place.VirtualDisk && pin.Pin.Label.Length > 0
            && pin.Pin.Ranges[0].Offset >= place.Range.Offset && pin.Pin.Ranges[0].Offset < place.Range.End)];
    }
}
