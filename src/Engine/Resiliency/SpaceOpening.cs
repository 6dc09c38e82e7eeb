using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Journals;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// Opens a space after any stop.
//
//  1. Flush every member before its first read: what is read from here on does not change by itself.
//  2. Recover the log; its tail is made whole on all copies.
//  3. Replay it: regions left dirty are unresolved; entries override the pages when these are read, which nothing waits for here. A region that is dirty on a
//     disk that is out is marked stale there.
//  4. Let the engine complete what was under way: with parity, changes that its journal holds.
//  5. Writes that a crash of the process left unflushed: their records into the log, durably, so that they are judged when they are asked for. Where there is
//     no room, they are judged here.
//  6. A block of this session in the log, then serve; unresolved regions are resynced on demand and in the background.

/// <summary>Opens a space. One that cannot be trusted has its fault set.</summary>
internal sealed class SpaceOpening(
    SpaceContext space, SpaceLog log, IntegrityStore integrity, ChangedEntries changes, WriteRecords records, FoundWrites found, StaleMap stale,
    RegionMap regions, SpaceFlusher flusher, ILayoutEngine engine)
{
    private readonly SpaceStatus _status = space.Status;
    private readonly SpaceOptions _options = space.Options;
    private readonly RowTable _rows = space.Rows;
    private readonly ILayout _layout = space.Layout;
    private readonly SpaceShape _shape = space.Shape;

    /// <summary>Opens a space that is used for the first time: its log is made.</summary>
    internal async LaneTask<Nothing> Create()
    {
        if (!_options.Shape.HasLog)
        {
            _status.EndOpening();
            return default;
        }

        log.UseMedium();
        Start(await Journal.Format(space.Lane.Buffers, log.Part, _options.LogOwner, space.Lane.NextRandom()));
        if (_status.Fault == IoError.None && await engine.Create() != IoError.None)
        {
            _status.Fail(IoError.Io, "the parity journal could not be written");
        }

        return default;
    }

    /// <summary>Opens a space after any stop.</summary>
    internal async LaneTask<Nothing> Open()
    {
        if (_options.Shape.HasLog)
        {
            log.UseMedium();
        }

        NoteAllUnflushed();
        if (await flusher.FlushDisks() != IoError.None)
        {
            _status.Fail(IoError.Io, "a member disk could not be flushed at open and holds the only copy");
            return default;
        }

        if (!_options.Shape.HasLog)
        {
            _status.EndOpening();
            return default;
        }

        JournalRecovery recovery = await JournalRecovery.Recover(
            space.Lane.Buffers, log.Part, _options.LogOwner, 0, session => records.LogEndOf(session, IncarnationOf));
        if (recovery.State != JournalState.Recovered)
        {
            _status.Fail(IoError.Io, recovery.State switch
            {
                JournalState.Corrupt => "the integrity log is damaged on every copy",
                JournalState.Incomplete => "the end of the integrity log is damaged, and a disk with another copy of it is away",
                _ => "no copy of the integrity log could be read",
            });
            return default;
        }

        return await Resume(recovery);
    }

    private async LaneTask<Nothing> Resume(JournalRecovery recovery)
    {
        Journal journal = recovery.Journal!;
        journal.FollowEnd(records.LogEnd.State);
        journal.WriteAs(recovery.LastSession);
        log.Use(journal);
        changes.BoundBy(journal);
        FoundRecords left = records.TakeOver(recovery.LastSession, IncarnationOf);
        IoError error;
        try
        {
            error = await Replay(recovery, left);
        }
        catch (InvalidDataException damage)
        {
            _status.Fail(IoError.Io, $"the integrity log cannot be understood: {damage.Message}");
            return default;
        }

        error = error == IoError.None ? await engine.Open() : error;
        if (_status.Fault != IoError.None)
        {
            return default;
        }

        error = error == IoError.None ? await TakeFoundWrites(left) : error;
        if (error != IoError.None)
        {
            _status.Fail(error, "the integrity log could not be replayed");
            return default;
        }

        ulong session = space.Lane.NextRandom();
        records.NameSuccessor(session);
        journal.WriteAs(session);
        journal.Reserve(0, out ulong first);
        if (await journal.Commit(first) != IoError.None)
        {
            _status.Fail(IoError.Io, "the integrity log could not be continued");
            return default;
        }

        Serve(journal);
        return default;
    }

    private void Start(Journal? journal)
    {
        if (journal is null)
        {
            _status.Fail(IoError.Io, "the integrity log could not be written");
            return;
        }

        journal.FollowEnd(records.LogEnd.State);
        log.Use(journal);
        changes.BoundBy(journal);
        Serve(journal);
    }

    private void Serve(Journal journal)
    {
        records.Start(journal.Session, regions.Unresolved > 0 ? found.Knowledge : WriteKnowledge.Whole, DisksInUse());
        records.LogEnd.State(journal.Session, journal.Written, journal.Durable);
        _status.EndOpening();
        space.Members.BeginServing();
    }

    private void NoteAllUnflushed()
    {
        foreach (SpaceRow? row in _rows)
        {
            foreach (SlabPlace place in row?.Places ?? [])
            {
                NoteUnflushed(place);
            }
        }

        foreach (SlabPlace place in _options.LogCopies.SelectMany(static copy => copy))
        {
            NoteUnflushed(place);
        }
    }

    private void NoteUnflushed(SlabPlace place)
    {
        if (space.Members.IsLive(place.Disk))
        {
            space.Members.NoteUnflushed(place.Disk);
        }
    }

    private LaneTask<IoError> Replay(JournalRecovery recovery, in FoundRecords left)
    {
        foreach ((ulong sequence, byte[] payload) in recovery.Records)
        {
            ReplayBlock(sequence, payload);
        }

        foreach (WriteRecord record in recovery.HasLostEnd ? left.Records : [])
        {
            MarkAgain(record.Block);
        }

        return stale.MarkMissingAtOpen();
    }

    /// <summary>Marks the region of a recorded write: its mark may have been in a block that the log has lost.</summary>
    private void MarkAgain(long block)
    {
        if (!records.IsWithin(block, _rows.Count) || _rows[records.PieceOf(block).Row] is not { IsInitialized: true } row)
        {
            return;
        }

        StripPiece piece = records.PieceOf(block);
        int region = row.RegionOf(piece.Column, piece.SlabOffset);
        if (!row.Regions[region].IsUnresolved && log.Journal.FreeBlocks > 1)
        {
            regions.Replay(row, region, log.AppendMark(IntegrityKind.Dirty, row, region));
        }
    }

    private void ReplayBlock(ulong sequence, ReadOnlySpan<byte> payload)
    {
        while (IntegrityRecord.TryTake(ref payload, out IntegrityItem item))
        {
            bool isMark = item.Kind is IntegrityKind.Dirty or IntegrityKind.Clean;
            if (item.Column >= (isMark ? _layout.Groups : _layout.Columns) || item.Row < 0 || item.Row >= _rows.Count)
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
                    regions.Replay(sequence, row, item);
                    if (item.Kind == IntegrityKind.Clean)
                    {
                        found.Remove(new StripPiece(item.Row, item.Column, item.Region * _shape.RegionSize, _shape.RegionSize));
                    }

                    break;
                case IntegrityKind.Found:
                    NoteFound(sequence, item);
                    break;
                case IntegrityKind.Entries:
                    for (int i = 0; i < item.EntryCount; i++)
                    {
                        IntegrityEntry entry = item.Entry(i);
                        Note(item, item.Page, new LoggedEntries(sequence, entry.Block, 1, entry.Generation, entry.Checksum));
                    }

                    break;
                default:
                    int perPage = _shape.PageSpan / SpaceShape.BlockSize;
                    Note(item, item.FirstBlock / perPage,
                        new LoggedEntries(sequence, item.FirstBlock % perPage, item.BlockCount, ChecksumSector.NeverWritten, 0));
                    break;
            }
        }
    }

    private void Note(in IntegrityItem item, int page, in LoggedEntries entries)
    {
        (int block, int count) = (entries.Block, entries.Count);
        if ((uint)page >= _shape.PagesPerSlab || (uint)block >= ChecksumPage.Blocks || count < 1 || count > ChecksumPage.Blocks - block)
        {
            throw new InvalidDataException($"page {page}, block {block}, count {count} outside the slab");
        }

        integrity.NoteLogged(item.Row, item.Column, page, entries);
        found.Remove(new StripPiece(
            item.Row, item.Column, (page * _shape.PageSpan) + (block * SpaceShape.BlockSize), count * SpaceShape.BlockSize));
    }

    private void NoteFound(ulong sequence, in IntegrityItem item)
    {
        if (!found.IsWithin(item))
        {
            throw new InvalidDataException($"block {item.FirstBlock} outside the slab");
        }

        found.Replay(sequence, item);
    }

    /// <summary>Takes over the writes that a process which died left. Writes that are not appended to the log after this are judged.</summary>
    private async LaneTask<IoError> TakeFoundWrites(FoundRecords left)
    {
        found.Add(left);
        found.RemoveForeign(engine);
        List<StripPiece> without = found.Append();   // durable with the first block of this session
        IoError error = IoError.None;
        foreach (StripPiece block in without)
        {
            SpaceRow row = _rows[block.Row]!;
            int region = row.RegionOf(block.Column, block.SlabOffset);
            int start = region % SpaceShape.RegionsPerSlab * _shape.RegionSize;
            error = error == IoError.None ? await regions.Resolve(row, region, start, _shape.RegionSize) : error;   // one flush for all of it
        }

        return error;
    }

    private ulong? IncarnationOf(int disk) => space.Host.Members.Disk(disk)?.Identity.Incarnation;

    /// <summary>Returns the members that the space uses and that are there, with their incarnations.</summary>
    internal IEnumerable<(int Disk, ulong Incarnation)> DisksInUse()
    {
        HashSet<int> disks = [.. space.Members.Used];
        foreach (SpaceRow? row in _rows)
        {
            disks.UnionWith(row?.Places.Select(static place => place.Disk) ?? []);
        }

        foreach (int disk in disks)
        {
            if (space.Host.Members.Disk(disk) is { } device)
            {
                yield return (disk, device.Identity.Incarnation);
            }
        }
    }
}
