using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Caching;

// A persistent, mirrored ring of records on fast disks in front of a space on slower ones. The ring may stand on disks that the home has nothing
// on, those of another pool: so a flush of the one never counts as a flush of the other.
//
// A write is copied into a record, acknowledged when the record stands on every live copy, durable at the next flush of the ring, and
// taken home later, sorted by address. A read takes what the ring holds and the rest from the home.
//
// Invariants (each has a simulated-crash test)
//  1. A write passes the cache by only while no record of its range, destaged or not, is in the ring, and holds the lock of its range
//     until it is home. So a replay never covers newer data, and what is destaged is never older than its home.
//  2. Only durable records go home. A block is left out when a later durable record of it is in the ring.
//  3. The tail advances durably only after the home is flushed and its entries are logged; only then the blocks are forgotten, and only
//     after their readers have ended the space is used again.
//  4. Every cached block has a row of its home that is its own; the row is held until the block is forgotten.
//  5. After a failed write to the ring nothing passes by until everything is home and the ring is given up, durably.
//
// Files: writes, reads, destaging, opening, loss.

/// <summary>The write-back cache of one virtual disk.</summary>
public sealed partial class WriteCache : IBlockStore
{
    private const int BlockSize = CacheRecord.BlockSize;
    private const int LargestCached = 256 << 10;   // bytes of a write

    private readonly ILane _lane;
    private readonly IHomeStore _home;
    private readonly IRingStand _stand;           // the home, or another pool
    private readonly WriteCacheOptions _options;
    private readonly RangeLock _locks = new();
    private readonly DestageQueue _queue = new();
    private readonly LaneSignal _freed = new();   // space was given free, or the state has changed
    private readonly CacheIndex _index;
    private CacheRing? _ring;                     // null: write-through from the start
    private RingMedium? _medium;
    private int[] _heldBlocks = [];               // per row of the home: blocks in the index, and writes on their way
    private long _homeWritten;                    // writes and unmaps that passed by
    private long _homeFlushed;                    // how many of them are durable
    private string _reason = "";                  // why it is not active, or why it cannot empty itself
    private bool _closing;

    private WriteCache(ILane lane, IHomeStore home, WriteCacheOptions options)
    {
        _lane = lane;
        _home = home;
        _stand = options.Stand ?? home;
        _options = options;
        Settings = options.Destage;
        _index = new CacheIndex((int)(options.Length / BlockSize));
    }

    /// <summary>What it does with writes.</summary>
    public WriteCacheState State { get; private set; }

    /// <summary>Whether its virtual disk cannot be used because of it.</summary>
    public bool IsGone => State is WriteCacheState.Lost or WriteCacheState.Absent;

    /// <summary>Whether it is lost because none of its disks is there: it may be opened again when one is back.</summary>
    public bool AwaitsDisks { get; private set; }

    /// <summary>Why it is not active, why it cannot empty itself, or what of it was lost and has not been written since; else empty.</summary>
    public string StateReason => _reason.Length > 0 ? _reason : LossReason();

    /// <summary>What happened.</summary>
    public WriteCacheCounters Counters { get; } = new();

    /// <summary>When and how fast data goes home; takes effect at once.</summary>
    public DestageSettings Settings { get; set; }

    /// <summary>Length of the ring in bytes; 0 once it is given up.</summary>
    public long SizeBytes => _ring is null ? 0 : _options.Length;

    /// <summary>Bytes of the ring that hold records not yet home.</summary>
    public long DirtyBytes => (_ring?.Used ?? 0) * BlockSize;

    /// <summary>Bytes of the ring that records can be written to now.</summary>
    public long AvailableBytes => _ring is { Fault: IoError.None } ring ? Math.Max(0, ring.Length - ring.Used) * BlockSize : 0;

    /// <summary>Time that reading the ring took at the opening, in nanoseconds.</summary>
    public long ReplayNs { get; private set; }

    /// <summary>Time of the last write, unmap or zeroing, on the lane's clock.</summary>
    public long LastWriteNs { get; private set; }

    /// <inheritdoc/>
    public StoreGeometry Geometry => _home.Geometry;

    /// <inheritdoc/>
    public async LaneTask<IoError> Flush()
    {
        while (State == WriteCacheState.Retiring && _home.Fault == IoError.None)
        {
            await NextFreed();   // its ring is not to be relied on: what it holds is durable when it is home
        }

        long written = _homeWritten;
        IoError error = _home.Fault;
        if (error == IoError.None && _homeFlushed < written)
        {
            error = await FlushHome();
        }

        error = error == IoError.None && _ring is { } ring ? await FlushRing(ring) : error;
        return error == IoError.None ? _home.Fault : error;
    }

    /// <inheritdoc/>
    public async LaneTask<IoError> Status(long offset, long length, List<StoreExtent> extents)
    {
        List<CachedBlock> cached = [];
        _index.Collect(offset / BlockSize, length / BlockSize, cached);   // first: what goes home meanwhile is data all the same
        List<StoreExtent> below = [];
        IoError error = await _home.Status(offset, length, below);
        int next = 0;
        long at = offset;
        foreach (StoreExtent extent in below)
        {
            for (long end = at + extent.Length; at < end;)
            {
                bool isCached = next < cached.Count && cached[next].Block * BlockSize == at;
                long stop = isCached ? at + BlockSize : next < cached.Count ? Math.Min(end, cached[next].Block * BlockSize) : end;
                StoreExtent.Append(extents, stop - at, !isCached ? extent.State : cached[next].Place.IsZero ? ExtentState.Zero : ExtentState.Data);
                next += isCached ? 1 : 0;
                at = stop;
            }
        }

        return error;
    }

    private async LaneTask<IoError> FlushHome()
    {
        (long covered, long runs) = (_homeWritten, _runsTaken);
        IoError error = await _home.Flush();
        _runsFlushed = error == IoError.None ? Math.Max(_runsFlushed, runs) : _runsFlushed;
        _homeFlushed = error == IoError.None ? Math.Max(_homeFlushed, covered) : _homeFlushed;
        return error;
    }

    private async LaneTask<IoError> FlushRing(CacheRing ring)
    {
        IoError error = await ring.Flush();
        return error == IoError.None ? error : Lose(error, "a flush failed on every copy");
    }

    /// <summary>What the ring held and was promised cannot be kept.</summary>
    private IoError Lose(IoError error, string reason)
    {
        if (State != WriteCacheState.Lost)
        {
            State = WriteCacheState.Lost;
            AwaitsDisks = _medium is { HasSource: false };
            _reason = reason;
            _home.FailFront(error, $"the write cache is lost: {reason}; {DirtyBytes} bytes of it were not home");
            _freed.NotifyAll();
        }

        return error;
    }

    private IoError Refusal(long offset, long length) => length == 0 ? IoError.InvalidArgument : RefusalOfRange(offset, length);

    private IoError RefusalOfRange(long offset, long length) =>
        _home.Fault != IoError.None ? _home.Fault
        : offset < 0 || length < 0 || offset > _home.Length - length || ((offset | length) & (BlockSize - 1)) != 0 ? IoError.InvalidArgument
        : IoError.None;
}
