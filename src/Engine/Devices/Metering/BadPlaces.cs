namespace TierSpaces.Engine.Devices;

// Places of a disk at which something was wrong: 64 KiB each, which is what one damaged track, page or erase block makes unreadable at most.
//
// Invariants
//  1. A place is reported once; again only after it was rewritten.
//  2. While no place is bad, a request costs one comparison.

/// <summary>The places of one disk at which requests failed or gave wrong data.</summary>
public sealed class BadPlaces
{
    /// <summary>Size of a place in bytes.</summary>
    public const int PlaceBytes = 64 << 10;

    /// <summary>The place of everything that has no offset, such as a failed flush.</summary>
    public const long NoOffset = -1;

    private const int PlacesMax = 4096;

    private readonly HashSet<long> _bad = [];
    private List<long> _new = [];

    /// <summary>Something is wrong at an offset of the disk, or at <see cref="NoOffset"/>.</summary>
    internal void Add(long offset)
    {
        long place = offset == NoOffset ? NoOffset : offset / PlaceBytes;
        if (_bad.Count < PlacesMax && _bad.Add(place))
        {
            _new.Add(place);
        }
    }

    /// <summary>A range of the disk was written.</summary>
    internal void Rewritten(long offset, long length)
    {
        if (_bad.Count > 0)
        {
            Remove(offset, length);
        }
    }

    // A method of its own: what a lambda captures is allocated where its method begins.
    private void Remove(long offset, long length) =>
        _bad.RemoveWhere(place => place >= 0 && (place + 1) * PlaceBytes > offset && place * PlaceBytes < offset + length);

    /// <summary>Places that were reported since this was last called.</summary>
    internal List<long> Take()
    {
        List<long> taken = _new;
        _new = taken.Count > 0 ? [] : taken;
        return taken;
    }
}
