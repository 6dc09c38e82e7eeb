using TierSpaces.Engine.Caching;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Devices.Emulated;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>
/// Rates of clients and of destaging in simulated time: virtual disks of two copies, with and without a write cache on two SSDSas, over the same four HDD10K.
/// </summary>
public sealed class DestagePaceTests(ITestOutputHelper output)
{
    private const int Block = 4096;
    private const int Mebibyte = 1 << 20;
    private const long Size = 256L * Mebibyte;
    private const long Second = 1_000_000_000;
    private const int Dirty = 12_000;   // blocks; less than half of the ring

    private readonly SubsystemWorld _world = new(dataLanes: 1)
    {
        Profiles = static media => LatencyProfile.Find(media == MediaType.HDD ? "HDD10K" : "SSDSas")!,
        SlabSize = 64 << 20,
    };

    private readonly Random _random = new(3);

    [Fact]
    public void Clients_of_the_rotating_disks_keep_their_rate_beside_destaging_which_goes_on()
    {
        NewPool();
        Guid cached = NewDisk("cached", 512 * Mebibyte);
        Guid bare = NewDisk("bare", 0);
        double alone = DestagedAlone(cached);
        List<string> missed = [];
        foreach ((string client, Guid disk, bool isRead) in (ReadOnlySpan<(string, Guid, bool)>)
            [("writes of a neighbour", bare, false), ("reads of a neighbour", bare, true), ("own reads", cached, true)])
        {
            double without = Load(disk, isRead, 4);
            MakeDirty(cached);
            (long before, long start) = (Destaged(cached), _world.Lane.NowNs);
            double beside = Load(disk, isRead, 4) / without;
            double destaging = BlocksPerSecond(cached, before, start) / alone;
            Assert.True(Cache(cached).DirtyBytes > 0);
            output.WriteLine($"{client}: {beside:f3} of {without:f0}/s without destaging, which kept {destaging:f3} of {alone:f0} blocks/s");
            missed.AddRange(beside >= 0.8 ? [] : [$"{client}: {beside:f3}"]);
            missed.AddRange(destaging >= 0.14 ? [] : [$"destaging beside {client}: {destaging:f3}"]);
            Settle(cached);
        }

        Assert.Empty(missed);
    }

    [Fact]
    public void Writes_that_the_cache_takes_do_not_slow_destaging()
    {
        NewPool();
        Guid cached = NewDisk("cached", 512 * Mebibyte);
        double alone = DestagedAlone(cached);
        MakeDirty(cached);
        (long before, long start) = (Destaged(cached), _world.Lane.NowNs);
        Cache(cached).TakeSettings(new DestageSettings { StartPercent = 5, StopPercent = 1, IdleNs = 0 });
        Load(cached, isRead: false, 2, ratePerSecond: 100);
        double beside = BlocksPerSecond(cached, before, start) / alone;
        output.WriteLine($"destaging beside writes into the cache: {beside:f3}");
        Assert.True(beside >= 0.8, $"{beside:f3}");
    }

    [Fact]
    public void A_load_of_half_of_what_the_rotating_disks_take_does_not_fill_the_cache_beside_a_neighbour()
    {
        NewPool();
        Guid cached = NewDisk("cached", 64 * Mebibyte);
        Guid bare = NewDisk("bare", 0);
        double half = DestagedAlone(cached, 3000) / 2;
        bool isRunning = true;
        LaneTask<IoError> neighbour = ReadOn(bare, () => isRunning);
        WriteCacheCounters counters = Cache(cached).Counters;
        double rate = Load(cached, isRead: false, 15, half);
        isRunning = false;
        Assert.Equal(IoError.None, _world.Lane.Run(neighbour));
        output.WriteLine($"{rate:f0} writes/s, at the end {Cache(cached).DirtyBytes >> 20} MiB of {Cache(cached).SizeBytes >> 20}; "
            + $"{counters.Writes(WriteReason.BypassFull)} past the full ring, {counters.WaitOverlap} waited");
        Assert.True(rate >= 0.98 * half);
        Assert.Equal((0, 0), (counters.Writes(WriteReason.BypassFull), counters.WaitOverlap));
        Assert.True(Cache(cached).DirtyBytes > Cache(cached).SizeBytes / 4);   // it is the fill that made destaging faster
    }

    [Fact]
    public void Cached_disks_share_the_time_of_destaging_evenly_and_together_leave_clients_theirs()
    {
        NewPool();
        Guid[] cached = [NewDisk("c0", 256 * Mebibyte), NewDisk("c1", 256 * Mebibyte), NewDisk("c2", 256 * Mebibyte)];
        Guid bare = NewDisk("bare", 0);
        double without = Load(bare, isRead: true, 3);
        Array.ForEach(cached, disk => MakeDirty(disk, 5000, waits: false));
        Advance(2.5);
        long[] before = Array.ConvertAll(cached, Destaged);
        long start = _world.Lane.NowNs;
        double beside = Load(bare, isRead: true, 20) / without;   // a group of 64 blocks more or less is not what is measured
        double[] rates = [.. cached.Select((disk, i) => BlocksPerSecond(disk, before[i], start))];
        output.WriteLine($"the neighbour keeps {beside:f3}; destaging {string.Join(", ", rates.Select(static rate => $"{rate:f0}"))} blocks/s");
        Assert.True(beside >= 0.8, $"{beside:f3}");
        Assert.True(rates.Min() >= 0.7 * rates.Max() && rates.Min() > 0, string.Join(", ", rates));
    }

    private void NewPool() => _world.NewPool(
        [.. Enumerable.Repeat((40L << 30, MediaType.HDD), 4), .. Enumerable.Repeat((8L << 30, MediaType.SSD), 2)]);

    /// <summary>A virtual disk, written once.</summary>
    private Guid NewDisk(string name, long cache)
    {
        Guid disk = _world.Run(_world.Subsystem.VirtualDisks.CreateAsync(_world.Pool, new VirtualDiskRequest
        {
            FriendlyName = name, SizeBytes = Size, WriteCacheSize = cache, MediaType = MediaType.HDD,
        })).Description.Id.Value;
        IoBuffer buffer = _world.Lane.Buffers.Rent(Mebibyte);
        for (long at = 0; at < Size; at += Mebibyte)
        {
            Assert.Equal(IoError.None, _world.Lane.Run(_world.Disk(disk).Write(at, buffer, WriteFlags.None)));
        }

        Assert.Equal(IoError.None, _world.Lane.Run(_world.Disk(disk).Flush()));
        _world.Lane.Buffers.Return(buffer);
        Advance(8);   // regions are clean
        return disk;
    }

    private WriteCache Cache(Guid disk) => _world.Disk(disk).Cache!;

    private long Destaged(Guid disk) => Cache(disk).Counters.DestagedBytes;

    private double BlocksPerSecond(Guid disk, long before, long startNs) =>
        (Destaged(disk) - before) / (double)Block * Second / (_world.Lane.NowNs - startNs);

    private void Advance(double seconds) => _world.Lane.Advance((long)(seconds * Second));

    private void Settle(Guid disk)
    {
        _world.Until(() => Cache(disk).DirtyBytes == 0);
        Advance(8);
    }

    /// <summary>Blocks a second that are destaged while nothing else uses the disks.</summary>
    private double DestagedAlone(Guid disk, int blocks = Dirty)
    {
        MakeDirty(disk, blocks);
        (long before, long start) = (Destaged(disk), _world.Lane.NowNs);
        _world.Until(() => Cache(disk).DirtyBytes < 2 * Mebibyte);
        double rate = BlocksPerSecond(disk, before, start);
        Settle(disk);
        return rate;
    }

    /// <summary>Writes blocks here and there in the first half of a disk, and waits until they begin to be destaged.</summary>
    private void MakeDirty(Guid disk, int blocks = Dirty, bool waits = true)
    {
        long before = Destaged(disk);
        IoBuffer buffer = _world.Lane.Buffers.Rent(Block);
        for (int i = 0; i < blocks; i++)
        {
            Assert.Equal(IoError.None, _world.Lane.Run(_world.Disk(disk).Write(_random.NextInt64(Size / 2 / Block) * Block, buffer, WriteFlags.None)));
        }

        _world.Lane.Buffers.Return(buffer);
        _world.Until(() => !waits || Destaged(disk) > before);
    }

    private async LaneTask<IoError> ReadOn(Guid disk, Func<bool> goesOn)
    {
        IoBuffer buffer = _world.Lane.Buffers.Rent(Block);
        IoError error = IoError.None;
        while (goesOn() && error == IoError.None)
        {
            error = await _world.Disk(disk).Read(_random.NextInt64(Size / Block) * Block, buffer);
        }

        _world.Lane.Buffers.Return(buffer);
        return error;
    }

    /// <summary>
    /// Returns the rate of requests here and there, one after the other, or at a fixed rate: writes in the first half of the disk, reads in the other half,
    /// which is not in a cache.
    /// </summary>
    private double Load(Guid disk, bool isRead, double seconds, double ratePerSecond = 0)
    {
        long start = _world.Lane.NowNs;
        long end = start + (long)(seconds * Second);
        IoBuffer buffer = _world.Lane.Buffers.Rent(Block);
        long done = 0;
        for (; _world.Lane.NowNs < end; done++)
        {
            long at = (_random.NextInt64(Size / 2 / Block) * Block) + (isRead ? Size / 2 : 0);
            Assert.Equal(IoError.None, _world.Lane.Run(isRead ? _world.Disk(disk).Read(at, buffer) : _world.Disk(disk).Write(at, buffer, WriteFlags.None)));
            long due = ratePerSecond > 0 ? start + (long)((done + 1) * Second / ratePerSecond) : 0;
            _world.Lane.Advance(Math.Max(0, due - _world.Lane.NowNs));
        }

        _world.Lane.Buffers.Return(buffer);
        return done * (double)Second / (_world.Lane.NowNs - start);
    }
}
