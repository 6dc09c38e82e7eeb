using System.Diagnostics;
using System.Globalization;
using TierSpaces.Bench.Nbd;
using TierSpaces.Bench.Tables;

namespace TierSpaces.Bench.Experiments;

/// <summary>One kind of load of an experiment: random writes, one at a time on each of its streams, unless it says otherwise.</summary>
/// <param name="Name">As the report calls it.</param>
/// <param name="Block">Bytes of a request.</param>
/// <param name="Durable">Whether each write has FUA.</param>
/// <param name="Seconds">It ends after that time …</param>
/// <param name="Operations">… or after so many requests, whichever comes first; 0: after that time.</param>
/// <param name="Warmup">Seconds of the same load before it counts.</param>
/// <param name="Reads">Whether it reads.</param>
/// <param name="Sequential">Whether requests follow each other.</param>
/// <param name="Depth">Requests in flight on each stream, 1 to 256.</param>
/// <param name="FlushEvery">So many writes of a stream are followed by a flush; 0: none is.</param>
internal sealed record ArmLoad(
    string Name, int Block, bool Durable, double Seconds, long Operations = 0, double Warmup = 0, bool Reads = false, bool Sequential = false, int Depth = 1,
    int FlushEvery = 0);

/// <summary>One of the arrangements that an experiment compares.</summary>
internal interface IArm
{
    /// <summary>As the report calls it.</summary>
    string Name { get; }

    /// <summary>Waits until nothing of an earlier load is left to be done.</summary>
    void Settle();

    /// <summary>Loads it; the same seed writes to the same places in the same order.</summary>
    LoadResult Measure(ArmLoad load, int seed);
}

/// <summary>An arrangement that can be loaded in short turns with others.</summary>
internal interface ITurnArm : IArm
{
    /// <summary>Whether it is: not where a turn takes long to end.</summary>
    bool TakesTurns { get; }

    /// <summary>Its load, over the turns that follow.</summary>
    LoadOptions Begin(ArmLoad load, int seed);

    /// <summary>The last of these turns is over.</summary>
    void End(int seed);
}

/// <summary>Virtual disks of the real host, loaded over NBD by so many streams, which share the disks evenly.</summary>
internal sealed class DiskArm(string name, BenchHost host, IReadOnlyList<NbdTarget> disks, int streams = 1, bool hasCache = false) : IArm
{
    private const double SettledShare = 0.01;
    private static readonly TimeSpan s_patience = TimeSpan.FromMinutes(5);
    private static readonly TimeSpan s_interval = TimeSpan.FromMilliseconds(500);

    /// <summary>Bytes of the caches of all its disks.</summary>
    internal long CacheBytes { get; init; }

    public string Name => name;

    public void Settle()
    {
        for (Stopwatch watch = Stopwatch.StartNew(); hasCache && Dirty() > CacheBytes * SettledShare; Thread.Sleep(s_interval))
        {
            if (watch.Elapsed > s_patience)
            {
                throw new IOException($"The write cache of '{name}' was not empty within {s_patience.TotalMinutes:0} minutes: {Dirty()} bytes are left.");
            }
        }
    }

    /// <summary>Work of its caches with the writes of the run, in words; null when it has none.</summary>
    internal string? CacheUse()
    {
        if (!hasCache)
        {
            return null;
        }

        long taken = Sum("CacheWrites");
        long full = Sum("BypassFullWrites");
        return taken + full == 0
            ? $"{name}: took no writes"
            : string.Create(CultureInfo.InvariantCulture,
                $"{name}: took {100.0 * taken / (taken + full):0.0} % of the writes, the others went past it because it was full");
    }

    public LoadResult Measure(ArmLoad load, int seed) => NbdLoad.Run([.. Enumerable.Range(0, streams).Select(stream => Options(load, seed, stream))]);

    private LoadOptions Options(ArmLoad load, int seed, int stream)
    {
        NbdTarget disk = disks[stream % disks.Count];
        return new LoadOptions(
            disk.Socket, disk.Export, !load.Reads, !load.Sequential, load.Block, load.Depth, 1, load.Seconds, load.Warmup, 0, disk.Pid,
            Durable: load.Durable, Operations: load.Operations / streams, Seed: (seed * streams) + stream, FlushEvery: load.FlushEvery);
    }

    private long Dirty() => Sum("DirtyBytes");

    private long Sum(string counter) => disks.Sum(disk => host.CacheCounter(disk.Export, counter));
}
