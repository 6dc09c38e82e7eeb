using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Caching;

// Invariants
//  1. The queue has every record between tail and head, oldest first; the index has the newest version of each block in them.
//  2. A block in the index holds its row of the backing store.

/// <summary>Contents of the ring: the newest version of each block, and the records in their order.</summary>
internal sealed class CacheContents(CacheContext cache, HeldRows rows, int ringBlocks)
{
    private const int BlockSize = CacheRecord.BlockSize;

    private readonly IBackingStore _backing = cache.Backing;
    private readonly CacheStatus _status = cache.Status;
    private readonly WriteCacheCounters _counters = cache.Counters;

    /// <summary>Index of the newest version of each block.</summary>
    internal CacheIndex Index { get; } = new(ringBlocks);

    /// <summary>The records.</summary>
    internal DestageQueue Queue { get; } = new();

    /// <summary>Takes a record that is on every live copy: its blocks are found there from now on.</summary>
    internal void AddRecord(ReadOnlySpan<byte> header, CacheRecord record, uint checksum)
    {
        _counters.NoteRecord((long)record.Blocks * BlockSize);
        Add(header, record, checksum);
        _status.Work.NotifyAll();   // destaging waits for the first record, and looks at time and marks from then on
    }

    /// <summary>Adds a record.</summary>
    internal void Add(ReadOnlySpan<byte> header, CacheRecord record, uint checksum)
    {
        long position = record.Position;
        long payload = position + 1;
        for (int i = 0; i < record.Extents; i++)
        {
            CacheExtent extent = CacheRecord.ExtentAt(header, i);
            bool isData = extent.Kind == CacheExtentKind.Data;
            Queue.AddExtent(extent, isData ? payload : position);
            for (int at = 0; at < extent.Count; at++)
            {
                if (Index.Set(extent.Block + at, isData ? new CachePlace(payload + at, isZero: false) : new CachePlace(position, isZero: true)))
                {
                    rows.HoldRow(rows.RowOf((extent.Block + at) * BlockSize), 1);
                }
            }

            payload += isData ? extent.Count : 0;
        }

        Queue.AddRecord(record.End, checksum, record.Extents);
    }

    /// <summary>Forgets the oldest records, and the blocks whose newest version was in them.</summary>
    internal void Forget(int records)
    {
        for (int i = 0; i < records; i++)
        {
            QueuedRecord record = Queue.TakeRecord();
            for (int e = 0; e < record.Extents; e++)
            {
                ForgetExtent(Queue.TakeExtent());
            }
        }
    }

    private void ForgetExtent(QueuedExtent queued)
    {
        for (int i = 0; i < queued.Extent.Count; i++)
        {
            long block = queued.Extent.Block + i;
            CachePlace place = queued.PlaceOf(i);
            if (Index.Find(block) == place)
            {
                Index.Remove(block);
                int row = rows.RowOf(block * BlockSize);
                rows.HoldRow(row, -1);
                if (place.IsZero && !rows.IsHeld(row))
                {
                    _backing.UnitReleased(row);
                }
            }
        }
    }
}
