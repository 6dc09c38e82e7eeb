using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Journals;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

public sealed partial class Space
{
    private const long MaintenancePeriodNs = 5_000_000_000;

    private bool _opening = true;

    /// <summary>Opens a space that is used for the first time: its log is made.</summary>
    public static async LaneTask<Space> Create(ISpaceHost host, SpaceOptions options)
    {
        Space space = new(host, options);
        if (options.Shape.HasLog)
        {
            space.UseLogMedium();
            Journal? journal = await Journal.Format(space._lane.Buffers, space._logMedium!, options.LogOwner, space._lane.NextRandom());
            space.Start(journal);
        }
        else
        {
            space._opening = false;
        }

        return space;
    }

    // 1. Flush every member before its first read: what is read from here on does not change by itself.
    // 2. Recover the log; its tail is made whole on all copies.
    // 3. Replay it: regions left dirty are unresolved, entries override the pages.
    // 4. Judge first writes that a crash of the process left unlogged.
    // 5. A block of this session in the log, then serve; unresolved regions are made equal on demand and in the background.

    /// <summary>Opens a space after any stop. A space that cannot be trusted has <see cref="Fault"/> set.</summary>
    public static async LaneTask<Space> Open(ISpaceHost host, SpaceOptions options)
    {
        Space space = new(host, options);
        if (options.Shape.HasLog)
        {
            space.UseLogMedium();
        }

        space.NoteAllUnflushed();
        if (await space.FlushDisks() != IoError.None)
        {
            space.Fail(IoError.Io, "a member disk could not be flushed at open and holds the only copy");
            return space;
        }

        if (!options.Shape.HasLog)
        {
            space._opening = false;
            return space;
        }

        JournalRecovery recovery = await JournalRecovery.Recover(space._lane.Buffers, space._logMedium!, options.LogOwner, 0);
        if (recovery.State != JournalState.Recovered)
        {
            space.Fail(IoError.Io, recovery.State == JournalState.Corrupt
                ? "the integrity log is damaged on every copy" : "no copy of the integrity log could be read");
            return space;
        }

        await space.Resume(recovery);
        return space;
    }

    /// <summary>
    /// Stops the space. A clean stop leaves nothing to do at the next opening: everything is flushed, written back and marked clean.
    /// No request is under way any more.
    /// </summary>
    public async LaneTask<IoError> Close()
    {
        _closing = true;
        _members.AwaitsRoom = false;
        while (_repairs.IsTaken || _writebackRunning || _rowsChanging.Count > 0 || _locks.Held > 0)
        {
            await _lane.Delay(DrainPollNs);
        }

        IoError error = await Flush();
        if (_log is null || error != IoError.None)
        {
            return error;
        }

        while (_stalings > 0)
        {
            await _lane.Delay(DrainPollNs);   // a disk that left during the flush: what it misses is recorded before regions are clean
        }

        CleanIdleRegions(0);
        return await Writeback();
    }

    private async LaneTask<Nothing> Resume(JournalRecovery recovery)
    {
        Journal journal = recovery.Journal!;
        journal.Session = recovery.LastSession;
        _log = new IntegrityLog(journal);
        _changedBytesMax = ChangedBytesMax(journal);
        IoError error;
        try
        {
            error = await Replay(recovery.Records);
        }
        catch (InvalidDataException damage)
        {
            Fail(IoError.Io, $"the integrity log cannot be understood: {damage.Message}");
            return default;
        }

        error = error == IoError.None ? await JudgeNotes(recovery.LastSession) : error;
        if (error != IoError.None)
        {
            Fail(error, "the integrity log could not be replayed");
            return default;
        }

        journal.Session = _lane.NextRandom();
        journal.Reserve(0, out ulong first);
        if (await journal.Commit(first) != IoError.None)
        {
            Fail(IoError.Io, "the integrity log could not be continued");
            return default;
        }

        Start(journal);
        return default;
    }

    private void Start(Journal? journal)
    {
        if (journal is null)
        {
            Fail(IoError.Io, "the integrity log could not be written");
            return;
        }

        _log ??= new IntegrityLog(journal);
        _changedBytesMax = ChangedBytesMax(journal);
        _notes?.Start(journal.Session);
        _opening = false;
        _members.AwaitsRoom = true;
        Maintain().Forget();
    }

    private static long ChangedBytesMax(Journal journal) => (long)journal.Blocks / 4 * (JournalBlock.PayloadCapacity / 2);

    private void UseLogMedium()
    {
        int blocks = (int)Math.Min(_options.LogBlocksMax, (long)_options.LogCopies[0].Count * _shape.SlabSize / JournalBlock.Size);
        _logMedium = new RingMedium(_members, _options.LogCopies, _shape.SlabSize, blocks, _options.StaleLogCopies)
        {
            Name = "the integrity log",
            AwaitsRoom = true,
            PutOut = (disk, error, other) => PutOut(disk, error, other, "the integrity log"),
            MarkStale = copy => _host.MarkLogStale(_options.Space, copy),
            ClearStale = copy => _host.ClearLogStale(_options.Space, copy),
        };
        _rings.Add(_logMedium);
    }

    private void NoteAllUnflushed()
    {
        foreach (SlabPlace place in _rows.SelectMany(row => row?.Places ?? []).Concat(_options.LogCopies.SelectMany(copy => copy)))
        {
            if (_members.IsLive(place.Disk))
            {
                _members.NoteUnflushed(place.Disk);
            }
        }
    }

    /// <summary>Regions that were dirty when a copy was already missing are stale on it.</summary>
    private async LaneTask<IoError> MarkMissingAtOpen()
    {
        IoError error = IoError.None;
        foreach (SpaceRow? row in _rows)
        {
            for (int position = 0; row is not null && position < row.Places.Length && error == IoError.None; position++)
            {
                if (!_members.IsLive(row.Places[position].Disk)
                    && (ushort)(DirtyMask(row, position / _shape.Copies) & GoodElsewhere(row, position)) is var mask and not 0)
                {
                    error = await MarkStale(row, position, mask);
                }
            }
        }

        return error;
    }

    private async LaneTask<IoError> Replay(IReadOnlyList<(ulong Sequence, byte[] Payload)> records)
    {
        foreach ((ulong sequence, byte[] payload) in records)
        {
            ReplayBlock(sequence, payload);
        }

        foreach (long key in _unplaced.Keys.ToArray())
        {
            await LoadPage(_rows[(int)(key >> 24)]!, (int)(key >> 16) & 0xFF, (int)key & 0xFFFF);   // where its disks are out the rest goes on
        }

        return await MarkMissingAtOpen();
    }

    private void ReplayBlock(ulong sequence, ReadOnlySpan<byte> payload)
    {
        while (IntegrityRecord.TryTake(ref payload, out IntegrityItem item))
        {
            if (item.Column >= _shape.Columns || item.Row < 0 || item.Row >= _rows.Length)
            {
                throw new InvalidDataException($"row {item.Row}, column {item.Column} outside the space");
            }

            if (_rows[item.Row] is not { IsInitialized: true } row)
            {
                continue;   // the row was given back since
            }

            switch (item.Kind)
            {
                case IntegrityKind.Dirty or IntegrityKind.Clean:
                    ReplayMark(sequence, row, item);
                    break;
                case IntegrityKind.Entries:
                    for (int i = 0; i < item.EntryCount; i++)
                    {
                        IntegrityEntry entry = item.Entry(i);
                        Note(item, item.Page, entry.Block, 1, entry.Generation, entry.Checksum);
                    }

                    break;
                default:
                    int perPage = _shape.PageSpan / BlockSize;
                    Note(item, item.FirstBlock / perPage, item.FirstBlock % perPage, item.BlockCount, ChecksumSector.NeverWritten, 0);
                    break;
            }
        }

        void Note(in IntegrityItem item, int page, int block, int count, ushort generation, uint checksum)
        {
            if ((uint)page >= _shape.PagesPerSlab || (uint)block >= ChecksumPage.Blocks || count < 1 || count > ChecksumPage.Blocks - block)
            {
                throw new InvalidDataException($"page {page}, block {block}, count {count} outside the slab");
            }

            long key = ChecksumPageCache.Key(item.Row, item.Column, page);
            if (!_unplaced.TryGetValue(key, out List<LoggedEntries>? logged))
            {
                _unplaced[key] = logged = [];
            }

            logged.Add(new LoggedEntries(sequence, block, count, generation, checksum));
        }
    }

    private void ReplayMark(ulong sequence, SpaceRow row, in IntegrityItem item)
    {
        if (item.Region >= SpaceShape.RegionsPerSlab)
        {
            throw new InvalidDataException($"region {item.Region} outside the slab");
        }

        ref Region region = ref row.RegionAt((item.Column * SpaceShape.RegionsPerSlab) + item.Region);
        bool dirty = item.Kind == IntegrityKind.Dirty;
        UnresolvedRegions += (dirty ? 1 : 0) - (region.State == RegionState.Unresolved ? 1 : 0);
        region.State = dirty ? RegionState.Unresolved : RegionState.Clean;
        region.MarkSequence = dirty ? sequence : 0;
    }

    /// <summary>
    /// Blocks that the log calls never written, or lost, although a process that died had written them: a copy that the notes prove
    /// to be this space's counts, and no other (<see cref="CrashNotes"/>, invariant 3). Copies first, then the entries, both durable, before anything is served.
    /// </summary>
    private async LaneTask<IoError> JudgeNotes(ulong lastSession)
    {
        if (_notes is null)
        {
            return IoError.None;
        }

        Dictionary<long, List<CrashNote>> candidates = [];
        foreach (CrashNote note in _notes.TakeOver(lastSession))
        {
            if (note.IsZeroed)
            {
                candidates.Remove(note.Block);
            }
            else if (candidates.TryGetValue(note.Block, out List<CrashNote>? known))
            {
                known.Add(note);
            }
            else
            {
                candidates[note.Block] = [note];
            }
        }

        IoBuffer buffers = _lane.Buffers.Rent(BlockSize * _shape.Copies);
        List<CapturedEntry> kept = [];
        IoError error = IoError.None;
        foreach ((long block, List<CrashNote> notes) in candidates)
        {
            error = error == IoError.None ? await JudgeNoted(block, notes, buffers, kept) : error;
        }

        _lane.Buffers.Return(buffers);
        Counters.BlocksRecovered += kept.Count;
        return error == IoError.None ? await LogTaken(kept) : error;   // entries of first writes: the flush in it makes the copies durable before it logs them
    }

    private async LaneTask<IoError> JudgeNoted(long key, List<CrashNote> notes, IoBuffer buffers, List<CapturedEntry> kept)
    {
        if (key >= _rows.Length * (_shape.RowSize / BlockSize))
        {
            return IoError.None;   // no block of this space: memory that somebody else wrote to
        }

        long address = key * BlockSize;
        long slab = address / _shape.SlabSize;
        StripPiece block = new((int)(slab / _shape.Columns), (int)(slab % _shape.Columns), (int)(address % _shape.SlabSize), BlockSize);
        if (block.Row >= _rows.Length || _rows[block.Row] is not { IsInitialized: true } row
            || await LoadPage(row, block.Column, block.SlabOffset / _shape.PageSpan) is not { } page
            || page.Generations[FirstBlock(block)] is not (ChecksumSector.NeverWritten or ChecksumSector.Poisoned))
        {
            return IoError.None;
        }

        page.Pins++;   // stays pinned until logged
        int answered = await ReadAllCopies(row, block, buffers);
        int choice = ChooseNoted(notes, buffers, answered);
        if (choice < 0)
        {
            page.Pins--;
            return IoError.None;
        }

        kept.Add(new CapturedEntry(page, (ushort)FirstBlock(block), 0, Crc32c.Compute(BlockOf(buffers, BlockSize, choice, 0))));
        int wrong = Differing(buffers, BlockSize, 0, answered, choice);
        return await Overwrite(row, block, wrong, buffers.Slice(choice * BlockSize, BlockSize));
    }

    /// <summary>Returns the copy that the notes prove, the newest write first; −1: none.</summary>
    private int ChooseNoted(List<CrashNote> notes, IoBuffer buffers, int answered)
    {
        for (int i = notes.Count - 1; i >= 0; i--)
        {
            for (int copy = 0; copy < _shape.Copies; copy++)
            {
                if ((answered >> copy & 1) != 0 && Crc32c.Compute(BlockOf(buffers, BlockSize, copy, 0)) == notes[i].Checksum)
                {
                    return copy;
                }
            }
        }

        for (int copy = 0; copy < _shape.Copies; copy++)
        {
            if ((answered >> copy & 1) != 0 && CrashNote.Explain(notes, BlockOf(buffers, BlockSize, copy, 0)))
            {
                return copy;   // a write replaced a part of an earlier one
            }
        }

        return -1;   // the disks lost what they had not flushed
    }

    /// <summary>Makes unresolved regions equal, then keeps cleaning what is idle, until the space closes.</summary>
    private async LaneTask Maintain()
    {
        for (int index = 0; index < _rows.Length && !_closing; index++)
        {
            for (int region = 0; _rows[index] is { } row && region < row.Regions.Length && !_closing && Fault == IoError.None; region++)
            {
                if (row.Regions[region].State == RegionState.Unresolved)
                {
                    await Resolve(row, region);
                    await _lane.Yield();
                }
            }
        }

        while (!_closing && Fault == IoError.None)
        {
            await _lane.Delay(MaintenancePeriodNs);
            if (!_closing && Fault == IoError.None && HasIdleUncovered(_options.CleanAfterNs))
            {
                await Flush();
            }

            if (!_closing && Fault == IoError.None)
            {
                CleanIdleRegions(_options.CleanAfterNs);
            }
        }
    }
}
