using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

/// <summary>
/// The checksum pages in memory, found by their place, bounded in number. A page that is newer than its copies on disk or in use
/// stays; of the others the one not touched for a full round goes first. When nothing can go it grows, by a quarter at most, and then the
/// caller has to write pages back. A page that comes in looks at a few others only, so that a cache full of pages that have to stay costs no
/// round through all of them each time.
/// </summary>
internal sealed class ChecksumPageCache(ILayout layout, SpaceShape shape, int pagesMax)
{
    private const int LooksMax = 32;

    private readonly PageTable _places = new(layout, shape);
    private readonly List<ChecksumPage> _ring = [];
    private readonly Stack<ChecksumPage> _spare = new();
    private int _hand;
    private int _inVain;   // pages looked at since the last one that could go

    /// <summary>Told when a page finished loading.</summary>
    internal LaneSignal Loaded { get; } = new();

    internal int Count => _ring.Count;

    /// <summary>Whether it has grown as far as it may.</summary>
    internal bool IsOverfull => _ring.Count >= pagesMax + (pagesMax / 4);

    internal List<ChecksumPage> All => _ring;

    internal static long Key(int row, int column, int page) => ((long)row << 24) | ((long)column << 16) | (uint)page;

    /// <summary>A page of a row that is in use.</summary>
    internal ChecksumPage? Find(SpaceRow row, int column, int index)
    {
        ChecksumPage? found = _places.Find(row.Index, column, index);
        Invariant.That(found is null || found.Row == row, "The pages of a row are gone before the row is made again.");
        found?.Reference();
        return found;
    }

    /// <summary>Prefetches the entries of a block that a request is likely to use next, if its page is in memory.</summary>
    internal void Prefetch(StripPiece piece) =>
        _places.Find(piece.Row, piece.Column, piece.SlabOffset / shape.PageSpan)?.PrefetchPage(piece.SlabOffset % shape.PageSpan / SpaceShape.BlockSize);

    /// <summary>Adds an unloaded page, evicting another where the bound asks for it.</summary>
    internal ChecksumPage Add(SpaceRow row, int column, int index)
    {
        if (_ring.Count >= pagesMax)
        {
            TryEvict(LooksMax);
        }

        ChecksumPage page = _spare.TryPop(out ChecksumPage? spare) ? spare : new ChecksumPage();
        page.Assign(row, column, index);
        page.Reference();
        _places.Add(page);
        _ring.Add(page);
        return page;
    }

    /// <summary>Takes a page out: its loading failed, or its row is gone.</summary>
    internal void Remove(ChecksumPage page)
    {
        _places.Remove(page);
        _ring.Remove(page);
    }

    /// <summary>Makes room for a page; false when it is time to write back, since a round found nothing that can go.</summary>
    internal bool TryMakeRoom()
    {
        if (_ring.Count < pagesMax)
        {
            return true;
        }

        if (TryEvict(IsOverfull ? 2 * _ring.Count : LooksMax))
        {
            return true;
        }

        bool mayGrow = !IsOverfull && _inVain < 2 * _ring.Count;
        _inVain = mayGrow ? _inVain : 0;
        return mayGrow;
    }

    private bool TryEvict(int looksMax)
    {
        for (int looks = Math.Min(looksMax, 2 * _ring.Count); looks > 0; looks--)
        {
            _inVain++;
            _hand = (_hand + 1) % _ring.Count;
            ChecksumPage page = _ring[_hand];
            if (!page.TakeReference() && page.IsEvictable)
            {
                _places.Remove(page);
                _ring[_hand] = _ring[^1];
                _ring.RemoveAt(_ring.Count - 1);
                _spare.Push(page);
                _inVain = 0;
                return true;
            }
        }

        return false;
    }
}
