using System.Numerics;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// Verifying a space, a stride at a time, beside everything else that happens in it.
//
// A stride first looks without any lock, as a read does: most of the time everything matches. Only where something does not, the
// range is locked and judged again block by block, since a write, an unmap or a row given back may have raced.
//
// Invariants
//  1. Nothing is changed outside the range lock. A block is rewritten only with bytes that match its entry.
//  2. Nobody waits for a lock while counted among the users of a row: whoever gives the row back holds the lock and waits for them.
//  3. Lost blocks keep their entries: they fail reads until they are written, and nothing is blessed.
//  4. The cursor names a place of the address space, not work under way: a stride repeated does no harm.
public sealed partial class Space
{
    private const int ScrubStrideMax = 256 << 10;

    /// <summary>Bytes of address space that have slabs with something in them: what a whole pass goes over.</summary>
    public long ScrubBytes => _rows.Count(row => row is { IsInitialized: true }) * _shape.RowSize;

    /// <summary>
    /// Verifies the stride at <paramref name="cursor"/> on every copy, checksum pages included, and heals what is wrong.
    /// </summary>
    /// <param name="cursor">0, or what the last stride gave; of another opening of the space too.</param>
    /// <param name="findings">What was found is added to it.</param>
    public async LaneTask<ScrubStride> Scrub(long cursor, ScrubFindings findings)
    {
        int stride = Math.Min(ScrubStrideMax, Math.Min(_shape.RegionSize, _shape.PageSpan));
        long rowKeys = (long)_shape.Columns * _shape.SlabSize;
        cursor = Math.Max(0, cursor) / stride * stride;
        while (cursor / rowKeys < _rows.Length && _rows[cursor / rowKeys] is not { IsInitialized: true })
        {
            cursor = ((cursor / rowKeys) + 1) * rowKeys;
        }

        if (cursor / rowKeys >= _rows.Length || Fault != IoError.None)
        {
            if (_log is not null && Fault == IoError.None)
            {
                await Writeback();   // what the log holds stands on verified pages now: rot in old blocks of the ring is no loss
            }

            return new ScrubStride(cursor, 0, Fault == IoError.None, Fault);
        }

        long slab = cursor / _shape.SlabSize;
        StripPiece piece = new((int)(slab / _shape.Columns), (int)(slab % _shape.Columns), (int)(cursor % _shape.SlabSize), stride);
        IoError error = await ScrubPiece(piece, findings);
        return new ScrubStride(cursor + stride, error == IoError.None ? stride : 0, false, error);
    }

    private async LaneTask<IoError> ScrubPiece(StripPiece piece, ScrubFindings findings)
    {
        IoError error = IoError.None;
        if (_rows[piece.Row] is { IsInitialized: true } row && row.RegionOf(piece.Column, piece.SlabOffset) is var region
            && row.Regions[region].State >= RegionState.Unresolved)
        {
            error = await Resolve(row, region);
        }

        if (error == IoError.None && _shape.Checksums && piece.SlabOffset % _shape.PageSpan == 0)
        {
            await ScrubPage(piece, findings);
        }

        if (error != IoError.None || Fault != IoError.None)
        {
            return Fault != IoError.None ? Fault : error;
        }

        return !_shape.Checksums && _shape.Copies == 1 ? IoError.None
            : await IsAsItShouldBe(piece, findings) ? IoError.None
            : await ScrubLocked(piece, findings);
    }

    /// <summary>Looks without a lock. False: something did not match, or could not be read, or a write was in the way.</summary>
    private async LaneTask<bool> IsAsItShouldBe(StripPiece piece, ScrubFindings findings)
    {
        if (_rows[piece.Row] is not { IsInitialized: true } row)
        {
            return true;
        }

        int turn = row.Enter();
        ChecksumPage? page = null;
        bool matches = true;
        bool isEmpty = false;
        if (_shape.Checksums)
        {
            page = FindPage(row, piece) ?? await LoadPage(row, piece.Column, piece.SlabOffset / _shape.PageSpan);
            matches = page is not null;
            isEmpty = page is not null && AllNeverWritten(page, FirstBlock(piece), piece.Length / BlockSize);
        }

        if (matches && !isEmpty)
        {
            matches = await CopiesMatch(row, piece, page, findings);
        }

        row.Leave(turn);
        return matches;
    }

    private async LaneTask<bool> CopiesMatch(SpaceRow row, StripPiece piece, ChecksumPage? page, ScrubFindings findings)
    {
        if (page is not null)
        {
            page.Pins++;
        }

        IoBuffer buffers = _lane.Buffers.Rent(piece.Length * _shape.Copies);
        int first = -1;
        int verified = 0;
        bool matches = true;
        for (int copy = 0; copy < _shape.Copies && matches; copy++)
        {
            if (!IsReadable(row, piece, copy))
            {
                continue;
            }

            IoBuffer buffer = buffers.Slice(copy * piece.Length, piece.Length);
            matches = await ReadCopy(row, piece, copy, buffer) == IoError.None
                && (page is not null ? Matches(page, FirstBlock(piece), buffer, ref verified)
                    : first < 0 || buffer.Span.SequenceEqual(buffers.Slice(first * piece.Length, piece.Length).Span));
            verified += page is null ? piece.Length / BlockSize : 0;
            first = first < 0 ? copy : first;
        }

        _lane.Buffers.Return(buffers);
        if (page is not null)
        {
            page.Pins--;
        }

        findings.BlocksVerified += matches ? verified : 0;
        return matches;
    }

    private static bool Matches(ChecksumPage page, int first, IoBuffer data, ref int verified)
    {
        for (int i = 0; i < data.Length / BlockSize; i++)
        {
            if (page.Generations[first + i] is ChecksumSector.NeverWritten or ChecksumSector.Poisoned)
            {
                continue;
            }

            verified++;
            if (Crc32c.Compute(data.Span.Slice(i * BlockSize, BlockSize)) != page.Checksums[first + i])
            {
                return false;
            }
        }

        return true;
    }

    private async LaneTask<IoError> ScrubLocked(StripPiece piece, ScrubFindings findings)
    {
        long key = StripeGeometry.LockKey(_shape, piece.Row, piece.Column, piece.SlabOffset);
        await _locks.Acquire(key, key + piece.Length);
        IoError error = IoError.None;
        if (_rows[piece.Row] is { IsInitialized: true } row)
        {
            int turn = row.Enter();
            error = _shape.Checksums ? await ScrubBlocks(row, piece, findings) : await CompareBlocks(row, piece, findings);
            row.Leave(turn);
        }

        _locks.Release(key, key + piece.Length);
        return error;
    }

    private async LaneTask<IoError> ScrubBlocks(SpaceRow row, StripPiece piece, ScrubFindings findings)
    {
        ChecksumPage? page = FindPage(row, piece) ?? await LoadPage(row, piece.Column, piece.SlabOffset / _shape.PageSpan);
        if (page is null)
        {
            return IoError.Io;
        }

        page.Pins++;
        IoBuffer buffers = _lane.Buffers.Rent(BlockSize * (_shape.Copies + 1));
        for (int at = 0; at < piece.Length && Fault == IoError.None; at += BlockSize)
        {
            StripPiece block = piece with { SlabOffset = piece.SlabOffset + at, Length = BlockSize };
            if (page.Generations[FirstBlock(block)] is not (ChecksumSector.NeverWritten or ChecksumSector.Poisoned))
            {
                await ScrubBlock(row, block, page, buffers, findings);
            }
        }

        _lane.Buffers.Return(buffers);
        page.Pins--;
        return Fault;
    }

    private async LaneTask<Nothing> ScrubBlock(SpaceRow row, StripPiece block, ChecksumPage page, IoBuffer buffers, ScrubFindings findings)
    {
        int good = -1;
        int wrong = 0;
        for (int copy = 0; copy < _shape.Copies; copy++)
        {
            if (!IsReadable(row, block, copy))
            {
                continue;
            }

            IoBuffer data = buffers.Slice(copy * BlockSize, BlockSize);
            IoError error = await ReadCopy(row, block, copy, data);
            findings.BlocksVerified++;
            if (error == IoError.None && Crc32c.Compute(data.Span) == page.Checksums[FirstBlock(block)])
            {
                good = copy;
                continue;
            }

            wrong |= 1 << copy;
            NoteWrong(row, block, copy, error);
        }

        if (good < 0)
        {
            NoteLost(row, block, wrong);
            findings.BlocksLost++;
        }
        else if (wrong != 0)
        {
            long before = Counters.BlocksHealed;
            await Heal(row, block, wrong, buffers.Slice(good * BlockSize, BlockSize));
            findings.BlocksHealed += Counters.BlocksHealed - before;
        }

        return default;
    }

    // Without checksums only copies can be compared, and only where none of them may be behind: a difference in a region that is not
    // clean may be a write that failed on the way.
    private async LaneTask<IoError> CompareBlocks(SpaceRow row, StripPiece piece, ScrubFindings findings)
    {
        IoBuffer buffers = _lane.Buffers.Rent(piece.Length * _shape.Copies);
        int answered = await ReadAllCopies(row, piece, buffers);
        bool isClean = row.Regions[row.RegionOf(piece.Column, piece.SlabOffset)] is { State: RegionState.Clean, InFlight: 0 };
        for (int i = 0; i < piece.Length / BlockSize && isClean && answered != 0; i++)
        {
            int differing = Differing(buffers, piece.Length, i, answered, BitOperations.TrailingZeroCount(answered));
            findings.BlocksDiffering += differing != 0 ? 1 : 0;
            Counters.BlocksDiffering += differing != 0 ? 1 : 0;
        }

        findings.BlocksVerified += piece.Length / BlockSize * BitOperations.PopCount((uint)answered);
        _lane.Buffers.Return(buffers);
        return IoError.None;
    }
}
