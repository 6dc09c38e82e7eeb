using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// The first-write journal as the writes of a space use it: which writes are recorded, when their records are taken back, and room for them.
//
// Invariants
//  1. A write of a block that the log calls never-written or lost is recorded before it is submitted, and still when it is acknowledged.
//  2. A record is appended without an await after there was room for it: others that waited for the same room look again.

/// <summary>Records the first writes of a space. A space without checksums, or whose host has no memory for the journal, keeps no records.</summary>
internal sealed class FirstWrites
{
    private const int BlockSize = SpaceShape.BlockSize;

    private readonly SpaceStatus _status;
    private readonly ILayout _layout;
    private readonly SpaceShape _shape;
    private readonly FirstWriteJournal? _journal;

    internal FirstWrites(SpaceContext space)
    {
        (_status, _layout, _shape) = (space.Status, space.Layout, space.Shape);
        _journal = space.Options is { FirstWriteJournal: { } memory, Shape.Checksums: true } ? JournalIn(memory, _shape) : null;
    }

    internal bool IsKept => _journal is not null;

    /// <summary>Most blocks that one write may record.</summary>
    internal int BlocksMax => _journal is { } journal ? journal.Capacity / FirstWriteJournal.SlotsPerRecord : int.MaxValue;

    /// <summary>Number of the active half; 0 without a journal. While it stays the same, no flush has cleared a record.</summary>
    internal uint Generation => _journal?.Generation ?? 0;

    /// <summary>Returns the slots that a write of a piece takes at most; unmapping it takes fewer.</summary>
    internal static int SlotsFor(in StripPiece piece) => piece.Length / BlockSize * FirstWriteJournal.SlotsPerRecord;

    internal bool HasRoom(int slots) => _journal is not { } journal || journal.Room >= slots;

    /// <summary>Records the blocks of a piece that the log calls never-written or lost. The caller has made room.</summary>
    internal void Note(ChecksumPage page, in StripPiece piece, IoBuffer source, uint[] checksums)
    {
        int first = _shape.BlockInPage(piece.SlabOffset);
        long block = BlockKey(piece);
        for (int i = 0; i < piece.Length / BlockSize && _journal is not null; i++)
        {
            if (page.IsUnlogged(first + i))
            {
                _journal.Add(block + i, checksums[i], source.Slice(i * BlockSize, BlockSize).Span);
            }
        }
    }

    /// <summary>Takes back records of a block. It may have some while it is unlogged, changed since the last capture, or until a running flush ends.</summary>
    internal void TakeBack(in StripPiece piece, ChecksumPage page, int at, bool isFlushing)
    {
        int block = _shape.BlockInPage(piece.SlabOffset) + at;
        if (page.IsUnlogged(block) || page.IsChanged(block) || isFlushing)
        {
            _journal?.AddZeroed(BlockKey(piece) + at);
        }
    }

    /// <summary>Directs new records to the other half. Until the records of a former process have been judged nothing changes.</summary>
    internal void Switch()
    {
        if (!_status.IsOpening)
        {
            _journal?.Switch();
        }
    }

    internal void ClearOlder()
    {
        if (!_status.IsOpening)
        {
            _journal?.ClearOlder();
        }
    }

    internal List<FirstWriteRecord> TakeOver(ulong lastSession) => _journal!.TakeOver(lastSession);

    internal void Start(ulong session) => _journal?.Start(session);

    /// <summary>Returns the block that a key names: row, column and offset in its slab. Whether there is such a row the caller checks.</summary>
    internal StripPiece PieceOf(long key)
    {
        long address = key * BlockSize;
        long slab = address / _shape.SlabSize;
        return new((int)(slab / _layout.Columns), (int)(slab % _layout.Columns), (int)(address % _shape.SlabSize), BlockSize);
    }

    /// <summary>Whether the key of a record can be one of this many rows.</summary>
    internal bool IsWithin(long key, int rows) => key < rows * ((long)_layout.Columns * _shape.SlabSize / BlockSize);

    /// <summary>Returns the key of the first block of a piece.</summary>
    internal long BlockKey(in StripPiece piece) => (((((long)piece.Row * _layout.Columns) + piece.Column) * _shape.SlabSize) + piece.SlabOffset) / BlockSize;

    /// <summary>Makes the journal. A half must take the records of a whole piece, or a writer would wait for room without end.</summary>
    private static FirstWriteJournal JournalIn(IoBuffer memory, in SpaceShape shape)
    {
        FirstWriteJournal journal = new(memory);
        int needed = shape.Parities == 0 ? Math.Min(shape.PageSpan, shape.RegionSize) / BlockSize * FirstWriteJournal.SlotsPerRecord
            : shape.Columns * FirstWriteJournal.SlotsPerRecord;
        return journal.Capacity >= needed ? journal
            : throw new ArgumentException($"A first-write journal of {journal.Capacity} slots a half: a write takes up to {needed}.", nameof(memory));
    }
}
