using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// One resilient address space: a layout executed over rows of slabs.
//
// The space composes its parts and is their face. Rules of order are invariants of the parts: SpaceRequests (requests, rows, locks), RegionMap (dirty regions),
// PageWriteback (pages and log), SpaceFlusher (flush), RowMaker (rows), StaleMap and MirrorWrites (positions that miss writes). Each has a
// simulated-crash test.

/// <summary>Executes a layout over the slabs of a pool.</summary>
public sealed class Space : IBackingStore, IRepairable
{
    private const int BlockSize = SpaceShape.BlockSize;
    private const long DrainPollNs = 100_000;
    private const int ResolveMax = 1 << 20;   // in the background at once: who asks for a part of it waits for all of it
    private const long MaintenancePeriodNs = 5_000_000_000;

    private readonly SpaceContext _context;
    private readonly SpaceStatus _status;
    private readonly ILayout _layout;
    private readonly RowTable _rows;
    private readonly SpaceMembers _members;
    private readonly ILayoutEngine _engine;
    private readonly SpaceLog _log;
    private readonly IntegrityStore _integrity;
    private readonly ChangedEntries _changes = new();
    private readonly StaleMap _stale;
    private readonly SpaceFlusher _flusher;
    private readonly WriteRecords _records;
    private readonly RegionMap _regions;
    private readonly PageWriteback _writeback;
    private readonly RowMaker _rowMaker;
    private readonly SpaceRepair _repair;
    private readonly SlabMoves _moves;
    private readonly SpaceScrub _scrub;
    private readonly SpaceOpening _opening;
    private readonly RowRanks _ranks;
    private readonly SpaceTrims _trims;
    private readonly SpaceRequests _requests;

    private Space(ISpaceHost host, SpaceOptions options)
    {
        _context = new SpaceContext(host, options, AfterEviction);
        (_status, _layout, _rows, _members) = (_context.Status, _context.Layout, _context.Rows, _context.Members);
        FlushClock clock = new();
        WriteRecords records = new(_context);
        _log = new SpaceLog(_context);
        FoundWrites found = new(_context, _log, records, clock);
        _records = records;
        _members.TellFirstUse(disk => records.NoteDisk(disk, host.Members.Disk(disk)?.Identity.Incarnation ?? 0));
        _integrity = new IntegrityStore(_context, _log);
        _stale = new StaleMap(_context, new LackedBlocks(_context, clock));
        _flusher = new SpaceFlusher(_context, _log, _changes, records, found, clock);
        _engine = options.Resiliency.Engine(new EngineParts(_context, _integrity, _changes, records, found, _log, _stale, _flusher));
        _regions = new RegionMap(_context, _log, _stale, clock, _flusher, _engine);
        _writeback = new PageWriteback(_context, _log, _integrity, _regions, found, _stale, _flusher);
        _log.EmptyBy(_writeback);
        _integrity.MakeRoomBy(_writeback.MakeRoomForPages);
        _rowMaker = new RowMaker(_context, _log, _integrity, _changes, _stale, _regions, _writeback, _flusher);
        StretchCopier stretches = new(_context, _regions, _integrity, _stale.Lacks, _engine);
        PageCopier pages = new(_context, _log, _integrity, _flusher);
        _repair = new SpaceRepair(_context, _stale, _integrity, _writeback, _flusher, stretches, pages);
        _moves = new SlabMoves(_context, _stale, _repair, _writeback, _flusher, stretches, pages);
        _scrub = new SpaceScrub(_context, _log, _regions, new PageScrub(_context, _log, _integrity, _writeback), _writeback, _engine);
        _opening = new SpaceOpening(_context, _log, _integrity, _changes, records, found, _stale, _regions, _flusher, _engine);
        _ranks = new RowRanks(_rows, _members);
        _trims = new SpaceTrims(_context, _log, _integrity, _regions, _engine);
        _requests = new SpaceRequests(_context, _log, _changes, found, _flusher, _regions, _stale.Lacks, _rowMaker, _trims, _engine);
    }

    /// <summary>Length in bytes.</summary>
    public long Length => _rows.Length;

    /// <summary>Shape.</summary>
    public SpaceShape Shape => _context.Shape;

    /// <summary>Error because of which the space takes no more requests; <see cref="IoError.None"/> while it serves.</summary>
    public IoError Fault => _status.Fault;

    /// <summary>Reason of the fault, in words.</summary>
    public string FaultReason => _status.FaultReason;

    /// <summary>Number of a disk whose host file system is full, so that writes wait; −1: none.</summary>
    public int FullDisk => _members.Full;

    /// <summary>Counts of events since the space was opened.</summary>
    public SpaceCounters Counters => _context.Counters;

    /// <inheritdoc/>
    public StoreGeometry Geometry => new(Length, BlockSize, BlockSize, BufferPool.LargestBuffer);

    /// <summary>Regions that may not be answered from yet.</summary>
    public int UnresolvedRegions => _regions.Unresolved;

    /// <summary>Regions marked dirty.</summary>
    public int DirtyRegions => _regions.Dirty;

    /// <summary>Most regions that may be marked dirty at once; 0 for a space without an integrity log.</summary>
    public int DirtyRegionsMax => _log.MarksMax;

    /// <summary>Bytes of data in a region, without redundancy.</summary>
    public long RegionDataBytes => UnitSize / ((long)_context.Layout.Groups * SpaceShape.RegionsPerSlab);

    /// <summary>Regions, over all positions, that are stale.</summary>
    public int StaleRegions => _stale.Count;

    /// <inheritdoc/>
    public long BytesToResync => _repair.BytesToResync;

    /// <summary>Bytes of them that are copies of the rings.</summary>
    internal long RingBytesToResync => _repair.RingBytesToResync;

    /// <summary>Bytes that a whole pass of <see cref="Scrub"/> goes over.</summary>
    public long ScrubBytes => _scrub.Bytes;

    /// <summary>Reads that another position was asked for because the first one took too long.</summary>
    public long HedgesAsked => _engine.HedgesAsked;

    /// <summary>Reads that were answered by the other position.</summary>
    public long HedgesWon => _engine.HedgesWon;

    /// <summary>Whether no copy of the integrity log takes part.</summary>
    public bool LacksLog => _log.Medium is { HasSource: false };

    /// <summary>Whether no copy of the integrity log takes part, and one that has all of it is on a disk that is back.</summary>
    public bool HasReturnedLog => _log.Medium is { HasReturned: true };

    /// <summary>
    /// Lets disks that are not there count as lost with what they hold: blocks in doubt that they alone may have are lost, and their slabs are rebuilt
    /// elsewhere without them. It holds until the disk is there again, or the space is closed.
    /// </summary>
    internal void GiveUp(IEnumerable<int> disks) => _members.GiveUp(disks);

    /// <inheritdoc/>
    EndStatement? IBackingStore.RingEnd => _records.RingEnd;

    /// <inheritdoc/>
    public int StripeSize => _layout.StripeSize;

    /// <inheritdoc/>
    public long UnitSize => _layout.RowSize;

    /// <inheritdoc/>
    public int MembersVersion => _members.Version;

    /// <summary>Addresses of the blocks that no position could give and that were not written since, ascending.</summary>
    internal IReadOnlyCollection<long> LostBlocks => _context.Lost.Addresses;

    /// <summary>Returns the bytes of a memory for records of writes (<see cref="SpaceOptions.RecordMemory"/>) whose halves have so many slots.</summary>
    public static int RecordMemorySizeFor(int slots) => Resiliency.RecordMemory.SizeFor(slots);

    /// <summary>Opens a space that is used for the first time: its log is made.</summary>
    public static async LaneTask<Space> Create(ISpaceHost host, SpaceOptions options)
    {
        Space space = new(host, options);
        await space._opening.Create();
        space.StartMaintenance();
        return space;
    }

    /// <summary>Opens a space after any stop. A space that cannot be trusted has <see cref="Fault"/> set.</summary>
    public static async LaneTask<Space> Open(ISpaceHost host, SpaceOptions options)
    {
        Space space = new(host, options);
        await space._opening.Open();
        space.StartMaintenance();
        return space;
    }

    /// <summary>
    /// Stops the space. A clean stop leaves nothing to do at the next opening: everything is flushed, written back and marked clean.
    /// The caller has seen to it that no request is in flight.
    /// </summary>
    public async LaneTask<IoError> Close()
    {
        IoError error = await Stop();
        _records.Detach();
        return error;
    }

    private async LaneTask<IoError> Stop()
    {
        _status.BeginClosing();
        _members.EndServing();
        while (_repair.Mutex.IsHeld || _writeback.IsRunning || _trims.IsRunning || _rows.AnyChanging || _context.Locks.Held > 0
            || _log.IsStating || _engine.IsStating)
        {
            await _context.Lane.Delay(DrainPollNs);
        }

        IoError error = await Flush();
        if (!_log.Exists || error != IoError.None)
        {
            return error;
        }

        await _trims.Finish();
        while (_stale.IsRecordingDeparture)
        {
            await _context.Lane.Delay(DrainPollNs);   // a disk that left during the flush: what it misses is recorded before regions are clean
        }

        _regions.CleanIdle(0);
        return await _writeback.Writeback();
    }

    /// <summary>Grows the space; shrinking is not done.</summary>
    public void Grow(long length) => _rows.Grow(length);

    /// <summary>Adds a row with slabs that was not written: a fixed disk has grown.</summary>
    public void AddOwnedRow(SpaceRowMap map) => _rows.Put(_rows.New(map));

    /// <inheritdoc/>
    public void Prefetch(long offset)
    {
        if (Shape.Checksums && (ulong)offset < (ulong)Length)
        {
            _integrity.Prefetch(_layout.First(offset, 1));
        }
    }

    /// <inheritdoc/>
    public LaneTask<IoError> Read(long offset, IoBuffer target) => _requests.Read(offset, target);

    /// <inheritdoc/>
    public LaneTask<IoError> Write(long offset, IoBuffer source, WriteFlags flags) => _requests.Write(offset, source, flags);

    /// <summary>Makes every completed write durable; see <see cref="SpaceFlusher.Flush"/>.</summary>
    public LaneTask<IoError> Flush() => _flusher.Flush();

    /// <summary>
    /// Gives a range back: it reads as zeros, a thin row with nothing left in it returns to the pool, and a moment later what is under the rest is punched or
    /// discarded on the disks. Without checksums there are no entries that could say so: zeros are written, and punched where disks make holes of zeros.
    /// </summary>
    public LaneTask<IoError> Unmap(long offset, long length) => Unmap(offset, length, WriteFlags.None);

    /// <inheritdoc/>
    public LaneTask<IoError> Unmap(long offset, long length, WriteFlags flags) => _requests.Unmap(offset, length, flags);

    /// <inheritdoc/>
    public LaneTask<IoError> WriteZeroes(long offset, long length, WriteFlags flags) => _requests.WriteZeroes(offset, length, flags);

    /// <inheritdoc/>
    public LaneTask<IoError> Status(long offset, long length, List<StoreExtent> extents) => _requests.Status(offset, length, extents);

    /// <inheritdoc/>
    public void KeepUnits(Func<int, bool> isHeld) => _rowMaker.KeepRows(isHeld);

    /// <inheritdoc/>
    public LaneTask<IoError> Poison(long offset, long length) => _requests.Poison(offset, length);

    /// <summary>A disk has left the view: what is dirty now may differ on it, so all of that is marked stale there.</summary>
    public LaneTask<IoError> OnDiskLost(int disk) => _stale.OnDiskLost(disk);

    /// <summary>Everything on a disk has durably been marked stale while it was out of the view; see <see cref="StaleMap.OnDiskMarkedStale"/>.</summary>
    public void OnDiskMarkedStale(int disk) => _stale.OnDiskMarkedStale(disk);

    /// <summary>A disk has come back into the view. It takes writes from now on; what is stale on it waits for <see cref="Resync"/>.</summary>
    public void OnDiskJoined()
    {
        _members.NoteChange();
        if (_layout.LossesMax > 0)
        {
            _records.NoteReturned(_opening.DisksInUse());
        }

        _integrity.LearnUnknown().Forget();
    }

    /// <summary>Whether the space keeps all of its data, its rings included, if a disk leaves.</summary>
    public bool SurvivesWithout(int disk) => _context.Redundancy.HasOtherCopies(disk);

    /// <summary>Makes every stale position whole whose disk is there. One repair of a space runs at a time; a second one waits for the first.</summary>
    public LaneTask<RepairEnd> Resync(IWorkPacer pacer) => _repair.Resync(pacer);

    /// <summary>
    /// Moves the slab of a position from the place where it was found to one that nothing uses. <paramref name="commit"/> makes the new map durable. Done: the
    /// former slab is not used any more. Otherwise the target is not used, unless the commit itself failed half way.
    /// </summary>
    public LaneTask<RepairEnd> Move(int index, int position, SlabPlace source, SlabPlace target, Func<LaneTask<IoError>> commit, IWorkPacer pacer) =>
        _moves.Move(index, position, source, target, commit, pacer);

    /// <summary>Moves a copy of the integrity log to other places, one disk's; the former ones are free when it is done.</summary>
    public LaneTask<RepairEnd> MoveLog(int copy, SlabPlace[] places, Func<LaneTask<IoError>> commit, IWorkPacer pacer) =>
        _moves.MoveRing(_log.Medium, copy, places, commit, pacer);

    /// <summary>
    /// Verifies the stride at <paramref name="cursor"/> on every position, checksum pages included, and repairs blocks that fail.
    /// </summary>
    /// <param name="cursor">0, or the cursor of the last stride's result; of another opening of the space too.</param>
    /// <param name="findings">Receives the findings.</param>
    public LaneTask<ScrubStride> Scrub(long cursor, ScrubFindings findings) => _scrub.Verify(cursor, findings);

    /// <inheritdoc/>
    RingMedium IRingStorage.AddRing(RingOptions options) => _context.Rings.Add(options);

    /// <inheritdoc/>
    LaneTask<Nothing> IRingStorage.RemoveRing(RingMedium ring) => _context.Rings.Remove(ring);

    /// <inheritdoc/>
    LaneTask<RepairEnd> IRingStorage.Move(RingMedium ring, int copy, SlabPlace[] places, Func<LaneTask<IoError>> commit, IWorkPacer pacer) =>
        _moves.MoveRing(ring, copy, places, commit, pacer);

    /// <inheritdoc/>
    public void FailFront(IoError error, string reason) => _status.Fail(error, reason);

    /// <inheritdoc/>
    public bool IsReserved(int unit) => _rows[unit] is { IsInitialized: true };

    /// <inheritdoc/>
    public LaneTask<IoError> Reserve(int unit) => _rowMaker.Prepare(unit);

    /// <summary>Nothing is to be done: a row that holds nothing is found when its last block is unmapped.</summary>
    public void UnitUnmapped(int unit)
    {
    }

    /// <inheritdoc/>
    public void UnitReleased(int unit)
    {
        if (_context.Options.IsThin && Shape.Checksums && unit < _rows.Count && !_status.IsStopping)
        {
            _rowMaker.StartFreeing(unit, unit);
        }
    }

    /// <inheritdoc/>
    public int LowestRank(int unit, Func<int, int> rankOf) => _ranks.Lowest(unit, rankOf);

    /// <summary>
    /// Gives what is under a range back to the disks: a hole in an image, a discard on a device. Only where every block is never-written, durably, or
    /// is zeroed before it is used again, and where nothing writes.
    /// </summary>
    internal LaneTask<Nothing> Punch(long offset, long length) => _requests.Punch(offset, length);

    private async LaneTask<IoError> AfterEviction(int disk) =>
        _status.IsOpening ? await OnDiskLost(disk) : IoError.None;   // the pool does not report departures to a space that is not open yet

    private void StartMaintenance()
    {
        if (_log.Exists && !_status.IsOpening)
        {
            Maintain().Forget();
        }
    }

    /// <summary>Resyncs unresolved regions and cleans idle ones, until the space closes.</summary>
    private async LaneTask Maintain()
    {
        await ResolveAll();
        while (!_status.IsStopping)
        {
            await _context.Lane.Delay(MaintenancePeriodNs);
            await ResolveAll();   // those whose copies were away
            if (!_status.IsStopping && _regions.HasIdleUncovered(_context.Options.CleanAfterNs))
            {
                await Flush();
            }

            if (!_status.IsStopping)
            {
                _regions.CleanIdle(_context.Options.CleanAfterNs);
                await _regions.CommitCleanMarks();
            }
        }
    }

    private async LaneTask<Nothing> ResolveAll()
    {
        for (int index = 0; index < _rows.Count && _regions.Unresolved > 0 && !_status.IsStopping; index++)
        {
            for (int region = 0; _rows[index] is { } row && region < row.Regions.Length && !_status.IsStopping; region++)
            {
                int start = region % SpaceShape.RegionsPerSlab * Shape.RegionSize;
                int step = Math.Max(_engine.ResyncSize, Math.Min(ResolveMax, Shape.RegionSize));
                for (int at = 0; row.Regions[region].IsUnresolved && at < Shape.RegionSize && !_status.IsStopping; at += step)
                {
                    await _regions.Resolve(row, region, start + at, Math.Min(step, Shape.RegionSize - at));
                    await _context.Lane.Yield();
                }
            }
        }

        if (_regions.Unresolved == 0 && !_status.IsStopping)
        {
            _records.EndUnresolved();
        }

        return default;
    }
}
