using TierSpaces.Engine.Caching;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Devices.Emulated;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Jobs;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>
/// Sixteen clients write beside the background work of a pool, on rotating disks and as fast as these answer: none of them is taken for hung, none
/// leaves, no client gets an error, and the work ends.
/// </summary>
public sealed class SaturatedDisksTests
{
    private const int Mebibyte = 1 << 20;
    private const long Used = 64L * Mebibyte;
    private const int WritesMax = 1000;   // of a client: a simulated disk keeps what is not flushed in memory

    private readonly SubsystemWorld _world = new()
    {
        Profiles = static media => LatencyProfile.Find(media == MediaType.HDD ? "HDD7200" : "SSDSata")!,
        SlabSize = 16 << 20,
    };

    [Theory]
    [InlineData(ChecksumKind.None)]
    [InlineData(ChecksumKind.CRC32C)]
    public void While_the_write_cache_is_emptied(ChecksumKind checksum)
    {
        NewPool(ssds: 2, hdds: 2);
        Guid disk = NewDisk(new VirtualDiskRequest
        {
            FriendlyName = "d", SizeBytes = 4 * Used, NumberOfColumns = 1, MediaType = MediaType.HDD, WriteCacheSize = 32 * Mebibyte, Checksum = checksum,
        });
        WriteBeside(disk, () => _world.Opened(disk).Cache!.DirtyBytes == 0);
        Assert.Equal(WriteCacheState.Active, _world.Opened(disk).Cache!.State);
    }

    [Theory]
    [InlineData(ChecksumKind.None)]
    [InlineData(ChecksumKind.CRC32C)]
    public void While_tiers_are_optimized(ChecksumKind checksum)
    {
        NewPool(ssds: 2, hdds: 2);
        VirtualDiskRequest request = new()
        {
            FriendlyName = "d", Checksum = checksum, ProvisioningType = ProvisioningType.Fixed, WriteCacheSize = 0,
            Tiers = [new(Template("fast", MediaType.SSD), Used / 2), new(Template("slow", MediaType.HDD), 2 * Used)],
        };
        Guid disk = NewDisk(request);
        for (long at = 0; at < Used; at += Mebibyte)
        {
            _world.Write(disk, at, Mebibyte);
        }

        for (int round = 0; round < 20; round++)
        {
            for (long at = Used / 2; at < Used; at += Mebibyte)
            {
                _world.Read(disk, at, 4096);
            }
        }

        Task<TierOptimization> work = _world.Subsystem.TierOptimizer.OptimizeAsync(disk);
        WriteBeside(disk, () => work.IsCompleted);
        JobStatus job = _world.Jobs.Single(static job => job.State == JobState.Completed && job.BytesPromoted > 0);
        Assert.True(job.BytesPromoted >= 8 * Mebibyte, $"{job.BytesPromoted} bytes went up");
    }

    [Theory]
    [InlineData(ChecksumKind.None)]
    [InlineData(ChecksumKind.CRC32C)]
    public void While_a_disk_is_drained(ChecksumKind checksum)
    {
        NewPool(ssds: 0, hdds: 3);
        Guid disk = NewFull(checksum);
        _world.Run(_world.Subsystem.PhysicalDisks.SetAsync(_world.Physical(0).UniqueId, null, null, null, DiskUsage.Retired));
        WriteBeside(disk, () => _world.Physical(0).VirtualDiskBytes == 0 && JobsHaveEnded());
    }

    [Theory]
    [InlineData(ChecksumKind.None)]
    [InlineData(ChecksumKind.CRC32C)]
    public void While_a_disk_that_was_away_is_brought_up_to_date(ChecksumKind checksum)
    {
        NewPool(ssds: 0, hdds: 3);
        Guid disk = NewFull(checksum);
        _world.Pull(0);
        _world.Advance(TimeSpan.FromSeconds(3));
        for (long at = 0; at < Used; at += Mebibyte)
        {
            _world.Write(disk, at, Mebibyte);
        }

        _world.PutBack(0);
        _world.Until(() => _world.Jobs.Length > 0);
        WriteBeside(disk, JobsHaveEnded);
        Assert.Equal(0, _world.Opened(disk).BytesToResync);
    }

    [Theory]
    [InlineData(ChecksumKind.None)]
    [InlineData(ChecksumKind.CRC32C)]
    public void While_slabs_are_spread_over_new_disks(ChecksumKind checksum)
    {
        NewPool(ssds: 0, hdds: 2);
        Guid disk = NewFull(checksum);
        Guid added = _world.NewDisk(2L << 30, MediaType.HDD);
        Assert.True(_world.Run(_world.Subsystem.Pools.AddDisksAsync(_world.Pool, [added], DiskUsage.AutoSelect)));
        Task<JobStatus> work = _world.Subsystem.Rebalance.OptimizeAsync(_world.Pool);
        WriteBeside(disk, () => work.IsCompleted);
        Assert.True(_world.Physical(2).VirtualDiskBytes > 0);
    }

    private void NewPool(int ssds, int hdds) => _world.NewPool(
        [.. Enumerable.Repeat((2L << 30, MediaType.SSD), ssds), .. Enumerable.Repeat((2L << 30, MediaType.HDD), hdds)]);

    private Guid NewDisk(VirtualDiskRequest request) => _world.Run(_world.Subsystem.VirtualDisks.CreateAsync(_world.Pool, request)).Description.Id.Value;

    private Guid NewFull(ChecksumKind checksum)
    {
        Guid disk = NewDisk(new VirtualDiskRequest { FriendlyName = "d", SizeBytes = Used, NumberOfColumns = 1, WriteCacheSize = 0, Checksum = checksum });
        for (long at = 0; at < Used; at += Mebibyte)
        {
            _world.Write(disk, at, Mebibyte);
        }

        return disk;
    }

    private Guid Template(string name, MediaType media) => _world.Run(_world.Subsystem.Tiers.CreateTemplateAsync(
        _world.Pool, new TierTemplateRequest { FriendlyName = name, MediaType = media, ResiliencySettingName = "Mirror" })).UniqueId;

    private bool JobsHaveEnded() => _world.Subsystem.Jobs.Listed.All(static job => job.State is JobState.Completed);

    /// <summary>Sixteen clients write, each its next block as soon as the last one is answered, sixty at least.</summary>
    private void WriteBeside(Guid disk, Func<bool> workHasEnded)
    {
        bool isRunning = true;
        _world.Notices.Clear();
        VirtualDisk open = _world.Disk(disk);
        LaneTask<IoError>[] clients = [.. Enumerable.Range(0, 16).Select(number => Client(open, number, () => isRunning))];
        _world.Advance(TimeSpan.FromSeconds(30));
        isRunning = false;
        Assert.All(Array.ConvertAll(clients, client => _world.Lane.Run(client)), static error => Assert.Equal(IoError.None, error));
        _world.Until(workHasEnded);
        Assert.True(workHasEnded());
        Assert.All(_world.Run(_world.Subsystem.PhysicalDisks.ListAsync()), static one =>
            Assert.Equal(("OK", 0L), (one.OperationalStatus, one.Counters!.MediaErrors)));
        Assert.DoesNotContain(_world.Notices, static notice =>
            notice.StartsWith("Physical disk", StringComparison.Ordinal) || notice.Contains("is gone", StringComparison.Ordinal));
    }

    private async LaneTask<IoError> Client(VirtualDisk disk, int number, Func<bool> isRunning)
    {
        Random random = new(number);
        IoBuffer buffer = _world.Lane.Buffers.Rent(4096);
        IoError error = IoError.None;
        for (int i = 0; error == IoError.None && (i < 60 || (i < WritesMax && isRunning())); i++)
        {
            error = await disk.Write(random.NextInt64(Used / 4096) * 4096, buffer, WriteFlags.None);
        }

        _world.Lane.Buffers.Return(buffer);
        return error;
    }
}
