namespace TierSpaces.Host.Verbs.StorageTiers;

/// <summary>
/// Results that were computed for the first page of a list, kept for the pages that follow: under a token that travels in the name of the next page,
/// so that lists do not disturb each other. A list that is abandoned is forgotten a minute later, and the one longest unused when there are too many.
/// A page that comes after that computes them again.
/// </summary>
/// <typeparam name="T">Type of the results; read only.</typeparam>
/// <param name="time">The clock.</param>
internal sealed class PageMemory<T>(TimeProvider time)
    where T : class
{
    /// <summary>Most lists that are remembered.</summary>
    internal const int Most = 4;

    /// <summary>Time for which a list is remembered after its last use.</summary>
    internal static readonly TimeSpan Lifetime = TimeSpan.FromMinutes(1);

    private readonly Dictionary<string, Entry> _entries = [];   // guarded by itself
    private bool _isForgetting;                                 // guarded by entries: true while something will look for what is too old

    /// <summary>Lists that are remembered.</summary>
    internal int Count
    {
        get
        {
            lock (_entries)
            {
                return _entries.Count;
            }
        }
    }

    /// <summary>Begins a page.</summary>
    /// <param name="page">Name of the page; null for the first.</param>
    public Listing Begin(string? page) => new(this, page?.Split(':') is [_, _, var token] ? token : null);

    private (Guid Disk, T Value)? Find(string token)
    {
        lock (_entries)
        {
            Forget();
            return _entries.TryGetValue(token, out Entry? entry) ? (entry.Disk, entry.Value) : null;
        }
    }

    private void Keep(string token, Guid disk, T value)
    {
        lock (_entries)
        {
            _entries[token] = new Entry(disk, value, time.GetTimestamp());
            Forget();
            if (_entries.Count > Most)
            {
                _entries.Remove(_entries.MinBy(entry => entry.Value.LastUse).Key);
            }

            if (!_isForgetting)
            {
                _isForgetting = true;
                _ = ForgetLaterAsync();
            }
        }
    }

    private void Drop(string token)
    {
        lock (_entries)
        {
            _entries.Remove(token);
        }
    }

    private async Task ForgetLaterAsync()
    {
        for (bool isEmpty = false; !isEmpty;)
        {
            await Task.Delay(Lifetime, time).ConfigureAwait(false);
            lock (_entries)
            {
                Forget();
                isEmpty = _entries.Count == 0;
                _isForgetting = !isEmpty;
            }
        }
    }

    private void Forget()
    {
        foreach ((string? token, Entry? entry) in _entries)
        {
            if (time.GetElapsedTime(entry.LastUse) >= Lifetime)
            {
                _entries.Remove(token);
            }
        }
    }

    private sealed record Entry(Guid Disk, T Value, long LastUse);

    /// <summary>One page of a list.</summary>
    /// <param name="memory">Memory of the lists.</param>
    /// <param name="known">The token of the list; null for one that begins, or whose page names none.</param>
    internal sealed class Listing(PageMemory<T> memory, string? known)
    {
        private readonly string _token = known ?? Guid.NewGuid().ToString("N");
        private (Guid Disk, T Value)? _current = known is null ? null : memory.Find(known);

        /// <summary>Returns the result for a virtual disk of the list; computed unless the page before left it.</summary>
        public async Task<T> OfAsync(Guid disk, Func<Task<T>> work)
        {
            if (_current is not { } there || there.Disk != disk)
            {
                _current = there = (disk, await work().ConfigureAwait(false));
            }

            return there.Value;
        }

        /// <summary>Ends the page: if there is another one, keeps the results for it and returns its name.</summary>
        /// <param name="page">Position at which the next page begins; null when this is the last.</param>
        public string? End(string? page)
        {
            if (page is null || _current is not { } kept)
            {
                memory.Drop(_token);
                return page;
            }

            memory.Keep(_token, kept.Disk, kept.Value);
            return $"{page}:{_token}";
        }
    }
}
