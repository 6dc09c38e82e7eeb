using TierSpaces.Contracts;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Jobs;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Primitives;
using TierSpaces.Host.Attaching;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Verbs.StorageTiers;

/// <summary>
/// Set-FileStorageTier: pins the places of a file, or a range of a virtual disk, to a tier; where a file lies is asked of the kernel, once.
/// </summary>
internal sealed class SetFileStorageTierHandler(HostServices services) : VerbHandler<SetFileStorageTierRequest, FileStorageTierInfo>, ILongVerb
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        SetFileStorageTierRequest request, ReplyBuilder<FileStorageTierInfo> reply, CancellationToken cancellation)
    {
        FilePlace? file = request.FilePath is { } path ? services.Files.Find(path) : null;
        Catalogue all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        VirtualDiskStatus disk = file is not null
            ? all.VirtualDisks.One(file.VirtualDisk)
            : all.VirtualDisks.SelectOne(request.VirtualDiskFriendlyName, request.VirtualDiskUniqueId, null, request.VirtualDisk);
        TierDescription tier = TierOf(disk.Description, request);
        (IReadOnlyList<PinnedRange>? pieces, string? what) = file is not null ? OfFile(file, request.FilePath!, disk.Description) : OfRange(disk, request);
        PinRequest pin = new PinRequest(disk.Description.Id.Value, tier.Id, request.FilePath ?? "", pieces);
        await reply.DoAsync(
            $"Pin {what} to storage tier '{tier.FriendlyName}'{(request.Now ? " and move it there" : "")}",
            () => PinAsync(pin, request.Now),
            () => services.Subsystem.Pins.CheckSetAsync(pin)).ConfigureAwait(false);
    }

    private static (IReadOnlyList<PinnedRange> Pieces, string What) OfFile(FilePlace file, string path, VirtualDiskDescription disk) => (
        file.Pieces,
        $"'{path}', {SizeText.Exact(file.Pieces.Sum(piece => piece.Length))} in {CountText.Of(file.Pieces.Count, "piece")} of virtual disk '{disk.FriendlyName}',");

    private static (IReadOnlyList<PinnedRange> Pieces, string What) OfRange(VirtualDiskStatus disk, SetFileStorageTierRequest request)
    {
        PinnedRange range = SliceRange.Within(disk, request.Offset!.Value, request.Length!.Value).Bytes;
        return ([range], $"{range.InWords()} of virtual disk '{disk.Description.FriendlyName}'");
    }

    private static TierDescription TierOf(VirtualDiskDescription disk, SetFileStorageTierRequest request)
    {
        if (!disk.IsTiered)
        {
            string what = request.FilePath is { } path ? $", which '{path}' is on," : "";
            throw new StorageException(
                StorageErrors.NotSupported, $"Virtual disk '{disk.FriendlyName}'{what} has no tiers.", "Only virtual disks made with -StorageTiers have.",
                request.FilePath ?? disk.FriendlyName);
        }

        try
        {
            return new Selector<TierDescription>("MSFT_StorageTier", disk.Tiers, tier => Identifiers.OfPoolOrDisk(tier.Id), tier => tier.FriendlyName)
                .SelectOne(request.DesiredStorageTierFriendlyName, request.DesiredStorageTierUniqueId, null, request.DesiredStorageTier);
        }
        catch (StorageException e) when (e.Error.Code == StorageErrors.ObjectNotFound.Code)
        {
            string tiers = string.Join(", ", disk.Tiers.Select(tier => tier.FriendlyName));
            throw new StorageException(e.Error with
            {
                ExtendedInformation = $"Virtual disk '{disk.FriendlyName}' has the storage tiers {tiers}.", RecommendedAction = "Name one of them.",
            });
        }
    }

    private async Task PinAsync(PinRequest pin, bool now)
    {
        await services.Subsystem.Pins.SetAsync(pin).ConfigureAwait(false);
        if (now && await services.Subsystem.Pins.MoveAsync(pin.VirtualDisk).ConfigureAwait(false) is { State: not JobState.Completed } job)
        {
            throw new StorageException(
                StorageErrors.Failed, $"The pin is set, and moving what it pins ended as {job.State}. {job.ErrorDescription}",
                "The next optimization of the tiers goes on with it.", pin.Label);
        }
    }
}
