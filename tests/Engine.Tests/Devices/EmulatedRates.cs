using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Devices.Emulated;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Devices;

/// <summary>One figure of the table of profiles: what is done, and how often or how fast it must go.</summary>
/// <param name="Profile">Name of the profile.</param>
/// <param name="Load">The load.</param>
/// <param name="Depth">Requests at once.</param>
/// <param name="Size">Bytes per request.</param>
/// <param name="PerSecond">Requests per second that the table says.</param>
public sealed record EmulatedRate(string Profile, EmulatedLoad Load, int Depth, int Size, double PerSecond)
{
    private const int Kilobyte4 = 4096;
    private const int Kilobyte64 = 64 << 10;
    private const int Megabyte = 1 << 20;

    /// <summary>The table: caps at queue depth 32, rotating disks one at a time, sequential rates in bytes.</summary>
    public static EmulatedRate[] Table { get; } =
    [
        new("HDD5400", EmulatedLoad.RandomRead, 1, Kilobyte4, 60),
        new("HDD5400", EmulatedLoad.SequentialRead, 1, Megabyte, 110e6 / Megabyte),
        new("HDD7200", EmulatedLoad.RandomRead, 1, Kilobyte4, 80),
        new("HDD10K", EmulatedLoad.RandomRead, 1, Kilobyte4, 150),
        new("HDD15K", EmulatedLoad.RandomRead, 1, Kilobyte4, 200),
        new("HDD7200", EmulatedLoad.RandomWrite, 1, Kilobyte4, 80),
        new("HDD10K", EmulatedLoad.RandomWrite, 1, Kilobyte64, 142),
        new("HDD7200", EmulatedLoad.SequentialRead, 1, Megabyte, 150e6 / Megabyte),
        new("HDD10K", EmulatedLoad.SequentialWrite, 4, Megabyte, 180e6 / Megabyte),
        new("HDD15K", EmulatedLoad.SequentialRead, 1, Megabyte, 220e6 / Megabyte),
        new("HDD10K", EmulatedLoad.Flush, 1, 0, 10_000 / 60.0),
        new("SSDSata", EmulatedLoad.RandomRead, 32, Kilobyte4, 70_000),
        new("SSDSata", EmulatedLoad.RandomWrite, 32, Kilobyte4, 50_000),
        new("SSDSata", EmulatedLoad.SequentialRead, 8, Megabyte, 500e6 / Megabyte),
        new("SSDSata", EmulatedLoad.Flush, 1, 0, 1000),
        new("SSDSas", EmulatedLoad.RandomRead, 32, Kilobyte4, 90_000),
        new("SSDSas", EmulatedLoad.RandomWrite, 32, Kilobyte4, 40_000),
        new("SSDSas", EmulatedLoad.RandomWrite, 1, Kilobyte64, 6800),
        new("SSDSas", EmulatedLoad.SequentialWrite, 8, Megabyte, 750e6 / Megabyte),
        new("SSDSas", EmulatedLoad.Flush, 1, 0, 20_000),
        new("NVMe", EmulatedLoad.RandomRead, 32, Kilobyte4, 400_000),
        new("NVMe", EmulatedLoad.RandomWrite, 32, Kilobyte4, 200_000),
        new("NVMe", EmulatedLoad.SequentialRead, 8, Megabyte, 3e9 / Megabyte),
        new("NVMe", EmulatedLoad.Flush, 1, 0, 1e9 / 30_000),
    ];

    /// <summary>
    /// Runs the load for about <paramref name="seconds"/> of the lane's time and gives requests per second of the time in
    /// which the machine kept up.
    /// </summary>
    public async LaneTask<double> Measure(ILane lane, EmulatedDisk disk, double seconds)
    {
        Run run = new(this, lane, disk, (int)Math.Max(20, PerSecond * seconds));
        long start = lane.NowNs;
        LaneTask[] workers = [.. Enumerable.Range(0, Depth).Select(_ => run.Work())];
        foreach (LaneTask worker in workers)
        {
            await worker;
        }

        return run.Done * 1e9 / (lane.NowNs - start - disk.LostNs);
    }

    private sealed class Run(EmulatedRate rate, ILane lane, IDisk disk, int count)
    {
        private readonly Random _random = new(5);
        private int _left = count;
        private long _next;

        internal int Done { get; private set; }

        internal async LaneTask Work()
        {
            IoBuffer buffer = lane.Buffers.Rent(Math.Max(4096, rate.Size));
            while (_left-- > 0)
            {
                IoError error = rate.Load switch
                {
                    EmulatedLoad.Flush => await disk.Flush(),
                    EmulatedLoad.RandomWrite or EmulatedLoad.SequentialWrite => await disk.Write(NextOffset(), buffer, WriteFlags.None),
                    _ => await disk.Read(NextOffset(), buffer),
                };
                Assert.Equal(IoError.None, error);
                Done++;
            }

            lane.Buffers.Return(buffer);
        }

        private long NextOffset()
        {
            long places = disk.Geometry.Length / rate.Size;
            bool random = rate.Load is EmulatedLoad.RandomRead or EmulatedLoad.RandomWrite;
            return (random ? _random.NextInt64(places) : _next++ % places) * rate.Size;
        }
    }
}

/// <summary>Load on an emulated disk.</summary>
public enum EmulatedLoad
{
    RandomRead,
    RandomWrite,
    SequentialRead,
    SequentialWrite,
    Flush,
}
