using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Management;

/// <summary>Physical extents of virtual disks, as pure functions of the state of a pool.</summary>
internal static class Extents
{
    /// <summary>Returns the extents of the data of a virtual disk.</summary>
    internal static IEnumerable<PhysicalExtent> Of(Pool pool, VirtualDiskDescription disk) => disk.Parts.SelectMany(part =>
        Of(pool, disk, part.DataSpace).Select(extent => extent with { Tier = disk.IsTiered ? part.Id : null }));

    /// <summary>Returns the extents of one space of a virtual disk.</summary>
    internal static IEnumerable<PhysicalExtent> Of(Pool pool, VirtualDiskDescription disk, SpaceId id)
    {
        if (pool.State.Space(id) is not { } space)
        {
            yield break;
        }

        ILayout layout = LayoutOf(pool, space.Description.Columns, space.Description.Copies);
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
        Array.ConvertAll(Place(pool, disk, rows, first, part.NumberOfDataCopies), extent => extent with { Tier = disk.IsTiered ? part.Id : null });

    /// <summary>Returns the extents of rows that a virtual disk would be given.</summary>
    internal static PhysicalExtent[] Place(Pool pool, VirtualDiskDescription disk, List<RowMapping> rows, int first, int copies)
    {
        ILayout? layout = rows.Count == 0 ? null : LayoutOf(pool, rows[0].Sources.Length / copies, copies);
        return [.. rows.SelectMany((row, index) => Enumerable.Range(0, row.Sources.Length).Select(position =>
            One(pool, disk.Id, row.Sources[position], PositionPlace.Of(layout!, first + index, position))))];
    }

    private static ILayout LayoutOf(Pool pool, int columns, int copies) =>
        LayoutDescriptor.Mirror.Layout(new SpaceShape(columns, copies, (int)pool.Slabs.DataBytes, (int)pool.Slabs.DataBytes, Checksums: true));

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
