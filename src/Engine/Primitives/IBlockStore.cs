namespace TierSpaces.Engine.Primitives;

/// <summary>Options of a write. The bits above them are the number of its client, see <see cref="StoreClients"/>.</summary>
[Flags]
public enum WriteFlags
{
    /// <summary>An ordinary write: durable at the next completed flush.</summary>
    None = 0,

    /// <summary>Durable, with everything it depends on, before it completes (NBD FUA).</summary>
    ForceUnitAccess = 1,

    /// <summary>Zeroing keeps, and where needed makes, the allocation (NBD NO_HOLE).</summary>
    NoHole = 2,

    /// <summary>Zeroing is refused with <see cref="IoError.NotSupported"/> where the device would have to write the range (NBD FAST_ZERO).</summary>
    Fast = 4,

    /// <summary>A destage of data that a write cache took and counted before: counters of clients' requests leave it out.</summary>
    Destage = 8,

    /// <summary>The write is the first into a place that was reserved for it.</summary>
    First = 16,
}

/// <summary>Size and units of a store.</summary>
/// <param name="Length">Length in bytes, a multiple of <paramref name="BlockSize"/>.</param>
/// <param name="BlockSize">Smallest unit a caller should address, in bytes; a power of two.</param>
/// <param name="AtomicSize">Unit that a power cut leaves old or new, never mixed, in bytes; ≥ <paramref name="BlockSize"/> where known.</param>
/// <param name="MaxTransfer">Largest single read or write, in bytes.</param>
public readonly record struct StoreGeometry(long Length, int BlockSize, int AtomicSize, int MaxTransfer)
{
    /// <summary>
    /// Unit of the requests that the store carries out all the same, in bytes: a power of two, at most <see cref="BlockSize"/>, which is the default. A smaller
    /// request costs a read and a write of its block.
    /// </summary>
    public int SmallestRequest { get; init; } = BlockSize;
}

/// <summary>State of a range of a store.</summary>
[Flags]
public enum ExtentState
{
    /// <summary>Allocated, holds data.</summary>
    Data = 0,

    /// <summary>Not allocated below (NBD base:allocation STATE_HOLE).</summary>
    Hole = 1,

    /// <summary>Reads as zeros (NBD base:allocation STATE_ZERO).</summary>
    Zero = 2,
}

/// <summary>A stretch of a store in one state.</summary>
/// <param name="Length">Length in bytes.</param>
/// <param name="State">State of every byte in it.</param>
public readonly record struct StoreExtent(long Length, ExtentState State)
{
    /// <summary>Appends a stretch, merged with the last one where their states are the same.</summary>
    internal static void Append(List<StoreExtent> extents, long length, ExtentState state)
    {
        if (extents.Count > 0 && extents[^1].State == state)
        {
            extents[^1] = new StoreExtent(extents[^1].Length + length, state);
        }
        else
        {
            extents.Add(new StoreExtent(length, state));
        }
    }
}

/// <summary>
/// The one contract of every layer: disk, space, virtual disk.
///
/// Offsets and lengths are multiples of <see cref="StoreGeometry.SmallestRequest"/> and inside the store, else
/// <see cref="IoError.InvalidArgument"/>. Calls are made and complete on one lane, in any order. Changes of one block that wait
/// are carried out in the order of their calls. A write that has
/// completed is seen by every read begun after it; it is durable only after a flush begun after it has completed.
/// Buffers belong to the request until it completes. A failed flush leaves everything since the last good one in doubt.
/// A call that throws has changed nothing. A request that ends with an exception leaves the state of the store unknown, unless it is a
/// <see cref="RequestException"/>.
/// </summary>
public interface IBlockStore
{
    /// <summary>Size and units.</summary>
    StoreGeometry Geometry { get; }

    /// <summary>
    /// Prefetch hint: a request at <paramref name="offset"/>, which may be any number, is likely next. The store may prefetch its metadata. The hint has no
    /// effect but on latency.
    /// </summary>
    void Prefetch(long offset)
    {
    }

    /// <summary>Fills <paramref name="target"/> from <paramref name="offset"/>.</summary>
    LaneTask<IoError> Read(long offset, IoBuffer target);

    /// <summary>Writes all of <paramref name="source"/> at <paramref name="offset"/>. A short write is an error.</summary>
    LaneTask<IoError> Write(long offset, IoBuffer source, WriteFlags flags);

    /// <summary>Makes every write completed before the call durable.</summary>
    LaneTask<IoError> Flush();

    /// <summary>Gives a range back: it reads as zeros afterwards in stores that say so, as anything in raw disks.</summary>
    LaneTask<IoError> Unmap(long offset, long length);

    /// <summary>Gives a range back for a client, whose number the flags carry.</summary>
    LaneTask<IoError> Unmap(long offset, long length, WriteFlags flags) => Unmap(offset, length);

    /// <summary>Makes a range read as zeros.</summary>
    LaneTask<IoError> WriteZeroes(long offset, long length, WriteFlags flags);

    /// <summary>Appends the states that cover the range, in order, merged where equal, to <paramref name="extents"/>.</summary>
    LaneTask<IoError> Status(long offset, long length, List<StoreExtent> extents);
}
