using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Journals;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Resiliency;

// A ring over slabs of the pool, of an integrity log or of a write cache: per copy a list of slabs that follow each other, each copy on a
// disk of its own.
//
// Invariants
//  1. A copy that misses a write or a flush is durably marked stale before the owner goes on; nothing is recovered from it
//     until all of it has been copied again. The last good copy is never marked.
//  2. While a copy is being made whole it takes every write beside the good ones, and is not read; it is flushed before it counts.
//  3. Writes of the owner and steps of the copying do not overlap.

/// <summary>Where an integrity log or a write cache lives.</summary>
internal sealed class RingMedium : IJournalMedium
{
    private const int CopyChunk = 64 << 10;

    private readonly SpaceMembers _members;
    private readonly SlabPlace[][] _copies;
    private readonly int _slabSize;
    private readonly bool[] _dropped;   // takes no part any more; may be marked or not
    private readonly bool[] _marked;    // durably recorded as stale
    private readonly LaneSignal _turnEnded = new();
    private bool _turnTaken;
    private SlabPlace[]? _joining;      // places of the copy being made whole
    private bool _joiningFailed;
    private bool _isSuspended;          // no copy is made whole or moved

    internal RingMedium(SpaceMembers members, IReadOnlyList<IReadOnlyList<SlabPlace>> copies, int slabSize, int blocks, int staleCopies)
    {
        _members = members;
        _copies = [.. copies.Select(copy => copy.ToArray())];
        _slabSize = slabSize;
        Blocks = blocks;
        _dropped = [.. copies.Select((_, copy) => (staleCopies >> copy & 1) != 0)];
        _marked = (bool[])_dropped.Clone();
    }

    public int Copies => _copies.Length;

    public int Blocks { get; }

    /// <summary>Bytes written, for the counters.</summary>
    internal long BytesWritten { get; private set; }

    /// <summary>Takes a disk that failed out of the view: disk, error, whether the log survives without it.</summary>
    internal required Func<int, IoError, bool, LaneTask<bool>> PutOut { get; init; }

    /// <summary>What it is, for messages.</summary>
    internal required string Name { get; init; }

    /// <summary>Takes what was found on a disk: number of the disk, finding, blocks.</summary>
    internal Action<int, DiskFinding, int>? Report { get; init; }

    /// <summary>Whether writes wait for room on a full host file system as long as the space serves; else a minute.</summary>
    internal bool AwaitsRoom { get; init; }

    /// <summary>Called when a disk leaves and no copy takes part any more.</summary>
    internal Action? SourceLost { get; set; }

    /// <summary>Whether the last copy stays readable when a write to it fails: its owner writes nothing more then.</summary>
    internal bool KeepsLastCopy { get; init; }

    /// <summary>Records durably that a copy is stale.</summary>
    internal required Func<int, LaneTask<IoError>> MarkStale { get; init; }

    /// <summary>Records durably that a copy is whole again.</summary>
    internal required Func<int, LaneTask<IoError>> ClearStale { get; init; }

    /// <summary>Ends whatever makes a copy whole or moves it, and lets nothing of the kind begin until <see cref="Resume"/>.</summary>
    internal async LaneTask<Nothing> Suspend()
    {
        await TakeTurn();
        _isSuspended = true;
        EndTurn();
        return default;
    }

    /// <summary>Copies may be made whole again.</summary>
    internal void Resume() => _isSuspended = false;

    /// <summary>Places of a copy.</summary>
    internal IReadOnlyList<SlabPlace> PlacesOf(int copy) => _copies[copy];

    public async LaneTask<IoError> Read(int copy, long offset, IoBuffer target) =>
        _dropped[copy] ? IoError.DeviceGone : await ReadFrom(_copies[copy], offset, target);

    public async LaneTask<IoError> Write(long offset, IoBuffer source)
    {
        await TakeTurn();
        int version = _members.Version;
        LaneTask<IoError> write0 = WriteCopy(0, offset, source);
        LaneTask<IoError> write1 = Copies > 1 ? WriteCopy(1, offset, source) : LaneTask.FromResult(IoError.DeviceGone);
        LaneTask<IoError> write2 = Copies > 2 ? WriteCopy(2, offset, source) : LaneTask.FromResult(IoError.DeviceGone);
        LaneTask<IoError> joining = _joining is null ? LaneTask.FromResult(IoError.None) : WriteTo(_joining, offset, source);
        IoError error0 = await write0;
        IoError error1 = await write1;
        IoError error2 = await write2;
        _joiningFailed |= await joining != IoError.None;
        IoError error = await Settle(version, error0, error1, error2);
        EndTurn();
        return error;
    }

    public async LaneTask<IoError> Flush()
    {
        int version = _members.Version;
        IoError error0 = await FlushCopy(0);
        IoError error1 = await FlushCopy(1);
        IoError error2 = await FlushCopy(2);
        return await Settle(version, error0, error1, error2);
    }

    /// <summary>A disk has left the view: its copy takes no part any more, whatever it still holds.</summary>
    internal void OnDiskLost(int disk)
    {
        for (int copy = 0; copy < Copies; copy++)
        {
            _dropped[copy] |= _copies[copy][0].Disk == disk;
        }

        _joiningFailed |= _joining?[0].Disk == disk;
        if (!HasSource)
        {
            SourceLost?.Invoke();
        }
    }

    /// <summary>Whether a good copy stands on another disk.</summary>
    internal bool SurvivesWithout(int disk)
    {
        for (int copy = 0; copy < Copies; copy++)
        {
            if (IsLive(copy) && _copies[copy][0].Disk != disk)
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>Whether any copy takes part.</summary>
    internal bool HasSource
    {
        get
        {
            for (int copy = 0; copy < Copies; copy++)
            {
                if (IsLive(copy))
                {
                    return true;
                }
            }

            return false;
        }
    }

    /// <summary>
    /// Whether no copy takes part, and a disk is back that holds one which was never marked: it has all that the ring held, and opening the ring
    /// anew finds it there.
    /// </summary>
    internal bool HasReturned
    {
        get
        {
            bool isBack = false;
            for (int copy = 0; copy < Copies; copy++)
            {
                isBack |= !_marked[copy] && _members.IsLive(_copies[copy][0].Disk);
            }

            return isBack && !HasSource;
        }
    }

    /// <summary>Copies that take no part and are to be marked, or made whole.</summary>
    internal bool IsStale(int copy) => !IsLive(copy);

    /// <summary>Everything that was flushed is so on every copy that is left: the others are durably marked before that counts.</summary>
    internal LaneTask<IoError> MarkDropped()
    {
        bool any = false;
        bool all = true;
        for (int copy = 0; copy < Copies; copy++)
        {
            any |= IsLive(copy);
            all &= IsLive(copy) || _marked[copy];
        }

        return !any ? LaneTask.FromResult(IoError.Io) : all ? LaneTask.FromResult(IoError.None) : MarkAllDropped();
    }

    // 1. From here on the places take every write too. 2. The ring is copied in steps between the journal's writes.
    // 3. In one turn: flush, record that the copy is whole (or has moved), take it into service.

    /// <summary>Makes a copy whole again, in its own places or in others; <paramref name="commit"/> records it durably.</summary>
    internal async LaneTask<IoError> Rebuild(int copy, SlabPlace[] places, Func<LaneTask<IoError>> commit, Func<int, LaneTask<bool>> pace, BufferPool buffers)
    {
        _joining = places;
        _joiningFailed = false;
        IoBuffer buffer = buffers.Rent(CopyChunk);
        IoError error = IoError.None;
        for (long at = 0; at < (long)Blocks * JournalBlock.Size && error == IoError.None; at += CopyChunk)
        {
            IoBuffer part = buffer.Slice(0, (int)Math.Min(CopyChunk, ((long)Blocks * JournalBlock.Size) - at));
            await TakeTurn();
            error = _isSuspended ? IoError.Cancelled : await CopyStep(places, at, part);
            EndTurn();
            error = error == IoError.None && !await pace(part.Length) ? IoError.Cancelled : error;
        }

        buffers.Return(buffer);
        await TakeTurn();
        if (error == IoError.None && (!await _members.FlushDisk(places[0].Disk) || !_members.IsLive(places[0].Disk)))
        {
            await PutOut(places[0].Disk, IoError.Io, SurvivesWithout(places[0].Disk));
            error = IoError.Io;
        }

        error = error == IoError.None && _joiningFailed ? IoError.Io : error;
        error = error == IoError.None && _isSuspended ? IoError.Cancelled : error;
        error = error == IoError.None ? await commit() : error;
        if (error == IoError.None)
        {
            _copies[copy] = places;
            _marked[copy] = false;
            _dropped[copy] = _joiningFailed;   // lost meanwhile: marked anew with the next write
            _members.Version++;                // a flush under way may have been of the former places
        }

        _joining = null;
        EndTurn();
        return error;
    }

    /// <summary>Reads requests of a copy's disk in flight, for the choice among copies; the most there can be for one that takes no part.</summary>
    internal int Load(int copy) => IsLive(copy) ? _members.Load(_copies[copy][0].Disk) : int.MaxValue;

    /// <summary>A block is lost: no copy that takes part could give it.</summary>
    internal void ReportLost()
    {
        for (int copy = 0; copy < Copies; copy++)
        {
            if (IsLive(copy))
            {
                Report?.Invoke(DiskOf(copy), DiskFinding.Lost, 1);
            }
        }
    }

    /// <summary>Number of the disk that a copy is on.</summary>
    internal int DiskOf(int copy) => _copies[copy][0].Disk;

    /// <summary>Writes to one copy alone what the others hold already.</summary>
    internal LaneTask<IoError> Heal(int copy, long offset, IoBuffer source) => WriteCopy(copy, offset, source);

    /// <summary>Counts every copy as unflushed: what stands there may be in the caches of disks.</summary>
    internal void NoteUnflushed()
    {
        for (int copy = 0; copy < Copies; copy++)
        {
            if (IsLive(copy))
            {
                _members.NoteUnflushed(_copies[copy][0].Disk);
            }
        }
    }

    private async LaneTask<IoError> CopyStep(SlabPlace[] places, long at, IoBuffer part)
    {
        IoError error = IoError.Io;
        for (int copy = 0; copy < Copies && error != IoError.None; copy++)
        {
            error = IsLive(copy) ? await ReadFrom(_copies[copy], at, part) : error;
        }

        if (error != IoError.None || _joiningFailed)
        {
            return IoError.Io;
        }

        error = await WriteTo(places, at, part);
        if (error is not IoError.None and not IoError.NoSpace)
        {
            await PutOut(places[0].Disk, error, SurvivesWithout(places[0].Disk));
        }

        return error;
    }

    private LaneTask<Nothing> TakeTurn()
    {
        bool waits = _turnTaken;
        _turnTaken = true;
        return waits ? AwaitTurn() : LaneTask.FromResult(default(Nothing));
    }

    private async LaneTask<Nothing> AwaitTurn()
    {
        while (_turnTaken)
        {
            await _turnEnded.Wait();
        }

        _turnTaken = true;
        return default;
    }

    private void EndTurn()
    {
        _turnTaken = false;
        _turnEnded.NotifyAll();
    }

    private bool IsLive(int copy)
    {
        _dropped[copy] |= !_members.IsLive(_copies[copy][0].Disk);
        return !_dropped[copy];
    }

    private LaneTask<IoError> WriteCopy(int copy, long offset, IoBuffer source) =>
        IsLive(copy) ? WriteTo(_copies[copy], offset, source) : LaneTask.FromResult(IoError.DeviceGone);

    private LaneTask<IoError> WriteTo(SlabPlace[] places, long offset, IoBuffer source)
    {
        (SlabPlace place, int within) = Locate(places, offset);
        if (source.Length > _slabSize - within)
        {
            return WriteAcross(places, offset, source);
        }

        BytesWritten += source.Length;
        return _members.Write(place.Disk, place.DataOffset + within, source, AwaitsRoom);
    }

    private async LaneTask<IoError> WriteAcross(SlabPlace[] places, long offset, IoBuffer source)
    {
        IoError error = IoError.None;
        for (int at = 0; at < source.Length && error == IoError.None;)
        {
            int length = Math.Min(source.Length - at, _slabSize - Locate(places, offset + at).Within);
            error = await WriteTo(places, offset + at, source.Slice(at, length));
            at += length;
        }

        return error;
    }

    private async LaneTask<IoError> ReadFrom(SlabPlace[] places, long offset, IoBuffer target)
    {
        for (int at = 0; at < target.Length;)
        {
            (SlabPlace place, int within) = Locate(places, offset + at);
            int length = Math.Min(target.Length - at, _slabSize - within);
            IoError error = await _members.Read(place.Disk, place.DataOffset + within, target.Slice(at, length));
            if (error != IoError.None)
            {
                return error;
            }

            at += length;
        }

        return IoError.None;
    }

    private async LaneTask<IoError> FlushCopy(int copy) =>
        copy >= Copies || !IsLive(copy) ? IoError.None : await _members.FlushDisk(_copies[copy][0].Disk) ? IoError.None : IoError.Io;

    private LaneTask<IoError> Settle(int version, IoError error0, IoError error1, IoError error2) =>
        error0 == IoError.None && (error1 == IoError.None || Copies < 2) && (error2 == IoError.None || Copies < 3)
            ? MarkDropped()
            : SettleFailed(version, error0, error1, error2);

    /// <summary>Copies that failed leave, if another is left, and are marked before anyone relies on the others.</summary>
    private async LaneTask<IoError> SettleFailed(int version, IoError error0, IoError error1, IoError error2)
    {
        for (int copy = 0; copy < Copies; copy++)
        {
            IoError error = copy == 0 ? error0 : copy == 1 ? error1 : error2;
            if (error != IoError.None && IsLive(copy))
            {
                int disk = _copies[copy][0].Disk;
                bool survives = SurvivesWithout(disk);
                if (version == _members.Version)
                {
                    await PutOut(disk, error, survives);
                }   // else the failure may be of a disk that has left since and come back

                _dropped[copy] |= survives || !KeepsLastCopy;
                if (!_dropped[copy])
                {
                    return error;
                }
            }
        }

        IoError marked = await MarkDropped();
        return marked == IoError.None || error0 == IoError.None ? marked : error0;
    }

    private async LaneTask<IoError> MarkAllDropped()
    {
        for (int copy = 0; copy < Copies; copy++)
        {
            if (!IsLive(copy) && !_marked[copy])
            {
                IoError error = HasSource ? await MarkStale(copy) : IoError.Io;   // the last good one may have gone meanwhile: it is never marked
                if (error != IoError.None)
                {
                    return error;
                }

                _marked[copy] = true;
            }
        }

        return IoError.None;
    }

    private (SlabPlace Place, int Within) Locate(SlabPlace[] places, long offset) =>
        (places[(int)(offset / _slabSize)], (int)(offset % _slabSize));
}
