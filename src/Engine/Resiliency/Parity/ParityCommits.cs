using System.Buffers;
using System.Numerics;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// Carries out changes of lines: recorded, in place, entered.
//
// A change that fails half way, for want of room in a host's file system or because one disk too many is out, keeps its record and its memory: it is done
// again before anything else changes, rebuilds or judges its lines, and every second until it succeeds or the space closes. Its record is replayed at the
// next opening then.
//
// Invariants
//  1. Whole stripes to positions that are all in are not recorded; all records of their stripe are durably void before. Everything else is recorded first.
//  2. Entries of data and parity change together, those of positions that are out included.
//  3. Nothing is recorded or written where more positions are out than there are parities: what they hold is needed when they are back.
//  4. A strip is recorded before it is written, until its entries are durable; a strip of a change that failed, until the change is done again.
//  5. A change that has failed is done again by one caller at a time; others that hold a part of its lines wait for that one's end.

/// <summary>Carries out changes of lines of a space with parity.</summary>
internal sealed class ParityCommits(EngineParts parts, ParityStrips strips, ParityJournal journal)
{
    private const long RetryNs = 1_000_000_000;

    private readonly SpaceShape _shape = parts.Space.Shape;
    private readonly WriteRecords _records = parts.Records;
    private readonly SpaceMembers _members = parts.Space.Members;
    private readonly List<Failed> _failed = [];
    private readonly LaneSignal _redone = new();
    private bool _isRedoing;   // one loop at a time does failed changes again

    /// <summary>Most bytes of a strip that a recorded change covers.</summary>
    internal int StripMax => journal.StripMax;

    /// <summary>Carries out a change and gives the lines back.</summary>
    internal async LaneTask<IoError> Commit(ParityStretch lines, ParityChange change)
    {
        IoError error = await Settle(lines);
        error = error == IoError.None && !strips.IsReadable(lines.Row, lines.SlabOffset) ? IoError.Io : error;
        for (int strip = 0; strip < lines.Strips; strip++)
        {
            _ = (change.Written >> strip & 1) != 0 ? lines.ComputeChecksums(strip) : null;
        }

        ulong number = 0;
        if (error == IoError.None)
        {
            if (change.Written == lines.AllStrips && strips.AreAllIn(lines.Row, lines.SlabOffset))
            {
                error = await journal.Retire(lines.Row.Index, lines.SlabOffset);
            }
            else
            {
                (error, number) = await journal.Record(lines, change);
            }
        }

        if (error != IoError.None && number == 0)
        {
            strips.Return(lines);
            return error;
        }

        error = error == IoError.None ? await DoInPlace(lines, change) : error;
        if (number != 0)
        {
            journal.End(number, isDone: error == IoError.None);
        }

        if (error != IoError.None && parts.Space.Status.Fault == IoError.None)
        {
            Keep(new Failed(lines, change, number));
            return error;
        }

        if (error != IoError.None)
        {
            lines.LeaveRecords();
        }

        strips.Return(lines);

        return error;
    }

    /// <summary>Does a change again whose record was found at open. Its lines are in memory.</summary>
    internal async LaneTask<IoError> Replay(ParityStretch lines, ParityChange change)
    {
        for (int strip = 0; strip < lines.Strips; strip++)
        {
            _ = (change.Written >> strip & 1) != 0 ? lines.ComputeChecksums(strip) : null;
        }

        return await DoInPlace(lines, change);
    }

    /// <summary>Does changes of these lines again that have failed. The caller holds their lock.</summary>
    internal async LaneTask<IoError> Settle(ParityStretch lines)
    {
        IoError error = IoError.None;
        for (int i = 0; i < _failed.Count && error == IoError.None; i++)
        {
            Failed failed = _failed[i];
            if (failed.Row == lines.Row && failed.SlabOffset < lines.SlabOffset + lines.Length && lines.SlabOffset < failed.SlabOffset + failed.Length)
            {
                error = await Redo(failed);
                i = error == IoError.None ? -1 : i;
            }
        }

        return error;
    }

    private async LaneTask<IoError> Redo(Failed failed)
    {
        if (failed.IsUnderWay)
        {
            while (failed.IsUnderWay)
            {
                await _redone.Wait();
            }

            return failed.Error;
        }

        failed.IsUnderWay = true;
        failed.Error = await TryRedo(failed);
        failed.IsUnderWay = false;
        _redone.NotifyAll();
        return failed.Error;
    }

    private async LaneTask<IoError> TryRedo(Failed failed)
    {
        if (failed.Number != 0 && !journal.IsDurable(failed.Number))
        {
            return IoError.NoSpace;   // its record waits for room still
        }

        ParityStretch lines = failed.Lines;
        IoError error = strips.IsReadable(lines.Row, lines.SlabOffset) ? await DoInPlace(lines, failed.Change) : IoError.Io;
        if (error == IoError.None)
        {
            _failed.Remove(failed);
            if (failed.Number != 0)
            {
                journal.End(failed.Number, isDone: true);
            }

            RegionOf(lines).End(parts.Flusher.NextRound, parts.Space.Lane.NowNs);
            strips.Return(lines);
        }

        return error;
    }

    private void Keep(Failed failed)
    {
        RegionOf(failed.Lines).Admit();   // it stays dirty as long as the change is not done
        _failed.Add(failed);
        if (!_isRedoing)
        {
            _isRedoing = true;
            RedoAll().Forget();
        }
    }

    private async LaneTask RedoAll()
    {
        while (_failed.Count > 0 && !parts.Space.Status.IsStopping)
        {
            await parts.Space.Lane.Delay(RetryNs);
            foreach (Failed failed in _failed.ToArray())
            {
                await RedoLocked(failed);
            }
        }

        _isRedoing = false;
    }

    private async LaneTask<Nothing> RedoLocked(Failed failed)
    {
        SpaceRow row = failed.Row;
        long key = parts.Space.Layout.LockKey(row.Index, 0, failed.SlabOffset);
        long end = key + failed.Length;
        await parts.Space.Locks.Acquire(key, end);
        if (_failed.Contains(failed) && !parts.Space.Status.IsStopping)
        {
            int generation = row.Enter();   // a slab that moves away meanwhile is another owner's only when this has ended
            await Redo(failed);
            row.Leave(generation);
        }

        parts.Space.Locks.Release(key, end);
        return default;
    }

    /// <summary>Writes strips side by side and enters what the change did.</summary>
    private async LaneTask<IoError> DoInPlace(ParityStretch lines, ParityChange change)
    {
        // While the space opens nothing is recorded: the records of this memory are there until all of it is durable.
        int slots = parts.Space.Status.IsOpening ? 0 : lines.Blocks * RecordMemory.SlotsPerRecord;
        int slotsWritten = slots * BitOperations.PopCount(change.Written);
        IoError error = await parts.Flusher.FlushForRecords(slotsWritten);
        if (error == IoError.None)
        {
            lines.EndRecords(_records);   // of an attempt that failed
            lines.BeginRecords(change.Written, _records, isKept: slots > 0);
            LaneTask<IoError> writes = WriteStrips(lines, change.Written);
            parts.Flusher.StartWhenHalfFull();
            error = await writes;
        }

        int slotsMax = slots * BitOperations.PopCount(change.Zeroed | change.Poisoned);
        do
        {
            error = error == IoError.None && change.Zeroed != 0 ? await parts.Log.Room(lines.Strips) : error;
            error = error == IoError.None && !_records.HasRoom(slotsMax) ? await parts.Flusher.FlushForRecords(slotsMax) : error;
        }
        while (error == IoError.None && !(_records.HasRoom(slotsMax) && (change.Zeroed == 0 || parts.Log.HasRoom(lines.Strips))));

        error = error == IoError.None && !strips.IsReadable(lines.Row, lines.SlabOffset) ? IoError.Io : error;
        if (error == IoError.None)
        {
            Enter(lines, change);
            lines.AcknowledgeRecords(_records);
        }

        return error;
    }

    private async LaneTask<IoError> WriteStrips(ParityStretch lines, ulong written)
    {
        int version = _members.Version;
        LaneTask<IoError>[] writes = ArrayPool<LaneTask<IoError>>.Shared.Rent(lines.Strips);
        for (int strip = 0; strip < lines.Strips; strip++)
        {
            writes[strip] = (written >> strip & 1) == 0 ? LaneTask.FromResult(IoError.None)
                : strips.StartWrite(lines.Row, lines.ColumnOf(strip), lines.SlabOffset, lines[strip]);
        }

        IoError error = IoError.None;
        for (int strip = 0; strip < lines.Strips; strip++)
        {
            IoError ended = await strips.EndWrite(lines, lines.ColumnOf(strip), await writes[strip], version);
            error = error == IoError.None ? ended : error;
        }

        ArrayPool<LaneTask<IoError>>.Shared.Return(writes, clearArray: true);
        return error;
    }

    private void Enter(ParityStretch lines, in ParityChange change)
    {
        for (int strip = 0; strip < lines.Strips; strip++)
        {
            if ((change.Written >> strip & 1) != 0)
            {
                EnterWritten(lines, strip);
            }
            else if ((change.Zeroed >> strip & 1) != 0)
            {
                EnterZeroed(lines, strip);
            }
            else if ((change.Poisoned >> strip & 1) != 0)
            {
                EnterPoisoned(lines, strip);
            }
        }
    }

    private void EnterWritten(ParityStretch lines, int strip)
    {
        ChecksumPage page = lines.PageOf(strip);
        for (int i = 0; i < lines.Blocks; i++)
        {
            NoteFirst(lines, strip, i);
            page.Set(lines.FirstBlock + i, lines.ChecksumsOf(strip)[i]);
        }

        parts.Changes.Note(page, lines.Blocks);
    }

    private void EnterPoisoned(ParityStretch lines, int strip)
    {
        ChecksumPage page = lines.PageOf(strip);
        for (int i = 0; i < lines.Blocks; i++)
        {
            EndRecords(lines, strip, i, isLost: true);
            NoteFirst(lines, strip, i);
            page.Poison(lines.FirstBlock + i);
        }

        parts.Changes.Note(page, lines.Blocks);
    }

    private void EnterZeroed(ParityStretch lines, int strip)
    {
        ChecksumPage page = lines.PageOf(strip);
        StripPiece piece = lines.PieceOf(strip);
        int run = 0;   // blocks before this one that were written
        for (int i = 0; i <= lines.Blocks; i++)
        {
            int block = lines.FirstBlock + i;
            if (i < lines.Blocks && page.Generations[block] != ChecksumSector.NeverWritten)
            {
                EndRecords(lines, strip, i, isLost: false);
                parts.Space.Lost.Remove(piece with { SlabOffset = piece.SlabOffset + (i * SpaceShape.BlockSize), Length = SpaceShape.BlockSize });
                lines.Row.NoteWritten(lines.Row.WrittenBlocks > 0 ? -1 : 0);
                page.Reset(block);
                run++;
            }
            else if (run > 0)
            {
                parts.Log.AppendZeroed(page, block - run, run, _shape.PageSpan / SpaceShape.BlockSize);
                run = 0;
            }
        }
    }

    private void EndRecords(ParityStretch lines, int strip, int block, bool isLost)
    {
        if (parts.Space.Status.IsOpening)
        {
            return;
        }

        if (isLost)
        {
            _records.Lose(lines.PieceOf(strip), block);
        }
        else
        {
            _records.Zero(lines.PieceOf(strip), block);
        }
    }

    private static ref Region RegionOf(ParityStretch lines) => ref lines.Row.RegionAt(lines.Row.RegionOf(0, lines.SlabOffset));

    private static void NoteFirst(ParityStretch lines, int strip, int block)
    {
        bool isFirst = lines.Entry(strip, block) == ChecksumSector.NeverWritten;
        lines.Row.NoteWritten(lines.Row.WrittenBlocks >= 0 && isFirst ? 1 : 0);
    }

    private sealed class Failed(ParityStretch lines, ParityChange change, ulong number)
    {
        internal ParityStretch Lines => lines;

        internal ParityChange Change => change;

        internal ulong Number => number;

        internal SpaceRow Row { get; } = lines.Row;

        internal int SlabOffset { get; } = lines.SlabOffset;

        internal int Length { get; } = lines.Length;

        internal bool IsUnderWay { get; set; }

        /// <summary>Why it has failed last; None when it is done.</summary>
        internal IoError Error { get; set; }
    }
}
