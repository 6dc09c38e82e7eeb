using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Tests.Resiliency;

public sealed class ChecksumPageCacheTests
{
    private const int PagesMax = 1024;

    private readonly ChecksumPageCache _cache = new(new MirrorLayout(s_shape), s_shape, PagesMax);
    private static readonly SpaceShape s_shape = new(1, 1, 64 << 10, 256 << 20, true);

    private readonly List<SpaceRow> _rows = [];
    private int _next;

    [Fact]
    public void A_full_cache_of_clean_pages_makes_room_without_a_writeback()
    {
        int rejected = Enumerable.Range(0, 10 * PagesMax).Count(_ => !Add(isClean: true));

        Assert.Equal(0, rejected);
        Assert.InRange(_cache.Count, PagesMax, PagesMax + (PagesMax / 4));
    }

    [Fact]
    public void Pages_that_have_to_stay_ask_for_a_writeback_once_in_a_while_and_at_a_quarter_more_each_time()
    {
        List<int> refusedAt = [];
        while (_cache.Count < PagesMax + (PagesMax / 4))
        {
            if (!Add(isClean: false))
            {
                refusedAt.Add(_cache.Count);
            }
        }

        Assert.InRange(refusedAt.Count, 1, 8);   // each asks for work in proportion to the pages
        Assert.False(_cache.TryMakeRoom());
        Assert.False(_cache.TryMakeRoom());
    }

    [Fact]
    public void After_a_writeback_it_goes_back_to_its_bound()
    {
        while (_cache.Count < PagesMax + (PagesMax / 4))
        {
            Add(isClean: false);
        }

        _cache.All.ForEach(static page => page.NoteWritten(ulong.MaxValue));

        Assert.All(Enumerable.Range(0, 2 * PagesMax), _ => Assert.True(Add(isClean: true)));
        Assert.Equal(PagesMax, _cache.Count);
    }

    [Fact]
    public void A_page_that_is_used_again_and_again_stays()
    {
        Add(isClean: true);
        for (int i = 0; i < 4 * PagesMax; i++)
        {
            Assert.NotNull(_cache.Find(_rows[0], 0, 0));
            Add(isClean: true);
        }
    }

    /// <summary>Adds a page as a miss does; whether there was room.</summary>
    private bool Add(bool isClean)
    {
        bool hasRoom = _cache.TryMakeRoom();
        (int row, int index) = Math.DivRem(_next++, s_shape.PagesPerSlab);
        if (row == _rows.Count)
        {
            _rows.Add(new SpaceRow(new MirrorLayout(s_shape), s_shape, new SpaceRowMap(row, [default], true, new ushort[1])));
        }

        ChecksumPage page = _cache.Add(_rows[row], 0, index);
        page.EndLoading();
        if (!isClean)
        {
            page.RequireWriteback(1);
        }

        return hasRoom;
    }
}
