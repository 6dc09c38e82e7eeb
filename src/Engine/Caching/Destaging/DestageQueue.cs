using TierSpaces.Engine.Formats;

namespace TierSpaces.Engine.Caching;

/// <summary>A record in the ring that is still needed.</summary>
/// <param name="End">Position behind it.</param>
/// <param name="Checksum">Checksum of its header.</param>
/// <param name="Extents">Extents of it in the queue.</param>
internal readonly record struct QueuedRecord(long End, uint Checksum, int Extents);

/// <summary>An extent of such a record.</summary>
/// <param name="Extent">Blocks.</param>
/// <param name="Position">Position at which its payload starts; of an extent of zeros, the position of its record.</param>
internal readonly record struct QueuedExtent(CacheExtent Extent, long Position)
{
    /// <summary>Returns the place of a block of the extent.</summary>
    internal CachePlace PlaceOf(int index) =>
        Extent.Kind == CacheExtentKind.Data ? new CachePlace(Position + index, isZero: false) : new CachePlace(Position, isZero: true);
}

/// <summary>The records between tail and head, oldest first. Grows to what the ring holds and allocates nothing then.</summary>
internal sealed class DestageQueue
{
    private readonly Queue<QueuedRecord> _records = new();
    private readonly Queue<QueuedExtent> _extents = new();

    internal Queue<QueuedRecord>.Enumerator GetRecords() => _records.GetEnumerator();

    internal Queue<QueuedExtent>.Enumerator GetExtents() => _extents.GetEnumerator();

    internal void AddExtent(CacheExtent extent, long position) => _extents.Enqueue(new QueuedExtent(extent, position));

    /// <summary>Completes a record whose extents have been added.</summary>
    internal void AddRecord(long end, uint checksum, int extents) => _records.Enqueue(new QueuedRecord(end, checksum, extents));

    internal QueuedRecord TakeRecord() => _records.Dequeue();

    internal QueuedExtent TakeExtent() => _extents.Dequeue();
}
