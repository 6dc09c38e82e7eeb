using System.Numerics;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// Verifies the data of a simple or mirrored space.
//
// A stretch is first looked at without a lock, as a read does: most of the time everything matches. Only where something does not, it is judged
// again block by block under the lock, since a write, an unmap or a row given back may have raced.
//
// Invariants
//  1. A block is rewritten only under the lock, with bytes that match its entry.
//  2. A lost block keeps its entry: it fails reads until it is written.

/// <summary>Verifies and heals a simple or mirrored space.</summary>
internal sealed class MirrorScrub(EngineParts parts, MirrorCopies copies)
{
    private const int BlockSize = SpaceShape.BlockSize;

    private readonly SpaceStatus _status = parts.Space.Status;
    private readonly SpaceDamageCounters _counters = parts.Space.Counters.Damage;
    private readonly bool _hasChecksums = parts.Space.Shape.Checksums;
    private readonly BufferPool _buffers = parts.Space.Lane.Buffers;
    private readonly IntegrityStore _integrity = parts.Integrity;

    internal async LaneTask<bool> Verify(SpaceRow row, StripPiece piece, ScrubFindings findings)
    {
        if (!_hasChecksums && copies.Count == 1)
        {
            return true;   // nothing to compare with
        }

        ChecksumPage? page = null;
        bool isEmpty = false;
        if (_hasChecksums)
        {
            page = _integrity.Find(row, piece) ?? await _integrity.Load(row, piece);
            if (page is null)
            {
                return false;
            }

            isEmpty = page.IsNeverWritten(_integrity.FirstBlock(piece), piece.Length / BlockSize);
        }

        return isEmpty || await CopiesMatch(row, piece, page, findings);
    }

    internal LaneTask<IoError> VerifyLocked(SpaceRow row, StripPiece piece, ScrubFindings findings) =>
        _hasChecksums ? ScrubBlocks(row, piece, findings) : CompareBlocks(row, piece, findings);

    private static bool Matches(ChecksumPage page, int first, IoBuffer data, ref int verified)
    {
        for (int i = 0; i < data.Length / BlockSize; i++)
        {
            if (!ChecksumSector.HasValue(page.Generations[first + i]))
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

    private async LaneTask<bool> CopiesMatch(SpaceRow row, StripPiece piece, ChecksumPage? page, ScrubFindings findings)
    {
        if (page is not null)
        {
            page.Pin();
        }

        IoBuffer buffers = _buffers.Rent(piece.Length * copies.Count);
        int first = -1;
        int verified = 0;
        bool matches = true;
        for (int copy = 0; copy < copies.Count && matches; copy++)
        {
            if (!copies.IsReadable(row, piece, copy))
            {
                continue;
            }

            IoBuffer buffer = buffers.Slice(copy * piece.Length, piece.Length);
            matches = await copies.ReadCopy(row, piece, copy, buffer) == IoError.None
                && (page is not null ? Matches(page, _integrity.FirstBlock(piece), buffer, ref verified)
                    : first < 0 || buffer.Span.SequenceEqual(buffers.Slice(first * piece.Length, piece.Length).Span));
            verified += page is null ? piece.Length / BlockSize : 0;
            first = first < 0 ? copy : first;
        }

        _buffers.Return(buffers);
        if (page is not null)
        {
            page.Unpin();
        }

        findings.NoteVerified(matches ? verified : 0);
        return matches;
    }

    private async LaneTask<IoError> ScrubBlocks(SpaceRow row, StripPiece piece, ScrubFindings findings)
    {
        ChecksumPage? page = _integrity.Find(row, piece) ?? await _integrity.Load(row, piece);
        if (page is null)
        {
            return IoError.Io;
        }

        page.Pin();
        IoBuffer buffers = _buffers.Rent(BlockSize * (copies.Count + 1));
        for (int at = 0; at < piece.Length && _status.Fault == IoError.None; at += BlockSize)
        {
            StripPiece block = piece with { SlabOffset = piece.SlabOffset + at, Length = BlockSize };
            if (ChecksumSector.HasValue(page.Generations[_integrity.FirstBlock(block)]))
            {
                await ScrubBlock(row, block, page, buffers, findings);
            }
        }

        _buffers.Return(buffers);
        page.Unpin();
        return _status.Fault;
    }

    private async LaneTask<Nothing> ScrubBlock(SpaceRow row, StripPiece block, ChecksumPage page, IoBuffer buffers, ScrubFindings findings)
    {
        int good = -1;
        int wrong = 0;
        for (int copy = 0; copy < copies.Count; copy++)
        {
            if (!copies.IsReadable(row, block, copy))
            {
                continue;
            }

            IoBuffer data = buffers.Slice(copy * BlockSize, BlockSize);
            IoError error = await copies.ReadCopy(row, block, copy, data);
            findings.NoteVerified();
            if (error == IoError.None && Crc32c.Compute(data.Span) == page.Checksums[_integrity.FirstBlock(block)])
            {
                good = copy;
                continue;
            }

            wrong |= 1 << copy;
            copies.NoteWrong(row, block, copy, error);
        }

        bool isMarked = page.Generations[_integrity.FirstBlock(block)] == ChecksumSector.Marked;
        if (good < 0 || isMarked)
        {
            bool isSettled = await copies.Settle(row, block, page, buffers.Slice(0, BlockSize), isAnswer: false) == IoError.None;
            findings.NoteHealed(isSettled ? 1 : 0);
            if (!isSettled)
            {
                findings.NoteLost();
            }
        }
        else if (wrong != 0)
        {
            long before = _counters.BlocksHealed;
            await copies.Heal(row, block, wrong, buffers.Slice(good * BlockSize, BlockSize));
            findings.NoteHealed(_counters.BlocksHealed - before);
        }

        return default;
    }

    // Without checksums only copies can be compared, and only where none of them may be behind: a difference in a region that is not
    // clean may be a write that failed on the way.
    private async LaneTask<IoError> CompareBlocks(SpaceRow row, StripPiece piece, ScrubFindings findings)
    {
        IoBuffer buffers = _buffers.Rent(piece.Length * copies.Count);
        int answered = await copies.ReadAllCopies(row, piece, buffers);
        bool isQuiet = row.Regions[row.RegionOf(piece.Column, piece.SlabOffset)].IsQuiet;
        for (int i = 0; i < piece.Length / BlockSize && isQuiet && answered != 0; i++)
        {
            int differing = copies.Differing(buffers, piece.Length, i, answered, BitOperations.TrailingZeroCount(answered));
            if (differing != 0)
            {
                findings.NoteDiffering();
                _counters.NoteDiffering();
            }
        }

        findings.NoteVerified(piece.Length / BlockSize * BitOperations.PopCount((uint)answered));
        _buffers.Return(buffers);
        return IoError.None;
    }
}
