using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Pools;

/// <summary>Simulated disks, a host's state and a lane, and the few steps that every pool test repeats.</summary>
internal sealed class PoolWorld
{
    internal const long DiskBytes = 16 << 20;

    internal PoolWorld(ulong seed, int disks, long diskBytes = DiskBytes)
        : this(new SimLane(seed), [.. Enumerable.Range(1, disks).Select(i => new SimMedia($"dev{i}", diskBytes, 512))], new SimHostState())
    {
    }

    internal PoolWorld(SimLane lane, List<SimMedia> media, SimHostState host)
    {
        Lane = lane;
        Media = media;
        Host = host;
        Disks = [.. media.Select(medium => new SimDisk(lane, medium))];
        Environment = new PoolEnvironment(lane, new StateFolder(lane, host), new Guid(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
    }

    internal SimLane Lane { get; }

    internal List<SimMedia> Media { get; }

    internal List<SimDisk> Disks { get; }

    internal SimHostState Host { get; }

    internal PoolEnvironment Environment { get; }

    internal Pool Create(int? disks = null) => Lane.Run(Pool.Create(
        Environment,
        new NewPoolSpec { FriendlyName = "p" },
        [.. Disks.Take(disks ?? Disks.Count).Select((disk, i) => new NewDiskSpec(disk, $"d{i + 1}"))]));

    internal List<PoolScan> Scan(params int[] disks) =>
        [.. (disks.Length == 0 ? Disks : disks.Select(disk => Disks[disk])).Select(disk => Lane.Run(PoolScan.Scan(Lane, disk)))];

    internal PoolOpenResult Open(PoolId id, params int[] disks) => Lane.Run(Pool.Open(Environment, id, Scan(disks)));

    /// <summary>The same machine after its host process died: caches kept, disks reopened, another lane.</summary>
    internal PoolWorld Killed(ulong seed) =>
        new(new SimLane(seed), [.. Disks.Select(disk => disk.SnapshotWithInFlight())], Host.Snapshot(withMemory: true));

    /// <summary>The same machine after a power cut that keeps the sectors chosen by the seed.</summary>
    internal PoolWorld Cut(ulong seed)
    {
        SimLane lane = new(seed);
        int percent = lane.Next(4) switch { 0 => 0, 1 => 100, _ => lane.Next(100) };
        return new(
            lane,
            [.. Disks.Select(disk => disk.SnapshotWithInFlight().Cut((_, _) => lane.Next(100) < percent))],
            Host.Snapshot(withMemory: false));
    }

    internal static JobRecord Job(int number, int value) => new(new Guid(number, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), [(byte)value, (byte)(value >> 8)]);

    /// <summary>A job that fills a checkpoint page.</summary>
    internal static JobRecord LargeJob(int number, int value) =>
        Job(number, value) with { State = [(byte)value, (byte)(value >> 8), .. new byte[JobRecord.MaxStateBytes - 2]] };

    internal static int ValueOf(PoolState state, int number) =>
        state.Jobs.TryGetValue(new Guid(number, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), out JobRecord? job) ? job.State[0] | (job.State[1] << 8) : 0;
}
