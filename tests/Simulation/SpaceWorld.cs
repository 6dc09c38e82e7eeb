using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Simulation;

/// <summary>One shape of space and pool to simulate.</summary>
/// <param name="Columns">Columns.</param>
/// <param name="Copies">Copies.</param>
/// <param name="Checksums">Checksums on or off.</param>
/// <param name="SectorSize">Atomic unit of the disks, 512 or 4096.</param>
/// <param name="Rows">Rows the space is long.</param>
public sealed record SpaceScenario(int Columns, int Copies, bool Checksums, int SectorSize, int Rows)
{
    /// <summary>Layout, in small units so that one world has many regions, pages and rows.</summary>
    public SpaceShape Shape => new(Columns, Copies, 16 << 10, 256 << 10, Checksums);

    /// <summary>Disks: one more than a row needs, at least two.</summary>
    public int Disks => Math.Max(2, Shape.Positions + 1);

    /// <summary>Length of the space in bytes.</summary>
    public long Length => Rows * Shape.RowSize;
}

/// <summary>
/// Disks, map and host memory of one space at one instant, and the engine opened on them. A fork copies the instant, so that a running
/// world can be cut at any point and recovered beside itself.
/// </summary>
public sealed class SpaceWorld
{
    private const int LogBlocks = 32;

    private readonly SpaceScenario _scenario;
    private readonly SimMedia[] _media;
    private readonly SimSpaceMap _map;
    private readonly SimHostState _state;

    private SpaceWorld(SpaceScenario scenario, ulong seed, SimMedia[] media, SimSpaceMap map, SimHostState state)
    {
        _scenario = scenario;
        _media = media;
        _map = map;
        _state = state;
        Lane = new SimLane(seed);
        Disks = Array.ConvertAll(media, medium => new SimDisk(Lane, medium));
        Host = new SimSpaceHost(Lane, scenario.Shape, Disks, map);
    }

    /// <summary>Lane of this world.</summary>
    public SimLane Lane { get; }

    /// <summary>Disks.</summary>
    public SimDisk[] Disks { get; }

    /// <summary>The pool reduced.</summary>
    public SimSpaceHost Host { get; }

    /// <summary>The space, once opened.</summary>
    public Space Space { get; private set; } = null!;

    /// <summary>The durable map.</summary>
    public SimSpaceMap Map => _map;

    /// <summary>Empty disks that still hold another owner's bytes everywhere.</summary>
    public static SpaceWorld New(SpaceScenario scenario, ulong seed)
    {
        SimMedia[] media = new SimMedia[scenario.Disks];
        SimSpaceMap map = new();
        long stride = SimSpaceHost.Stride(scenario.Shape);
        for (int disk = 0; disk < media.Length; disk++)
        {
            media[disk] = new SimMedia($"disk{disk}", stride * (scenario.Rows + 3), scenario.SectorSize);
            FillForeign(media[disk], (uint)disk);
        }

        for (int copy = 0; copy < LogCopies(scenario); copy++)
        {
            map.Used.Add((copy, 0));
        }

        return new SpaceWorld(scenario, seed, media, map, new SimHostState());
    }

    /// <summary>Opens the space, for the first time or after a stop.</summary>
    public LaneTask<Space> Open(bool isNew) => OpenSpace(isNew);

    /// <summary>The world as a power cut leaves it now.</summary>
    public SpaceWorld Cut(ulong seed, Func<int, int, int, bool> keep)
    {
        SimMedia[] media = new SimMedia[_media.Length];
        for (int disk = 0; disk < media.Length; disk++)
        {
            int number = disk;
            media[disk] = Disks[disk].SnapshotWithInFlight().Cut((write, sector) => keep(number, write, sector));
        }

        return new SpaceWorld(_scenario, seed, media, _map.Clone(), _state.Snapshot(withMemory: false));
    }

    /// <summary>The world as a crash of the process leaves it now: caches stay; of the requests in flight any part may have arrived.</summary>
    public SpaceWorld Kill(ulong seed, Func<bool> arrived)
    {
        SimMedia[] media = new SimMedia[_media.Length];
        for (int disk = 0; disk < media.Length; disk++)
        {
            media[disk] = Disks[disk].Media.Snapshot();
            Disks[disk].ApplyInFlight(media[disk], arrived);
        }

        return new SpaceWorld(_scenario, seed, media, _map.Clone(), _state.Snapshot(withMemory: true));
    }

    /// <summary>An exact copy, to try something on.</summary>
    public SpaceWorld Fork(ulong seed) => new(
        _scenario, seed, Array.ConvertAll(Disks, disk => disk.Media.Snapshot()), _map.Clone(), _state.Snapshot(withMemory: true));

    /// <summary>Writes pending on each disk, in flight included: what a cut chooses from.</summary>
    public int[] PendingWrites() => Array.ConvertAll(Disks, disk => disk.SnapshotWithInFlight().CachedWrites);

    /// <summary>Frees what the world holds outside the managed heap.</summary>
    public void Release()
    {
        _state.Release();
        Lane.Buffers.Dispose();
    }

    private static int LogCopies(SpaceScenario scenario) => scenario.Shape.HasLog ? Math.Max(2, scenario.Copies) : 0;

    private static void FillForeign(SimMedia medium, uint disk)
    {
        byte[] chunk = new byte[64 << 10];
        for (int i = 0; i < chunk.Length; i += 4)
        {
            BitConverter.TryWriteBytes(chunk.AsSpan(i), 0xF0E10000 | disk);
        }

        for (long at = 0; at + chunk.Length <= medium.Length; at += chunk.Length)
        {
            medium.Write(at, chunk);
        }

        medium.Harden(medium.CachedWrites);
    }

    private async LaneTask<Space> OpenSpace(bool isNew)
    {
        SpaceShape shape = _scenario.Shape;
        SpaceOptions options = new()
        {
            Space = 7,
            PoolTag = 0x1122334455667788,
            Shape = shape,
            Length = _scenario.Length,
            IsThin = true,
            Rows = [.. _map.Rows.Values.Select(row => row with { Stale = (ushort[])row.Stale.Clone() })],
            LogCopies = [.. Enumerable.Range(0, LogCopies(_scenario)).Select(copy => (IReadOnlyList<SlabPlace>)[SimSpaceHost.Place(shape, copy, 0)])],
            LogOwner = new Guid(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11),
            LogBlocksMax = LogBlocks,
            CrashNotes = shape.Checksums ? _state.MapMemory("notes", 64 + (2 * 16 * 512)) : null,
            CachedPagesMax = 3,
            CleanAfterNs = 2_000_000_000,
        };
        Space = isNew ? await Space.Create(Host, options) : await Space.Open(Host, options);
        Host.Space = Space;
        return Space;
    }
}
