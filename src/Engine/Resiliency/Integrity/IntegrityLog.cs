using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Journals;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

/// <summary>
/// The integrity log as a space writes it: region marks, entries and zeroed runs into a <see cref="Journal"/>, and what of
/// it is appended but not durable yet. An entry counts as logged when its block is durable, in the order of the log.
/// </summary>
internal sealed class IntegrityLog(Journal journal)
{
    private readonly Queue<Pending> _pending = new();
    private readonly IntegrityEntry[] _batch = new IntegrityEntry[256];
    private int _foundReserve;

    internal Journal Journal { get; } = journal;

    /// <summary>Blocks kept free for writing marks again while the ring is being emptied.</summary>
    internal int Reserve { get; } = Math.Max(4, journal.Blocks / 8);

    /// <summary>Whether others than the writeback may append <paramref name="blocks"/>.</summary>
    internal bool HasRoom(int blocks) => Journal.FreeBlocks >= Reserve + _foundReserve + blocks;

    /// <summary>Keeps <paramref name="blocks"/> more free, for writing records of found writes again that are not judged yet.</summary>
    internal void ReserveForFound(int blocks) => _foundReserve = blocks;

    internal ulong AppendMark(IntegrityKind kind, int row, int column, int region)
    {
        Span<byte> room = Journal.Reserve(IntegrityRecord.MarkSize, out ulong sequence);
        IntegrityRecord.WriteMark(room, kind, row, column, region);
        return sequence;
    }

    internal ulong AppendFound(in StripPiece block, in WriteRecord record, int pageBlocks)
    {
        if (record.IsZeroed)
        {
            IntegrityRecord.WriteZeroed(
                Journal.Reserve(IntegrityRecord.ZeroedSize, out ulong zeroed), block.Row, block.Column, block.SlabOffset / SpaceShape.BlockSize, 1);
            return zeroed;
        }

        if (record.IsLost)
        {
            return AppendLost(block, pageBlocks);
        }

        Span<byte> room = Journal.Reserve(IntegrityRecord.FoundSize, out ulong sequence);
        Span<uint> sectors = stackalloc uint[SectorChecksums.Count];
        record.Sectors?.CopyTo(sectors);
        IntegrityRecord.WriteFound(
            room, block.Row, block.Column, block.SlabOffset / SpaceShape.BlockSize, record.Checksum, record.IsAcknowledged,
            sectors[..(record.Sectors is null ? 0 : sectors.Length)]);
        return sequence;
    }

    private ulong AppendLost(in StripPiece block, int pageBlocks)
    {
        int number = block.SlabOffset / SpaceShape.BlockSize;
        Span<byte> room = Journal.Reserve(IntegrityRecord.EntriesHeaderSize + IntegrityRecord.EntrySize, out ulong sequence);
        IntegrityRecord.WriteEntries(
            room, block.Row, block.Column, number / pageBlocks, [new IntegrityEntry((ushort)(number % pageBlocks), ChecksumSector.Poisoned, 0)]);
        return sequence;
    }

    internal ulong AppendZeroed(ChecksumPage page, int firstBlock, int count, int pageBlocks)
    {
        Span<byte> room = Journal.Reserve(IntegrityRecord.ZeroedSize, out ulong sequence);
        page.NoteZeroAppended(firstBlock, count);
        IntegrityRecord.WriteZeroed(room, page.Row.Index, page.Column, (page.Index * pageBlocks) + firstBlock, count);
        Note(new Pending(sequence, page, (ushort)firstBlock, (ushort)count, ChecksumSector.NeverWritten, 0));
        return sequence;
    }

    /// <summary>Appends captured entries, grouped by page as they come; returns the sequence of the last block.</summary>
    internal ulong AppendEntries(List<CapturedEntry> captured)
    {
        ulong last = Journal.Next - 1;
        int at = 0;
        while (at < captured.Count)
        {
            ChecksumPage page = captured[at].Page;
            int count = 0;
            int most = Math.Min(_batch.Length, RoomForEntries());
            while (at < captured.Count && captured[at].Page == page && count < most)
            {
                CapturedEntry entry = captured[at++];
                if (page.IsFlushing(entry.Block))
                {
                    page.EndFlushing(entry.Block);
                    _batch[count++] = new IntegrityEntry(entry.Block, entry.Generation, entry.Checksum);
                }
            }

            if (count > 0)
            {
                last = AppendBatch(page, count);
            }
            else
            {
                page.DropLoggedWhenEqual();
            }
        }

        return last;
    }

    /// <summary>Everything up to <see cref="Journal.Durable"/> is logged now.</summary>
    internal void ApplyDurable()
    {
        while (_pending.TryPeek(out Pending next) && next.Sequence <= Journal.Durable)
        {
            _pending.Dequeue();
            next.Page.NoteLogged(next.Block, next.Count, next.Generation, next.Checksum);
        }
    }

    private int RoomForEntries()
    {
        int room = (Journal.RoomInBlock - IntegrityRecord.EntriesHeaderSize) / IntegrityRecord.EntrySize;
        return room > 0 ? room : (JournalBlock.PayloadCapacity - IntegrityRecord.EntriesHeaderSize) / IntegrityRecord.EntrySize;
    }

    private ulong AppendBatch(ChecksumPage page, int count)
    {
        int size = IntegrityRecord.EntriesHeaderSize + (count * IntegrityRecord.EntrySize);
        Span<byte> room = Journal.Reserve(size, out ulong sequence);
        IntegrityRecord.WriteEntries(room, page.Row.Index, page.Column, page.Index, _batch.AsSpan(0, count));
        for (int i = 0; i < count; i++)
        {
            Note(new Pending(sequence, page, _batch[i].Block, 1, _batch[i].Generation, _batch[i].Checksum));
        }

        return sequence;
    }

    private void Note(Pending pending)
    {
        pending.Page.NoteAppended(pending.Sequence);
        _pending.Enqueue(pending);
    }

    private readonly record struct Pending(ulong Sequence, ChecksumPage Page, ushort Block, ushort Count, ushort Generation, uint Checksum);
}
