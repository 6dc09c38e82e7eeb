using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// Reads of a simple or mirrored space.
//
// A read asks one copy and judges the answer by the entries. A copy that does not answer soon is hedged by another one; one that answers wrong
// is read again under the lock, with all others, and healed.

/// <summary>Reads a simple or mirrored space.</summary>
internal sealed class MirrorReads
{
    private readonly MirrorCopies _copies;
    private readonly FailedWrites _failed;
    private readonly IntegrityStore _integrity;
    private readonly SpaceMembers _members;
    private readonly BufferPool _buffers;
    private readonly SpaceHedges _hedges;
    private readonly bool _hasChecksums;

    internal MirrorReads(EngineParts parts, MirrorCopies copies, FailedWrites failed)
    {
        (_copies, _failed, _integrity, _members) = (copies, failed, parts.Integrity, parts.Space.Members);
        _buffers = parts.Space.Lane.Buffers;
        _hasChecksums = parts.Space.Shape.Checksums;
        _hedges = new SpaceHedges(parts.Space.Lane, parts.Space.Options.HedgeAfterNs, _members, OtherCopy, ReadOther);
    }

    internal long HedgesAsked => _hedges.Asked;

    internal long HedgesWon => _hedges.Won;

    internal LaneTask<IoError> Read(SpaceRow row, StripPiece piece, IoBuffer target) =>
        _hasChecksums ? ReadVerified(row, piece, target)
        : _failed.Contains(piece) ? LaneTask.FromResult(ILayoutEngine.Doubtful)
        : ReadUnverified(row, piece, target);

    /// <summary>Reads a piece under its lock, heals what is wrong and settles writes of it that have failed.</summary>
    internal LaneTask<IoError> ReadLocked(SpaceRow row, StripPiece piece, IoBuffer target) =>
        _hasChecksums ? ReadBlocks(row, piece, target) : ReadEqual(row, piece, target);

    /// <summary>Reads a piece without checksums: from another copy if one does not give it.</summary>
    internal async LaneTask<IoError> ReadUnverified(SpaceRow row, StripPiece piece, IoBuffer target)
    {
        int copy = _copies.ChooseCopy(row, piece);
        IoError error = copy < 0 ? IoError.Io : await ReadHedged(row, piece, null, copy, target);
        return error == SpaceHedges.Displaced || error == IoError.None ? IoError.None
            : _buffers.IsKept(target) ? await ReadElsewhere(row, piece, target)
            : await CopyIo.ReadAny(_copies, new RowPiece(row, piece), copy, target.ForbidKeeping());
    }

    /// <summary>Reads every block of a piece from all copies, and heals what is wrong.</summary>
    private async LaneTask<IoError> ReadBlocks(SpaceRow row, StripPiece piece, IoBuffer target)
    {
        ChecksumPage? page = _integrity.Find(row, piece) ?? await _integrity.Load(row, piece);
        if (page is null)
        {
            return IoError.Io;
        }

        page.Pin();
        IoError error = IoError.None;
        for (int at = 0; at < piece.Length; at += SpaceShape.BlockSize)
        {
            StripPiece block = piece with { SlabOffset = piece.SlabOffset + at, Length = SpaceShape.BlockSize };
            IoError blockError = await _copies.ReadBlockHealing(row, block, page, target.Slice(at, SpaceShape.BlockSize));
            error = blockError == IoError.None ? error : blockError;
        }

        page.Unpin();
        return error;
    }

    /// <summary>Reads a piece without checksums when the copies of its blocks are equal.</summary>
    private async LaneTask<IoError> ReadEqual(SpaceRow row, StripPiece piece, IoBuffer target)
    {
        IoError error = IoError.None;
        for (int at = 0; at < piece.Length && error == IoError.None; at += SpaceShape.BlockSize)
        {
            StripPiece block = piece with { SlabOffset = piece.SlabOffset + at, Length = SpaceShape.BlockSize };
            error = _failed.Contains(block) ? await _copies.TakeFirst(row, block, target.Slice(at, SpaceShape.BlockSize)) : error;
        }

        return error == IoError.None ? await ReadUnverified(row, piece, target) : error;
    }

    private LaneTask<IoError> ReadVerified(SpaceRow row, StripPiece piece, IoBuffer target)
    {
        if (_integrity.Find(row, piece) is { } page)
        {
            return ReadKnown(row, piece, page, target);
        }

        LaneTask<ChecksumPage?> load = _integrity.Load(row, piece);
        return !load.IsCompleted ? ReadBeside(row, piece, load, target)
            : load.GetAwaiter().GetResult() is { } loaded ? ReadKnown(row, piece, loaded, target)
            : LaneTask.FromResult(IoError.Io);
    }

    /// <summary>
    /// Reads a piece while its page is being read, and judges it when both are there: by then the page has the entries of every write that is acknowledged.
    /// </summary>
    private async LaneTask<IoError> ReadBeside(SpaceRow row, StripPiece piece, LaneTask<ChecksumPage?> load, IoBuffer target)
    {
        int copy = _copies.ChooseCopy(row, piece);
        LaneTask<IoError> read = copy < 0 ? LaneTask.FromResult(IoError.Io) : ReadHedged(row, piece, null, copy, target);
        ChecksumPage? page = await load;
        page?.Pin();
        IoError error = await read;
        if (page is null)
        {
            return IoError.Io;
        }

        error = error == SpaceHedges.Displaced ? IoError.None : copy < 0 ? IoError.Io : Judge(row, piece, page, copy, error, target);
        page.Unpin();
        return error;
    }

    private IoError Judge(SpaceRow row, StripPiece piece, ChecksumPage page, int copy, IoError error, IoBuffer target)
    {
        int first = _integrity.FirstBlock(piece);
        if (error != IoError.None && !_buffers.IsKept(target) && page.IsNeverWritten(first, piece.Length / SpaceShape.BlockSize))
        {
            target.Clear();   // what could not be read does not count
            return IoError.None;
        }

        return error == IoError.None && _copies.IsReadable(row, piece, copy) && page.Verify(first, target) ? IoError.None : ILayoutEngine.Doubtful;
    }

    private async LaneTask<IoError> ReadKnown(SpaceRow row, StripPiece piece, ChecksumPage page, IoBuffer target)
    {
        page.Pin();
        int first = _integrity.FirstBlock(piece);
        page.PrefetchEntry(first);
        IoError error = IoError.None;
        int copy = _copies.ChooseCopy(row, piece);
        if (copy < 0)
        {
            error = IoError.Io;   // what the page says may be from before
        }
        else if (page.IsNeverWritten(first, piece.Length / SpaceShape.BlockSize))
        {
            target.Clear();
        }
        else
        {
            error = await ReadHedged(row, piece, page, copy, target);
            error = error == SpaceHedges.Displaced ? IoError.None
                : error != IoError.None || !page.Verify(first, target) ? ILayoutEngine.Doubtful
                : IoError.None;
        }

        page.Unpin();
        return error;
    }

    /// <summary>The first copy passed its deadline and keeps the memory it was given: the others are read into memory of their own.</summary>
    private async LaneTask<IoError> ReadElsewhere(SpaceRow row, StripPiece piece, IoBuffer target)
    {
        IoBuffer answer = _buffers.Rent(target.Length);
        return _buffers.Displace(target, answer, await CopyIo.ReadAny(_copies, new RowPiece(row, piece), -1, answer));
    }

    /// <summary>Reads a copy; when it does not answer soon, another one too: then the result may be <see cref="SpaceHedges.Displaced"/>.</summary>
    private LaneTask<IoError> ReadHedged(SpaceRow row, StripPiece piece, ChecksumPage? page, int copy, IoBuffer target)
    {
        LaneTask<IoError> read = _copies.ReadCopy(row, piece, copy, target);
        if (_copies.Count == 1 || !target.MayBeKept || read.IsCompleted)
        {
            return read;
        }

        HedgedRead hedged = _hedges.Rent();
        int disk = _copies.PlaceOf(row, piece.Column, copy).Disk;
        return hedged.Begin(row, piece, page, copy, disk, target, _hedges.Link(hedged), read);
    }

    /// <summary>Returns another copy for an overdue read: readable, and on a disk that answers. −1: none.</summary>
    private int OtherCopy(HedgedRead read)
    {
        for (int copy = 0; copy < _copies.Count; copy++)
        {
            if (copy != read.Copy && _copies.IsReadable(read.Row, read.Piece, copy)
                && !_members.HasOverdue(_copies.PlaceOf(read.Row, read.Piece.Column, copy).Disk))
            {
                return copy;
            }
        }

        return -1;
    }

    private async LaneTask<bool> ReadOther(HedgedRead read, int copy, IoBuffer answer)
    {
        (SpaceRow row, StripPiece piece, ChecksumPage? page) = (read.Row, read.Piece, read.Page);
        int generation = row.Enter();   // the read itself may end meanwhile
        page?.Pin();
        IoError error = await _copies.ReadCopy(row, piece, copy, answer);
        if (page is null && _hasChecksums)
        {
            page = _integrity.Find(row, piece) ?? await _integrity.Load(row, piece);   // it was being read when the first copy was asked
            page?.Pin();
        }

        bool isGood = error == IoError.None && (page?.Verify(_integrity.FirstBlock(piece), answer) ?? !_hasChecksums);
        page?.Unpin();
        row.Leave(generation);
        return isGood;
    }
}
