using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Resiliency;

// The copies of a ring: per copy a list of slabs that follow each other, each copy on a disk of its own.
//
// Invariants
//  1. A copy that was dropped takes no part until all of it has been copied again, whether it is marked or not.
//  2. The last good copy is never marked.

/// <summary>Copies of a ring: those that take part, reads and writes of one of them, and their stale marks. A range is an offset in the ring.</summary>
internal sealed class RingCopies : ICopies<long>
{
    private readonly SpaceMembers _members;
    private readonly RingOptions _options;
    private readonly int _slabSize;
    private readonly SlabPlace[][] _places;
    private readonly bool[] _dropped;   // takes no part any more; may be marked or not
    private readonly bool[] _marked;    // durably recorded as stale

    internal RingCopies(SpaceMembers members, int slabSize, RingOptions options)
    {
        _members = members;
        _options = options;
        _slabSize = slabSize;
        _places = [.. options.Copies.Select(static copy => copy.ToArray())];
        _dropped = [.. options.Copies.Select((_, copy) => (options.StaleCopies >> copy & 1) != 0)];
        _marked = (bool[])_dropped.Clone();
    }

    /// <inheritdoc/>
    public int Count => _places.Length;

    /// <summary>Bytes written, for the counters.</summary>
    internal long BytesWritten { get; private set; }

    /// <summary>Writes, for the counters.</summary>
    internal long Writes { get; private set; }

    /// <summary>Whether any copy takes part.</summary>
    internal bool HasSource
    {
        get
        {
            for (int copy = 0; copy < Count; copy++)
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
    /// again finds it there.
    /// </summary>
    internal bool HasReturned
    {
        get
        {
            bool isBack = false;
            for (int copy = 0; copy < Count; copy++)
            {
                isBack |= !_marked[copy] && _members.IsLive(DiskOf(copy));
            }

            return isBack && !HasSource;
        }
    }

    /// <summary>Whether a copy that was never marked is on a disk that is away.</summary>
    internal bool IsCopyAway
    {
        get
        {
            bool isAway = false;
            for (int copy = 0; copy < Count && !isAway; copy++)
            {
                isAway = !_marked[copy] && !_members.IsLive(DiskOf(copy));
            }

            return isAway;
        }
    }

    /// <inheritdoc/>
    public bool IsReadable(long range, int copy) => IsLive(copy);

    /// <inheritdoc/>
    public int LoadOf(long range, int copy) => _members.Load(DiskOf(copy));

    /// <inheritdoc/>
    public LaneTask<IoError> ReadCopy(long range, int copy, IoBuffer target) =>
        _dropped[copy] ? LaneTask.FromResult(IoError.DeviceGone) : ReadFrom(_places[copy], range, target);

    /// <inheritdoc/>
    public LaneTask<IoError> WriteCopy(long range, int copy, IoBuffer source) =>
        IsLive(copy) ? WriteTo(_places[copy], range, source) : LaneTask.FromResult(IoError.DeviceGone);

    /// <summary>Whether a copy takes part.</summary>
    internal bool IsLive(int copy)
    {
        _dropped[copy] |= !_members.IsLive(DiskOf(copy));
        return !_dropped[copy];
    }

    /// <summary>Number of the disk that a copy is on.</summary>
    internal int DiskOf(int copy) => _places[copy][0].Disk;

    /// <summary>Places of a copy.</summary>
    internal IReadOnlyList<SlabPlace> PlacesOf(int copy) => _places[copy];

    /// <summary>Whether a good copy is on another disk.</summary>
    internal bool SurvivesWithout(int disk)
    {
        for (int copy = 0; copy < Count; copy++)
        {
            if (IsLive(copy) && DiskOf(copy) != disk)
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>Whether a copy was dropped, as far as that was noted.</summary>
    internal bool IsDropped(int copy) => _dropped[copy];

    /// <summary>Lets a copy take no part any more.</summary>
    internal void Drop(int copy) => _dropped[copy] = true;

    /// <summary>A disk has left the view: its copy takes no part any more, whatever it still holds.</summary>
    internal void DropOn(int disk)
    {
        for (int copy = 0; copy < Count; copy++)
        {
            _dropped[copy] |= DiskOf(copy) == disk;
        }
    }

    /// <summary>Takes a copy that is whole into service, in places that may be new.</summary>
    /// <param name="copy">The copy.</param>
    /// <param name="places">Its places.</param>
    /// <param name="isDropped">Whether it missed something since: the next write marks it again.</param>
    internal void Replace(int copy, SlabPlace[] places, bool isDropped)
    {
        _places[copy] = places;
        _marked[copy] = false;
        _dropped[copy] = isDropped;
        _members.NoteChange();   // a flush under way may have been of the former places
    }

    /// <summary>Makes everything that was flushed durable in the sense of recovery: the copies that missed it are durably marked.</summary>
    internal LaneTask<IoError> MarkDropped()
    {
        bool any = false;
        bool all = true;
        for (int copy = 0; copy < Count; copy++)
        {
            any |= IsLive(copy);
            all &= IsLive(copy) || _marked[copy];
        }

        return !any ? LaneTask.FromResult(IoError.Io) : all ? LaneTask.FromResult(IoError.None) : MarkAllDropped();
    }

    /// <summary>Counts every copy as unflushed: what it holds may be in the cache of its disk.</summary>
    internal void NoteUnflushed()
    {
        for (int copy = 0; copy < Count; copy++)
        {
            if (IsLive(copy))
            {
                _members.NoteUnflushed(DiskOf(copy));
            }
        }
    }

    internal async LaneTask<IoError> FlushCopy(int copy) =>
        copy >= Count || !IsLive(copy) ? IoError.None : await _members.FlushDisk(DiskOf(copy)) ? IoError.None : IoError.Io;

    /// <summary>Writes to places of a copy, or of one that is being made whole.</summary>
    internal LaneTask<IoError> WriteTo(SlabPlace[] places, long offset, IoBuffer source)
    {
        (SlabPlace place, int within) = Locate(places, offset);
        if (source.Length > _slabSize - within)
        {
            return WriteAcross(places, offset, source);
        }

        Writes++;
        BytesWritten += source.Length;
        return _members.Write(place.Disk, place.DataOffset + within, source, _options.AwaitsRoom);
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

    private async LaneTask<IoError> MarkAllDropped()
    {
        for (int copy = 0; copy < Count; copy++)
        {
            if (!IsLive(copy) && !_marked[copy])
            {
                IoError error = HasSource ? await _options.MarkStale(copy) : IoError.Io;   // the last good one may have gone meanwhile: it is never marked
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
