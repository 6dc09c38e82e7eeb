using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tiering;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

/// <summary>The heat of a virtual disk on its way into a file: blocks that check themselves, in pieces, so that the lane is not held.</summary>
public sealed class HeatExport
{
    private const int BlocksAtOnce = 16;

    private readonly ILane _lane;
    private readonly HeatSnapshotWriter _writer;

    internal HeatExport(ILane lane, HeatSnapshotWriter writer) => (_lane, _writer) = (lane, writer);

    /// <summary>The next blocks, one behind the other; empty when there are no more.</summary>
    public Task<byte[]> NextAsync() => _lane.InvokeAsync(() =>
    {
        byte[] bytes = new byte[BlocksAtOnce * HeatSnapshot.BlockSize];
        int length = 0;
        while (length < bytes.Length && _writer.Next(bytes.AsSpan(length, HeatSnapshot.BlockSize)))
        {
            length += HeatSnapshot.BlockSize;
        }

        return LaneTask.FromResult(bytes[..length]);
    });
}

// Heat of tiered virtual disks taken out and brought in again, for a virtual disk that is copied to another pool.

/// <summary>Verbs of heat: export and import.</summary>
public sealed class HeatService
{
    private readonly SubsystemCore _core;

    internal HeatService(SubsystemCore core) => _core = core;

    /// <summary>Begins to take the heat of a tiered virtual disk out.</summary>
    /// <exception cref="ManagementException">The virtual disk is not there, cannot be used, or has no tiers.</exception>
    public Task<HeatExport> ExportAsync(Guid virtualDisk) => _core.Verbs.Look(() =>
    {
        DiskTiering tiering = _core.Pools.TakeTiered(virtualDisk).Disk.Open.Tiering!;
        return new HeatExport(_core.Lane, new HeatSnapshotWriter(tiering.Heat, virtualDisk, 1, _core.Lane.UtcNow.UtcTicks, tiering.Now));
    });

    /// <summary>A reader of heat for a tiered virtual disk; <see cref="ImportAsync"/> takes it when it has read all blocks.</summary>
    /// <exception cref="ManagementException">The virtual disk is not there, cannot be used, or has no tiers.</exception>
    public Task<HeatFileReader> ReaderAsync(Guid virtualDisk) => _core.Verbs.Look(() =>
    {
        HeatMap heat = _core.Pools.TakeTiered(virtualDisk).Disk.Open.Tiering!.Heat;
        return new HeatFileReader(heat.Settings, heat.Slices, _core.Lane.UtcNow.UtcTicks, _core.Lane.NowNs);
    });

    /// <summary>Puts heat that was read in place of that of a virtual disk, and saves it.</summary>
    /// <exception cref="ManagementException">
    /// The virtual disk is not there any more, cannot be used, or has been changed meanwhile; its pool takes no changes; the file was not read whole; or the
    /// heat counts and could not be saved.
    /// </exception>
    public Task<bool> ImportAsync(Guid virtualDisk, HeatFileReader reader) => _core.Verbs.Change(async LaneTask<bool> () =>
    {
        DiskTiering tiering = TakeHeat(virtualDisk);
        if (reader.Map is not { } map || map.Slices != tiering.Heat.Slices || map.Settings != tiering.Heat.Settings)
        {
            throw new ManagementException(
                ManagementError.InvalidParameter, "The heat map was not read whole, or the virtual disk has been changed meanwhile.", "Import it again.");
        }

        if (await tiering.ReplaceHeat(map) != IoError.None)
        {
            throw new ManagementException(
                ManagementError.Failed, "The heat was imported and could not be saved: it counts until the host stops.",
                "Look at the health of the pool, then import it again.");
        }

        return true;
    });

    /// <summary>Refuses what <see cref="ImportAsync"/> would refuse of the virtual disk.</summary>
    public Task<bool> CheckImportAsync(Guid virtualDisk) => _core.Verbs.Check(() => TakeHeat(virtualDisk));

    private DiskTiering TakeHeat(Guid virtualDisk)
    {
        (ManagedPool managed, ManagedVirtualDisk disk) = _core.Pools.TakeTiered(virtualDisk);
        managed.RequireWritable();
        return disk.Open.Tiering!;
    }
}
