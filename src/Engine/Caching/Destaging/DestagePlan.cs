using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Caching;

// In front of parity a round completes stripes: where the rest of a stripe that it would write in part is in the ring, in later records that are durable,
// that is planned too, and left out when its own round comes.
//
// Invariants
//  1. A block is planned only with a version that is durable in the ring.
//  2. A version is left out when a later durable record in the ring has a newer one of the same block, or when a round that was flushed has written it or a
//     newer one: the backing store never goes back to an older version.

/// <summary>The blocks that one round of destaging writes to the backing store: versions of blocks, sorted by address, cut into runs.</summary>
internal sealed class DestagePlan(CacheContents contents, int stripeSize = 0)
{
    internal const int BlocksMax = 8192;    // of a round: 32 MiB

    private const int RunBlocksMax = 256;   // 1 MiB
    private const int StripeBlocksMax = 1024;   // of larger stripes a run is a part

    private readonly List<CachedBlock> _blocks = [];
    private readonly Dictionary<long, long> _done = [];    // by block: position of a version that is still in the ring, and on the backing store, flushed
    private readonly List<CachedBlock> _completing = [];   // what completes stripes in this round
    private readonly int _stripe = stripeSize / CacheRing.BlockSize is var blocks and <= StripeBlocksMax ? blocks : 0;

    /// <summary>Versions planned.</summary>
    internal int Count => _blocks.Count;

    internal CachedBlock this[int at] => _blocks[at];

    /// <summary>Returns the oldest records that bring the use of the ring down to the goal, as far as one round goes.</summary>
    internal (int Records, long End, uint Checksum) Choose(CacheRing ring, long goal)
    {
        long most = Math.Min(Math.Min(BlocksMax, Math.Max(1, ring.Length / 8)), ring.Used - goal);
        int count = 0;
        QueuedRecord last = default;
        Queue<QueuedRecord>.Enumerator each = contents.Queue.GetRecords();
        while (each.MoveNext() && (count == 0 || last.End - ring.Tail < most))
        {
            last = each.Current;
            count++;
        }

        return (count, last.End, last.Checksum);
    }

    /// <summary>Plans a round over the oldest records.</summary>
    internal void Make(CacheRing ring, int records)
    {
        _blocks.Clear();
        Queue<QueuedRecord>.Enumerator record = contents.Queue.GetRecords();
        Queue<QueuedExtent>.Enumerator extent = contents.Queue.GetExtents();
        for (int i = 0; i < records && record.MoveNext(); i++)
        {
            for (int e = 0; e < record.Current.Extents && extent.MoveNext(); e++)
            {
                PlanExtent(ring, extent.Current);
            }
        }

        Sort();
        _completing.Clear();
        if (_stripe > 0)
        {
            CompleteStripes(ring);
        }
    }

    /// <summary>The round is flushed, and its records leave the ring up to a position.</summary>
    internal void NoteFlushed(long tail)
    {
        foreach (CachedBlock completed in _completing)
        {
            _done[completed.Block] = completed.Place.Position;
        }

        _completing.Clear();
        foreach ((long block, long position) in _done)
        {
            _ = position < tail && _done.Remove(block);
        }
    }

    /// <summary>Returns the last version of the block whose first version is here: of several in one round the last counts.</summary>
    internal int LastVersion(int at)
    {
        while (at + 1 < _blocks.Count && _blocks[at + 1].Block == _blocks[at].Block)
        {
            at++;
        }

        return at;
    }

    /// <summary>
    /// Returns where a run that begins here ends: blocks that follow each other, all data or all zeros, each with one version. A long run ends with a stripe
    /// of the backing store.
    /// </summary>
    internal int RunEnd(int at)
    {
        int end = at + 1;
        int most = RunBlocksMax;
        if (_stripe > 0)
        {
            long first = _blocks[at].Block;
            most = (int)(((first + Math.Max(RunBlocksMax, _stripe)) / _stripe * _stripe) - first);
        }

        while (end < _blocks.Count && end - at < most && _blocks[end].Block == _blocks[end - 1].Block + 1
            && _blocks[end].Place.IsZero == _blocks[at].Place.IsZero && LastVersion(end) == end)
        {
            end++;
        }

        return end;
    }

    /// <summary>Returns how many of the blocks from here on follow each other in the ring.</summary>
    internal int LengthInRing(int at, int most)
    {
        int length = 1;
        while (length < most && _blocks[at + length].Place.Position == _blocks[at].Place.Position + length)
        {
            length++;
        }

        return length;
    }

    private void Sort() =>
        _blocks.Sort(static (a, b) => a.Block != b.Block ? a.Block.CompareTo(b.Block) : a.Place.Position.CompareTo(b.Place.Position));

    private void CompleteStripes(CacheRing ring)
    {
        int planned = _blocks.Count;
        for (int at = 0; at < planned;)
        {
            long stripe = _blocks[at].Block / _stripe;
            int end = at;
            bool hasZeros = false;
            int blocks = 0;
            for (; end < planned && _blocks[end].Block / _stripe == stripe; end++)
            {
                hasZeros |= _blocks[end].Place.IsZero;
                blocks += end == at || _blocks[end].Block != _blocks[end - 1].Block ? 1 : 0;
            }

            if (blocks < _stripe && !hasZeros)
            {
                Complete(ring, stripe, at, end);
            }

            at = end;
        }

        if (_blocks.Count > planned)
        {
            Sort();
        }
    }

    /// <summary>Adds the blocks of a stripe that are not among those planned from here to there, if the ring has all of them, durably.</summary>
    private void Complete(CacheRing ring, long stripe, int at, int end)
    {
        int before = _blocks.Count;
        int beforeCompleting = _completing.Count;
        for (long block = stripe * _stripe; block < (stripe + 1) * _stripe; block++)
        {
            while (at < end && _blocks[at].Block < block)
            {
                at++;
            }

            if (at < end && _blocks[at].Block == block)
            {
                continue;
            }

            CachePlace place = contents.Index.Find(block);
            if (place.IsNone || place.IsZero || place.Position >= ring.Durable)
            {
                _blocks.RemoveRange(before, _blocks.Count - before);
                _completing.RemoveRange(beforeCompleting, _completing.Count - beforeCompleting);
                return;
            }

            _blocks.Add(new CachedBlock(block, place));
            _completing.Add(_blocks[^1]);
        }
    }

    private void PlanExtent(CacheRing ring, QueuedExtent queued)
    {
        for (int i = 0; i < queued.Extent.Count; i++)
        {
            long block = queued.Extent.Block + i;
            CachePlace place = queued.PlaceOf(i);
            CachePlace newest = contents.Index.Find(block);
            bool isDone = _done.TryGetValue(block, out long done) && done >= place.Position;
            if ((newest == place || newest.Position >= ring.Durable) && !isDone)
            {
                _blocks.Add(new CachedBlock(block, place));
            }
        }
    }
}
