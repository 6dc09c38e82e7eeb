using System.Diagnostics;
using System.Globalization;
using TierSpaces.Bench.Nbd;

namespace TierSpaces.Bench.Experiments;

/// <summary>
/// Tiered disks in one of the states that the experiment compares, loaded by many jobs at once over NBD. Each load has the next of them: two
/// disks that are the same in all that can be said of them differ by a few percent, by where in memory they happened to be made.
/// </summary>
internal sealed class TierArm(string name, IReadOnlyList<TieredDisk> disks, TierShape shape) : ITurnArm, IDisposable
{
    internal const int Jobs = 16;
    internal const int Depth = 20;

    private static readonly TimeSpan s_patience = TimeSpan.FromMinutes(5);
    private static readonly TimeSpan s_interval = TimeSpan.FromMilliseconds(500);

    public string Name => name;

    public bool TakesTurns { get; init; }

    /// <summary>Where the writes of its loads went.</summary>
    internal WritePlaces Places { get; private set; }

    private long DirtyBytes => disks.Sum(disk => disk.DirtyBytes);

    public void Settle()
    {
        for (Stopwatch watch = Stopwatch.StartNew(); DirtyBytes > 0; Thread.Sleep(s_interval))
        {
            if (watch.Elapsed > s_patience)
            {
                throw new IOException($"The write cache of '{name}' was not empty within {s_patience.TotalMinutes:0} minutes: {DirtyBytes} bytes are left.");
            }
        }
    }

    public LoadResult Measure(ArmLoad load, int seed)
    {
        TieredDisk disk = disks[seed % disks.Count];
        WritePlaces before = disk.Places;
        LoadResult result = NbdLoad.Run(Options(disk, load, seed));
        Places += disk.Places - before;
        return result;
    }

    public LoadOptions Begin(ArmLoad load, int seed)
    {
        TieredDisk disk = disks[seed % disks.Count];
        Places -= disk.Places;
        return Options(disk, load, seed);
    }

    public void End(int seed) => Places += disks[seed % disks.Count].Places;

    /// <summary>Where its writes went, in words.</summary>
    internal string Use()
    {
        long home = Places.Fast + Places.Slow;
        string tiers = string.Create(
            CultureInfo.InvariantCulture,
            $"SSD tier {Share(Places.Fast, home)}, HDD tier {Share(Places.Slow, home)} of {home} writes; writes and flushes of the pool's disks for each of them {Places.Below / Math.Max(1.0, home):0.000}");
        long asked = Places.Cached + Places.Resident + Places.PastFull;
        return asked == 0 ? tiers : string.Create(
            CultureInfo.InvariantCulture,
            $"{tiers}; write cache: took {Share(Places.Cached, asked)} of {asked}, {Share(Places.Resident, asked)} went past it to the SSD tier, {Share(Places.PastFull, asked)} because it was full");
    }

    public void Dispose()
    {
        foreach (TieredDisk disk in disks)
        {
            disk.Dispose();
        }
    }

    private LoadOptions Options(TieredDisk disk, ArmLoad load, int seed) => new(
        disk.Socket, "tiered", Writes: true, Random: true, load.Block, Depth, Jobs, load.Seconds, load.Warmup,
        shape.RangeSlices * (long)TierShape.Slice, Environment.ProcessId, Durable: load.Durable, Operations: load.Operations, Seed: seed);

    private static string Share(long part, long whole) => string.Create(CultureInfo.InvariantCulture, $"{100.0 * part / Math.Max(1, whole):0.0} %");
}
