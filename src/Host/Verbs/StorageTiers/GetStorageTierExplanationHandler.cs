using TierSpaces.Contracts;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Tiering;
using TierSpaces.Host.Attaching;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Verbs.StorageTiers;

/// <summary>
/// Get-StorageTierExplanation: each slice of a range or a file, explained; in pages. The kernel is asked for the place of a file once for each page;
/// the next optimization is planned once for a list.
/// </summary>
internal sealed class GetStorageTierExplanationHandler(HostServices services) : VerbHandler<GetStorageTierExplanationRequest, StorageTierExplanationInfo>
{
    /// <summary>Objects of a page.</summary>
    internal const int PageObjects = 2048;

    private readonly PageMemory<SliceExplanation> _memory = new(TimeProvider.System);

    /// <inheritdoc/>
    protected override async Task HandleAsync(
        GetStorageTierExplanationRequest request, ReplyBuilder<StorageTierExplanationInfo> reply, CancellationToken cancellation)
    {
        Catalogue all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        List<SliceRange> ranges = request.FilePath is { } path ? OfFile(all, path, request.Page) : OfDisks(all, request, reply);
        PageMemory<SliceExplanation>.Listing listing = _memory.Begin(request.Page);
        int left = PageObjects;
        string? next = null;
        for (int i = 0; i < ranges.Count && next is null; i++)
        {
            SliceRange range = ranges[i];
            await reply.TryAsync(async () =>
            {
                List<StorageTierExplanationInfo> explained = await ExplainAsync(range, left, listing, request.FilePath).ConfigureAwait(false);
                reply.Add(explained);
                left -= explained.Count;
                range = range with { Next = range.Next + ((long)explained.Count * range.Disk.Description.SliceSize) };
            }).ConfigureAwait(false);
            next = left > 0 ? null : range.Left > 0 ? range.Page : i + 1 < ranges.Count ? ranges[i + 1].Page : null;
        }

        reply.EndPage(listing.End(next));
    }

    private static List<SliceRange> OfDisks(Catalogue all, GetStorageTierExplanationRequest request, ReplyBuilder<StorageTierExplanationInfo> reply)
    {
        List<VirtualDiskStatus> disks = all.VirtualDisks.Select(
            request.FriendlyName, request.UniqueId, null, request.InputObject, request.Page is null ? reply.Fail : static _ => { });
        return SliceRange.Of(disks, request.Offset, request.Length ?? 1, request.Page);
    }

    private List<SliceRange> OfFile(Catalogue all, string path, string? page)
    {
        FilePlace place = services.Files.Find(path);
        return SliceRange.Of(all.VirtualDisks.One(place.VirtualDisk), place.Pieces, page);
    }

    private async Task<List<StorageTierExplanationInfo>> ExplainAsync(
        SliceRange range, int most, PageMemory<SliceExplanation>.Listing listing, string? file)
    {
        range.Check();
        SliceExplanation why = await listing.OfAsync(range.Id, () => WorkOutAsync(range.Disk.Description)).ConfigureAwait(false);
        uint slice = range.Disk.Description.SliceSize;
        List<StorageTierExplanationInfo> explained = new List<StorageTierExplanationInfo>();
        for (long next = range.Next; next < range.End && explained.Count < most;)
        {
            SlicePage piece = await services.Subsystem.Slices.ListAsync(
                range.Id, next, Math.Min(range.End - next, (most - explained.Count) * slice), why.Ranking.NowNs).ConfigureAwait(false);
            Dictionary<int, SliceStatus> known = piece.Slices.ToDictionary(status => status.Slice);
            for (; next < piece.Next; next += slice)
            {
                SliceStatus status = known.GetValueOrDefault((int)(next / slice), new SliceStatus((int)(next / slice), 0, SliceEntry.None, -1));
                explained.Add(why.ToInfo(status, file));
            }
        }

        return explained;
    }

    private async Task<SliceExplanation> WorkOutAsync(VirtualDiskDescription disk)
    {
        HeatRanking ranking = await services.Subsystem.Slices.RankingAsync(disk.Id.Value).ConfigureAwait(false);
        TierOutlook outlook = await services.Subsystem.Slices.OutlookAsync(disk.Id.Value).ConfigureAwait(false);
        return new SliceExplanation(disk, ranking, outlook);
    }
}
