using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// Writes that a process which died left without durable entries, and that are not judged yet.
//
// They are found at open, in the memory that outlives the process and, from an earlier crash, in the log. A block of them is judged with its stretch of an
// unresolved region: when it is asked for, or in the background. A block that nothing proves stays, with its records, until a copy proves it or it is written.
//
// Invariants
//  1. Before a flush is acknowledged each is judged or, durably, in the log: a flush covers what was acknowledged before the process died.
//  2. The log keeps the records until the block has its entry, durably, or is never-written again: what would be trimmed is written again first.
//  3. No record is written again after the entry of its block: at a replay it would count as newer.
//  4. Every block of them is in an unresolved region, or is marked and its region stays dirty: nothing is answered from it unjudged.

/// <summary>Writes of a process that died, as far as they are not judged.</summary>
internal sealed class FoundWrites(SpaceContext space, SpaceLog log, WriteRecords records, FlushClock clock)
{
    private const int BlockSize = SpaceShape.BlockSize;

    private readonly Dictionary<long, FoundBlock> _blocks = [];
    private readonly SpaceShape _shape = space.Shape;
    private int _logged;   // records in the log

    /// <summary>Whether there is none.</summary>
    internal bool IsEmpty => _blocks.Count == 0;

    /// <summary>Knowledge of the unflushed writes of earlier sessions, in regions that are unresolved.</summary>
    internal WriteKnowledge Knowledge { get; private set; } = WriteKnowledge.None;

    /// <summary>Records a write that the log has.</summary>
    internal void Replay(ulong sequence, in IntegrityItem item)
    {
        SectorChecksums sectors = default;
        for (int i = 0; i < SectorChecksums.Count; i++)
        {
            sectors[i] = item.Sector(i);
        }

        long key = records.BlockKey(new StripPiece(item.Row, item.Column, item.FirstBlock * BlockSize, BlockSize));
        List<Found> known = BlockOf(key).Records;
        WriteRecord record = new(key, item.Checksum, false, item.IsAcknowledged, item.HasSectors ? sectors : null);
        int same = known.FindIndex(found => found.Record.Checksum == record.Checksum && found.Record.IsAcknowledged == record.IsAcknowledged);
        if (same >= 0)
        {
            known[same] = new Found(sequence, record);   // it was written again before its first place was trimmed
        }
        else
        {
            known.Add(new Found(sequence, record));
            _logged++;
        }
    }

    /// <summary>Adds what a process left in the memory that outlives it.</summary>
    internal void Add(in FoundRecords found)
    {
        Knowledge = found.Knowledge;
        foreach (WriteRecord record in found.Records)
        {
            bool isFinal = !record.IsData || (record.IsAcknowledged && !MayHaveLost(record.Block, found.LostCaches));
            BlockOf(record.Block).Records.Add(new Found(0, record with { IsAcknowledged = isFinal }));
        }

        foreach (FoundBlock known in _blocks.Values)
        {
            DropOutdated(known.Records);
        }
    }

    /// <summary>Forgets a block: the log has its entry, or it is never-written.</summary>
    internal void Remove(long block)
    {
        if (_blocks.Remove(block, out FoundBlock? found))
        {
            _logged -= found.Records.Count(static record => record.Sequence != 0);
            if (found.KeptIn is { } row)
            {
                StripPiece piece = records.PieceOf(block);
                row.RegionAt(row.RegionOf(piece.Column, piece.SlabOffset)).End(clock.Next, space.Lane.NowNs);
            }
        }
    }

    /// <summary>Forgets the blocks of a piece.</summary>
    internal void Remove(in StripPiece piece)
    {
        for (int at = 0; at < piece.Length && !IsEmpty; at += BlockSize)
        {
            Remove(records.BlockKey(piece) + (at / BlockSize));
        }
    }

    /// <summary>Forgets the blocks of a piece that were judged, but for those that nothing proved.</summary>
    internal void RemoveJudged(in StripPiece piece)
    {
        for (int at = 0; at < piece.Length && !IsEmpty; at += BlockSize)
        {
            long block = records.BlockKey(piece) + (at / BlockSize);
            if (_blocks.TryGetValue(block, out FoundBlock? found) && found.KeptIn is null)
            {
                Remove(block);
            }
        }
    }

    /// <summary>Entries go to the log: the records of their blocks are not written again after them. A mark is none: it says that records count.</summary>
    internal void NoteEntered(List<CapturedEntry> entries)
    {
        for (int i = 0; i < entries.Count && !IsEmpty; i++)
        {
            CapturedEntry entry = entries[i];
            int offset = (entry.Page.Index * _shape.PageSpan) + (entry.Block * BlockSize);
            StripPiece block = new(entry.Page.Row.Index, entry.Page.Column, offset, BlockSize);
            if (entry.Generation != ChecksumSector.Marked && _blocks.TryGetValue(records.BlockKey(block), out FoundBlock? found))
            {
                found.IsEntered = true;
            }
        }
    }

    /// <summary>Keeps the records of a block that nothing proves. Its region stays dirty until the block is proven, written or zeroed.</summary>
    internal void Keep(SpaceRow row, in StripPiece block)
    {
        if (_blocks.TryGetValue(records.BlockKey(block), out FoundBlock? found) && found.KeptIn is null)
        {
            found.KeptIn = row;
            row.RegionAt(row.RegionOf(block.Column, block.SlabOffset)).Admit();
        }
    }

    /// <summary>Whether a block of a piece is among them.</summary>
    internal bool HasAny(in StripPiece piece)
    {
        bool hasAny = false;
        for (int at = 0; at < piece.Length && !IsEmpty && !hasAny; at += BlockSize)
        {
            hasAny = _blocks.ContainsKey(records.BlockKey(piece) + (at / BlockSize));
        }

        return hasAny;
    }

    /// <summary>Whether a block of a piece has a record of a write that need not have arrived.</summary>
    internal bool HasUndecided(in StripPiece piece)
    {
        bool hasAny = false;
        for (int at = 0; at < piece.Length && !IsEmpty && !hasAny; at += BlockSize)
        {
            hasAny = _blocks.TryGetValue(records.BlockKey(piece) + (at / BlockSize), out FoundBlock? found)
                && found.Records.Exists(static record => !record.Record.IsAcknowledged);
        }

        return hasAny;
    }

    /// <summary>Returns the records of a block, oldest first; null when it is not among them.</summary>
    internal List<WriteRecord>? Of(in StripPiece block) =>
        _blocks.Count > 0 && _blocks.TryGetValue(records.BlockKey(block), out FoundBlock? found)
            ? found.Records.ConvertAll(static record => record.Record) : null;

    /// <summary>
    /// Forgets the blocks that cannot be of this space now: memory that another program wrote to, rows given back, regions that are not unresolved. Forgets
    /// the blocks that the engine has decided.
    /// </summary>
    internal void RemoveForeign(ILayoutEngine engine)
    {
        foreach (long block in _blocks.Keys.ToArray())
        {
            StripPiece piece = records.IsWithin(block, space.Rows.Count) ? records.PieceOf(block) : new StripPiece(int.MaxValue, 0, 0, BlockSize);
            bool isOurs = piece.Row < space.Rows.Count && space.Rows[piece.Row] is { IsInitialized: true } row
                && row.Regions[row.RegionOf(piece.Column, piece.SlabOffset)].IsUnresolved && !engine.HasDecided(piece);
            if (!isOurs)
            {
                Remove(block);
            }
        }
    }

    /// <summary>Appends those that the log does not have, as long as there is room, and returns the blocks that it has no room for.</summary>
    internal List<StripPiece> Append()
    {
        List<StripPiece> without = [];
        int most = log.Journal.Blocks / 4 * (JournalBlock.PayloadCapacity / IntegrityRecord.FoundSize);
        log.ReserveFor(_logged);
        foreach ((long block, FoundBlock found) in _blocks)
        {
            StripPiece piece = records.PieceOf(block);
            List<Found> known = found.Records;
            if (_logged + known.Count > most || !log.HasRoom(2 * SpaceLog.BlocksFor(known.Count)))
            {
                without.Add(piece);
                continue;
            }

            for (int i = 0; i < known.Count; i++)
            {
                _logged += known[i].Sequence == 0 ? 1 : 0;
                known[i] = known[i].Sequence == 0 ? known[i] with { Sequence = log.AppendFound(piece, known[i].Record) } : known[i];
            }

            log.ReserveFor(_logged);
        }

        return without;
    }

    /// <summary>Writes those again that are in the log up to a block.</summary>
    internal void AppendAgainUpTo(ulong last)
    {
        foreach ((long block, FoundBlock found) in _blocks)
        {
            List<Found> known = found.Records;
            for (int i = 0; i < known.Count && !found.IsEntered; i++)
            {
                if (known[i].Sequence is not 0 and var sequence && sequence <= last)
                {
                    known[i] = known[i] with { Sequence = log.AppendFound(records.PieceOf(block), known[i].Record) };
                }
            }
        }
    }

    /// <summary>Log block of the oldest that the log must keep, or the given one.</summary>
    internal ulong Oldest(ulong otherwise)
    {
        ulong oldest = otherwise;
        foreach (FoundBlock found in _blocks.Values)
        {
            foreach (Found record in found.IsEntered ? [] : found.Records)
            {
                oldest = record.Sequence != 0 ? Math.Min(oldest, record.Sequence) : oldest;
            }
        }

        return oldest;
    }

    /// <summary>Gives the blocks of the log back that are not needed any more.</summary>
    internal void Release() => log.ReserveFor(_logged);

    /// <summary>Whether the block of a record of the log can be one of this space.</summary>
    internal bool IsWithin(in IntegrityItem item) => (uint)item.FirstBlock < (uint)(_shape.SlabSize / BlockSize);

    /// <summary>Whether so many disks of a block may have lost what they had not flushed that an acknowledged write of it may be gone.</summary>
    private bool MayHaveLost(long block, HashSet<int>? lostCaches)
    {
        if (lostCaches is null || !records.IsWithin(block, space.Rows.Count) || space.Rows[records.PieceOf(block).Row] is not { } row)
        {
            return false;
        }

        int first = space.Layout.GroupOf(records.PieceOf(block).Column) * space.Layout.GroupSize;
        int lost = 0;
        for (int position = first; position < first + space.Layout.GroupSize; position++)
        {
            lost += lostCaches.Contains(row.Places[position].Disk) ? 1 : 0;
        }

        return lost > space.Layout.LossesMax;
    }

    /// <summary>Drops records that a later acknowledged one of the block makes worthless.</summary>
    private void DropOutdated(List<Found> known)
    {
        int final = known.FindLastIndex(static found => found.Record.IsAcknowledged);
        for (int i = 0; i < final; i++)
        {
            _logged -= known[i].Sequence != 0 ? 1 : 0;
        }

        known.RemoveRange(0, Math.Max(final, 0));
    }

    private FoundBlock BlockOf(long key)
    {
        if (!_blocks.TryGetValue(key, out FoundBlock? found))
        {
            _blocks[key] = found = new FoundBlock();
        }

        return found;
    }

    private readonly record struct Found(ulong Sequence, WriteRecord Record);

    /// <summary>A block and its records, oldest first.</summary>
    private sealed class FoundBlock
    {
        internal List<Found> Records { get; } = [];

        /// <summary>Row whose region the block keeps dirty, because nothing proves it; null: it is not judged yet.</summary>
        internal SpaceRow? KeptIn { get; set; }

        /// <summary>Whether the entry of the block is in the log, or on its way to it.</summary>
        internal bool IsEntered { get; set; }
    }
}
