using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Caching;

// Invariants
//  1. A block is planned only with a version that is durable in the ring.
//  2. A version is left out when a later durable record in the ring has a newer one of the same block.

/// <summary>The blocks that one round of destaging writes to the backing store: versions of blocks, sorted by address, cut into runs.</summary>
internal sealed class DestagePlan(CacheContents contents, int stripeSize = 0)
{
    internal const int BlocksMax = 8192;    // of a round: 32 MiB

    private const int RunBlocksMax = 256;   // 1 MiB
    private const int StripeBlocksMax = 1024;   // of larger stripes a run is a part

    private readonly List<CachedBlock> _blocks = [];
    private readonly int _stripe = stripeSize / CacheRing.BlockSize is var blocks and <= StripeBlocksMax ? blocks : 0;

    /// <summary>Versions planned.</summary>
    internal int Count => _blocks.Count;

    internal CachedBlock this[int at] => _blocks[at];

    /// <summary>
    /// Returns the oldest records that bring the use of the ring down to the goal, as far as one round goes; and those behind them up to the next one that
    /// ends a stripe of the backing store, if that is near.
    /// </summary>
    internal (int Records, long End, uint Checksum) Choose(CacheRing ring, long goal)
    {
        long most = Math.Min(Math.Min(BlocksMax, Math.Max(1, ring.Length / 8)), ring.Used - goal);
        int count = 0;
        int seen = 0;
        QueuedRecord last = default;
        bool isStripeEnd = false;
        Queue<QueuedRecord>.Enumerator each = contents.Queue.GetRecords();
        Queue<QueuedExtent>.Enumerator extent = contents.Queue.GetExtents();
        while (each.MoveNext() && (count == 0 || last.End - ring.Tail < most || (!isStripeEnd && each.Current.End - last.End <= 2 * _stripe)))
        {
            seen++;
            isStripeEnd = EndsStripe(each.Current, ref extent);
            if (count == 0 || last.End - ring.Tail < most || isStripeEnd)
            {
                (last, count) = (each.Current, seen);
            }
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

        _blocks.Sort(static (a, b) => a.Block != b.Block ? a.Block.CompareTo(b.Block) : a.Place.Position.CompareTo(b.Place.Position));
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

    /// <summary>Whether the last block of a record is the last one of a stripe. Where there are no stripes every record ends one.</summary>
    private bool EndsStripe(QueuedRecord record, ref Queue<QueuedExtent>.Enumerator extent)
    {
        bool isEnd = true;
        for (int i = 0; i < record.Extents && _stripe > 0 && extent.MoveNext(); i++)
        {
            isEnd = (extent.Current.Extent.Block + extent.Current.Extent.Count) % _stripe == 0;
        }

        return isEnd;
    }

    private void PlanExtent(CacheRing ring, QueuedExtent queued)
    {
        for (int i = 0; i < queued.Extent.Count; i++)
        {
            CachePlace place = queued.PlaceOf(i);
            CachePlace newest = contents.Index.Find(queued.Extent.Block + i);
            if (newest == place || newest.Position >= ring.Durable)
            {
                _blocks.Add(new CachedBlock(queued.Extent.Block + i, place));
            }
        }
    }
}
