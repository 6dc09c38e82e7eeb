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

    /// <summary>Made on the lane of the virtual disk, where the writer is used, too.</summary>
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
        ManagedVirtualDisk disk = _core.Pools.TakeTiered(virtualDisk).Disk;
        (ILane lane, long utcTicks) = (disk.Lane, _core.Lane.UtcNow.UtcTicks);
        return disk.Ask(open => new HeatExport(lane, new HeatSnapshotWriter(open.Tiering!.Heat, virtualDisk, 1, utcTicks, open.Tiering.Now)));
    });

    /// <summary>A reader of heat for a tiered virtual disk; <see cref="ImportAsync"/> takes it when it has read all blocks.</summary>
    /// <exception cref="ManagementException">The virtual disk is not there, cannot be used, or has no tiers.</exception>
    public Task<HeatFileReader> ReaderAsync(Guid virtualDisk) => _core.Verbs.Look(() =>
    {
        (long utcTicks, long nowNs) = (_core.Lane.UtcNow.UtcTicks, _core.Lane.NowNs);
        return _core.Pools.TakeTiered(virtualDisk).Disk.Ask(
            open => new HeatFileReader(open.Tiering!.Heat.Settings, open.Tiering.Heat.Slices, utcTicks, nowNs));
    });

    /// <summary>Puts heat that was read in place of that of a virtual disk, and saves it.</summary>
    /// <exception cref="ManagementException">
    /// The virtual disk is not there any more, cannot be used, or has been changed meanwhile; its pool takes no changes; the file was not read whole; or the
    /// heat counts and could not be saved.
    /// </exception>
    public Task<bool> ImportAsync(Guid virtualDisk, HeatFileReader reader) => _core.Verbs.Change(async LaneTask<bool> () =>
    {
        IoError? saved = await TakeHeat(virtualDisk).Call(open => Replace(open.Tiering!, reader.Map));
        if (saved is not { } error)
        {
            throw new ManagementException(
                ManagementError.InvalidParameter, "The heat map was not read whole, or the virtual disk has been changed meanwhile.", "Import it again.");
        }

        if (error != IoError.None)
        {
            throw new ManagementException(
                ManagementError.Failed, "The heat was imported and could not be saved: it counts until the host stops.",
                "Look at the health of the pool, then import it again.");
        }

        return true;
    });

    /// <summary>Refuses what <see cref="ImportAsync"/> would refuse of the virtual disk.</summary>
    public Task<bool> CheckImportAsync(Guid virtualDisk) => _core.Verbs.Check(() => TakeHeat(virtualDisk));

    /// <summary>Replaces the heat of a virtual disk and saves it; null, and nothing is changed: the map does not fit.</summary>
    private static async LaneTask<IoError?> Replace(DiskTiering tiering, HeatMap? map) =>
        map is null || map.Slices != tiering.Heat.Slices || map.Settings != tiering.Heat.Settings ? null : await tiering.ReplaceHeat(map);

    private ManagedVirtualDisk TakeHeat(Guid virtualDisk)
    {
        (ManagedPool managed, ManagedVirtualDisk disk) = _core.Pools.TakeTiered(virtualDisk);
        managed.RequireWritable();
        return disk;
    }
}
