using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Verification;

/// <summary>A virtual disk of a simulated pool, on its lane.</summary>
public sealed class SimVirtualDisk : ISimStore
{
    private readonly PoolWorld _world;

    internal SimVirtualDisk(PoolWorld world, SimLane lane)
    {
        _world = world;
        Lane = lane;
    }

    /// <summary>Lane of the disk and its clients.</summary>
    public SimLane Lane { get; }

    /// <summary>The disk, once open.</summary>
    public OpenVirtualDisk? Open { get; private set; }

    /// <summary>The disk is open, or was opened again; null: it could not be made.</summary>
    internal void Serve(OpenVirtualDisk? open) => Open = open;

    /// <inheritdoc/>
    public IBlockStore Store => Open!.Disk;

    /// <summary>The spaces below it.</summary>
    public SpaceSet Spaces => new([.. Open!.Parts.Select(static part => part.Space)], Open.Remote?.Rings);

    /// <summary>Its slabs of data now, as moves off the disks that they are on.</summary>
    public SlabMove[] Slabs() =>
    [
        .. Open!.Parts.SelectMany(part => _world.Pool!.State.Space(Open.Description.Part(part.Number)!.DataSpace)!.EnumerateRows()
            .SelectMany(row => row.Row.Mapping.Sources.ToArray().Select((slab, position) => new SlabMove(row.Index, position, slab.Disk, part.Number)))),
    ];
}
