using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Devices.Emulated;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Jobs;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>Rates of virtual disks with parity in simulated time, against others on the same disks. Slabs of 256 MiB.</summary>
public sealed class ParityRateTests(ITestOutputHelper output)
{
    private const int Mebibyte = 1 << 20;
    private const int Stripe = 768 << 10;   // three columns of data
    private const long Bytes = 96L * Mebibyte;   // of a measurement; a multiple of every request
    private const double HddBytesPerSecond = 150e6;   // of HDD7200, in sequence

    private readonly SubsystemWorld _world = new()
    {
        Profiles = static media => LatencyProfile.Find(media == MediaType.HDD ? "HDD7200" : "SSDSata")!,
        SlabSize = 256 << 20,
    };

    [Theory]
    [InlineData(3, 0.5)]
    [InlineData(4, 0.75)]   // requests end within stripes: their parts are gathered
    [InlineData(5, 0.5)]
    public void Writes_in_sequence_to_rotating_disks_alone_are_whole_stripes(int disks, double least)
    {
        NewPool(disks, MediaType.HDD);
        Guid id = NewDisk("Parity", disks, cache: null);
        Write(id, Mebibyte, depth: 8);   // rows are made, and regions are dirty from now on
        SpaceParityCounters before = Counters;
        (long whole, long partial) = (before.WholeStripes, before.PartialWrites);
        double rate = Write(id, Mebibyte, depth: 8);
        whole = Counters.WholeStripes - whole;
        partial = Counters.PartialWrites - partial;
        double share = rate / ((disks - 1) * HddBytesPerSecond);
        output.WriteLine($"{disks} disks: {whole} whole stripes, {partial} partial writes, {share:f3} of {disks - 1} disks");
        Assert.True(whole >= 9 * (whole + partial) / 10, $"{whole} whole stripes, {partial} partial writes");
        Assert.True(share >= least, $"{share:f3}");
    }

    [Fact]
    public void Whole_stripes_and_reads_keep_up_with_Simple_on_the_same_disks()
    {
        NewPool(4, MediaType.SSD);
        Guid simple = NewDisk("Simple", 4, cache: 0);
        Write(simple, Mebibyte, depth: 16);
        double writeSimple = Write(simple, Mebibyte, depth: 16);
        double readSimple = Read(simple, Mebibyte, depth: 16);
        double randomSimple = Read(simple, 4096, depth: 32, isRandom: true);

        Guid parity = NewDisk("Parity", 4, cache: 0);
        Write(parity, Stripe, depth: 16);
        long partial = Counters.PartialWrites;
        double write = Write(parity, Stripe, depth: 16);
        Assert.Equal(partial, Counters.PartialWrites);
        double read = Read(parity, Mebibyte, depth: 16);
        double random = Read(parity, 4096, depth: 32, isRandom: true);
        _world.Pull(1);
        _world.Advance(TimeSpan.FromSeconds(5));
        double degraded = Read(parity, Mebibyte, depth: 16);
        output.WriteLine($"writes {write / writeSimple:f3} of Simple, reads {read / readSimple:f3}, random reads {random / randomSimple:f3}; "
            + $"without one disk reads {degraded / read:f3} of those with it");
        Assert.True(write >= 0.85 * 0.75 * writeSimple, $"writes {write / writeSimple:f3}");
        Assert.True(read >= 0.9 * readSimple, $"reads {read / readSimple:f3}");
        Assert.True(random >= 0.9 * randomSimple, $"random reads {random / randomSimple:f3}");
        Assert.True(degraded >= 0.5 * read, $"reads without one disk {degraded / read:f3}");
    }

    [Fact]
    public void Disks_for_journals_pay_for_loads_that_flush()
    {
        double without = Commit(0);
        double with = Commit(2);
        output.WriteLine($"64 KiB in sequence, FLUSH every MiB: {with / without:f2} times with two SSDs for journals");
        Assert.True(with >= 2.5 * without, $"{with / without:f2}");
    }

    [Theory]
    [InlineData(MediaType.HDD, true, 0.85)]
    [InlineData(MediaType.HDD, false, 0.85)]
    [InlineData(MediaType.SSD, true, 0.90)]
    [InlineData(MediaType.SSD, false, 0.90)]
    public void Clients_keep_their_rate_while_a_lost_disk_is_regenerated(MediaType media, bool isRead, double least)
    {
        int requests = !isRead ? 500 : media == MediaType.HDD ? 4000 : 30_000;
        NewPool(5, media);
        Guid id = NewDisk("Parity", 4, cache: 0);
        Write(id, Stripe, depth: 16);
        PhysicalExtent extent = _world.Run(_world.Subsystem.Placements.ExtentsAsync(id, null))[0];
        int lost = Array.FindIndex([.. _world.Run(_world.Subsystem.PhysicalDisks.ListAsync())], one => one.UniqueId == extent.PhysicalDisk);
        _world.Pull(lost);
        _world.Until(() => _world.Physical(lost).OperationalStatus != "OK");
        double alone = Load(requests);
        _world.Run(_world.Subsystem.PhysicalDisks.SetAsync(_world.Physical(lost).UniqueId, null, null, null, DiskUsage.Retired));
        _world.Until(() => _world.Jobs.Length > 0);
        double beside = Load(requests);
        JobStatus job = Assert.Single(_world.Jobs);
        output.WriteLine($"{media}, {(isRead ? "reads" : "writes")}: {beside / alone:f3} of the rate without; {job.BytesProcessed >> 10} KiB moved, {job.State}");
        Assert.True(job.BytesProcessed > 0);
        Assert.Equal(JobState.Running, job.State);
        Assert.True(beside >= least * alone, $"{beside / alone:f3}");

        double Load(int count) => isRead ? Read(id, 4096, depth: 16, isRandom: true, bytes: count * 4096L)
            : Write(id, 4096, depth: 16, isRandom: true, bytes: count * 4096L);
    }

    [Fact]
    public void A_small_write_reads_and_writes_two_blocks()
    {
        NewPool(4, MediaType.HDD);
        Guid id = NewDisk("Parity", 4, cache: 0);
        Write(id, Stripe, depth: 4);
        SpaceIoCounters io = Assert.Single(_world.Run(_world.Subsystem.VirtualDisks.ListAsync())).SpaceCounters!.Io;
        (long reads, long writes) = (io.DataBytesRead, io.DataBytesWritten);
        Write(id, 4096, depth: 1, isRandom: true, bytes: 200 * 4096);
        io = Assert.Single(_world.Run(_world.Subsystem.VirtualDisks.ListAsync())).SpaceCounters!.Io;
        Assert.Equal((2, 2), ((io.DataBytesRead - reads) / (200 * 4096), (io.DataBytesWritten - writes) / (200 * 4096)));
    }

    private SpaceParityCounters Counters => _world.Run(_world.Subsystem.VirtualDisks.ListAsync())
        .Select(static disk => disk.SpaceCounters!.Parity).MaxBy(static counters => counters.WholeStripes + counters.PartialWrites)!;

    /// <summary>Rate of a load that flushes, on three rotating disks and so many for journals.</summary>
    private double Commit(int journals)
    {
        SubsystemWorld world = new() { Profiles = _world.Profiles, SlabSize = 256 << 20 };
        world.NewPool([.. Enumerable.Repeat((64L << 30, MediaType.HDD), 3), .. Enumerable.Repeat((64L << 30, MediaType.SSD), journals)]);
        for (int i = 0; i < journals; i++)
        {
            world.Run(world.Subsystem.PhysicalDisks.SetAsync(world.Physical(3 + i).UniqueId, null, null, null, DiskUsage.Journal));
        }

        Guid id = world.Run(world.Subsystem.VirtualDisks.CreateAsync(world.Pool, Request("Parity", 3, null))).Description.Id.Value;
        IoBuffer buffer = world.Lane.Buffers.Rent(64 << 10);
        new Random(3).NextBytes(buffer.Span);
        long start = 0;
        for (int round = 0; round < 2; round++)
        {
            start = world.Lane.NowNs;
            for (long at = 0; at < Bytes; at += buffer.Length)
            {
                Assert.Equal(IoError.None, world.Lane.Run(world.Disk(id).Write(at, buffer, WriteFlags.None)));
                Assert.Equal(IoError.None, (at + buffer.Length) % Mebibyte == 0 ? world.Lane.Run(world.Disk(id).Flush()) : IoError.None);
            }
        }

        world.Lane.Buffers.Return(buffer);
        return Bytes * 1e9 / (world.Lane.NowNs - start);
    }

    private void NewPool(int disks, MediaType media) => _world.NewPool([.. Enumerable.Repeat((64L << 30, media), disks)]);

    private static VirtualDiskRequest Request(string layout, int columns, long? cache) => new()
    {
        FriendlyName = layout, SizeBytes = 2 * Bytes, ResiliencySettingName = layout, NumberOfColumns = columns, WriteCacheSize = cache,
    };

    private Guid NewDisk(string layout, int columns, long? cache) =>
        _world.Run(_world.Subsystem.VirtualDisks.CreateAsync(_world.Pool, Request(layout, columns, cache))).Description.Id.Value;

    private double Write(Guid id, int size, int depth, bool isRandom = false, long bytes = Bytes) =>
        Run(size, depth, isRandom, bytes, (offset, buffer) => _world.Disk(id).Write(offset, buffer, WriteFlags.None));

    private double Read(Guid id, int size, int depth, bool isRandom = false, long bytes = 0) =>
        Run(size, depth, isRandom, bytes > 0 ? bytes : isRandom ? 8192 * 4096 : Bytes, (offset, buffer) => _world.Disk(id).Read(offset, buffer));

    /// <summary>Returns bytes a second of requests of one size.</summary>
    private double Run(int size, int depth, bool isRandom, long bytes, Func<long, IoBuffer, LaneTask<IoError>> request)
    {
        Random random = new(11);
        long start = _world.Lane.NowNs;
        long next = 0;
        int running = depth;
        for (int i = 0; i < depth; i++)
        {
            Work().Forget();
        }

        _world.Until(() => running == 0);
        return bytes * 1e9 / (_world.Lane.NowNs - start);

        async LaneTask Work()
        {
            IoBuffer buffer = _world.Lane.Buffers.Rent(size);
            random.NextBytes(buffer.Span);
            while (next < bytes)
            {
                long at = isRandom ? random.NextInt64(Bytes / size) * size : next;
                next += size;
                Assert.Equal(IoError.None, await request(at, buffer));
            }

            _world.Lane.Buffers.Return(buffer);
            running--;
        }
    }
}
