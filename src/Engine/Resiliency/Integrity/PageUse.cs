using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Resiliency;

// Invariants
//  1. A request that uses a page holds a pin of it, and releases it once.
//  2. Until a page is loaded only its loader uses it.

/// <summary>Users of a page: requests, which pin it, and the cache, which checks whether the page was referenced.</summary>
internal struct PageUse
{
    private int _pins;
    private bool _isReferenced;

    /// <summary>Whether entries were read from disk.</summary>
    internal bool IsLoaded { get; private set; }

    /// <summary>Whether no request uses the page.</summary>
    internal readonly bool IsIdle => _pins == 0;

    /// <summary>A request uses the page.</summary>
    internal void Pin() => _pins++;

    /// <summary>A request does not use the page any more.</summary>
    internal void Unpin()
    {
        Invariant.That(_pins > 0, "A request releases only a page that it holds.");
        _pins--;
    }

    /// <summary>The page was touched.</summary>
    internal void Reference()
    {
        if (!_isReferenced)   // a line that is not written stays shared
        {
            _isReferenced = true;
        }
    }

    /// <summary>Returns whether the page was touched since this was last asked.</summary>
    internal bool TakeReference()
    {
        if (!_isReferenced)
        {
            return false;
        }

        _isReferenced = false;
        return true;
    }

    /// <summary>The page is for another place, whose entries have to be read.</summary>
    internal void BeginLoading() => IsLoaded = false;

    /// <summary>Entries were read.</summary>
    internal void EndLoading() => IsLoaded = true;

    /// <summary>Prefetches what every request touches into the processor's caches.</summary>
    internal readonly void Prefetch() => ProcessorCache.Prefetch(in _pins);
}
