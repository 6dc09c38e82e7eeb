using System.Diagnostics;
using System.Globalization;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Bench.Tables;

/// <summary>
/// Processor time of a 4 KiB write that a mirrored write cache takes, in process, over that of what it cannot do without: a write of header
/// and block to each of two disks, of the same kind and on the same lane.
/// </summary>
internal sealed class CachedWriteCost
{
    private const int Block = 4096;
    private const long RingBytes = 512 << 20;
    private const long DataBytes = 512 << 20;
    private const int Operations = 50_000;   // three quarters of the ring, at two blocks each
    private const int Warmups = 2;           // once round the ring, and everything compiled

    private readonly Lane _lane;
    private readonly IDisk[] _raw;
    private readonly OpenVirtualDisk _cached;
    private readonly IoBuffer _record;
    private int _left;

    private CachedWriteCost(Lane lane, IDisk[] raw, OpenVirtualDisk cached)
    {
        _lane = lane;
        _raw = raw;
        _cached = cached;
        _record = lane.Buffers.Rent(2 * Block);
        new Random(1).NextBytes(_record.Span);
    }

    internal static void Run(Arguments arguments)
    {
        int rounds = (int)arguments.Number("rounds", 5, 1, 99);
        string parent = arguments.Text("disk", "/var/tmp");
        arguments.ThrowIfUnused();
        using BackingFolder folder = new(parent);
        using HostState state = new(folder.File("state"), folder.File("run"));
        using Lane lane = LaneFactory.Create("bench");
        CachedWriteCost cost = lane.InvokeAsync(() => Make(lane, folder, state)).GetAwaiter().GetResult();
        Console.WriteLine($"{folder.Description}, {lane.Backend}; microseconds of processor time for a write, median of {rounds} rounds of {Operations}");
        foreach (int depth in new[] { 1, 32 })
        {
            (double cached, double raw, double ratio) = cost.Measure(depth, rounds);
            Console.WriteLine(string.Create(
                CultureInfo.InvariantCulture, $"depth {depth}: cached {cached:0.0}, two raw journal writes {raw:0.0}, ratio {ratio:0.00} (bar: 1.3)"));
        }

        lane.InvokeAsync(() => cost._cached.Close()).GetAwaiter().GetResult();
    }

    private static async LaneTask<CachedWriteCost> Make(Lane lane, BackingFolder folder, HostState state)
    {
        PoolEnvironment environment = new(lane, new StateFolder(lane, state), Guid.Empty);
        NewDiskSpec[] disks = [await Member("j1", DiskUsage.Journal), await Member("j2", DiskUsage.Journal), await Member("d1", DiskUsage.AutoSelect),
            await Member("d2", DiskUsage.AutoSelect)];
        Pool pool = await Pool.Create(environment, new NewPoolSpec { FriendlyName = "p" }, disks);
        VirtualDiskResult made = await VirtualDiskBuilder.Create(pool, new VirtualDiskDescription
        {
            FriendlyName = "d", ResiliencySettingName = "Mirror", SizeBytes = DataBytes, NumberOfColumns = 1, NumberOfDataCopies = 2, Interleave = 256 << 10,
            LogicalSectorSize = Block, ProvisioningType = ProvisioningType.Fixed, Checksum = ChecksumKind.CRC32C, WriteCacheSize = RingBytes,
        });
        return new CachedWriteCost(lane, [await Open("r1", RingBytes), await Open("r2", RingBytes)], made.Disk ?? throw new IOException(made.Reason));

        async LaneTask<NewDiskSpec> Member(string name, DiskUsage usage) =>
            new(await Open(name, 2 * RingBytes), name) { Usage = usage, MediaType = usage == DiskUsage.Journal ? MediaType.SSD : MediaType.HDD };

        async LaneTask<IDisk> Open(string name, long size)
        {
            DiskImage.Create(folder.File(name), size, preallocate: true);
            return await new DiskFactory().Open(lane, $"file://{folder.File(name)}", new DiskOverrides());
        }
    }

    private (double Cached, double Raw, double Ratio) Measure(int depth, int rounds)
    {
        List<(double Cached, double Raw)> measured = [];
        for (int round = -Warmups; round < rounds; round++)
        {
            double raw = Time(depth, WriteRaw);
            double cached = Time(depth, WriteCached);
            _lane.InvokeAsync(Empty).GetAwaiter().GetResult();
            if (round >= 0)
            {
                measured.Add((cached, raw));
            }
        }

        return (Median(measured.ConvertAll(pair => pair.Cached)), Median(measured.ConvertAll(pair => pair.Raw)),
            Median(measured.ConvertAll(pair => pair.Cached / pair.Raw)));
    }

    /// <summary>Processor time of this process for one of so many writes, in microseconds.</summary>
    private double Time(int depth, Func<int, LaneTask<IoError>> write)
    {
        using Process self = Process.GetCurrentProcess();
        TimeSpan before = self.TotalProcessorTime;
        _lane.InvokeAsync(() => Load(depth, write)).GetAwaiter().GetResult();
        self.Refresh();
        return (self.TotalProcessorTime - before).TotalMicroseconds / Operations;
    }

    private async LaneTask<Nothing> Load(int depth, Func<int, LaneTask<IoError>> write)
    {
        _left = Operations;
        LaneTask<Nothing>[] workers = new LaneTask<Nothing>[depth];
        for (int i = 0; i < depth; i++)
        {
            workers[i] = Work(write);
        }

        for (int i = 0; i < depth; i++)
        {
            await workers[i];
        }

        return default;
    }

    private async LaneTask<Nothing> Work(Func<int, LaneTask<IoError>> write)
    {
        while (_left > 0)
        {
            _left--;
            if (await write(_left) is not IoError.None and var error)
            {
                throw new IOException($"a write failed: {error}");
            }
        }

        return default;
    }

    private async LaneTask<IoError> WriteRaw(int number)
    {
        long offset = 2L * Block * number;
        LaneTask<IoError> first = _raw[0].Write(offset, _record, WriteFlags.None);
        LaneTask<IoError> second = _raw[1].Write(offset, _record, WriteFlags.None);
        IoError error = await first;
        IoError other = await second;
        return error == IoError.None ? other : error;
    }

    private LaneTask<IoError> WriteCached(int number) =>
        _cached.Disk.Write((long)(uint)(number * 2654435761) % (DataBytes / Block) * Block, _record.Slice(0, Block), WriteFlags.None);

    /// <summary>Destages everything; then no data is destaged until the next round has ended.</summary>
    private async LaneTask<Nothing> Empty()
    {
        _cached.Cache!.TakeSettings(new DestageSettings { IdleNs = 0 });
        while (_cached.Cache.DirtyBytes > 0)
        {
            await _lane.Delay(1_000_000);
        }

        _cached.Cache.TakeSettings(new DestageSettings { Hold = true });
        return default;
    }

    private static double Median(List<double> values)
    {
        values.Sort();
        return values[values.Count / 2];
    }
}
