using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

public sealed partial class Space
{
    [ThreadStatic]
    private static FreeList<uint[]> s_checksums;   // one array per write under way

    private async LaneTask<IoError> WritePiece(StripPiece piece, IoBuffer source)
    {
        Counters.Pieces++;
        IoError error = _changedBytes > _changedBytesMax ? await FlushForRoom() : IoError.None;
        while (error == IoError.None)
        {
            if (_rows[piece.Row] is { IsInitialized: true } ready)
            {
                int index = ready.RegionOf(piece.Column, piece.SlabOffset);
                if (ready.Regions[index].State < RegionState.Unresolved)
                {
                    break;
                }

                error = await Resolve(ready, index);
            }
            else
            {
                error = await PrepareRow(piece.Row);
            }
        }

        if (error != IoError.None)
        {
            return error;
        }

        long key = StripeGeometry.LockKey(_shape, piece.Row, piece.Column, piece.SlabOffset);
        await _locks.Acquire(key, key + piece.Length);
        if (_rows[piece.Row] is not { IsInitialized: true } row)
        {
            _locks.Release(key, key + piece.Length);   // the row was given back meanwhile
            return await WritePiece(piece, source);
        }

        int turn = row.Enter();
        int region = row.RegionOf(piece.Column, piece.SlabOffset);
        Admit(ref row.RegionAt(region));
        error = row.Regions[region].State == RegionState.Dirty || !_shape.HasLog
            ? IoError.None : await _members.OrNoSpace(MarkDirty(row, region));
        bool isMarked = error == IoError.None;
        if (isMarked)
        {
            error = _shape.Checksums ? await WriteChecked(row, piece, source) : await WriteCopies(row, piece, source);
        }

        if (IsOnlyCopyGone(error) && !_shape.Checksums)
        {
            await PutOut(row.Place(piece.Column, 0).Disk, error, hasOtherCopy: false, "a write");
        }

        if (error == IoError.None)
        {
            UnlistLost(piece);
        }

        Leave(ref row.RegionAt(region), isMarked);
        row.Leave(turn);
        _locks.Release(key, key + piece.Length);
        return error;
    }

    private async LaneTask<IoError> WriteChecked(SpaceRow row, StripPiece piece, IoBuffer source)
    {
        ChecksumPage? page = FindPage(row, piece) ?? await LoadPage(row, piece.Column, piece.SlabOffset / _shape.PageSpan);
        if (page is null)
        {
            return IoError.Io;
        }

        page.Pins++;
        uint[] checksums = s_checksums.Take() ?? new uint[ChecksumPage.Blocks];
        int first = FirstBlock(piece);
        int count = piece.Length / BlockSize;
        page.Prefetch(first);
        for (int i = 0; i < count; i++)
        {
            checksums[i] = Crc32c.Compute(source.Span.Slice(i * BlockSize, BlockSize));
        }

        IoError error = await NoteFirstWrites(page, piece, source, checksums);
        uint noted = _notes?.Generation ?? 0;
        if (error == IoError.None)
        {
            error = await WriteCopies(row, piece, source);
            if (IsOnlyCopyGone(error))
            {
                await PutOut(row.Place(piece.Column, 0).Disk, error, hasOtherCopy: false, "a write");
            }
        }

        if (error == IoError.None && _notes is { } notes && notes.Generation != noted)
        {
            error = await NoteFirstWrites(page, piece, source, checksums);   // a flush meanwhile may have cleared what was noted
        }

        if (error == IoError.None)
        {
            SetEntries(row, page, first, count, checksums);
        }

        s_checksums.Return(checksums);
        page.Pins--;
        return error;
    }

    private void SetEntries(SpaceRow row, ChecksumPage page, int first, int count, uint[] checksums)
    {
        for (int i = 0; i < count; i++)
        {
            if (row.WrittenBlocks >= 0 && page.Generations[first + i] == 0)
            {
                row.WrittenBlocks++;
            }

            page.Set(first + i, checksums[i]);
        }

        NoteChanged(page, count);
    }

    private LaneTask<IoError> NoteFirstWrites(ChecksumPage page, StripPiece piece, IoBuffer source, uint[] checksums)
    {
        if (_notes is { } notes && notes.Room < SlotsFor(piece))
        {
            return NoteAfterFlush(page, piece, source, checksums);
        }

        Note(page, piece, source, checksums);
        return LaneTask.FromResult(IoError.None);
    }

    private async LaneTask<IoError> NoteAfterFlush(ChecksumPage page, StripPiece piece, IoBuffer source, uint[] checksums)
    {
        IoError error = await FlushForNotes(SlotsFor(piece));

        if (error == IoError.None)
        {
            Note(page, piece, source, checksums);
        }

        return error;
    }

    private void Note(ChecksumPage page, StripPiece piece, IoBuffer source, uint[] checksums)
    {
        int first = FirstBlock(piece);
        long block = BlockKey(piece);
        for (int i = 0; i < piece.Length / BlockSize && _notes is not null; i++)
        {
            if (page.IsUnlogged(first + i))
            {
                _notes.Add(block + i, checksums[i], source.Span.Slice(i * BlockSize, BlockSize));
            }
        }
    }

    /// <summary>Returns the slots of the first-write journal that a write takes at most; an unmap takes fewer.</summary>
    private static int SlotsFor(StripPiece piece) => piece.Length / BlockSize * CrashNotes.SlotsPerNote;

    private long BlockKey(StripPiece piece) =>
        StripeGeometry.LockKey(_shape, piece.Row, piece.Column, piece.SlabOffset) / BlockSize;

    /// <summary>Writes every live copy side by side; a copy that fails or is missing is durably out or stale before this completes.</summary>
    private LaneTask<IoError> WriteCopies(SpaceRow row, StripPiece piece, IoBuffer source) =>
        _shape.Copies == 1 ? WriteCopy(row, piece, 0, source) : WriteMirror(row, piece, source);

    private async LaneTask<IoError> WriteMirror(SpaceRow row, StripPiece piece, IoBuffer source)
    {
        int version = _members.Version;
        LaneTask<IoError> write0 = WriteCopy(row, piece, 0, source);
        LaneTask<IoError> write1 = WriteCopy(row, piece, 1, source);
        LaneTask<IoError> write2 = _shape.Copies > 2 ? WriteCopy(row, piece, 2, source) : LaneTask.FromResult(IoError.DeviceGone);
        IoError error0 = await write0;
        IoError error1 = await write1;
        IoError error2 = await write2;
        bool isHeld = Holds(row, piece, error0, error1, error2);
        if (isHeld && !(error0 == IoError.None && error1 == IoError.None && (error2 == IoError.None || _shape.Copies == 2)))
        {
            IoError missing = await MarkMissing(row, piece, version, error0, error1, error2);
            if (missing != IoError.None)
            {
                return missing;
            }

            isHeld = Holds(row, piece, error0, error1, error2);   // the disk of the only copy that took it may have left meanwhile
        }

        return isHeld ? IoError.None
            : error0 is not IoError.None and not IoError.DeviceGone ? error0
            : error1 is not IoError.None and not IoError.DeviceGone ? error1 : IoError.Io;
    }

    /// <summary>A write of which there is no other copy met no disk: it leaves the view all the same.</summary>
    private bool IsOnlyCopyGone(IoError write) => _shape.Copies == 1 && write is IoError.DeviceGone or IoError.NoDevice;

    /// <summary>Whether a good copy took a write: it is not stale there, and its disk is in the view now.</summary>
    private bool Holds(SpaceRow row, StripPiece piece, IoError error0, IoError error1, IoError error2) =>
        (error0 == IoError.None && IsReadable(row, piece, 0)) || (error1 == IoError.None && IsReadable(row, piece, 1))
        || (error2 == IoError.None && IsReadable(row, piece, 2));

    /// <summary>A good copy took the write, another did not: that one must be durably stale before the write is acknowledged.</summary>
    private async LaneTask<IoError> MarkMissing(SpaceRow row, StripPiece piece, int version, IoError error0, IoError error1, IoError error2)
    {
        for (int copy = 0; copy < _shape.Copies; copy++)
        {
            IoError error = copy == 0 ? error0 : copy == 1 ? error1 : error2;
            if (error == IoError.NoSpace)
            {
                return error;
            }

            if (error != IoError.None)
            {
                if (version == _members.Version)
                {
                    await PutOut(row.Place(piece.Column, copy).Disk, error, hasOtherCopy: true, "a write");
                }   // else the failure may be of a disk that has left since and come back

                error = await MarkStale(row, (piece.Column * _shape.Copies) + copy, RegionBit(row, piece));
                if (error != IoError.None)
                {
                    return Fail(error, "a missing copy could not be recorded as stale");
                }
            }
        }

        return IoError.None;
    }

    private LaneTask<IoError> WriteCopy(SpaceRow row, StripPiece piece, int copy, IoBuffer source)
    {
        SlabPlace place = row.Place(piece.Column, copy);
        Counters.DataBytesWritten += source.Length;
        bool moves = row.JoiningPosition == (piece.Column * _shape.Copies) + copy;
        return moves
            ? WriteBoth(row, place, piece.SlabOffset, source)
            : _members.Write(place.Disk, place.DataOffset + piece.SlabOffset, source);
    }

    /// <summary>The slab moves: what is written to it goes to its target too, and only the source's answer counts.</summary>
    private async LaneTask<IoError> WriteBoth(SpaceRow row, SlabPlace place, int slabOffset, IoBuffer source)
    {
        LaneTask<IoError> here = _members.Write(place.Disk, place.DataOffset + slabOffset, source);
        LaneTask<IoError> there = _members.Write(row.Joining.Disk, row.Joining.DataOffset + slabOffset, source);
        IoError error = await here;
        row.JoiningFailed |= await there != IoError.None;
        return error;
    }

    /// <summary>A write that is not client data: healing, pages. A disk that fails it leaves the view when it can.</summary>
    private async LaneTask<IoError> WriteMember(int disk, long offset, IoBuffer source, bool hasOtherCopy, bool awaitsRoom = false)
    {
        IoError error = await _members.Write(disk, offset, source, awaitsRoom);
        if (error != IoError.None && error != IoError.NoSpace)
        {
            await PutOut(disk, error, hasOtherCopy, "a write");
        }

        return error;
    }

    private static ushort RegionBit(SpaceRow row, StripPiece piece) =>
        (ushort)(1 << (row.RegionOf(piece.Column, piece.SlabOffset) % SpaceShape.RegionsPerSlab));
}
