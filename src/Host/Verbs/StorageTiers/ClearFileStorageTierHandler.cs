using TierSpaces.Contracts;
using TierSpaces.Host.Serving;

namespace TierSpaces.Host.Verbs.StorageTiers;

/// <summary>Clear-FileStorageTier: takes the pin of a file away, whether the file is there or not.</summary>
internal sealed class ClearFileStorageTierHandler(HostServices services) : VerbHandler<ClearFileStorageTierRequest, FileStorageTierInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        ClearFileStorageTierRequest request, ReplyBuilder<FileStorageTierInfo> reply, CancellationToken cancellation)
    {
        foreach (var pin in await GetFileStorageTierHandler.OfFileAsync(services, request.FilePath!).ConfigureAwait(false))
        {
            await reply.TryDoAsync(
                $"Take the pin of '{pin.Pin.Label}' to storage tier '{pin.Tier.FriendlyName}' away",
                () => services.Subsystem.RemovePinAsync(pin.VirtualDisk.Id.Value, pin.Pin.Id),
                () => services.Subsystem.CheckRemovePinAsync(pin.VirtualDisk.Id.Value, pin.Pin.Id)).ConfigureAwait(false);
        }
    }
}
