using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Resiliency.Layouts;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

/// <summary>Physical extents of virtual disks, as pure functions of the state of a pool.</summary>
internal static class Extents
{
    /// <summary>Returns the extents of the data of a virtual disk.</summary>
    internal static IEnumerable<PhysicalExtent> Of(Pool pool, VirtualDiskDescription disk) => disk.Parts.SelectMany(part =>
        Of(pool, disk, part.DataSpace, LayoutOf(pool, disk, part)).Select(extent => extent with { Tier = disk.IsTiered ? part.Id : null }));

    /// <summary>Returns the extents of a ring of a virtual disk.</summary>
    internal static IEnumerable<PhysicalExtent> Of(Pool pool, VirtualDiskDescription disk, SpaceId ring) =>
        pool.State.Space(ring) is { } space ? Of(pool, disk, ring, RingOf(pool, space.Description.Copies)) : [];

    private static IEnumerable<PhysicalExtent> Of(Pool pool, VirtualDiskDescription disk, SpaceId id, ILayout layout)
    {
        if (pool.State.Space(id) is not { } space)
        {
            yield break;
        }

        foreach ((int index, RowState row) in space.EnumerateRows())
        {
            for (int position = 0; position < space.Description.Positions; position++)
            {
                yield return One(pool, disk.Id, row.Mapping.Sources[position], PositionPlace.Of(layout, index, position)) with
                {
                    IsStale = row.MissingAt(position) != 0,
                };
            }
        }
    }

    /// <summary>Returns the extents of rows that a part of a virtual disk would be given.</summary>
    internal static PhysicalExtent[] PlaceIn(Pool pool, VirtualDiskDescription disk, TierDescription part, List<RowMapping> rows, int first) =>
        Array.ConvertAll(Place(pool, disk, rows, first, LayoutOf(pool, disk, part)), extent => extent with { Tier = disk.IsTiered ? part.Id : null });

    /// <summary>Returns the extents of rows that a ring of a virtual disk would be given.</summary>
    internal static PhysicalExtent[] PlaceRing(Pool pool, VirtualDiskDescription disk, List<RowMapping> rows) =>
        rows.Count == 0 ? [] : Place(pool, disk, rows, 0, RingOf(pool, rows[0].Sources.Length));

    private static PhysicalExtent[] Place(Pool pool, VirtualDiskDescription disk, List<RowMapping> rows, int first, ILayout layout) =>
        [.. rows.SelectMany((row, index) => Enumerable.Range(0, row.Sources.Length).Select(position =>
            One(pool, disk.Id, row.Sources[position], PositionPlace.Of(layout, first + index, position))))];

    private static ILayout LayoutOf(Pool pool, VirtualDiskDescription disk, TierDescription part) =>
        (part.Parities > 0 ? LayoutDescriptor.Parity : LayoutDescriptor.Mirror).Layout(VirtualDiskLayout.ShapeOf(pool, disk, part));

    private static ILayout RingOf(Pool pool, int copies) =>
        LayoutDescriptor.Mirror.Layout(new SpaceShape(1, copies, (int)pool.Slabs.DataBytes, (int)pool.Slabs.DataBytes, Checksums: true));

    private static PhysicalExtent One(Pool pool, VirtualDiskId disk, SlabRef slab, PositionPlace place) => new(
        disk.Value,
        pool.State.Disk(slab.Disk)!.Description.Id.Value,
        place.Column,
        place.Copy,
        place.Offset,
        pool.Layout(slab.Disk).SlabOffset(slab.Slab) + pool.Slabs.ChecksumBytes,
        pool.Slabs.DataBytes,
        pool.Disk(slab.Disk) is null,
        IsStale: false);
}
