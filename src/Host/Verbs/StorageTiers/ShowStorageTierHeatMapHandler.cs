using TierSpaces.Contracts;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Verbs.StorageTiers;

/// <summary>Show-StorageTierHeatMap: draws heat and tiers of virtual disks, however large, in a few lines.</summary>
internal sealed class ShowStorageTierHeatMapHandler(HostServices services) : VerbHandler<ShowStorageTierHeatMapRequest, StorageTierHeatPictureInfo>
{
    private const int WidthDefault = 32;
    private const int LinesDefault = 16;

    /// <inheritdoc/>
    protected override async Task HandleAsync(
        ShowStorageTierHeatMapRequest request, ReplyBuilder<StorageTierHeatPictureInfo> reply, CancellationToken cancellation)
    {
        int width = InRange(request.Width ?? WidthDefault, 8, 128, nameof(request.Width));
        int lines = InRange(request.Lines ?? LinesDefault, 1, 256, nameof(request.Lines));
        Catalogue all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        List<VirtualDiskStatus> disks = all.VirtualDisks.Select(request.FriendlyName, request.UniqueId, null, request.InputObject, reply.Fail);
        foreach (SliceRange range in SliceRange.Of(disks, request.Offset, request.Length, request.Page))
        {
            await reply.TryAsync(async () => reply.Add(await DrawAsync(range, width, lines).ConfigureAwait(false))).ConfigureAwait(false);
        }
    }

    private async Task<IEnumerable<StorageTierHeatPictureInfo>> DrawAsync(SliceRange range, int width, int lines)
    {
        range.Check();
        VirtualDiskDescription disk = range.Disk.Description;
        long now = (await services.Subsystem.Slices.RankingAsync(range.Id).ConfigureAwait(false)).NowNs;
        long slice = (long)disk.SliceSize;
        HeatPicture picture = new HeatPicture(range.Next / slice, range.Left / slice, disk.Tiers.Length, width, lines);
        for (long next = range.Next; next < range.End;)
        {
            SlicePage piece = await services.Subsystem.Slices.ListAsync(range.Id, next, range.End - next, now).ConfigureAwait(false);
            Array.ForEach(piece.Slices, picture.Add);
            next = piece.Next;
        }

        return picture.Lines().Select(line => new StorageTierHeatPictureInfo
        {
            VirtualDiskFriendlyName = disk.FriendlyName,
            VirtualDiskUniqueId = Identifiers.OfVirtualDisk(disk.Id.Value),
            Offset = (ulong)(line.Slice * slice),
            CharacterSize = (ulong)(picture.SlicesPerCharacter * slice),
            Heat = line.Heat,
            Tier = line.Tier,
        });
    }

    private static int InRange(int value, int min, int max, string parameter) => value >= min && value <= max ? value : throw new StorageException(
        StorageErrors.InvalidParameter, $"-{parameter} {value}: out of range. Valid: {min} to {max}.", "Give a value in the range.", parameter);
}
