using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// Online resync of stale copies, while reads and writes go on.
//
// A stale copy whose disk is back in the view takes every new write; it is not read. The unit of repair is a region, or as many
// regions as share a checksum page:
//
//  1. Missed is cleared: from here on whatever the copy misses begins the unit again.
//  2. Per chunk, under its range lock: read from a good copy, verify by the entries, write to the stale one.
//  3. With no writeback running: the unit's pages, as logged, to the copy; flush; read back; the mark is taken off, durably.
//
// A crash anywhere leaves the mark, and the unit is done again. What no good copy can give in a block is not made up: the block keeps what the
// stale copy has, which its entry refuses (or, if it matches, it is the right data).

public sealed partial class Space
{
    private readonly RepairTurn _repairs = new();
    private UnitProgress _progress;   // of the unit that a stop left half copied: what was copied stays so while nothing is missed

    /// <summary>Regions, over all copies, that are stale.</summary>
    public int StaleRegions => _rows.Sum(row => row?.Stale.Sum(static mask => System.Numerics.BitOperations.PopCount(mask)) ?? 0);

    /// <summary>
    /// Bytes that <see cref="Resync"/> can make whole now: stale regions on disks that are there and of which another disk has a good copy, and stale
    /// log copies.
    /// </summary>
    public long BytesToResync
    {
        get
        {
            long bytes = 0;
            foreach (SpaceRow? row in _rows)
            {
                for (int position = 0; row is not null && position < row.Places.Length; position++)
                {
                    int regions = row.IsInitialized && row.Stale[position] != 0 && _members.IsLive(row.Places[position].Disk)
                        ? row.Stale[position] & GoodElsewhere(row, position) : 0;
                    bytes += (long)System.Numerics.BitOperations.PopCount((uint)regions) * _shape.RegionSize;
                }
            }

            return bytes + _rings.BytesToResync;
        }
    }

    /// <summary>Whether no copy of the integrity log takes part.</summary>
    public bool LacksLog => _logMedium is { HasSource: false };

    /// <summary>Whether no copy of the integrity log takes part, and one that has all of it is on a disk that is back.</summary>
    public bool HasReturnedLog => _logMedium is { HasReturned: true };

    /// <summary>A disk has come back into the view. It takes writes from now on; what is stale on it waits for <see cref="Resync"/>.</summary>
    public void OnDiskJoined()
    {
        _members.Version++;
        LearnUnknown().Forget();
    }

    /// <summary>Makes every stale copy whole whose disk is there. One repair of a space runs at a time; a second one waits for the first.</summary>
    public async LaneTask<RepairEnd> Resync(IWorkPacer pacer)
    {
        if (!await _repairs.Begin(() => IsRepairStopping))
        {
            return RepairEnd.Stopped;
        }

        RepairEnd end = await ResyncAll(pacer);
        _repairs.End();
        return end;
    }

    private bool IsRepairStopping => _closing || Fault != IoError.None;

    private async LaneTask<bool> Pace(IWorkPacer pacer, long bytes) => await pacer.Done(bytes) && !IsRepairStopping;

    private async LaneTask<RepairEnd> ResyncAll(IWorkPacer pacer)
    {
        await LearnUnknown();
        long before = _rings.CopiesRepaired;
        RepairEnd end = await _rings.Resync(bytes => Pace(pacer, bytes));
        Counters.LogCopiesRepaired += _rings.CopiesRepaired - before;
        for (int index = 0; index < _rows.Length && end != RepairEnd.Stopped; index++)
        {
            for (int position = 0; position < _shape.Positions && end != RepairEnd.Stopped; position++)
            {
                if (_rows[index] is { IsInitialized: true } row && row.Stale[position] != 0)
                {
                    end = RingSet.Worse(end, await ResyncPosition(row, position, pacer));
                }
            }
        }

        return end;
    }

    private async LaneTask<RepairEnd> ResyncPosition(SpaceRow row, int position, IWorkPacer pacer)
    {
        int perUnit = Math.Max(1, _shape.PageSpan / _shape.RegionSize);
        RepairEnd end = RepairEnd.Done;
        for (int first = 0; first < SpaceShape.RegionsPerSlab && end != RepairEnd.Stopped; first += perUnit)
        {
            ushort unit = (ushort)(((1 << perUnit) - 1) << first);
            while ((row.Stale[position] & unit) != 0 && _rows[row.Index] == row)
            {
                RepairEnd tried = await ResyncUnit(row, position, unit, pacer);
                end = RingSet.Worse(end, tried);
                if (tried != RepairEnd.Done)
                {
                    break;
                }
            }
        }

        return end;
    }

    /// <summary>One attempt at a unit; Done also when it has to begin again because the copy missed something meanwhile.</summary>
    private async LaneTask<RepairEnd> ResyncUnit(SpaceRow row, int position, ushort unit, IWorkPacer pacer)
    {
        ushort regions = (ushort)(row.Stale[position] & unit & GoodElsewhere(row, position));
        if (regions == 0 || !_members.IsLive(row.Places[position].Disk))
        {
            return RepairEnd.Incomplete;
        }

        UnitProgress here = new(row, position, regions, _members.Version, 0);
        bool goesOn = _progress with { Bytes = 0 } == here && (row.Missed[position] & unit) == 0;
        int skip = goesOn ? _progress.Bytes : 0;
        row.Missed[position] &= (ushort)~unit;
        int column = position / _shape.Copies;
        int before = 0;   // bytes of the unit's regions so far
        for (int i = 0; i < SpaceShape.RegionsPerSlab; i++)
        {
            if ((regions >> i & 1) == 0)
            {
                continue;
            }

            int region = (column * SpaceShape.RegionsPerSlab) + i;
            int from = Math.Clamp(skip - before, 0, _shape.RegionSize);
            (RepairEnd copied, int reached) = await CopyRegion(row, region, row.Places[position], from, pacer);
            if (copied != RepairEnd.Done)
            {
                _progress = here with { Bytes = before + reached };
                return copied;
            }

            before += _shape.RegionSize;
        }

        return await FinishUnit(row, position, unit, regions);
    }

    /// <summary>
    /// Copies a region, from whichever copies are good and from an offset on, to a place that takes every write of it already. Gives the
    /// offset it reached.
    /// </summary>
    private async LaneTask<(RepairEnd End, int Reached)> CopyRegion(SpaceRow row, int region, SlabPlace target, int from, IWorkPacer pacer)
    {
        if (row.Regions[region].State >= RegionState.Unresolved && await Resolve(row, region) != IoError.None)
        {
            return (RepairEnd.Incomplete, from);
        }

        int column = region / SpaceShape.RegionsPerSlab;
        int start = region % SpaceShape.RegionsPerSlab * _shape.RegionSize;
        int chunk = Math.Min(ResyncChunk, Math.Min(_shape.RegionSize, _shape.PageSpan));
        IoBuffer buffer = _lane.Buffers.Rent(chunk);
        RepairEnd end = RepairEnd.Done;
        int at = from;
        for (; at < _shape.RegionSize && end == RepairEnd.Done; at += chunk)
        {
            StripPiece piece = new(row.Index, column, start + at, chunk);
            IoError error = await CopyChunk(row, piece, target, buffer);
            end = error is not IoError.None and not IoError.Cancelled ? RepairEnd.Incomplete : await Pace(pacer, chunk) ? RepairEnd.Done : RepairEnd.Stopped;
        }

        _lane.Buffers.Return(buffer);
        return (end, end == RepairEnd.Incomplete ? 0 : at);
    }

    private async LaneTask<IoError> CopyChunk(SpaceRow row, StripPiece piece, SlabPlace target, IoBuffer buffer)
    {
        long key = StripeGeometry.LockKey(_shape, piece.Row, piece.Column, piece.SlabOffset);
        await _locks.Acquire(key, key + piece.Length);
        IoError error = IoError.Cancelled;   // the row was given back meanwhile: nothing is left to copy
        if (_rows[piece.Row] == row)
        {
            int turn = row.Enter();
            error = _shape.Checksums ? await CopyVerified(row, piece, target, buffer) : await ReadUnverified(row, piece, buffer);
            error = error == IoError.None && !_shape.Checksums ? await WriteTarget(piece, target, buffer) : error;
            row.Leave(turn);
        }

        _locks.Release(key, key + piece.Length);
        return error;
    }

    private async LaneTask<IoError> CopyVerified(SpaceRow row, StripPiece piece, SlabPlace target, IoBuffer buffer)
    {
        ChecksumPage? page = FindPage(row, piece) ?? await LoadPage(row, piece.Column, piece.SlabOffset / _shape.PageSpan);
        if (page is null || !HasReadable(row, piece))
        {
            return IoError.Io;
        }

        page.Pins++;
        int first = FirstBlock(piece);
        IoError error = IoError.None;
        if (!AllNeverWritten(page, first, piece.Length / BlockSize))
        {
            error = await ReadCopy(row, piece, ChooseCopy(row, piece), buffer);
            error = error == IoError.None && Verify(page, first, buffer)
                ? await WriteTarget(piece, target, buffer)
                : await CopyBlocks(row, piece, page, target, buffer);
        }

        page.Pins--;
        return error;
    }

    /// <summary>Something of the chunk is damaged: block by block, healing; a block that nobody has is left as it is.</summary>
    private async LaneTask<IoError> CopyBlocks(SpaceRow row, StripPiece piece, ChecksumPage page, SlabPlace target, IoBuffer buffer)
    {
        IoError error = IoError.None;
        for (int at = 0; at < piece.Length && error == IoError.None; at += BlockSize)
        {
            StripPiece block = piece with { SlabOffset = piece.SlabOffset + at, Length = BlockSize };
            IoBuffer part = buffer.Slice(at, BlockSize);
            if (await ReadBlockHealing(row, block, page, part) == IoError.None)
            {
                error = await WriteTarget(block, target, part);
            }
        }

        return error;
    }

    private async LaneTask<IoError> WriteTarget(StripPiece piece, SlabPlace target, IoBuffer buffer)
    {
        Counters.RepairBytesWritten += buffer.Length;
        return await WriteMember(target.Disk, target.DataOffset + piece.SlabOffset, buffer, hasOtherCopy: true);
    }

    private async LaneTask<RepairEnd> FinishUnit(SpaceRow row, int position, ushort unit, ushort regions)
    {
        await HoldWriteback();
        RepairEnd end = RepairEnd.Done;
        if (_rows[row.Index] == row)
        {
            int turn = row.Enter();   // it is not given back before this ends
            SlabPlace target = row.Places[position];
            IoError error = _shape.Checksums ? await WritePages(row, position / _shape.Copies, unit, target) : await FlushTarget(target);
            bool isWhole = error == IoError.None && (row.Missed[position] & regions) == 0;
            end = error != IoError.None ? RepairEnd.Incomplete : isWhole ? await ClearStale(row, position, regions) : RepairEnd.Done;
            row.Leave(turn);
        }

        ReleaseWriteback();
        return end;
    }

    private async LaneTask<RepairEnd> ClearStale(SpaceRow row, int position, ushort regions)
    {
        row.StaleClearing[position] |= regions;
        IoError error = await _host.ClearStale(_options.Space, row.Index, position, regions);
        row.StaleClearing[position] &= (ushort)~regions;
        if (error == IoError.None)
        {
            row.Stale[position] &= (ushort)~regions;
            Counters.RegionsRepaired += System.Numerics.BitOperations.PopCount(regions);
        }
        else if (await _host.MarkStale(_options.Space, row.Index, position, regions) != IoError.None)
        {
            Fail(error, "it is not known whether a copy counts as stale");   // a commit that ran out of space may still come about
        }

        _regionsChanged.NotifyAll();
        return error == IoError.None ? RepairEnd.Done : RepairEnd.Incomplete;
    }

    private async LaneTask<Nothing> HoldWriteback()
    {
        while (_writebackRunning)
        {
            await _writebackEnded.Wait();
        }

        _writebackRunning = true;
        return default;
    }

    private void ReleaseWriteback()
    {
        _writebackRunning = false;
        _writebackEnded.NotifyAll();
    }

    /// <summary>Writes the checksum pages of some regions of a column to a place, as logged; flush; read back. No writeback is running.</summary>
    private async LaneTask<IoError> WritePages(SpaceRow row, int column, ushort regions, SlabPlace target)
    {
        IoError error = await _log!.Journal.Commit(_log.Journal.Next - 1);   // blocks that the copying passed over as never-written must stay so
        AfterLogCommit();
        IoBuffer images = _lane.Buffers.Rent(_shape.PagesPerSlab * ChecksumSector.PageSize);
        List<int> pages = [];
        for (int index = 0; index < _shape.PagesPerSlab && error == IoError.None; index++)
        {
            IoBuffer image = images.Slice(index * ChecksumSector.PageSize, ChecksumSector.PageSize);
            if ((PageRegions(index) & regions) != 0)
            {
                pages.Add(index);
                error = await EncodeLogged(row, column, index, image);
                error = error == IoError.None
                    ? await WriteMember(target.Disk, target.PagesOffset + ((long)index * ChecksumSector.PageSize), image, hasOtherCopy: true)
                    : error;
                Counters.MetadataBytesWritten += image.Length;
            }
        }

        error = error == IoError.None ? await FlushTarget(target) : error;
        IoBuffer back = _lane.Buffers.Rent(ChecksumSector.PageSize);
        for (int i = 0; i < pages.Count && error == IoError.None; i++)
        {
            error = await _members.Read(target.Disk, target.PagesOffset + ((long)pages[i] * ChecksumSector.PageSize), back);
            bool isEqual = back.Span.SequenceEqual(images.Span.Slice(pages[i] * ChecksumSector.PageSize, ChecksumSector.PageSize));
            error = error == IoError.None && !isEqual ? IoError.Io : error;
        }

        _lane.Buffers.Return(back);
        _lane.Buffers.Return(images);
        return error;
    }

    /// <summary>A page as the durable part of the log has it. A page that is not in memory is on its good copies as it is.</summary>
    private async LaneTask<IoError> EncodeLogged(SpaceRow row, int column, int index, IoBuffer image)
    {
        ChecksumPage? page = _pages.Find(row, column, index) is { IsLoaded: true } cached ? cached : null;
        if (page is null)
        {
            page = new ChecksumPage();
            page.Assign(row, column, index);
            if (_unplaced.ContainsKey(ChecksumPageCache.Key(row.Index, column, index)) || !await ReadPage(page))
            {
                return IoError.Io;
            }

            page = _pages.Find(row, column, index) is { IsLoaded: true } since ? since : page;
        }

        if (page.Unknown != 0)
        {
            return IoError.Io;
        }

        _log!.ApplyDurable();
        Encode(image.Span, PlaceOf(page), _log.Journal.Durable, page.LoggedChecksums, page.LoggedGenerations);
        return IoError.None;
    }

    private async LaneTask<IoError> FlushTarget(SlabPlace target)
    {
        if (!await _members.FlushDisk(target.Disk))
        {
            await PutOut(target.Disk, IoError.Io, hasOtherCopy: true, "a flush");
        }

        return _members.IsLive(target.Disk) ? IoError.None : IoError.DeviceGone;
    }

    private readonly record struct UnitProgress(SpaceRow? Row, int Position, ushort Regions, int Version, int Bytes);
}
