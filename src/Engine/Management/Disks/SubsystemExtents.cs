using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Management;

public sealed partial class StorageSubsystem
{
    /// <summary>Where the bytes of virtual disks are.</summary>
    public Task<PhysicalExtent[]> PhysicalExtentsAsync(Guid? virtualDisk, Guid? physicalDisk) => Look(() => _pools.Values
        .Where(managed => managed.Pool is not null)
        .SelectMany(managed => managed.Pool!.State.VirtualDisks.Values
            .Where(disk => !disk.IsBeingCreated && (virtualDisk is null || disk.Id.Value == virtualDisk))
            .SelectMany(disk => ExtentsOf(managed.Pool!, disk)))
        .Where(extent => physicalDisk is null || extent.PhysicalDisk == physicalDisk).ToArray());

    private static IEnumerable<PhysicalExtent> ExtentsOf(Pool pool, VirtualDiskDescription disk) => disk.Parts.SelectMany(part =>
        ExtentsOf(pool, disk, part.DataSpace).Select(extent => extent with { Tier = disk.IsTiered ? part.Id : null }));

    private static IEnumerable<PhysicalExtent> ExtentsOf(Pool pool, VirtualDiskDescription disk, SpaceId id)
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
                yield return ExtentOf(pool, disk.Id, row.Mapping.Sources[position], PositionPlace.Of(layout, index, position)) with
                {
                    IsStale = row.MissingAt(position) != 0,
                };
            }
        }
    }

    private static ILayout LayoutOf(Pool pool, int columns, int copies) =>
        LayoutDescriptor.Mirror.Layout(new SpaceShape(columns, copies, (int)pool.Slabs.DataBytes, (int)pool.Slabs.DataBytes, Checksums: true));

    private static PhysicalExtent ExtentOf(Pool pool, VirtualDiskId disk, SlabRef slab, PositionPlace place) => new(
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
