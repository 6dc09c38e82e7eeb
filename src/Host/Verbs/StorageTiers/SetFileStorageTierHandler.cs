using TierSpaces.Contracts;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Jobs;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Verbs.StorageTiers;

/// <summary>Set-FileStorageTier: pins the places of a file to a tier; where it lies is asked of the kernel, once.</summary>
internal sealed class SetFileStorageTierHandler(HostServices services) : VerbHandler<SetFileStorageTierRequest, FileStorageTierInfo>, ILongVerb
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        SetFileStorageTierRequest request, ReplyBuilder<FileStorageTierInfo> reply, CancellationToken cancellation)
    {
        var path = request.FilePath ?? throw new StorageException(StorageErrors.InvalidParameter, "-FilePath must be given.");
        var place = services.Files.Find(path);
        var all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        var disk = all.VirtualDisks.One(place.VirtualDisk).Description;
        var tier = TierOf(disk, request);
        var pin = new PinRequest(disk.Id.Value, tier.Id, path, place.Pieces);
        var bytes = place.Pieces.Sum(piece => piece.Length);
        await reply.DoAsync(
            $"Pin '{path}', {bytes} bytes in {place.Pieces.Count} pieces of virtual disk '{disk.FriendlyName}', to storage tier '{tier.FriendlyName}'"
            + (request.Now ? " and move it there" : ""),
            () => PinAsync(pin, request.Now),
            () => services.Subsystem.CheckSetPinAsync(pin)).ConfigureAwait(false);
    }

    private static TierDescription TierOf(VirtualDiskDescription disk, SetFileStorageTierRequest request) => disk.IsTiered
        ? new Selector<TierDescription>("MSFT_StorageTier", disk.Tiers, tier => Identifiers.OfPoolOrDisk(tier.Id), tier => tier.FriendlyName)
            .SelectOne(request.DesiredStorageTierFriendlyName, request.DesiredStorageTierUniqueId, null, request.DesiredStorageTier)
        : throw new StorageException(
            StorageErrors.NotSupported, $"Virtual disk '{disk.FriendlyName}', which '{request.FilePath}' is on, has no tiers.",
            "Only virtual disks made with -StorageTiers have.", request.FilePath!);

    private async Task PinAsync(PinRequest pin, bool now)
    {
        await services.Subsystem.SetPinAsync(pin).ConfigureAwait(false);
        if (now && await services.Subsystem.MovePinnedAsync(pin.VirtualDisk).ConfigureAwait(false) is { State: not JobState.Completed } job)
        {
            throw new StorageException(
                StorageErrors.Failed, $"'{pin.Label}' is pinned, and moving it ended as {job.State}. {job.ErrorDescription}",
                "The next optimization of the tiers goes on with it.", pin.Label);
        }
    }
}
