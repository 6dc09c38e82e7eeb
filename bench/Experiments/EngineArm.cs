using System.Diagnostics;
using TierSpaces.Bench.Nbd;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Bench.Experiments;

/// <summary>
/// A virtual disk of an engine in this process, loaded on its lane without a server: what limits it is the emulated disks, as long as one processor suffices.
/// Loads in sequence go round the first of its parts, random ones are spread over all of them, as much over each.
/// </summary>
internal sealed class EngineArm(string name, EmulatedPool pool, OpenVirtualDisk disk, IReadOnlyList<DiskPart> parts) : IArm
{
    private LoadRecord _record = new();
    private Random _random = new(0);
    private long _next;
    private long _end;

    public string Name => name;

    /// <summary>Bytes at the beginning of each part that random loads use; 0: all of it.</summary>
    internal long RandomBytes { get; init; }

    /// <summary>Streams: each keeps the depth of a load in flight. At least 1.</summary>
    internal int Streams { get; init; } = 1;

    /// <summary>Bytes of a request; 0: those of the load.</summary>
    internal int Block { get; init; }

    /// <summary>Resources that its loads used, by name of the load and round.</summary>
    internal Dictionary<string, List<LoadUse>> Uses { get; } = [];

    /// <summary>Makes writes durable.</summary>
    public void Settle() => pool.OnLane(async () =>
    {
        Require(await disk.Disk.Flush());
        return 0;
    });

    public LoadResult Measure(ArmLoad given, int seed)
    {
        ArmLoad load = Block > 0 ? given with { Block = Block } : given;
        (_random, _next) = (new Random(seed), 0);
        if (load.Warmup > 0)
        {
            Drive(load, load.Warmup);
        }

        double lost = pool.LostSeconds;
        ProcessorTimes before = ProcessorTimes.Now(Environment.ProcessId);
        double seconds = Drive(load, load.Seconds);
        ProcessorTimes used = ProcessorTimes.Now(Environment.ProcessId) - before;
        long operations = _record.Latency.Count;
        Uses.TryAdd(load.Name, []);
        Uses[load.Name].Add(new LoadUse(operations * load.Block / seconds, used.Client / seconds, (pool.LostSeconds - lost) / seconds / pool.Disks));
        return new LoadResult(
            operations, seconds, load.Block, _record, used.Client / seconds, null, Math.Max(0, used.Machine - used.Client) / seconds);
    }

    /// <exception cref="IOException">There is an error.</exception>
    internal static void Require(IoError error)
    {
        if (error != IoError.None)
        {
            throw new IOException($"The virtual disk answered {error}.");
        }
    }

    /// <summary>Loads it for so many seconds and returns how many they were; requests that end later do not count.</summary>
    private double Drive(ArmLoad load, double seconds) => pool.OnLane(async () =>
    {
        long start = Stopwatch.GetTimestamp();
        _record = new LoadRecord();
        _end = start + (long)(seconds * Stopwatch.Frequency);
        LaneTask<Nothing>[] workers = [.. Enumerable.Range(0, load.Depth * Streams).Select(_ => Work(load))];
        foreach (LaneTask<Nothing> worker in workers)
        {
            await worker;
        }

        return (double)(_end - start) / Stopwatch.Frequency;
    });

    private async LaneTask<Nothing> Work(ArmLoad load)
    {
        IoBuffer buffer = pool.Lane.Buffers.Rent(load.Block);
        for (long start = Stopwatch.GetTimestamp(); start < _end; start = Stopwatch.GetTimestamp())
        {
            long offset = Next(load);
            Require(load.Reads ? await disk.Disk.Read(offset, buffer) : await disk.Disk.Write(offset, buffer, WriteFlags.None));
            long now = Stopwatch.GetTimestamp();
            if (now <= _end)
            {
                _record.Add(now, now - start);
            }
        }

        pool.Lane.Buffers.Return(buffer);
        return default;
    }

    private long Next(ArmLoad load)
    {
        if (load.Sequential)
        {
            return parts[0].Offset + (_next++ % (parts[0].Length / load.Block) * load.Block);
        }

        DiskPart part = parts[_random.Next(parts.Count)];
        return part.Offset + (_random.NextInt64((RandomBytes > 0 ? RandomBytes : part.Length) / load.Block) * load.Block);
    }
}

/// <summary>Resources that one load used.</summary>
/// <param name="BytesPerSecond">Its rate.</param>
/// <param name="Processors">Processors that engine and load used.</param>
/// <param name="LostShare">Share of the time of all disks of the pool that they lost because the machine was too slow or too busy for them.</param>
internal readonly record struct LoadUse(double BytesPerSecond, double Processors, double LostShare);
