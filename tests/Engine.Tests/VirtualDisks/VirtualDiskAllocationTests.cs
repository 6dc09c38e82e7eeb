using System.Diagnostics;
using System.Reflection;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tests.Devices;
using TierSpaces.Engine.Tests.Lanes;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Tests.VirtualDisks;

/// <summary>
/// The whole stack, virtual disk to image file on a real lane, allocates nothing per request once it is warm: a window of
/// requests is measured again and again until the compiler has optimized every method on the path.
/// </summary>
public sealed class VirtualDiskAllocationTests : IDisposable
{
    private const int BlockSize = 4096;
    private const int Depth = 16;
    private const int RoundsPerWindow = 64;
    private const long LimitNs = 10_000_000_000;   // for the optimizing compiler to have seen every method
    private const long DiskBytes = 8 << 20;

    private readonly string _folder = Directory.CreateTempSubdirectory("ts-alloc-").FullName;
    private readonly LaneTask<IoError>[] _requests = new LaneTask<IoError>[Depth];
    private readonly IoBuffer[] _buffers = new IoBuffer[Depth];
    private ulong _random = 88172645463325252;
    private int _sectorSize = BlockSize;
    private int _length = BlockSize;   // of a request
    private int _columns = 1;
    private bool _hasParity;
    private bool _hasDataLane;         // instead of the lane of the pool
    private bool _isInSequence;        // requests, instead of at random
    private bool _countsRecords = true;   // a window counts only if its writes went into the ring

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    [Theory]
    [InlineData(LaneBackend.Uring, true, 1, ChecksumKind.None)]
    [InlineData(LaneBackend.Uring, true, 1, ChecksumKind.CRC32C)]
    [InlineData(LaneBackend.Uring, true, 2, ChecksumKind.None)]
    [InlineData(LaneBackend.Uring, true, 2, ChecksumKind.CRC32C)]
    [InlineData(LaneBackend.Uring, false, 1, ChecksumKind.CRC32C)]
    [InlineData(LaneBackend.Uring, false, 2, ChecksumKind.CRC32C)]
    [InlineData(LaneBackend.Threads, true, 1, ChecksumKind.CRC32C)]
    [InlineData(LaneBackend.Threads, true, 2, ChecksumKind.CRC32C)]
    [InlineData(LaneBackend.Threads, false, 2, ChecksumKind.None)]
    public void Steady_state_allocates_nothing(LaneBackend backend, bool onDisk, int copies, ChecksumKind checksum) =>
        AssertNothing(backend, copies, checksum, _ => onDisk ? TemporaryImage.OnDisk(64 << 20) : TemporaryImage.InMemory(64 << 20), cacheBytes: 0);

    /// <summary>Everything goes through the ring of a write cache, which is large enough for many windows between two rounds of destaging.</summary>
    [Theory]
    [InlineData(LaneBackend.Uring)]
    [InlineData(LaneBackend.Threads)]
    public void Cached_writes_and_reads_allocate_nothing(LaneBackend backend) =>
        AssertNothing(backend, 2, ChecksumKind.CRC32C, _ => TemporaryImage.OnDisk(256 << 20), cacheBytes: 64 << 20);

    /// <summary>The virtual disk is on a data lane, which reaches the member disks through handles of its own.</summary>
    [Theory]
    [InlineData(LaneBackend.Uring, 0)]
    [InlineData(LaneBackend.Threads, 0)]
    [InlineData(LaneBackend.Uring, 64 << 20)]
    public void Requests_on_a_data_lane_allocate_nothing(LaneBackend backend, long cacheBytes)
    {
        _hasDataLane = true;
        AssertNothing(backend, 2, ChecksumKind.CRC32C, _ => TemporaryImage.OnDisk(256 << 20), cacheBytes);
    }

    /// <summary>Requests that begin and end in the middle of a block, short ones and those whose body is transferred in place.</summary>
    [Theory]
    [InlineData(LaneBackend.Uring, 4096, 0)]
    [InlineData(LaneBackend.Uring, 256 << 10, 0)]
    [InlineData(LaneBackend.Uring, 4096, 64 << 20)]
    [InlineData(LaneBackend.Threads, 256 << 10, 0)]
    public void Requests_at_odd_offsets_allocate_nothing(LaneBackend backend, int length, long cacheBytes)
    {
        _sectorSize = 512;
        _length = length;
        AssertNothing(backend, 2, ChecksumKind.CRC32C, _ => TemporaryImage.OnDisk(256 << 20), cacheBytes);
    }

    /// <summary>Requests over more strips than there are columns: the memory of a member's request is striped.</summary>
    [Theory]
    [InlineData(LaneBackend.Uring, true, 1)]
    [InlineData(LaneBackend.Uring, false, 1)]
    [InlineData(LaneBackend.Uring, true, 2)]
    [InlineData(LaneBackend.Threads, true, 1)]
    public void Joined_strips_allocate_nothing(LaneBackend backend, bool onDisk, int copies)
    {
        _columns = 2;
        _length = 256 << 10;
        AssertNothing(backend, copies, ChecksumKind.CRC32C, _ => onDisk ? TemporaryImage.OnDisk(64 << 20) : TemporaryImage.InMemory(64 << 20), cacheBytes: 0);
    }

    /// <summary>Single parity of three columns: parts of stripes go into a ring on disks of its own, and reads are healthy.</summary>
    [Theory]
    [InlineData(LaneBackend.Uring)]
    [InlineData(LaneBackend.Threads)]
    public void Cached_writes_and_reads_of_parity_allocate_nothing(LaneBackend backend)
    {
        _hasParity = true;
        AssertNothing(backend, 2, ChecksumKind.CRC32C, _ => TemporaryImage.OnDisk(256 << 20), cacheBytes: 64 << 20);
    }

    /// <summary>Whole stripes in place, as requests or gathered from two that are under way together.</summary>
    [Theory]
    [InlineData(LaneBackend.Uring, 128 << 10, 0)]
    [InlineData(LaneBackend.Threads, 128 << 10, 0)]
    [InlineData(LaneBackend.Uring, 64 << 10, 64 << 20)]
    public void Whole_stripes_allocate_nothing(LaneBackend backend, int length, long cacheBytes)
    {
        _hasParity = true;
        _length = length;
        _isInSequence = true;
        _countsRecords = false;
        AssertNothing(backend, 2, ChecksumKind.CRC32C, _ => TemporaryImage.OnDisk(256 << 20), cacheBytes);
    }

    private void AssertNothing(LaneBackend backend, int copies, ChecksumKind checksum, Func<int, TemporaryImage> newImage, long cacheBytes)
    {
        Assert.SkipWhen(
            typeof(VirtualDisk).Assembly.GetCustomAttribute<DebuggableAttribute>() is { IsJITOptimizerDisabled: true },
            "Debug builds allocate every async frame; build with --configuration Release.");
        int journals = cacheBytes > 0 && !_isInSequence ? copies : 0;
        TemporaryImage[] images = [.. Enumerable.Range(0, DataDisks(copies) + journals).Select(newImage)];
        using HostState state = new(Path.Combine(_folder, "state"), Path.Combine(_folder, "run"));
        using TestLane control = TestLane.Create(backend);
        using TestLane? data = _hasDataLane ? TestLane.Create(backend) : null;
        TestLane lane = data ?? control;
        try
        {
            Made made = control.Run(() => Make(control.Lane, lane.Lane, state, images, copies, checksum, cacheBytes));
            (AllocationMeter reads, AllocationMeter writes) = lane.Run(() => Measure(lane.Lane, made.Disk));
            control.Run(() => Close(made));
            Assert.Equal((0L, 0L), (reads.Least, writes.Least));
        }
        finally
        {
            Array.ForEach(images, image => image.Dispose());
        }
    }

    private async LaneTask<Made> Make(
        Lane control, Lane lane, HostState state, TemporaryImage[] images, int copies, ChecksumKind checksum, long cacheBytes)
    {
        List<IDisk> disks = [];
        foreach (TemporaryImage image in images)
        {
            disks.Add(new MeteredDisk(control, await new DiskFactory().Open(control, image.Uri, new DiskOverrides())));
        }

        Pool pool = await Pool.Create(
            new PoolEnvironment(control, new StateFolder(control, state), control.NewGuid()),
            new NewPoolSpec { FriendlyName = "p" }, [.. disks.Select((disk, i) => Member(disk, i, isJournal: i >= DataDisks(copies)))]);
        VirtualDiskResult made = await VirtualDiskBuilder.Create(pool, new VirtualDiskDescription
        {
            FriendlyName = "d", ResiliencySettingName = _hasParity ? "Parity" : copies == 1 ? "Simple" : "Mirror", SizeBytes = DiskBytes,
            NumberOfColumns = (ushort)(_hasParity ? 3 : _columns), NumberOfDataCopies = (ushort)(_hasParity ? 1 : copies),
            PhysicalDiskRedundancy = (ushort)(copies - 1), Interleave = _hasParity ? 64u << 10 : _columns > 1 ? 16u << 10 : 256 << 10,
            Checksum = checksum, LogicalSectorSize = (ushort)_sectorSize,
            WriteCacheSize = cacheBytes, Destage = new DestageSettings { Hold = cacheBytes > 0 },
        }, lane);
        Assert.Equal("", made.Reason);
        return new Made(pool, made.Disk!, disks);
    }

    private async LaneTask<(AllocationMeter Reads, AllocationMeter Writes)> Measure(Lane lane, OpenVirtualDisk made)
    {
        VirtualDisk disk = made.Disk;
        await Fill(lane, disk);

        AllocationMeter reads = new(), writes = new();
        long endNs = lane.NowNs + LimitNs;
        while ((writes.Least > 0 || reads.Least > 0) && lane.NowNs < endNs)
        {
            long records = made.Cache?.Counters.Records ?? -RoundsPerWindow;
            writes.Begin();
            await Run(disk, isWrite: true);
            if (!_countsRecords || (made.Cache?.Counters.Records ?? 0) - records >= RoundsPerWindow)
            {
                writes.End();   // not while a full ring lets writes pass by
            }

            reads.Begin();
            await Run(disk, isWrite: false);
            reads.End();
        }

        Assert.Equal(_isInSequence, made.Space.Counters.Parity.WholeStripes > 20);
        Array.ForEach(_buffers, lane.Buffers.Return);
        return (reads, writes);
    }

    private static async LaneTask Close(Made made)
    {
        Assert.Equal(IoError.None, await made.Disk.Call(made.Disk.Close));
        await made.Pool.Close();
        foreach (IDisk member in made.Members)
        {
            await member.Close();
        }
    }

    private static NewDiskSpec Member(IDisk disk, int number, bool isJournal) => new(disk, $"d{number}")
    {
        Usage = isJournal ? DiskUsage.Journal : DiskUsage.AutoSelect,
        MediaType = isJournal ? MediaType.SSD : MediaType.HDD,
    };

    /// <summary>Every block is written, so that reads have something to read and verify.</summary>
    private async LaneTask Fill(Lane lane, VirtualDisk disk)
    {
        for (int i = 0; i < Depth; i++)
        {
            _buffers[i] = lane.Buffers.Rent(_length).AllowKeeping();   // as the NBD server does: no copy on the way
            _buffers[i].Span.Fill((byte)(i + 1));
        }

        if (_isInSequence)
        {
            await Run(disk, isWrite: true);   // what is read later
        }

        for (long offset = 0; offset < DiskBytes && !_isInSequence; offset += _length)
        {
            Assert.Equal(IoError.None, await disk.Write(offset, _buffers[offset / _length % Depth], WriteFlags.None));
        }

        Assert.Equal(IoError.None, await disk.Flush());
    }

    private async LaneTask Run(VirtualDisk disk, bool isWrite)
    {
        int rounds = Math.Max(RoundsPerWindow * BlockSize / _length, 4);   // few enough that not every window has a flush of the integrity log
        for (int round = 0; round < rounds; round++)
        {
            for (int i = 0; i < Depth; i++)
            {
                long offset = _isInSequence ? (((round * Depth) + i) * (long)_length) % DiskBytes
                    : _columns > 1 ? NextBlock() * BlockSize % (DiskBytes - _length)
                    : _sectorSize == BlockSize ? NextBlock() * BlockSize : (NextBlock() * BlockSize % (DiskBytes - (2 * _length))) + _sectorSize;
                _requests[i] = isWrite ? disk.Write(offset, _buffers[i], WriteFlags.None) : disk.Read(offset, _buffers[i]);
            }

            bool failed = false;
            for (int i = 0; i < Depth; i++)
            {
                failed |= await _requests[i] != IoError.None;
            }

            Assert.False(failed);
        }
    }

    private int DataDisks(int copies) => _hasParity ? 3 : copies * _columns;

    private long NextBlock()
    {
        _random ^= _random << 13;
        _random ^= _random >> 7;
        _random ^= _random << 17;
        return (long)(_random % (DiskBytes / BlockSize));
    }

    private sealed record Made(Pool Pool, OpenVirtualDisk Disk, List<IDisk> Members);
}
