using TierSpaces.Engine.Caching;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>All disks of a write cache leave while it holds data, and come back.</summary>
public sealed class ReturnedCacheTests
{
    private const int Mebibyte = 1 << 20;
    private const int Length = 64 << 10;
    private const int Writes = 20;

    private readonly SubsystemWorld _world = new();
    private readonly Guid _disk;

    public ReturnedCacheTests()
    {
        _world.NewPool([(64 * Mebibyte, MediaType.SSD), (64 * Mebibyte, MediaType.SSD), (64 * Mebibyte, MediaType.HDD), (64 * Mebibyte, MediaType.HDD)]);
        _disk = _world.Run(_world.Subsystem.VirtualDisks.CreateAsync(_world.Pool, new VirtualDiskRequest
        {
            FriendlyName = "d", SizeBytes = 8 * Mebibyte, NumberOfColumns = 1, MediaType = MediaType.HDD, WriteCacheSize = 4 * Mebibyte,
        })).Description.Id.Value;
        _world.Run(_world.Subsystem.VirtualDisks.SetAsync(_disk, static disk => disk with { Destage = new DestageSettings { Hold = true } }));
        for (int i = 0; i < Writes; i++)
        {
            _world.Write(_disk, i * Length, Length);
        }

        Assert.True(Status.WriteCache!.DirtyBytes >= Writes * Length);
    }

    [Theory]
    [InlineData(0, 1)]
    [InlineData(1, 0)]
    public void The_virtual_disk_says_so_and_serves_by_itself_when_they_are_back(int first, int second)
    {
        PullBoth();
        VirtualDiskStatus gone = Status;
        Assert.Equal((HealthStatus.Unhealthy, "Detached", "Lost"), (gone.Health, gone.OperationalStatus, gone.WriteCache!.State));
        Assert.Contains($"{ByteText.Exact(gone.WriteCache.DirtyBytes)} in it were not destaged", gone.StatusReason, StringComparison.Ordinal);
        Assert.Contains("attached again when one of them is back", gone.WriteCache.StateReason, StringComparison.Ordinal);

        _world.PutBack(first);
        _world.Advance(TimeSpan.FromSeconds(3));
        _world.PutBack(second);
        RequireAll();
    }

    [Fact]
    public void One_of_them_is_enough()
    {
        PullBoth();
        _world.PutBack(1);
        _world.Until(() => Status.WriteCache!.State == nameof(WriteCacheState.Active));
        for (int i = 0; i < Writes; i++)
        {
            Assert.Equal(SubsystemWorld.Written(i * Length, Length), _world.Read(_disk, i * Length, Length));
        }

        _world.PutBack(0);
        RequireAll();
    }

    private VirtualDiskStatus Status => Assert.Single(_world.Run(_world.Subsystem.VirtualDisks.ListAsync()));

    private void PullBoth()
    {
        for (int disk = 0; disk < 2; disk++)
        {
            _world.Pull(disk);
            _world.Advance(TimeSpan.FromSeconds(3));
        }
    }

    private void RequireAll()
    {
        _world.Until(() => Status is { Health: HealthStatus.Healthy, WriteCache.State: nameof(WriteCacheState.Active) });
        for (int i = 0; i < Writes; i++)
        {
            Assert.Equal(SubsystemWorld.Written(i * Length, Length), _world.Read(_disk, i * Length, Length));
        }
    }
}
