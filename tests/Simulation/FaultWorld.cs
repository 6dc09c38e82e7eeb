using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Resiliency.Layouts;
using TierSpaces.Engine.Verification;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Simulation;

/// <summary>Where a copy of a block lies: disk, first byte, and first byte of its checksum page.</summary>
internal readonly record struct BlockPlace(int Disk, long Offset, long Page);

/// <summary>A stretch of a log or ring on a disk, in bytes.</summary>
internal readonly record struct RingStretch(int Disk, long Offset, long Length);

/// <summary>
/// A world that faults are planted in: where its blocks, logs and rings lie, and how its disks leave and come back. It is a space alone, or a virtual disk of a
/// pool with its tiers.
/// </summary>
internal abstract class FaultWorld
{
    /// <summary>The world.</summary>
    internal abstract ISimWorld World { get; }

    /// <summary>Integrity logs, with parity journals.</summary>
    internal abstract IEnumerable<RingStretch> Logs { get; }

    /// <summary>Rings of the write cache.</summary>
    internal abstract IEnumerable<RingStretch> Rings { get; }

    /// <summary>Makes a world of blank disks.</summary>
    internal static FaultWorld New(SpaceScenario scenario, ulong seed) => Of(scenario, scenario.NewWorld(seed));

    /// <summary>Where the copies of a block of the store are; with parity all strips of its line, its own first; none while it has no place.</summary>
    internal abstract BlockPlace[] PlacesOf(long offset);

    /// <summary>Whether a disk is in the view of the open world.</summary>
    internal abstract bool IsInView(int disk);

    /// <summary>Takes a disk out of the view of the open world.</summary>
    internal abstract void Evict(int disk);

    /// <summary>Puts a disk back before the world is opened.</summary>
    internal abstract void BringBack(int disk);

    /// <summary>The world as the same process finds it again after all disks had gone at once, and are back with what they held.</summary>
    internal abstract FaultWorld LoseAllDisks(ulong seed);

    /// <summary>The same kind of world, stopped.</summary>
    internal abstract FaultWorld Stopped(ISimWorld world);

    /// <summary>Where the positions are that hold a block, or its line.</summary>
    protected static BlockPlace[] PlacesOf(SpaceShape shape, long offset, Func<int, SlabPlace[]?> rowOf)
    {
        StripPiece piece = shape.Parities > 0 ? new ParityLayout(shape).First(offset, SpaceShape.BlockSize)
            : new MirrorLayout(shape).First(offset, SpaceShape.BlockSize);
        if (rowOf(piece.Row) is not { } places)
        {
            return [];
        }

        IEnumerable<int> positions = shape.Parities > 0
            ? Enumerable.Range(0, shape.Columns).Select(i => (piece.Column + i) % shape.Columns)
            : Enumerable.Range(piece.Column * shape.Copies, shape.Copies);
        long page = piece.SlabOffset / shape.PageSpan * ChecksumSector.PageSize;
        return [.. positions.Select(position => places[position])
            .Select(place => new BlockPlace(place.Disk, place.DataOffset + piece.SlabOffset, place.PagesOffset + page))];
    }

    private static FaultWorld Of(SpaceScenario scenario, ISimWorld world) =>
        world is PoolWorld pool ? new OfPool(pool) : new OfSpace(scenario, (SpaceWorld)world);

    private sealed class OfSpace(SpaceScenario scenario, SpaceWorld world) : FaultWorld
    {
        internal override ISimWorld World => world;

        // The log is on the first slabs of as many disks, the ring on the slab behind it.
        internal override IEnumerable<RingStretch> Logs => Enumerable.Range(0, Math.Max(2, scenario.Redundancy + 1))
            .SelectMany(disk => Enumerable.Range(0, scenario.Parities > 0 ? 2 : 1).Select(slab => StretchOf(disk, slab)));

        internal override IEnumerable<RingStretch> Rings =>
            Enumerable.Range(0, scenario.CacheBlocks > 0 ? scenario.CacheCopies : 0).Select(disk => StretchOf(disk, scenario.Parities > 0 ? 2 : 1));

        internal override BlockPlace[] PlacesOf(long offset) => PlacesOf(scenario.Shape, offset, row => world.Host.Row(row)?.Places.ToArray());

        internal override bool IsInView(int disk) => world.Host.IsInView(disk);

        internal override void Evict(int disk) => world.Lane.Run(world.Host.Evict(disk, "it was pulled"));

        internal override void BringBack(int disk) => world.BringBack(disk);

        internal override FaultWorld LoseAllDisks(ulong seed) => Stopped(world.LoseAllDisks(seed));

        internal override FaultWorld Stopped(ISimWorld world) => new OfSpace(scenario, (SpaceWorld)world);

        private RingStretch StretchOf(int disk, int slab) =>
            new(disk, SimSpaceHost.Place(scenario.Shape, disk, slab).PagesOffset, SimSpaceHost.Stride(scenario.Shape));
    }

    private sealed class OfPool(PoolWorld world) : FaultWorld
    {
        internal override ISimWorld World => world;

        internal override IEnumerable<RingStretch> Logs =>
            world.VirtualDisk!.Description.Parts.SelectMany(part => StretchesOf(part.LogSpace));

        internal override IEnumerable<RingStretch> Rings => StretchesOf(world.VirtualDisk!.Description.CacheSpace);

        internal override BlockPlace[] PlacesOf(long offset)
        {
            if (world.Pool is null || world.VirtualDisk is not { } disk)
            {
                return [];
            }

            TierDescription part = disk.Description.Parts[0];
            if (disk.Tiers is { } tiers)
            {
                SliceEntry entry = tiers.PlaceOf((int)(offset / tiers.SliceSize));
                if (!entry.IsMapped)
                {
                    return [];
                }

                part = disk.Description.Part(entry.Tier)!;
                offset = (entry.Slot * (long)tiers.SliceSize) + (offset % tiers.SliceSize);
            }

            PoolState state = world.Pool.State;
            SpaceShape shape = VirtualDiskLayout.ShapeOf(state.Pool!.Slabs, disk.Description, part);
            return PlacesOf(shape, offset, row => state.Space(part.DataSpace)!.Row(row) is { } found
                ? Array.ConvertAll(found.Mapping.Sources.ToArray(), PlaceOf) : null);
        }

        internal override bool IsInView(int disk) => world.Pool?.View.Contains(world.NumberOf(disk)) != false;

        internal override void Evict(int disk) =>
            world.Lane.Run(world.OnPoolLane(() => world.Pool!.Evict(world.NumberOf(disk), "it was pulled")));

        internal override void BringBack(int disk) => world.Disks[disk].PutBack();

        internal override FaultWorld LoseAllDisks(ulong seed) => Stopped(world.LoseAllDisks(seed));

        internal override FaultWorld Stopped(ISimWorld world) => new OfPool((PoolWorld)world);

        /// <summary>Returns the place of a slab; its disk by the number that it has in the world.</summary>
        private SlabPlace PlaceOf(SlabRef slab)
        {
            SlabPlace place = PoolMemberHost.PlaceOf(world.Pool!.State, slab);
            return place with { Disk = place.Disk - 1 };
        }

        private IEnumerable<RingStretch> StretchesOf(SpaceId ring) =>
            world.Pool!.State.Space(ring) is not { } space ? []
                : space.EnumerateRows().SelectMany(row => row.Row.Mapping.Sources.ToArray()).Select(PlaceOf)
                    .Select(place => new RingStretch(place.Disk, place.PagesOffset, world.Pool.State.Pool!.Slabs.Stride));
    }
}
