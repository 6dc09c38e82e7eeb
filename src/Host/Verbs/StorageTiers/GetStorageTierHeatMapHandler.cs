using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Tiering;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Verbs.StorageTiers;

/// <summary>
/// Get-StorageTierHeatMap: the slices that are mapped, pinned or hot, in order and in pages, or the hottest. Places are counted once for a list, not
/// for each page of it.
/// </summary>
internal sealed class GetStorageTierHeatMapHandler(HostServices services) : VerbHandler<GetStorageTierHeatMapRequest, StorageTierHeatInfo>
{
    /// <summary>Objects of a page, about; the engine gives slices in pieces.</summary>
    internal const int PageObjects = 4096;

    private const uint HottestMax = 10_000;
    private readonly PageMemory<HeatRanking> _memory = new(TimeProvider.System);

    /// <inheritdoc/>
    protected override async Task HandleAsync(
        GetStorageTierHeatMapRequest request, ReplyBuilder<StorageTierHeatInfo> reply, CancellationToken cancellation)
    {
        if (request.Hottest is 0 or > HottestMax)
        {
            throw new StorageException(
                StorageErrors.InvalidParameter, $"-Hottest {request.Hottest}: out of range. Valid: 1 to {HottestMax}.",
                "Without it all slices are listed, and can be sorted.", nameof(request.Hottest));
        }

        Catalogue all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        List<VirtualDiskStatus> disks = all.VirtualDisks.Select(
            request.FriendlyName, request.UniqueId, null, request.InputObject, error => Fail(error, request, reply));
        List<SliceRange> ranges = SliceRange.Of(disks, request.Offset, request.Length, request.Page);
        PageMemory<HeatRanking>.Listing listing = _memory.Begin(request.Page);
        int listed = 0;
        string? next = null;
        for (int i = 0; i < ranges.Count && next is null; i++)
        {
            await reply.TryAsync(async () =>
            {
                (int more, next) = await ListAsync(ranges[i], request, listing, PageObjects - listed, reply).ConfigureAwait(false);
                listed += more;
            }).ConfigureAwait(false);
            next ??= listed >= PageObjects && i + 1 < ranges.Count ? ranges[i + 1].Page : null;
        }

        reply.EndPage(listing.End(next));
    }

    /// <summary>Reports an object that was named and does not exist, with the first page only.</summary>
    private static void Fail(StorageErrorInfo error, GetStorageTierHeatMapRequest request, ReplyBuilder<StorageTierHeatInfo> reply)
    {
        if (request.Page is null)
        {
            reply.Fail(error);
        }
    }

    private async Task<(int Listed, string? Next)> ListAsync(
        SliceRange range, GetStorageTierHeatMapRequest request, PageMemory<HeatRanking>.Listing listing, int most, ReplyBuilder<StorageTierHeatInfo> reply)
    {
        range.Check();
        HeatRanking ranking = await listing.OfAsync(range.Id, () => services.Subsystem.Slices.RankingAsync(range.Id)).ConfigureAwait(false);
        if (request.Hottest is { } count)
        {
            SliceStatus[] hottest = await HottestAsync(range, ranking, (int)count).ConfigureAwait(false);
            reply.Add(hottest.Select(slice => slice.ToInfo(range.Disk.Description, ranking)));
            return (hottest.Length, null);
        }

        int listed = 0;
        do
        {
            SlicePage piece = await services.Subsystem.Slices.ListAsync(range.Id, range.Next, range.Left, ranking.NowNs).ConfigureAwait(false);
            reply.Add(piece.Slices.Select(slice => slice.ToInfo(range.Disk.Description, ranking)));
            listed += piece.Slices.Length;
            range = range with { Next = piece.Next };
        }
        while (listed < most && range.Left > 0);
        return (listed, range.Left > 0 ? range.Page : null);
    }

    private async Task<SliceStatus[]> HottestAsync(SliceRange range, HeatRanking ranking, int count)
    {
        PriorityQueue<SliceStatus, double> hottest = new PriorityQueue<SliceStatus, double>();
        do
        {
            SlicePage piece = await services.Subsystem.Slices.ListAsync(range.Id, range.Next, range.Left, ranking.NowNs).ConfigureAwait(false);
            foreach (SliceStatus slice in piece.Slices.Where(slice => slice.Heat > 0))
            {
                hottest.Enqueue(slice, slice.Heat);
                if (hottest.Count > count)
                {
                    hottest.Dequeue();
                }
            }

            range = range with { Next = piece.Next };
        }
        while (range.Left > 0);
        return [.. hottest.UnorderedItems.Select(item => item.Element).OrderByDescending(slice => slice.Heat).ThenBy(slice => slice.Slice)];
    }
}
