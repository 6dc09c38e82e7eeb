using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Resiliency;

/// <summary>
/// The checksum pages in memory, found by place, bounded in number. A page that is newer than its copies on disk or in use
/// stays; of the others the one not touched for a full round goes first. When nothing can go, the caller has to write pages back.
/// </summary>
internal sealed class ChecksumPageCache(int pagesMax)
{
    private readonly Dictionary<long, ChecksumPage> _pages = [];
    private readonly List<ChecksumPage> _ring = [];
    private readonly Stack<ChecksumPage> _spare = new();
    private int _hand;

    /// <summary>Told when a page finished loading.</summary>
    internal LaneSignal Loaded { get; } = new();

    internal int Count => _ring.Count;

    /// <summary>Whether most pages are in use or newer than the disks: time to write back.</summary>
    internal bool IsCrowded => _ring.Count >= pagesMax;

    internal List<ChecksumPage> All => _ring;

    internal static long Key(int row, int column, int page) => ((long)row << 24) | ((long)column << 16) | (uint)page;

    internal ChecksumPage? Find(int row, int column, int page)
    {
        if (_pages.TryGetValue(Key(row, column, page), out ChecksumPage? found))
        {
            found.IsReferenced = true;
        }

        return found;
    }

    /// <summary>Adds an unloaded page, evicting another where the bound asks for it.</summary>
    internal ChecksumPage Add(SpaceRow row, int column, int index)
    {
        if (_ring.Count >= pagesMax)
        {
            EvictOne();
        }

        ChecksumPage page = _spare.TryPop(out ChecksumPage? spare) ? spare : new ChecksumPage();
        page.Assign(row, column, index);
        page.IsReferenced = true;
        _pages.Add(Key(row.Index, column, index), page);
        _ring.Add(page);
        return page;
    }

    /// <summary>Takes a page out: its loading failed, or its row is gone.</summary>
    internal void Remove(ChecksumPage page)
    {
        _pages.Remove(Key(page.Row.Index, page.Column, page.Index));
        _ring.Remove(page);
    }

    private void EvictOne()
    {
        for (int looked = 0; looked < _ring.Count * 2; looked++)
        {
            _hand = (_hand + 1) % _ring.Count;
            ChecksumPage page = _ring[_hand];
            if (page.IsReferenced)
            {
                page.IsReferenced = false;
            }
            else if (page.IsEvictable)
            {
                _pages.Remove(Key(page.Row.Index, page.Column, page.Index));
                _ring[_hand] = _ring[^1];
                _ring.RemoveAt(_ring.Count - 1);
                _spare.Push(page);
                return;
            }
        }
    }
}
