using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Journals;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// After any stop the records of the parity journal that are not void are done again in their order, before anything is resynced or served: blocks, then
// entries, durably; then all of them are void.
//
// A record whose region was not dirty is skipped: what it changed was durable when the region was marked clean. A journal that has lost its end replays
// nothing: an older change would undo a newer one. The records of the process that died judge its lines.

/// <summary>Makes and opens the parity journal of a space.</summary>
internal sealed class ParityOpening(EngineParts parts, ParityStrips strips, ParityJournal journal, ParityCommits commits)
{
    private readonly SpaceContext _space = parts.Space;
    private readonly HashSet<StripPiece> _replayed = [];   // blocks

    private Guid Owner
    {
        get
        {
            Span<byte> bytes = stackalloc byte[16];
            _space.Options.LogOwner.TryWriteBytes(bytes);
            bytes[15] ^= 0xFF;   // the blocks of the two journals of a ring are not taken for each other
            return new Guid(bytes);
        }
    }

    /// <summary>Whether the journal has decided what a block holds: then no record of a write does.</summary>
    internal bool HasReplayed(StripPiece block) => _replayed.Contains(block);

    internal async LaneTask<IoError> Create()
    {
        if (await Journal.Format(_space.Lane.Buffers, parts.Log.ParityPart, Owner, _space.Lane.NextRandom()) is not { } made)
        {
            return IoError.Io;
        }

        Follow(made);
        journal.Use(made, 1);
        return IoError.None;
    }

    private void Follow(Journal made)
    {
        made.FollowEnd(parts.Records.ParityEnd.State);
        parts.Records.ParityEnd.State(made.Session, made.Written, made.Durable);
    }

    internal async LaneTask<IoError> Open()
    {
        JournalRecovery recovery = await JournalRecovery.Recover(
            _space.Lane.Buffers, parts.Log.ParityPart, Owner, _space.Lane.NextRandom(), parts.Records.ParityEnd.Required);
        if (recovery.State != JournalState.Recovered)
        {
            return _space.Status.Fail(IoError.Io, recovery.State switch
            {
                JournalState.Corrupt => "the parity journal is damaged on every copy",
                JournalState.Incomplete => "the end of the parity journal is damaged, and a disk with another copy of it is away",
                _ => "no copy of the parity journal could be read",
            });
        }

        List<FoundParityRecord> records;
        ulong next;
        try
        {
            (records, next) = FoundParityRecords.Parse(recovery.Records, _space.Shape, _space.Rows.Count);
        }
        catch (InvalidDataException damage)
        {
            return _space.Status.Fail(IoError.Io, $"the parity journal cannot be understood: {damage.Message}");
        }

        IoError error = IoError.None;
        foreach (FoundParityRecord record in recovery.HasLostEnd ? [] : records)
        {
            error = error == IoError.None ? await Replay(record) : error;
        }

        error = error == IoError.None && records.Count > 0 ? await parts.Flusher.Flush() : error;
        if (error != IoError.None)
        {
            return _space.Status.Fail(error, "a change of parity that was under way could not be completed: more disks are out than there are parities");
        }

        Follow(recovery.Journal!);
        journal.Use(recovery.Journal!, next);
        return await journal.MarkAllVoid();
    }

    private async LaneTask<IoError> Replay(FoundParityRecord record)
    {
        ParityRecordHead head = record.Head;
        if (_space.Rows[head.Row] is not { IsInitialized: true } row || !row.Regions[row.RegionOf(0, head.SlabOffset)].IsUnresolved)
        {
            return IoError.None;
        }

        ParityStretch lines = strips.Rent();
        IoError error = await lines.Begin(row, head.SlabOffset, head.Length, parts.Integrity);
        if (error != IoError.None)
        {
            return error;
        }

        int at = 0;
        for (int strip = 0; strip < lines.Strips; strip++)
        {
            if ((head.Written >> strip & 1) != 0)
            {
                System.Runtime.InteropServices.CollectionsMarshal.AsSpan(record.Data).Slice(at, head.Length).CopyTo(lines[strip].Span);
                at += head.Length;
            }
        }

        ulong changed = head.Written | head.Zeroed | head.Poisoned;
        for (int strip = 0; strip < lines.Strips; strip++)
        {
            for (int block = 0; block < head.Length && (changed >> strip & 1) != 0; block += SpaceShape.BlockSize)
            {
                _replayed.Add(new StripPiece(head.Row, lines.ColumnOf(strip), head.SlabOffset + block, SpaceShape.BlockSize));
            }
        }

        error = await commits.Replay(lines, new ParityChange(head.Written, head.Zeroed, head.Poisoned));
        strips.Return(lines);
        _space.Counters.Parity.NoteReplayed();
        return error;
    }
}
