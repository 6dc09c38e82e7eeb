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
/// Processor time of a 4 KiB request in the data path of virtual disks, on member disks that end every request within the call: the reciprocal of the requests
/// that one core serves in a second, without server, system calls and waiting.
/// </summary>
internal sealed class CoreCost : IDisposable
{
    internal const string Title = "Processor time of a request";

    private const int Block = 4096;
    private const long DiskBytes = 8L << 30;
    private const long DataBytes = 64L << 20;    // of each virtual disk; written before, so that reads have data to verify
    private const long RingBytes = 256L << 20;
    private const int Requests = 16_000;         // of a turn; a ring takes them all, at two blocks each
    private const int Warmups = 6;               // everything is compiled at its best after them

    private static readonly CoreCase[] s_cases =
    [
        new("simple, no checksums", "Simple", ChecksumKind.None, Disks: 1, HasRing: false),
        new("simple", "Simple", ChecksumKind.CRC32C, Disks: 1, HasRing: false),
        new("two-way mirror", "Mirror", ChecksumKind.CRC32C, Disks: 2, HasRing: false),
        new("parity of four columns", "Parity", ChecksumKind.CRC32C, Disks: 4, HasRing: true),
    ];

    private readonly Lane _lane = LaneFactory.Create("cores");
    private readonly BackingFolder _folder = new("/dev/shm");
    private readonly HostState _state;
    private readonly IoBuffer _buffer;
    private readonly MemoryDisk _bare = new("bare", DiskBytes);
    private int _turn;

    private CoreCost()
    {
        _state = new HostState(_folder.File("state"), _folder.File("run"));
        _buffer = _lane.Buffers.Rent(Block);
        new Random(1).NextBytes(_buffer.Span);
    }

    /// <summary>Returns the section of docs/performance.md.</summary>
    internal static string Text(int rounds, MachineFacts machine)
    {
        using CoreCost bench = new();
        StringBuilder text = new(string.Create(CultureInfo.InvariantCulture, $"""
            ## {Title}

            Processor time of a random 4 KiB request in the data path, in microseconds, on member disks in memory that end each request within the call: the engine in
            this process, without server, system calls and waiting. It is the time of the lane's thread, so one core serves one request after the other in that time. *Over the disk*: the
            same request to one such disk, which is a copy of 4 KiB, in the same round; {rounds} rounds of {Requests} requests each, median (least–greatest). Virtual disks of {DataBytes >> 20} MiB,
            written before. Parity takes a write into its ring; *destaged* is that and its way to the stripes, with the parity journal and every checksum.
            The random writes of a round leave about two of three blocks of each line of parity to destage.
            Machine: {machine.Processor}; load average (1 minute) before the first run {machine.LoadAverage}.
            `./build.sh Bench --only cores` measures this section again and leaves the others as they are.

            | Request | virtual disk | µs | over the disk |
            |---|---|---|---|

            """));
        foreach (CoreCase one in s_cases)
        {
            foreach (string row in bench.Measure(one, rounds))
            {
                Console.WriteLine(row);
                text.Append(row).Append('\n');
            }
        }

        return text.ToString();
    }

    public void Dispose()
    {
        OnLane(async () =>
        {
            await _bare.Close();
            return 0;
        });
        _lane.Dispose();
        _state.Dispose();
        _folder.Dispose();
    }

    private IEnumerable<string> Measure(CoreCase one, int rounds)
    {
        (Pool pool, OpenVirtualDisk disk) = OnLane(() => Make(one));
        Fill(disk.Disk);
        Fill(_bare);
        List<(double Own, double Bare)> reads = [], writes = [], destaged = [];
        for (int round = -Warmups; round < rounds; round++)
        {
            double bareRead = Time(() => Load(_bare, reads: true));
            double read = Time(() => Load(disk.Disk, reads: true));
            double bareWrite = Time(() => Load(_bare, reads: false));
            double write = Time(() => Load(disk.Disk, reads: false));
            double all = write + Time(() => Destage(disk));
            if (round >= 0)
            {
                reads.Add((read, bareRead));
                writes.Add((write, bareWrite));
                destaged.Add((all, bareWrite));
            }
        }

        OnLane(async () =>
        {
            await disk.Close();
            await pool.Close();
            return 0;
        });
        yield return Row("read", one.Name, reads);
        yield return Row(one.HasRing ? "write, into the ring" : "write", one.Name, writes);
        yield return Row(one.HasRing ? "write, destaged" : "write, flushed at the end", one.Name, destaged);
    }

    private static string Row(string request, string name, List<(double Own, double Bare)> times) =>
        $"| {request} | {name} | {Spread.Of(times.Select(time => time.Own))} | {Spread.Of(times.Select(time => time.Own / time.Bare))} |";

    private async LaneTask<(Pool, OpenVirtualDisk)> Make(CoreCase one)
    {
        NewDiskSpec[] members =
            [.. Enumerable.Range(1, one.Disks).Select(number => new NewDiskSpec(new MemoryDisk($"{one.Name} {number}", DiskBytes), $"disk{number}"))];
        PoolEnvironment environment = new(_lane, new StateFolder(_lane, _state), _lane.NewGuid());
        Pool pool = await Pool.Create(environment, new NewPoolSpec { FriendlyName = "cores" }, members);
        VirtualDiskResult made = await VirtualDiskBuilder.Create(pool, new VirtualDiskDescription
        {
            FriendlyName = one.Name,
            ResiliencySettingName = one.Resiliency,
            SizeBytes = DataBytes,
            NumberOfColumns = (ushort)(one.Resiliency == "Parity" ? one.Disks : 1),
            NumberOfDataCopies = (ushort)(one.Resiliency == "Mirror" ? one.Disks : 1),
            PhysicalDiskRedundancy = (ushort)(one.Disks > 1 ? 1 : 0),
            Checksum = one.Checksum,
            WriteCacheSize = one.HasRing ? RingBytes : 0,
        });
        OpenVirtualDisk disk = made.Disk ?? throw new IOException($"The virtual disk cannot be made: {made.Reason}.");
        if (disk.Cache is { } cache)
        {
            cache.TakeSettings(new DestageSettings { Hold = true });
        }

        return (pool, disk);
    }

    private void Fill(IBlockStore store) => OnLane(async () =>
    {
        const int large = 768 << 10;   // whole stripes of three columns
        IoBuffer buffer = _lane.Buffers.Rent(large);
        new Random(2).NextBytes(buffer.Span);
        for (long at = 0; at < DataBytes; at += large)
        {
            Require(await store.Write(at, buffer.Slice(0, (int)Math.Min(large, DataBytes - at)), WriteFlags.None));
        }

        _lane.Buffers.Return(buffer);
        Require(await store.Flush());
        return 0;
    });

    /// <summary>Processor time of the lane for one of the requests of a turn, in microseconds. The lane is one thread.</summary>
    private double Time(Func<LaneTask<int>> turn) => OnLane(async () =>
    {
        double before = LibC.ThreadSeconds();
        await turn();
        return (LibC.ThreadSeconds() - before) * 1e6 / Requests;
    });

    private async LaneTask<int> Load(IBlockStore store, bool reads)
    {
        Random random = new(_turn++);
        for (int request = 0; request < Requests; request++)
        {
            long offset = random.NextInt64(DataBytes / Block) * Block;
            Require(reads ? await store.Read(offset, _buffer) : await store.Write(offset, _buffer, WriteFlags.None));
        }

        return 0;
    }

    /// <summary>Flushes, and empties the ring; then nothing is destaged until the next turn of writes has ended.</summary>
    private async LaneTask<int> Destage(OpenVirtualDisk disk)
    {
        if (disk.Cache is { } cache)
        {
            cache.TakeSettings(new DestageSettings { IdleNs = 0 });
            while (cache.DirtyBytes > 0)
            {
                await _lane.Delay(1_000_000);
            }

            cache.TakeSettings(new DestageSettings { Hold = true });
        }

        Require(await disk.Disk.Flush());
        return 0;
    }

    private T OnLane<T>(Func<LaneTask<T>> work) => _lane.InvokeAsync(work).GetAwaiter().GetResult();

    private static void Require(IoError error)
    {
        if (error != IoError.None)
        {
            throw new IOException($"A disk answered {error}.");
        }
    }

    /// <summary>A virtual disk that is measured.</summary>
    private sealed record CoreCase(string Name, string Resiliency, ChecksumKind Checksum, int Disks, bool HasRing);
}
