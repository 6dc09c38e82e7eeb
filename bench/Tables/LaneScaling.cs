using System.Diagnostics;
using System.Globalization;
using System.Text;
using TierSpaces.Bench.Nbd;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Bench.Tables;

/// <summary>
/// Virtual disks of one pool on data lanes of their own, in process, on images in memory: two disks on two lanes against one disk on one lane, in turns. The
/// lanes use the same member disks, each through its own handles.
/// </summary>
internal sealed class LaneScaling : IDisposable
{
    internal const string Title = "Virtual disks on several lanes";

    private const int Block = 4096;
    private const int Depth = 32;
    private const int Members = 2;
    private const long MemberBytes = 1L << 30;
    private const long DataBytes = 64L << 20;   // of each virtual disk; written before
    private const int Requests = 150_000;       // of a turn, for each virtual disk
    private const int Warmups = 4;
    private const double OthersMax = 0.05;      // of the processors, in a round in which the machine did nothing else

    private readonly BackingFolder _folder = new("/dev/shm");
    private readonly HostState _state;
    private readonly Lane _control = LaneFactory.Create("control");
    private readonly Lane[] _lanes = [LaneFactory.Create("data1"), LaneFactory.Create("data2")];
    private readonly OpenVirtualDisk[] _disks;
    private readonly Pool _pool;
    private int _seed;

    private LaneScaling()
    {
        _state = new HostState(_folder.File("state"), _folder.File("run"));
        _pool = On(_control, MakePool);
        _disks = Array.ConvertAll(_lanes, lane => On(_control, () => MakeDisk(lane)));
        for (int disk = 0; disk < _disks.Length; disk++)
        {
            int number = disk;
            On(_lanes[disk], () => Fill(number));
        }
    }

    /// <summary>Returns the section of docs/performance.md.</summary>
    internal static string Text(int rounds, MachineFacts machine)
    {
        using LaneScaling bench = new();
        StringBuilder text = new(string.Create(CultureInfo.InvariantCulture, $"""
            ## {Title}

            Two virtual disks of one pool (two-way mirror with checksums) on two data lanes against one of them on its lane, in turns: random requests of 4 KiB at depth {Depth}, in this
            process, on images in memory. *Rate*: requests a second of both together, over that of the one. *Processor time*: of the whole process for a request, over that of the
            one. {rounds} rounds of {Requests} requests a disk, median (least–greatest); *quiet*: rounds in which everything else on the machine took less than {OthersMax * 100:F0} % of its processors.
            Machine: {machine.Processor}; load average (1 minute) before the first run {machine.LoadAverage}.
            `./build.sh Bench --only lanes` measures this section again and leaves the others as they are.

            | Request | one disk, requests/s | rate | processor time | quiet rounds | rate, quiet |
            |---|---|---|---|---|---|

            """));
        foreach (bool reads in new[] { true, false })
        {
            string row = bench.Measure(reads, rounds);
            Console.WriteLine(row);
            text.Append(row).Append('\n');
        }

        return text.ToString();
    }

    public void Dispose()
    {
        On(_control, async () =>
        {
            foreach (OpenVirtualDisk disk in _disks)
            {
                await disk.Call(disk.Close);
            }

            await _pool.Close();
            return 0;
        });
        Array.ForEach(_lanes, static lane => lane.Dispose());
        _control.Dispose();
        _state.Dispose();
        _folder.Dispose();
    }

    private string Measure(bool reads, int rounds)
    {
        List<(double Rate, double Processor, double Alone, bool IsQuiet)> measured = [];
        for (int round = -Warmups; round < rounds; round++)
        {
            Turn one = round % 2 == 0 ? Run(reads, [0]) : default;
            Turn both = Run(reads, [0, 1]);
            one = round % 2 == 0 ? one : Run(reads, [0]);
            if (round >= 0)
            {
                measured.Add((both.Rate / one.Rate, both.Processor / one.Processor, one.Rate, one.IsQuiet && both.IsQuiet));
            }
        }

        double[] quiet = [.. measured.Where(static round => round.IsQuiet).Select(static round => round.Rate)];
        return string.Create(CultureInfo.InvariantCulture, $"| {(reads ? "read" : "write")} | {Spread.Of(measured.Select(static round => round.Alone)).Median:F0} ")
            + $"| {Spread.Of(measured.Select(static round => round.Rate))} | {Spread.Of(measured.Select(static round => round.Processor))} "
            + $"| {quiet.Length} of {rounds} | {(quiet.Length > 0 ? Spread.Of(quiet).ToString() : "–")} |";
    }

    /// <summary>Loads some of the virtual disks at once, each from its own lane.</summary>
    private Turn Run(bool reads, int[] disks)
    {
        ProcessorTimes before = ProcessorTimes.Now(0);
        long startedAt = Stopwatch.GetTimestamp();
        Task.WaitAll([.. disks.Select(disk => _lanes[disk].InvokeAsync(() => Load(disk, reads)))]);
        double seconds = Stopwatch.GetElapsedTime(startedAt).TotalSeconds;
        ProcessorTimes took = ProcessorTimes.Now(0) - before;
        double requests = Requests * (double)disks.Length;
        return new Turn(requests / seconds, took.Client / requests, took.Machine - took.Client < OthersMax * seconds * Environment.ProcessorCount);
    }

    private async LaneTask<int> Load(int disk, bool reads)
    {
        Counter left = new() { Value = Requests };
        LaneTask<int>[] streams = new LaneTask<int>[Depth];
        for (int stream = 0; stream < Depth; stream++)
        {
            streams[stream] = Stream(disk, reads, left);
        }

        foreach (LaneTask<int> stream in streams)
        {
            await stream;
        }

        return 0;
    }

    private async LaneTask<int> Stream(int disk, bool reads, Counter left)
    {
        IBlockStore store = _disks[disk].Disk;
        IoBuffer buffer = _lanes[disk].Buffers.Rent(Block);
        Random random = new(Interlocked.Increment(ref _seed));
        while (left.Value-- > 0)
        {
            long offset = random.NextInt64(DataBytes / Block) * Block;
            Require(reads ? await store.Read(offset, buffer) : await store.Write(offset, buffer, WriteFlags.None));
        }

        _lanes[disk].Buffers.Return(buffer);
        return 0;
    }

    private async LaneTask<Pool> MakePool()
    {
        DiskWatch watch = new(_control);
        List<NewDiskSpec> members = [];
        for (int number = 1; number <= Members; number++)
        {
            IDisk disk = await new DiskFactory().Open(_control, $"file://{_folder.NewFile($"member{number}", MemberBytes)}", new DiskOverrides());
            members.Add(new NewDiskSpec(new MeteredDisk(_control, disk, watch), $"disk{number}"));
        }

        PoolEnvironment environment = new(_control, new StateFolder(_control, _state), _control.NewGuid());
        return await Pool.Create(environment, new NewPoolSpec { FriendlyName = "lanes" }, members);
    }

    private async LaneTask<OpenVirtualDisk> MakeDisk(Lane lane)
    {
        VirtualDiskResult made = await VirtualDiskBuilder.Create(
            _pool,
            new VirtualDiskDescription
            {
                FriendlyName = lane.Name,
                ResiliencySettingName = "Mirror",
                SizeBytes = DataBytes,
                NumberOfColumns = 1,
                NumberOfDataCopies = Members,
                PhysicalDiskRedundancy = 1,
                Checksum = ChecksumKind.CRC32C,
            },
            lane);
        return made.Disk ?? throw new IOException($"The virtual disk cannot be made: {made.Reason}.");
    }

    private async LaneTask<int> Fill(int disk)
    {
        const int large = 1 << 20;
        IoBuffer buffer = _lanes[disk].Buffers.Rent(large);
        new Random(disk).NextBytes(buffer.Span);
        for (long at = 0; at < DataBytes; at += large)
        {
            Require(await _disks[disk].Disk.Write(at, buffer, WriteFlags.None));
        }

        _lanes[disk].Buffers.Return(buffer);
        Require(await _disks[disk].Disk.Flush());
        return 0;
    }

    private static T On<T>(Lane lane, Func<LaneTask<T>> work) => lane.InvokeAsync(work).GetAwaiter().GetResult();

    private static void Require(IoError error)
    {
        if (error != IoError.None)
        {
            throw new IOException($"A virtual disk answered {error}.");
        }
    }

    /// <summary>Requests a second, processor time of the process for a request in seconds, and whether the machine did nothing else.</summary>
    private readonly record struct Turn(double Rate, double Processor, bool IsQuiet);

    private sealed class Counter
    {
        internal int Value { get; set; }
    }
}
