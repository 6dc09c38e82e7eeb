using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Resiliency.Layouts;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

// There may be millions of extents. So they are made one by one while they are read, and nothing is looked up in the state for each of them.

/// <summary>Physical extents of the virtual disks of a pool at one moment, made while they are read.</summary>
/// <param name="pool">The pool: a snapshot, or the pool itself on its lane.</param>
internal sealed class Extents(IPoolReader pool)
{
    private readonly Dictionary<DiskNumber, Member> _members = pool.State.Disks.Values.ToDictionary(
        static disk => disk.Description.Number,
        disk => new Member(disk.Description.Id.Value, disk.Description.FriendlyName, LayoutOf(pool, disk), !pool.IsUsable(disk.Description.Number)));

    /// <summary>Returns the extents of the data of a virtual disk.</summary>
    /// <param name="disk">The virtual disk.</param>
    /// <param name="on">Number of the physical disk that they are on; null: of any.</param>
    internal IEnumerable<PhysicalExtent> Of(VirtualDiskDescription disk, DiskNumber? on = null) => disk.Parts.SelectMany(part =>
        Of(disk, part.DataSpace, LayoutOf(disk, part), disk.IsTiered ? part.Id : null, on));

    /// <summary>
    /// Returns where the slices of a tiered virtual disk are that have a place, in their order: an extent for each column and copy. Of parity it covers
    /// the stripes that the slice is in. A slice that was given a place ahead of its first write has one, too.
    /// </summary>
    /// <param name="disk">The virtual disk.</param>
    /// <param name="on">Number of the physical disk that they are on; null: of any.</param>
    internal IEnumerable<SliceExtent> SlicesOf(VirtualDiskDescription disk, DiskNumber? on = null)
    {
        Dictionary<int, SlicePart> parts = disk.Parts.ToDictionary(static part => part.Number, part => PartOf(disk, part));
        foreach ((int slice, SliceEntry entry) in pool.State.SliceMap(disk.Id).Enumerate())
        {
            if (slice >= SlicesMapped.SystemSlices)
            {
                continue;   // of the store itself
            }

            SlicePart part = parts[entry.Tier];
            (long row, long start) = Math.DivRem(entry.Slot * (long)disk.SliceSize, part.Layout.RowSize);
            RowState state = part.Space.Row((int)row)!;
            for (int position = 0; position < part.Places.Length; position++)
            {
                SlabRef slab = state.Mapping.Sources[position];
                (long offset, long size) = part.PieceOf(part.Places[position].Column, start, disk.SliceSize);
                if (size > 0 && (on is null || slab.Disk == on))
                {
                    PhysicalExtent whole = One(
                        disk, slab, part.Places[position], slice * (long)disk.SliceSize, state.MissingAt(position) != 0, part.Tier.Id);
                    yield return new SliceExtent(
                        slice, part.Tier.FriendlyName, _members[slab.Disk].Name,
                        whole with { PhysicalOffset = whole.PhysicalOffset + offset, Size = size });
                }
            }
        }
    }

    private SlicePart PartOf(VirtualDiskDescription disk, TierDescription part)
    {
        SpaceState space = pool.State.Space(part.DataSpace)!;
        ILayout layout = LayoutOf(disk, part);
        return new SlicePart(part, space, VirtualDiskLayout.ShapeOf(pool, disk, part), layout, PlacesOf(layout, space.Description.Positions));
    }

    /// <summary>Returns the extents of a ring of a virtual disk.</summary>
    internal IEnumerable<PhysicalExtent> Of(VirtualDiskDescription disk, SpaceId ring) =>
        pool.State.Space(ring) is { } space ? Of(disk, ring, RingOf(space.Description.Copies), null, null) : [];

    /// <summary>Returns the extents of rows that a part of a virtual disk would be given.</summary>
    internal PhysicalExtent[] PlaceIn(VirtualDiskDescription disk, TierDescription part, List<RowMapping> rows, int first) =>
        Place(disk, rows, first, LayoutOf(disk, part), disk.IsTiered ? part.Id : null);

    /// <summary>Returns the extents of rows that a ring of a virtual disk would be given.</summary>
    internal PhysicalExtent[] PlaceRing(VirtualDiskDescription disk, List<RowMapping> rows) =>
        rows.Count == 0 ? [] : Place(disk, rows, 0, RingOf(rows[0].Sources.Length), null);

    /// <summary>Returns the offset of the data of a slab on its disk, in bytes.</summary>
    internal long OffsetOf(SlabRef slab) => _members[slab.Disk].Layout.SlabOffset(slab.Slab) + pool.Slabs.ChecksumBytes;

    private IEnumerable<PhysicalExtent> Of(VirtualDiskDescription disk, SpaceId id, ILayout layout, Guid? tier, DiskNumber? on)
    {
        if (pool.State.Space(id) is not { } space)
        {
            yield break;
        }

        PositionPlace[] places = PlacesOf(layout, space.Description.Positions);
        foreach ((int index, RowState row) in space.EnumerateRows())
        {
            for (int position = 0; position < places.Length; position++)
            {
                if (on is null || row.Mapping.Sources[position].Disk == on)
                {
                    yield return One(disk, row.Mapping.Sources[position], places[position], index * layout.RowSize, row.MissingAt(position) != 0, tier);
                }
            }
        }
    }

    private PhysicalExtent[] Place(VirtualDiskDescription disk, List<RowMapping> rows, int first, ILayout layout, Guid? tier)
    {
        PositionPlace[] places = PlacesOf(layout, rows.Count == 0 ? 0 : rows[0].Sources.Length);
        return [.. rows.SelectMany((row, index) => places.Select((place, position) =>
            One(disk, row.Sources[position], place, (first + index) * layout.RowSize, isStale: false, tier)))];
    }

    /// <summary>Columns and copies of the positions, which are the same in every row.</summary>
    private static PositionPlace[] PlacesOf(ILayout layout, int positions) =>
        [.. Enumerable.Range(0, positions).Select(position => PositionPlace.Of(layout, 0, position))];

    private ILayout LayoutOf(VirtualDiskDescription disk, TierDescription part)
    {
        SpaceShape shape = VirtualDiskLayout.ShapeOf(pool, disk, part);
        return LayoutDescriptor.Of(shape).Layout(shape);
    }

    private ILayout RingOf(int copies) =>
        LayoutDescriptor.Mirror.Layout(new SpaceShape(1, copies, (int)pool.Slabs.DataBytes, (int)pool.Slabs.DataBytes, Checksums: true));

    private PhysicalExtent One(VirtualDiskDescription disk, SlabRef slab, PositionPlace place, long offset, bool isStale, Guid? tier)
    {
        Member member = _members[slab.Disk];
        return new PhysicalExtent(
            disk.Id.Value, member.Id, place.Column, place.Copy, offset, OffsetOf(slab), pool.Slabs.DataBytes,
            member.IsMissing, isStale) { Tier = tier };
    }

    private static DiskLayout LayoutOf(IPoolReader pool, DiskState disk)
    {
        DiskLayout.TryCreate(disk.Description.SizeBytes, pool.Slabs, out DiskLayout layout, out _);
        return layout;
    }

    private sealed record Member(Guid Id, string Name, DiskLayout Layout, bool IsMissing);

    /// <summary>A tier whose slices are listed.</summary>
    private sealed record SlicePart(TierDescription Tier, SpaceState Space, SpaceShape Shape, ILayout Layout, PositionPlace[] Places)
    {
        /// <summary>Returns what a column has of a range of a row: offset in its slab and length, in bytes. Its strips follow each other there.</summary>
        internal (long Offset, long Size) PieceOf(int column, long start, long length)
        {
            int columns = Shape.DataColumns;
            long interleave = Shape.Interleave;
            if (Shape.Parities > 0)   // data and parity change their columns from stripe to stripe
            {
                long first = start / (interleave * columns);
                return (first * interleave, (((start + length - 1) / (interleave * columns)) + 1 - first) * interleave);
            }

            long end = start + length;
            long offset = 0;
            long size = 0;
            for (long strip = start / interleave; strip * interleave < end; strip++)
            {
                if (strip % columns == column)
                {
                    long from = Math.Max(strip * interleave, start);
                    offset = size == 0 ? (strip / columns * interleave) + from - (strip * interleave) : offset;
                    size += Math.Min((strip + 1) * interleave, end) - from;
                }
            }

            return (offset, size);
        }
    }
}
