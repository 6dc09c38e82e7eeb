using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// First writes that a process which died left without entries in the log, and that are not judged yet.
//
// They are found at open, in the first-write journal and, from an earlier crash, in the log. A block of them is judged with its stretch of an unresolved
// region: when it is asked for, or in the background.
//
// Invariants
//  1. Before the space serves each is judged or, durably, in the log: a flush owes nothing to a block that was written before the process died.
//  2. The log keeps the record until the block has its entry, durably, or is never-written again: what would be trimmed is written again first.
//  3. Every block of them is in an unresolved region, so nothing is answered from it.

/// <summary>First writes that are not judged yet.</summary>
internal sealed class FoundFirstWrites(SpaceContext space, SpaceLog log, FirstWrites firstWrites)
{
    private const int BlockSize = SpaceShape.BlockSize;

    private readonly Dictionary<long, List<Found>> _blocks = [];
    private readonly SpaceShape _shape = space.Shape;
    private int _logged;   // records in the log

    /// <summary>Whether there is none.</summary>
    internal bool IsEmpty => _blocks.Count == 0;

    /// <summary>Records a first write that the log has.</summary>
    internal void Replay(ulong sequence, in IntegrityItem item)
    {
        SectorChecksums sectors = default;
        for (int i = 0; i < SectorChecksums.Count; i++)
        {
            sectors[i] = item.Sector(i);
        }

        long key = firstWrites.BlockKey(new StripPiece(item.Row, item.Column, item.FirstBlock * BlockSize, BlockSize));
        RecordsOf(key).Add(new Found(sequence, new FirstWriteRecord(key, item.Checksum, false, item.HasSectors ? sectors : null)));
        _logged++;
    }

    /// <summary>Adds a first write that the log does not have.</summary>
    internal void Add(in FirstWriteRecord record) => RecordsOf(record.Block).Add(new Found(0, record));

    /// <summary>Forgets a block: the log has its entry, or it is never-written.</summary>
    internal void Remove(long block)
    {
        if (_blocks.Remove(block, out List<Found>? records))
        {
            _logged -= records.Count(static found => found.Sequence != 0);
        }
    }

    /// <summary>Forgets the blocks of a piece.</summary>
    internal void Remove(in StripPiece piece)
    {
        for (int at = 0; at < piece.Length && !IsEmpty; at += BlockSize)
        {
            Remove(firstWrites.BlockKey(piece) + (at / BlockSize));
        }
    }

    /// <summary>Whether a block of a piece is among them.</summary>
    internal bool HasAny(in StripPiece piece)
    {
        bool hasAny = false;
        for (int at = 0; at < piece.Length && !IsEmpty && !hasAny; at += BlockSize)
        {
            hasAny = _blocks.ContainsKey(firstWrites.BlockKey(piece) + (at / BlockSize));
        }

        return hasAny;
    }

    /// <summary>Returns the records of a block, oldest first; null when it is not among them.</summary>
    internal List<FirstWriteRecord>? Of(in StripPiece block) =>
        _blocks.TryGetValue(firstWrites.BlockKey(block), out List<Found>? records) ? records.ConvertAll(static found => found.Record) : null;

    /// <summary>
    /// Forgets the blocks that cannot be of this space now: memory that another program wrote to, rows given back, regions that are not unresolved.
    /// </summary>
    internal void RemoveForeign()
    {
        foreach (long block in _blocks.Keys.ToArray())
        {
            StripPiece piece = firstWrites.IsWithin(block, space.Rows.Count) ? firstWrites.PieceOf(block) : new StripPiece(int.MaxValue, 0, 0, BlockSize);
            bool isOurs = piece.Row < space.Rows.Count && space.Rows[piece.Row] is { IsInitialized: true } row
                && row.Regions[row.RegionOf(piece.Column, piece.SlabOffset)].IsUnresolved;
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
        int most = log.Journal.Blocks / 4 * (JournalBlock.PayloadCapacity / IntegrityRecord.FirstWriteSize);
        log.ReserveFor(_logged);
        foreach ((long block, List<Found> records) in _blocks)
        {
            StripPiece piece = firstWrites.PieceOf(block);
            if (_logged + records.Count > most || !log.HasRoom(2 * SpaceLog.BlocksFor(records.Count)))
            {
                without.Add(piece);
                continue;
            }

            for (int i = 0; i < records.Count; i++)
            {
                _logged += records[i].Sequence == 0 ? 1 : 0;
                records[i] = records[i].Sequence == 0 ? records[i] with { Sequence = log.AppendFirstWrite(piece, records[i].Record) } : records[i];
            }

            log.ReserveFor(_logged);
        }

        return without;
    }

    /// <summary>Writes those again that are in the log up to a block.</summary>
    internal void AppendAgainUpTo(ulong last)
    {
        foreach ((long block, List<Found> records) in _blocks)
        {
            for (int i = 0; i < records.Count; i++)
            {
                if (records[i].Sequence is not 0 and var sequence && sequence <= last)
                {
                    records[i] = records[i] with { Sequence = log.AppendFirstWrite(firstWrites.PieceOf(block), records[i].Record) };
                }
            }
        }
    }

    /// <summary>Log block of the oldest that the log must keep, or the given one.</summary>
    internal ulong Oldest(ulong otherwise)
    {
        ulong oldest = otherwise;
        foreach (List<Found> records in _blocks.Values)
        {
            foreach (Found found in records)
            {
                oldest = found.Sequence != 0 ? Math.Min(oldest, found.Sequence) : oldest;
            }
        }

        return oldest;
    }

    /// <summary>Gives the blocks of the log back that are not needed any more.</summary>
    internal void Release() => log.ReserveFor(_logged);

    /// <summary>Whether the block of a record of the log can be one of this space.</summary>
    internal bool IsWithin(in IntegrityItem item) => (uint)item.FirstBlock < (uint)(_shape.SlabSize / BlockSize);

    private List<Found> RecordsOf(long block)
    {
        if (!_blocks.TryGetValue(block, out List<Found>? records))
        {
            _blocks[block] = records = [];
        }

        return records;
    }

    private readonly record struct Found(ulong Sequence, FirstWriteRecord Record);
}
