using TierSpaces.Engine.Lanes;

namespace TierSpaces.Engine.Devices;

// Places of a disk at which something was wrong: 64 KiB each, which is what one damaged track, page or erase block makes unreadable at most.
//
// The owner of the disk has the set. It publishes a copy whenever the set changes, which is rare. A handle on another lane looks only at that copy, and
// posts to the owner what is not in it: a place that is bad, or the rewriting of one that was.
//
// Invariants
//  1. A place is reported once; again only after it was rewritten. A place that is rewritten through a handle before the owner has heard of it stays bad
//     until it is rewritten again.
//  2. While no place is bad, a request costs one comparison.

/// <summary>The places of one disk at which requests failed or gave wrong data.</summary>
public sealed class BadPlaces
{
    /// <summary>Size of a place in bytes.</summary>
    public const int PlaceBytes = 64 << 10;

    /// <summary>The place of everything that has no offset, such as a failed flush.</summary>
    public const long NoOffset = -1;

    private const int PlacesMax = 4096;

    private readonly BadPlaces _owner;
    private readonly ILane? _ownerLane;       // null: this is the owner's
    private readonly HashSet<long> _bad = [];
    private List<long> _new = [];
    private volatile long[] _published = [];

    /// <summary>The places of a disk, used on the lane of its owner.</summary>
    internal BadPlaces() => _owner = this;

    /// <summary>The way of a handle to the places of its owner.</summary>
    internal BadPlaces(BadPlaces owner, ILane ownerLane) => (_owner, _ownerLane) = (owner, ownerLane);

    /// <summary>Something is wrong at an offset of the disk, or at <see cref="NoOffset"/>.</summary>
    internal void Add(long offset)
    {
        long place = offset == NoOffset ? NoOffset : offset / PlaceBytes;
        if (_ownerLane is { } lane)
        {
            if (Array.IndexOf(_owner._published, place) < 0)
            {
                LanePosts.TryPost(lane, () => _owner.AddPlace(place));
            }
        }
        else
        {
            AddPlace(place);
        }
    }

    /// <summary>A range of the disk was written.</summary>
    internal void Rewritten(long offset, long length)
    {
        if (_owner._published.Length > 0)
        {
            Remove(offset, length);
        }
    }

    /// <summary>Places that were reported since this was last called; none of a handle, the owner has them.</summary>
    internal List<long> Take()
    {
        List<long> taken = _new;
        _new = taken.Count > 0 ? [] : taken;
        return taken;
    }

    private static bool IsWithin(long place, long offset, long length) =>
        place >= 0 && (place + 1) * PlaceBytes > offset && place * PlaceBytes < offset + length;

    private void AddPlace(long place)
    {
        if (_bad.Count < PlacesMax && _bad.Add(place))
        {
            _new.Add(place);
            _published = [.. _bad];
        }
    }

    // A method of its own: what a lambda captures is allocated where its method begins.
    private void Remove(long offset, long length)
    {
        if (!Array.Exists(_owner._published, place => IsWithin(place, offset, length)))
        {
            return;
        }

        if (_ownerLane is { } lane)
        {
            LanePosts.TryPost(lane, () => _owner.RemovePlaces(offset, length));
        }
        else
        {
            RemovePlaces(offset, length);
        }
    }

    private void RemovePlaces(long offset, long length)
    {
        _bad.RemoveWhere(place => IsWithin(place, offset, length));
        _published = [.. _bad];
    }
}
