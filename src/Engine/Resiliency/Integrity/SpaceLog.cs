using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Journals;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// The integrity log of a space: its ring on the members, what is appended to it, and room in it.
//
// Invariants
//  1. Others than the writeback append only after Room: the writeback always finds the blocks that it needs to empty the log.
//  2. The newest durable block is stated by a second durable one within 100 ms, if nothing follows it and there is room.
//  3. Durable entries are applied to the pages in the order of the log, after every commit.

/// <summary>The integrity log of a space. A space without checksums and copies has none.</summary>
internal sealed class SpaceLog(SpaceContext space)
{
    private const int MarksPerBlock = JournalBlock.PayloadCapacity / IntegrityRecord.MarkSize;

    private IntegrityLog? _log;
    private EndStating? _stating;
    private RingMedium? _medium;
    private PageWriteback? _writeback;
    private long _bytesCounted;
    private long _writesCounted;

    /// <summary>Whether a block that states the end of the log is on its way.</summary>
    internal bool IsStating => _stating is { IsWriting: true };

    /// <summary>Whether the space keeps a log.</summary>
    internal bool Exists => _medium is not null;

    internal RingMedium? Medium => _medium;

    internal Journal Journal => _log!.Journal;

    /// <summary>Blocks of the ring that the log does not use: those of the parity journal.</summary>
    internal int ParityBlocks => space.Options.ParityJournalBlocks;

    /// <summary>Part of the ring that the log uses.</summary>
    internal RingPart Part => new(_medium!, 0, _medium!.Blocks - ParityBlocks);

    /// <summary>Part of the ring that the parity journal uses.</summary>
    internal RingPart ParityPart => new(_medium!, _medium!.Blocks - ParityBlocks, ParityBlocks);

    /// <summary>Whether the next writeback has something to do.</summary>
    internal bool IsHalfFull => _log is { Journal: var journal } && journal.FreeBlocks < journal.Blocks / 2;

    /// <summary>Connects the log with the writeback that empties it.</summary>
    internal void EmptyBy(PageWriteback writeback) => _writeback = writeback;

    /// <summary>Makes the ring that the log is in.</summary>
    internal void UseMedium()
    {
        SpaceOptions options = space.Options;
        _medium = space.Rings.Add(new RingOptions
        {
            Name = "the integrity log",
            Copies = options.LogCopies,
            Blocks = (int)Math.Min(
                options.LogBlocksMax + options.ParityJournalBlocks, (long)options.LogCopies[0].Count * options.Shape.SlabSize / JournalBlock.Size),
            StaleCopies = options.StaleLogCopies,
            MarkStale = copy => space.Host.MarkLogStale(options.Space, copy),
            ClearStale = copy => space.Host.ClearLogStale(options.Space, copy),
            AwaitsRoom = true,
        });
    }

    internal void Use(Journal journal)
    {
        _log = new IntegrityLog(journal);
        _stating = space.StateEndOf(journal, () => !IsHalfFull);
    }

    internal bool HasRoom(int blocks) => _log!.HasRoom(blocks);

    /// <summary>Completes when others than the writeback may append this many blocks.</summary>
    internal LaneTask<IoError> Room(int blocks) => _writeback!.MakeRoom(blocks);

    /// <summary>Blocks that so many marks take at most.</summary>
    internal static int BlocksForMarks(int marks) => 1 + (marks / MarksPerBlock);

    /// <summary>Half of the marks that the log can write again while its ring is being emptied: the other half are those that an unclean stop left.</summary>
    internal int MarksMax => (_log?.Reserve ?? 0) * MarksPerBlock / 2;

    /// <summary>Appends a mark of a region, numbered in its row.</summary>
    internal ulong AppendMark(IntegrityKind kind, SpaceRow row, int region) => _log!.AppendMark(
        kind, row.Index, region / SpaceShape.RegionsPerSlab, region % SpaceShape.RegionsPerSlab);

    internal ulong AppendFound(in StripPiece block, in WriteRecord record) =>
        _log!.AppendFound(block, record, space.Shape.PageSpan / SpaceShape.BlockSize);

    /// <summary>Keeps blocks free for writing so many records of found writes again.</summary>
    internal void ReserveFor(int records)
    {
        Invariant.That(records >= 0, "The log has no fewer records of found writes than none.");
        _log!.ReserveForFound(BlocksFor(records));
    }

    /// <summary>Blocks that so many records of found writes take at most.</summary>
    internal static int BlocksFor(int records) =>
        records == 0 ? 0 : 1 + (records / (JournalBlock.PayloadCapacity / IntegrityRecord.FoundSize));

    internal void AppendZeroed(ChecksumPage page, int first, int count, int pageBlocks) => _log!.AppendZeroed(page, first, count, pageBlocks);

    /// <summary>Appends the captured entries that nothing has taken back meanwhile.</summary>
    internal void AppendEntries(ChangedEntries changes)
    {
        _log!.AppendEntries(changes.Captured);
        changes.Captured.Clear();
    }

    /// <summary>Makes everything appended durable.</summary>
    internal async LaneTask<IoError> Commit(ulong sequence)
    {
        IoError error = await Journal.Commit(sequence);
        NoteCommitted();
        return error;
    }

    /// <summary>Makes everything appended so far durable.</summary>
    internal LaneTask<IoError> CommitAll() => Commit(Journal.Next - 1);

    /// <summary>Applies to the pages what has become durable.</summary>
    internal void ApplyDurable() => _log!.ApplyDurable();

    /// <summary>Applies to the pages what has become durable, and counts what was written for it.</summary>
    internal void NoteCommitted()
    {
        _log!.ApplyDurable();
        space.Counters.Log.Note(Journal.Blocks, Journal.Blocks - Journal.FreeBlocks);
        space.Counters.Io.NoteMetadata(_medium!.BytesWritten - _bytesCounted, _medium.Writes - _writesCounted);
        (_bytesCounted, _writesCounted) = (_medium.BytesWritten, _medium.Writes);
        _stating!.Begin();
    }

    internal void StartWritebackWhenFull()
    {
        if (IsHalfFull)
        {
            _writeback!.Start();
        }
    }
}
