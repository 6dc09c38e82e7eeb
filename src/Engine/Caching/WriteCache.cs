using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Caching;

// A persistent, mirrored ring of records on fast disks in front of a space on slower ones.
//
// A write is copied into a record, acknowledged when the record is on every live copy, durable at the next flush of the ring, and destaged later, sorted by
// address. A read takes cached blocks from the ring and the rest from the backing store.
//
// The cache composes its parts and is their face. Rules of order are invariants of the parts, each with a simulated-crash test: Admission, CacheWrites,
// CacheZeroes, CacheReads (requests), CacheContents and HeldRows (what the ring holds), Destager (rounds), ServingRing and RingRetirement (the ring from the
// opening until it is given up), CacheOpening (replay), CacheFlusher and BackingWrites (flushes), CacheLosses and CacheSurvey (blocks and caches that are
// lost).

/// <summary>The write-back cache of one virtual disk.</summary>
public sealed class WriteCache : IBlockStore
{
    private const int BlockSize = CacheRecord.BlockSize;

    private readonly IBackingStore _backing;
    private readonly CacheStatus _status;
    private readonly CacheLosses _losses;
    private readonly CacheContents _contents;
    private readonly BackingWrites _backingWrites;
    private readonly HeldRows _rows;
    private readonly ServingRing _ring;
    private readonly RingReaders _readers;
    private readonly DestageGoal _goal;
    private readonly Destager _destager;
    private readonly CacheSurvey _survey;
    private readonly CacheOpening _opening;
    private readonly CacheFlusher _flusher;
    private readonly CacheReads _reads;
    private readonly CacheWrites _writes;
    private readonly CacheZeroes _zeroes;

    private WriteCache(ILane lane, IBackingStore backing, WriteCacheOptions options)
    {
        CacheContext context = new(lane, backing, options);
        (_backing, _status, Counters) = (context.Backing, context.Status, context.Counters);
        _losses = new CacheLosses(context);
        _rows = new HeldRows(backing);
        _ring = new ServingRing(context);
        _readers = new RingReaders(lane);
        _contents = new CacheContents(context, _rows, (int)(options.Length / BlockSize));
        _goal = new DestageGoal(context, options.MinuteOfDay, options.Destage);
        BackingWrites backingWrites = _backingWrites = new BackingWrites(context, _losses);
        DestagePlan plan = new(_contents, backing.StripeSize);
        LostRuns lostRuns = new(context, plan, _losses, _ring);
        DestagePace pace = new(context, _goal, _ring, options.Load);
        DestageRuns runs = new(context, plan, pace, lostRuns, _losses, backingWrites);
        _destager = new Destager(context, _ring, _contents, _readers, _goal, pace, plan, runs, _losses, backingWrites);
        _survey = new CacheSurvey(context, _contents.Index, _ring);
        _opening = new CacheOpening(context, _ring, _contents, _rows, _survey, _destager);
        _flusher = new CacheFlusher(context, backingWrites, _ring);
        _reads = new CacheReads(context, _contents.Index, _ring, _readers);
        RangeLock locks = new();
        RingRetirement retirement = new(context, _ring);
        Admission admission = new(context, _contents.Index, _rows, _ring);
        StripeGathering gathering = new(context, admission, backingWrites);
        _writes = new CacheWrites(context, locks, _rows, admission, _ring, retirement, backingWrites, _flusher, gathering);
        _zeroes = new CacheZeroes(context, locks, _rows, _contents.Index, _ring, retirement, _writes, backingWrites, _flusher);
    }

    /// <summary>State of the cache: its treatment of writes.</summary>
    public WriteCacheState State => _status.State;

    /// <summary>Whether its virtual disk cannot be used because of it.</summary>
    public bool IsGone => _status.IsGone;

    /// <summary>Whether it is lost because none of its disks is there: it may be opened again when one is back.</summary>
    public bool AwaitsDisks => _status.AwaitsDisks;

    /// <summary>Reason why the cache is not active or cannot empty itself, or its blocks that were lost and not written since; else empty.</summary>
    public string StateReason => _status.Reason.Length > 0 ? _status.Reason : _losses.Describe();

    /// <summary>Whether something of it was lost since it was opened and has not been written since.</summary>
    public bool HasLostBlocks => _losses.Any;

    /// <summary>Counts of events since it was opened.</summary>
    public WriteCacheCounters Counters { get; }

    /// <summary>
    /// Grows with every request of a client that reaches the backing store where that is slower than the cache; read on any lane. Destaging is none.
    /// </summary>
    internal long SlowRequests => (Counters.MissBytes / BlockSize) + _backingWrites.Passed - Counters.Writes(WriteReason.SsdResident);

    /// <summary>Settings that control when and how fast the cache destages.</summary>
    public DestageSettings Settings => _goal.Settings;

    /// <summary>Takes other settings, which take effect at once.</summary>
    public void TakeSettings(DestageSettings settings) => _goal.TakeSettings(settings);

    /// <summary>Length of the ring in bytes; 0 once it is given up.</summary>
    public long SizeBytes => _ring.SizeBytes;

    /// <summary>Bytes of the ring that hold records not yet destaged.</summary>
    public long DirtyBytes => _ring.DirtyBytes;

    /// <summary>Bytes of the virtual disk whose newest version is in the ring.</summary>
    public long HeldBytes => (long)_contents.Index.Count * BlockSize;

    /// <summary>Bytes of the ring that records can be written to now.</summary>
    public long AvailableBytes => _ring.AvailableBytes;

    /// <summary>Time that reading the ring took at the opening, in nanoseconds.</summary>
    public long ReplayNs => _opening.ReplayNs;

    /// <summary>Summaries of the ring that the opening used in place of the headers of records.</summary>
    public int SummariesUsed => _opening.SummariesUsed;

    /// <inheritdoc/>
    public StoreGeometry Geometry => _backing.Geometry;

    /// <summary>Whether a disk holds the only good copy of data that is not destaged yet.</summary>
    internal bool IsDegraded => _ring.IsDegraded;

    /// <inheritdoc/>
    public void Prefetch(long offset) => _backing.Prefetch(offset);

    /// <inheritdoc/>
    public LaneTask<IoError> Read(long offset, IoBuffer target) =>
        RequestError(offset, target.Length) is not IoError.None and var rejected ? LaneTask.FromResult(rejected) : _reads.Read(offset, target);

    /// <inheritdoc/>
    public LaneTask<IoError> Write(long offset, IoBuffer source, WriteFlags flags) =>
        RequestError(offset, source.Length) is not IoError.None and var rejected ? LaneTask.FromResult(rejected) : _writes.Write(offset, source, flags);

    /// <inheritdoc/>
    public LaneTask<IoError> Unmap(long offset, long length) => Unmap(offset, length, WriteFlags.None);

    /// <inheritdoc/>
    public LaneTask<IoError> Unmap(long offset, long length, WriteFlags flags) => Zero(offset, length, flags, isUnmap: true);

    /// <inheritdoc/>
    public LaneTask<IoError> WriteZeroes(long offset, long length, WriteFlags flags) => Zero(offset, length, flags, isUnmap: false);

    /// <inheritdoc/>
    public LaneTask<IoError> Flush() => _flusher.Flush();

    /// <inheritdoc/>
    public LaneTask<IoError> Status(long offset, long length, List<StoreExtent> extents) => _reads.Status(offset, length, extents);

    /// <summary>Stops it. The data of the ring stays there, durable. No request is under way any more.</summary>
    public async LaneTask<IoError> Close()
    {
        await _destager.Stop();
        await _ring.Settle();
        IoError error = _ring.Records is not { } records || _backing.Fault != IoError.None ? IoError.None : await _ring.FlushRing(records);
        if (_ring.Records is { Fault: IoError.None } ring && _backing.Fault == IoError.None && error == IoError.None)
        {
            error = await ring.WriteAnchor();   // it says up to where records are durable: what is missing below is damage
        }

        _ring.Release();
        return error;
    }

    /// <summary>Makes a new, empty ring and puts the cache in front of a space; a state of Lost says that it could not be made.</summary>
    internal static async LaneTask<WriteCache> Create(ILane lane, IBackingStore backing, WriteCacheOptions options)
    {
        WriteCache cache = new(lane, backing, options);
        await cache._opening.Create();
        return cache;
    }

    /// <summary>
    /// Opens the cache after any stop: what its ring holds is served again. If that cannot be known, or is damaged on every copy, the space has its fault
    /// set and says why.
    /// </summary>
    internal static async LaneTask<WriteCache> Open(ILane lane, IBackingStore backing, WriteCacheOptions options)
    {
        WriteCache cache = new(lane, backing, options);
        await cache._opening.Open();
        return cache;
    }

    /// <summary>The cache of a disk whose ring is out of reach as a whole: the disk cannot be used, and what the ring holds is not lost.</summary>
    internal static WriteCache OutOfReach(ILane lane, IBackingStore backing, WriteCacheOptions options, string reason)
    {
        WriteCache cache = new(lane, backing, options);
        cache._status.BeginAbsence(reason);
        return cache;
    }

    /// <summary>Moves a copy of the ring to other places, one disk's; the former ones are free when it is done.</summary>
    internal async LaneTask<RepairEnd> Move(int copy, SlabPlace[] places, Func<LaneTask<IoError>> commit, IWorkPacer pacer)
    {
        RepairEnd end = await _ring.Move(copy, places, commit, pacer);
        if (end == RepairEnd.Done)
        {
            await _readers.DrainReaders();   // of the former places
        }

        return end;
    }

    /// <summary>Empties the ring and takes nothing meanwhile, until <see cref="Resume"/>.</summary>
    internal LaneTask<IoError> Drain() => _destager.Drain();

    /// <summary>Lets no copy of the ring be made whole or moved any more, until <see cref="Resume"/>.</summary>
    internal LaneTask<Nothing> Suspend() => _ring.Suspend();

    /// <summary>Takes writes again after <see cref="Drain"/>.</summary>
    internal void Resume()
    {
        _rows.Claim();
        _ring.Resume();
        _status.EndDraining();
    }

    /// <summary>Takes the ring, which is empty, away from its members: another one replaces it, or none.</summary>
    internal async LaneTask<Nothing> Leave()
    {
        await _destager.Stop();
        await _ring.Settle();
        _ring.Forget();
        return await _ring.Remove();
    }

    /// <summary>Returns what is given up with a cache that is lost, as far as it can be known. Reads the ring if that is necessary.</summary>
    internal LaneTask<CacheLoss> Survey() => _survey.Survey();

    private LaneTask<IoError> Zero(long offset, long length, WriteFlags flags, bool isUnmap) =>
        RangeError(offset, length) is not IoError.None and var rejected ? LaneTask.FromResult(rejected)
        : length == 0 ? LaneTask.FromResult(IoError.None)
        : _zeroes.Zero(offset, length, flags, isUnmap);

    private IoError RequestError(long offset, long length) => length == 0 ? IoError.InvalidArgument : RangeError(offset, length);

    private IoError RangeError(long offset, long length) =>
        _backing.Fault != IoError.None ? _backing.Fault
        : offset < 0 || length < 0 || offset > _backing.Length - length || ((offset | length) & (BlockSize - 1)) != 0 ? IoError.InvalidArgument
        : IoError.None;
}
