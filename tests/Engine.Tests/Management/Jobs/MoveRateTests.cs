using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Devices.Emulated;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Jobs;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>
/// Rates of background moves in simulated time, with clients idle, against the sequential rate of the slower disk (HDD10K).
/// </summary>
public sealed class MoveRateTests(ITestOutputHelper output)
{
    private const int Mebibyte = 1 << 20;
    private const long Used = 192L * Mebibyte;
    private const int Fast = 64 * Mebibyte;
    private const long Half = 128L * Mebibyte;
    private const double SequentialBytesPerSecond = 180e6;   // of HDD10K
    private const double ShareMin = 0.5;

    private readonly SubsystemWorld _world = new()
    {
        Profiles = static media => LatencyProfile.Find(media == MediaType.HDD ? "HDD10K" : "SSDSas")!,
        SlabSize = 64 << 20,
    };

    [Theory]
    [InlineData(ChecksumKind.None)]
    [InlineData(ChecksumKind.CRC32C)]
    public void An_optimization_exchanges_slices_at_half_the_rate_of_the_slower_disk(ChecksumKind checksum)
    {
        NewPool(ssds: 2, hdds: 2);
        VirtualDiskRequest request = new()
        {
            FriendlyName = "d", Checksum = checksum, ProvisioningType = ProvisioningType.Fixed, WriteCacheSize = 0,
            Tiers = [new(Template("fast", MediaType.SSD), Fast), new(Template("slow", MediaType.HDD), 2 * Used)],
        };
        Guid disk = NewDisk(request);
        Fill(disk, Used);
        Heat(disk, Fast / Mebibyte, (int)(Used - Fast) / Mebibyte, Fast / Mebibyte);
        _world.Restart();   // no checksum page is in memory, and no slot is known to be empty
        _world.Run(_world.Subsystem.TierOptimizer.OptimizeAsync(disk));
        JobStatus job = _world.Jobs.Single(static job => job.BytesPromoted > 0);
        Assert.Equal((Fast, Fast), (job.BytesPromoted, job.BytesDemoted));
        AssertRate(job, job.BytesPromoted + job.BytesDemoted);
    }

    [Theory]
    [InlineData(ChecksumKind.None, "Mirror")]
    [InlineData(ChecksumKind.CRC32C, "Mirror")]
    [InlineData(ChecksumKind.CRC32C, "Parity")]
    public void A_lost_disk_is_rebuilt_at_half_the_rate_of_the_spare(ChecksumKind checksum, string resiliency)
    {
        bool isParity = resiliency == "Parity";
        long used = isParity ? 2 * Half : Used;   // whole slabs
        NewPool(ssds: 0, hdds: isParity ? 4 : 3);
        Guid disk = NewDisk(new VirtualDiskRequest
        {
            FriendlyName = "d", SizeBytes = used, NumberOfColumns = (ushort)(isParity ? 3 : 1), Checksum = checksum, ResiliencySettingName = resiliency,
            WriteCacheSize = 0,
        });
        Fill(disk, used);
        _world.Restart();   // no checksum page is in memory
        PhysicalExtent extent = _world.Run(_world.Subsystem.Placements.ExtentsAsync(disk, null))[0];
        int number = Array.FindIndex([.. _world.Run(_world.Subsystem.PhysicalDisks.ListAsync())], one => one.UniqueId == extent.PhysicalDisk);
        _world.Pull(number);
        _world.Until(() => _world.Physical(number).OperationalStatus != "OK");
        _world.Run(_world.Subsystem.PhysicalDisks.SetAsync(_world.Physical(number).UniqueId, null, null, null, DiskUsage.Retired));
        _world.Until(() => _world.Physical(number).VirtualDiskBytes == 0);
        JobStatus job = Assert.Single(_world.Jobs);
        AssertRate(job, Math.Min(job.BytesProcessed, Half));   // the last slab of a disk with parity holds little
    }

    [Theory]
    [InlineData(ChecksumKind.None)]
    [InlineData(ChecksumKind.CRC32C)]
    public void A_disk_that_was_away_is_brought_up_to_date_at_half_of_its_rate(ChecksumKind checksum)
    {
        NewPool(ssds: 0, hdds: 3);
        Guid disk = NewDisk(new VirtualDiskRequest { FriendlyName = "d", SizeBytes = Used, NumberOfColumns = 1, Checksum = checksum });
        Fill(disk, Used);
        _world.Pull(0);
        _world.Advance(TimeSpan.FromSeconds(3));
        Fill(disk, Used);
        _world.PutBack(0);
        _world.Until(() => _world.Jobs.Length > 0);
        _world.Until(() => _world.Opened(disk).BytesToResync == 0);
        JobStatus job = Assert.Single(_world.Jobs);
        AssertRate(job, job.BytesProcessed);
    }

    [Fact]
    public void Beside_clients_a_disk_is_drained_at_a_tenth_of_the_rate_of_one_chunk_after_the_other()
    {
        NewPool(ssds: 0, hdds: 3);
        Guid disk = NewDisk(new VirtualDiskRequest { FriendlyName = "d", SizeBytes = Used, NumberOfColumns = 1 });
        Fill(disk, Used);
        bool isRunning = true;
        LaneTask<IoError> client = Client();
        _world.Run(_world.Subsystem.PhysicalDisks.SetAsync(_world.Physical(0).UniqueId, null, null, null, DiskUsage.Retired));
        _world.Until(() => _world.Jobs.Length > 0);
        _world.Advance(TimeSpan.FromSeconds(10));
        JobStatus job = Assert.Single(_world.Jobs);
        isRunning = false;
        Assert.Equal(IoError.None, _world.Lane.Run(client));
        double rate = job.BytesProcessed / job.Elapsed.TotalSeconds;
        output.WriteLine($"{rate / 1e6:f1} MB/s");
        Assert.InRange(rate, 1e6, 0.1 * 0.5 * SequentialBytesPerSecond);   // a chunk is read, then written

        async LaneTask<IoError> Client()
        {
            IoBuffer buffer = _world.Lane.Buffers.Rent(4096);
            IoError error = IoError.None;
            while (isRunning && error == IoError.None)
            {
                error = await _world.Disk(disk).Read(Used / 2, buffer);
            }

            _world.Lane.Buffers.Return(buffer);
            return error;
        }
    }

    [Theory]
    [InlineData(1, true, 1, 0.95)]
    [InlineData(1, false, 1, 0.95)]
    [InlineData(4, true, 5, 0.85)]
    [InlineData(4, false, 5, 0.85)]
    [InlineData(8, true, 15, 0.7)]
    [InlineData(16, true, 30, 0.4)]
    [InlineData(16, false, 30, 0.4)]
    public void Beside_clients_a_disk_that_was_away_is_repaired_as_fast_as_the_queue_depth_says(int depth, bool isRead, double megabytes, double least)
    {
        (SubsystemWorld world, Guid disk, double alone) = Repairing(depth, isRead);
        world.Until(() => world.Jobs is [{ BytesProcessed: > 24 * Mebibyte }]);   // past the integrity log
        (long before, long start) = (world.Jobs[0].BytesProcessed, world.Lane.NowNs);
        double beside = Clients(world, disk, isRead) / alone;
        JobStatus job = Assert.Single(world.Jobs);
        double rate = (job.BytesProcessed - before) * 1e3 / (world.Lane.NowNs - start);
        output.WriteLine($"depth {depth}: {rate:f1} MB/s, clients ({(isRead ? "reads" : "writes")}) keep {beside:f3}");
        Assert.Equal(JobState.Running, job.State);
        Assert.True(rate >= megabytes, $"{rate:f1} MB/s");
        Assert.True(beside >= least, $"{beside:f3}");
    }

    [Fact]
    public void Beside_clients_the_integrity_log_is_repaired_in_large_steps()
    {
        (SubsystemWorld world, Guid disk, double alone) = Repairing(RepairSpeed.DepthDefault, isRead: true);
        world.Until(() => world.Jobs is [{ BytesProcessed: > 0 }]);
        (long before, long start) = (world.Jobs[0].BytesProcessed, world.Lane.NowNs);
        double beside = Clients(world, disk, isRead: true) / alone;
        JobStatus job = Assert.Single(world.Jobs);
        double rate = (job.BytesProcessed - before) * 1e3 / (world.Lane.NowNs - start);
        output.WriteLine($"{(job.BytesProcessed - before) >> 10} KiB, {rate:f1} MB/s, clients keep {beside:f3}");
        Assert.InRange(job.BytesProcessed, 0, 16 * Mebibyte);   // still in the log
        Assert.True(rate >= 2.5, $"{rate:f1} MB/s");
        Assert.True(beside >= 0.85, $"{beside:f3}");
    }

    [Fact]
    public void The_queue_depth_of_repairs_outlives_the_host()
    {
        _world.Subsystem.Repairs.QueueDepth = 16;
        _world.Restart();
        Assert.Equal(16, _world.Subsystem.Repairs.QueueDepth);
        Assert.Throws<ArgumentOutOfRangeException>(() => _world.Subsystem.Repairs.QueueDepth = 3);
        Assert.Equal(16, _world.Subsystem.Repairs.QueueDepth);
    }

    /// <summary>A mirror on two disks, one of which has come back after all was written again, and what its clients did a second before.</summary>
    private static (SubsystemWorld World, Guid Disk, double Alone) Repairing(int depth, bool isRead)
    {
        SubsystemWorld world = new(dataLanes: 1) { Profiles = static _ => LatencyProfile.Find("HDD7200")!, SlabSize = 64 << 20 };
        world.NewPool([.. Enumerable.Repeat((16L << 30, MediaType.HDD), 2)]);
        VirtualDiskRequest request = new() { FriendlyName = "d", SizeBytes = Used, NumberOfColumns = 1 };
        Guid disk = world.Run(world.Subsystem.VirtualDisks.CreateAsync(world.Pool, request)).Description.Id.Value;
        Fill(world, disk, Used);
        world.Advance(TimeSpan.FromSeconds(10));
        double alone = Clients(world, disk, isRead);
        world.Pull(0);
        world.Advance(TimeSpan.FromSeconds(3));
        Fill(world, disk, Used);
        Assert.Equal(RepairSpeed.DepthDefault, world.Subsystem.Repairs.QueueDepth);
        world.Subsystem.Repairs.QueueDepth = depth;
        world.PutBack(0);
        return (world, disk, alone);
    }

    /// <summary>Requests a second of 4 KiB here and there, one after the other, in 3 s.</summary>
    private static double Clients(SubsystemWorld world, Guid disk, bool isRead)
    {
        Random random = new(3);
        long start = world.Lane.NowNs;
        IoBuffer buffer = world.Lane.Buffers.Rent(4096);
        int done = 0;
        for (; world.Lane.NowNs < start + 3_000_000_000; done++)
        {
            long at = random.NextInt64(Used / 4096) * 4096;
            LaneTask<IoError> client = isRead ? world.Disk(disk).Read(at, buffer) : world.Disk(disk).Write(at, buffer, WriteFlags.None);
            Assert.Equal(IoError.None, world.Lane.Run(client));
        }

        world.Lane.Buffers.Return(buffer);
        return done * 1e9 / (world.Lane.NowNs - start);
    }

    private void AssertRate(JobStatus job, long bytes)
    {
        double share = bytes / job.Elapsed.TotalSeconds / SequentialBytesPerSecond;
        output.WriteLine($"{bytes >> 20} MiB in {job.Elapsed.TotalSeconds:f3} s: {share:f3} of the sequential rate");
        Assert.True(bytes >= Half / 2, $"{bytes}");
        Assert.True(share >= ShareMin, $"{share:f3} of the sequential rate");
    }

    /// <summary>Makes so many slices hot of those from one on: here and there, none beside another one for sure.</summary>
    private void Heat(Guid disk, int first, int slices, int count)
    {
        Random random = new(7);
        int[] hot = [.. Enumerable.Range(first, slices).OrderBy(_ => random.Next()).Take(count)];
        for (int round = 0; round < 20; round++)
        {
            Array.ForEach(hot, slice => _world.Read(disk, slice * (long)Mebibyte, 4096));
        }
    }

    private void NewPool(int ssds, int hdds) => _world.NewPool(
        [.. Enumerable.Repeat((16L << 30, MediaType.SSD), ssds), .. Enumerable.Repeat((16L << 30, MediaType.HDD), hdds)]);

    private Guid NewDisk(VirtualDiskRequest request) => _world.Run(_world.Subsystem.VirtualDisks.CreateAsync(_world.Pool, request)).Description.Id.Value;

    private void Fill(Guid disk, long bytes) => Fill(_world, disk, bytes);

    private static void Fill(SubsystemWorld world, Guid disk, long bytes)
    {
        IoBuffer buffer = world.Lane.Buffers.Rent(Mebibyte);
        new Random(5).NextBytes(buffer.Span);
        for (long at = 0; at < bytes; at += Mebibyte)
        {
            Assert.Equal(IoError.None, world.Lane.Run(world.Disk(disk).Write(at, buffer, WriteFlags.None)));
            Assert.Equal(IoError.None, (at + Mebibyte) % (16 * Mebibyte) == 0 ? world.Lane.Run(world.Disk(disk).Flush()) : IoError.None);
        }

        world.Lane.Buffers.Return(buffer);
    }

    private Guid Template(string name, MediaType media) => _world.Run(_world.Subsystem.Tiers.CreateTemplateAsync(
        _world.Pool, new TierTemplateRequest { FriendlyName = name, MediaType = media, ResiliencySettingName = "Mirror" })).UniqueId;
}
