using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Verbs.StorageTiers;

/// <summary>
/// Clear-FileStorageTier: takes the pin of a file away, whether the file is there or not, pins given as objects, or the pins of ranges that lie within
/// a range. One that reaches beyond it stays whole.
/// </summary>
internal sealed class ClearFileStorageTierHandler(HostServices services) : VerbHandler<ClearFileStorageTierRequest, FileStorageTierInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        ClearFileStorageTierRequest request, ReplyBuilder<FileStorageTierInfo> reply, CancellationToken cancellation)
    {
        if (request.FilePath is { } path)
        {
            await RemoveAsync(await GetFileStorageTierHandler.OfFileAsync(services, path).ConfigureAwait(false), reply).ConfigureAwait(false);
        }
        else if (request.InputObject is { } pins)
        {
            PinStatus[] all = await services.Subsystem.Pins.ListAsync(null).ConfigureAwait(false);
            Selector<PinStatus> given = new Selector<PinStatus>("MSFT_FileStorageTier", all, pin => Identifiers.OfPoolOrDisk(pin.Pin.Id), pin => pin.Pin.Label);
            await RemoveAsync(given.ByReference(pins, reply.Fail), reply).ConfigureAwait(false);
        }
        else
        {
            Catalogue all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
            foreach (VirtualDiskStatus disk in all.VirtualDisks.Select(
                request.VirtualDiskFriendlyName, request.VirtualDiskUniqueId, null, request.VirtualDisk, reply.Fail))
            {
                await reply.TryAsync(() => ClearAsync(disk, request, reply)).ConfigureAwait(false);
            }
        }
    }

    private async Task ClearAsync(VirtualDiskStatus disk, ClearFileStorageTierRequest request, ReplyBuilder<FileStorageTierInfo> reply)
    {
        PinStatus[] pins = await services.Subsystem.Pins.ListAsync(disk.Description.Id.Value).ConfigureAwait(false);
        SliceRange range = SliceRange.Within(disk, request.Offset!.Value, request.Length!.Value);
        ILookup<bool, PinStatus> touched = pins.Where(pin => pin.IsRange && pin.Pin.Ranges.Any(range.Touches))
            .ToLookup(pin => pin.Pin.Ranges.All(range.Contains));
        string name = $"virtual disk '{disk.Description.FriendlyName}'";
        string beyond = string.Join(", ", touched[false].Select(pin => pin.Pin.Ranges[0].InWords()));
        if (!touched[true].Any())
        {
            throw new StorageException(
                StorageErrors.ObjectNotFound,
                $"No range of {name} is pinned within {range.Bytes.InWords()}." + (beyond.Length > 0 ? $" Pinned beyond it: {beyond}." : ""),
                "Give all of a pinned range; Get-FileStorageTier lists them. Pins of files are taken away by -FilePath.", disk.Description.FriendlyName);
        }

        await RemoveAsync(touched[true], reply).ConfigureAwait(false);
        if (beyond.Length > 0)
        {
            reply.Warn($"Pins that reach beyond {range.Bytes.InWords()} of {name} stay: {beyond}.");
        }
    }

    private async Task RemoveAsync(IEnumerable<PinStatus> pins, ReplyBuilder<FileStorageTierInfo> reply)
    {
        foreach (PinStatus pin in pins)
        {
            string what = pin.IsRange ? $"{pin.Pin.Ranges[0].InWords()} of virtual disk '{pin.VirtualDisk.FriendlyName}'" : $"'{pin.Pin.Label}'";
            await reply.TryDoAsync(
                $"Take the pin of {what} to storage tier '{pin.Tier.FriendlyName}' away",
                () => services.Subsystem.Pins.RemoveAsync(pin.VirtualDisk.Id.Value, pin.Pin.Id),
                () => services.Subsystem.Pins.CheckRemoveAsync(pin.VirtualDisk.Id.Value, pin.Pin.Id)).ConfigureAwait(false);
        }
    }
}
