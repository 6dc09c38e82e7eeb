using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

public sealed partial class Space
{
    /// <summary>Only inside this class: what was read is not what the entries say, or did not arrive.</summary>
    private const IoError Doubtful = (IoError)(-2);

    private int _turn;   // breaks ties between equally busy copies

    private async LaneTask<IoError> ReadPiece(StripPiece piece, IoBuffer target)
    {
        Counters.Pieces++;
        if (_rows[piece.Row] is not { IsInitialized: true } row)
        {
            target.Span.Clear();
            return IoError.None;
        }

        int turn = row.Enter();
        int region = row.RegionOf(piece.Column, piece.SlabOffset);
        IoError error = row.Regions[region].State >= RegionState.Unresolved ? await Resolve(row, region) : IoError.None;
        if (error == IoError.None)
        {
            error = _shape.Checksums ? await ReadVerified(row, piece, target) : await ReadUnverified(row, piece, target);
        }

        row.Leave(turn);
        if (error == IoError.None)
        {
            UnlistLost(piece);
        }

        return error != Doubtful ? error
            : _lane.Buffers.IsKept(target) ? await ReadElsewhere(row, piece, target)
            : await ReadAgain(row, piece, target.ForbidKeeping());
    }

    private async LaneTask<IoError> ReadVerified(SpaceRow row, StripPiece piece, IoBuffer target)
    {
        ChecksumPage? page = FindPage(row, piece) ?? await LoadPage(row, piece.Column, piece.SlabOffset / _shape.PageSpan);
        if (page is null)
        {
            return IoError.Io;
        }

        page.Pins++;
        int first = FirstBlock(piece);
        page.Prefetch(first);
        IoError error = IoError.None;
        int copy = ChooseCopy(row, piece);
        if (copy < 0)
        {
            error = IoError.Io;   // what the page says may be from before
        }
        else if (AllNeverWritten(page, first, piece.Length / BlockSize))
        {
            target.Span.Clear();
        }
        else
        {
            error = await ReadHedged(row, piece, page, copy, target);
            error = error == SpaceHedges.Displaced ? IoError.None
                : error != IoError.None || !Verify(page, first, target) ? Doubtful
                : IoError.None;
        }

        page.Pins--;
        return error;
    }

    private async LaneTask<IoError> ReadUnverified(SpaceRow row, StripPiece piece, IoBuffer target)
    {
        int copy = ChooseCopy(row, piece);
        IoError error = copy < 0 ? IoError.Io : await ReadHedged(row, piece, null, copy, target);
        return error == SpaceHedges.Displaced || error == IoError.None ? IoError.None
            : _lane.Buffers.IsKept(target) ? await ReadElsewhere(row, piece, target)
            : await ReadOtherCopies(row, piece, copy, target.ForbidKeeping());
    }

    private async LaneTask<IoError> ReadOtherCopies(SpaceRow row, StripPiece piece, int first, IoBuffer target)
    {
        IoError error = IoError.Io;
        for (int copy = 0; copy < _shape.Copies && error != IoError.None; copy++)
        {
            if (copy != first && IsReadable(row, piece, copy))
            {
                error = await ReadCopy(row, piece, copy, target);
            }
        }

        return error;
    }

    private LaneTask<IoError> ReadCopy(SpaceRow row, StripPiece piece, int copy, IoBuffer target)
    {
        Invariant.That((uint)copy < (uint)_shape.Copies && IsReadable(row, piece, copy), "Nothing is read from a copy that is stale or whose disk is gone.");
        SlabPlace place = row.Place(piece.Column, copy);
        Counters.DataBytesRead += target.Length;
        return _members.Read(place.Disk, place.DataOffset + piece.SlabOffset, target);
    }

    /// <summary>The least busy copy that may be read; ties alternate, so that one stream uses every disk. −1: none.</summary>
    private int ChooseCopy(SpaceRow row, StripPiece piece)
    {
        if (_shape.Copies == 1)
        {
            return IsReadable(row, piece, 0) ? 0 : -1;
        }

        int best = -1;
        int bestBusy = int.MaxValue;
        _turn++;
        for (int i = 0; i < _shape.Copies; i++)
        {
            int copy = (i + _turn) % _shape.Copies;
            int busy = _members.Load(row.Place(piece.Column, copy).Disk);
            if (busy < bestBusy && IsReadable(row, piece, copy))
            {
                best = copy;
                bestBusy = busy;
            }
        }

        return best;
    }

    private bool IsReadable(SpaceRow row, StripPiece piece, int copy) =>
        _members.IsLive(row.Place(piece.Column, copy).Disk)
        && !row.IsStale(piece.Column, copy, row.RegionOf(piece.Column, piece.SlabOffset));

    private bool HasReadable(SpaceRow row, StripPiece piece)
    {
        for (int copy = 0; copy < _shape.Copies; copy++)
        {
            if (IsReadable(row, piece, copy))
            {
                return true;
            }
        }

        return false;
    }

    private int FirstBlock(StripPiece piece) => piece.SlabOffset % _shape.PageSpan / BlockSize;

    private static bool AllNeverWritten(ChecksumPage page, int first, int count) =>
        page.Generations[first] == ChecksumSector.NeverWritten && !page.Generations.Slice(first, count).ContainsAnyExcept(ChecksumSector.NeverWritten);

    /// <summary>Judges what was read by the entries; never-written blocks become zeros.</summary>
    private static bool Verify(ChecksumPage page, int first, IoBuffer data)
    {
        for (int i = 0; i < data.Length / BlockSize; i++)
        {
            Span<byte> block = data.Span.Slice(i * BlockSize, BlockSize);
            switch (page.Generations[first + i])
            {
                case ChecksumSector.NeverWritten:
                    block.Clear();
                    break;
                case ChecksumSector.Poisoned:
                    return false;
                default:
                    if (Crc32c.Compute(block) != page.Checksums[first + i])
                    {
                        return false;
                    }

                    break;
            }
        }

        return true;
    }

    /// <summary>
    /// The data did not match: read again under the lock, block by block, from every copy; heal what is wrong. Whoever calls
    /// does not use the row: who gives it back holds the lock and waits for its users. A row that is gone by then was zeros.
    /// </summary>
    private async LaneTask<IoError> ReadAgain(SpaceRow row, StripPiece piece, IoBuffer target)
    {
        long key = StripeGeometry.LockKey(_shape, piece.Row, piece.Column, piece.SlabOffset);
        await _locks.Acquire(key, key + piece.Length);
        IoError error = IoError.None;
        if (_rows[piece.Row] == row)
        {
            int turn = row.Enter();
            error = await ReadBlocks(row, piece, target);
            row.Leave(turn);
        }
        else
        {
            target.Span.Clear();
        }

        _locks.Release(key, key + piece.Length);
        return error;
    }

    private async LaneTask<IoError> ReadBlocks(SpaceRow row, StripPiece piece, IoBuffer target)
    {
        ChecksumPage? page = FindPage(row, piece) ?? await LoadPage(row, piece.Column, piece.SlabOffset / _shape.PageSpan);
        if (page is null)
        {
            return IoError.Io;
        }

        page.Pins++;
        IoError error = IoError.None;
        for (int at = 0; at < piece.Length; at += BlockSize)
        {
            StripPiece block = piece with { SlabOffset = piece.SlabOffset + at, Length = BlockSize };
            IoError blockError = await ReadBlockHealing(row, block, page, target.Slice(at, BlockSize));
            error = blockError == IoError.None ? error : blockError;
        }

        page.Pins--;
        return error;
    }

    /// <summary>Reads every copy, whichever of them was the doubtful one; a disk that does not answer is not waited for beside a good copy.</summary>
    private async LaneTask<IoError> ReadBlockHealing(SpaceRow row, StripPiece block, ChecksumPage page, IoBuffer target)
    {
        int index = FirstBlock(block);
        int wrong = 0;   // bit per copy that answered with something else, or not at all
        bool isFound = false;
        IoBuffer other = _lane.Buffers.Rent(BlockSize);
        for (int copy = 0; copy < _shape.Copies; copy++)
        {
            if (page.Generations[index] == ChecksumSector.Poisoned || !IsReadable(row, block, copy)
                || (isFound && _members.HasOverdue(row.Place(block.Column, copy).Disk)))
            {
                continue;
            }

            IoBuffer data = isFound ? other : target;
            IoError error = await ReadCopy(row, block, copy, data);
            if (error == IoError.None && Verify(page, index, data))
            {
                isFound = true;
                continue;
            }

            wrong |= 1 << copy;
            NoteWrong(row, block, copy, error);
        }

        _lane.Buffers.Return(other);
        return isFound ? await Heal(row, block, wrong, target) : NoteLost(row, block, wrong);
    }

    private void NoteWrong(SpaceRow row, StripPiece block, int copy, IoError error)
    {
        if (error == IoError.None && !IsListedLost(block))
        {
            SlabPlace place = row.Place(block.Column, copy);
            Counters.ChecksumMismatches++;
            _host.Report(place.Disk, DiskFinding.ChecksumMismatch, 1, place.DataOffset + block.SlabOffset);
        }
    }

    private IoError NoteLost(SpaceRow row, StripPiece block, int copies)
    {
        if (IsListedLost(block))
        {
            return IoError.Io;
        }

        Counters.BlocksLost++;
        ListLost(block);
        for (int copy = 0; copy < _shape.Copies; copy++)
        {
            if ((copies >> copy & 1) != 0)
            {
                SlabPlace place = row.Place(block.Column, copy);
                _host.Report(place.Disk, DiskFinding.Lost, 1, place.DataOffset + block.SlabOffset);
            }
        }

        return IoError.Io;
    }

    private async LaneTask<IoError> Heal(SpaceRow row, StripPiece block, int copies, IoBuffer good)
    {
        UnlistLost(block);
        for (int copy = 0; copy < _shape.Copies; copy++)
        {
            SlabPlace place = row.Place(block.Column, copy);
            if ((copies >> copy & 1) != 0
                && await WriteMember(place.Disk, place.DataOffset + block.SlabOffset, good, hasOtherCopy: true) == IoError.None)
            {
                Counters.BlocksHealed++;
                _host.Report(place.Disk, DiskFinding.Healed, 1, place.DataOffset + block.SlabOffset);
            }
        }

        return IoError.None;
    }
}
