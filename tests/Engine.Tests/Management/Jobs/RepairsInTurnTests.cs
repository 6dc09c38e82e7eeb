using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Devices.Emulated;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Jobs;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>Whether the virtual disks of a pool are repaired one after the other.</summary>
public sealed class RepairsInTurnTests
{
    private const long Mebibyte = 1 << 20;
    private const long Size = 32 * Mebibyte;

    private readonly SubsystemWorld _world = new() { Profiles = static _ => LatencyProfile.Find("HDD7200")!, SlabSize = 16 << 20 };
    private readonly Guid[] _disks;

    public RepairsInTurnTests()
    {
        _world.NewPool([.. Enumerable.Repeat((2L << 30, MediaType.HDD), 2)]);
        _disks = [.. new[] { "a", "b", "c" }.Select(NewDisk)];
    }

    [Theory]
    [InlineData(false, 3)]
    [InlineData(true, 1)]
    public void Repairs_that_begin_by_themselves(bool inTurn, int most)
    {
        Set(inTurn);
        LoseAndWrite();
        _world.PutBack(0);
        _world.Until(() => Running().Length > 0);
        Assert.Equal(most, MostAtOnce(() => _disks.All(IsWhole)));
        Assert.Equal(3, _world.Jobs.Select(static job => job.VirtualDisk).Distinct().Count());
        Assert.All(_world.Jobs, static job => Assert.Equal(("Regeneration", JobState.Completed), (job.Name, job.State)));
    }

    [Theory]
    [InlineData(false, 3)]
    [InlineData(true, 1)]
    public void Repairs_that_are_asked_for(bool inTurn, int most)
    {
        Set(inTurn);
        Task<JobStatus>[] repairs = [.. _disks.Select(disk => _world.Subsystem.Repairs.RepairAsync(disk))];
        Assert.Equal(most, MostAtOnce(() => repairs.All(static repair => repair.IsCompleted)));
        Assert.Equal(_disks, repairs.Select(repair => _world.Run(repair).VirtualDisk));
        Assert.All(repairs, repair => Assert.Equal(("Repair", JobState.Completed), (_world.Run(repair).Name, _world.Run(repair).State)));
    }

    [Fact]
    public void One_that_is_asked_for_waits_for_one_that_began_by_itself_and_joins_its_own()
    {
        Set(inTurn: true);
        LoseAndWrite();
        _world.PutBack(0);
        _world.Until(() => Running().Length > 0);
        Guid first = Running()[0].Spec.VirtualDisk;
        Task<JobStatus> own = _world.Subsystem.Repairs.RepairAsync(first);
        Task<JobStatus> other = _world.Subsystem.Repairs.RepairAsync(_disks.First(disk => disk != first));
        Assert.Equal(1, MostAtOnce(() => own.IsCompleted && other.IsCompleted && _disks.All(IsWhole)));
        Assert.Equal((first, JobState.Completed), (_world.Run(own).VirtualDisk, _world.Run(own).State));
        Assert.Equal(JobState.Completed, _world.Run(other).State);
    }

    // Begun side by side, before the policy of the pool was changed.
    [Fact]
    public void Repairs_that_an_earlier_host_left_go_on_in_turn()
    {
        Write();
        Task<JobStatus>[] repairs = [.. _disks.Select(disk => _world.Subsystem.Repairs.RepairAsync(disk))];
        _world.Until(() => Running().Length == 3);
        Set(inTurn: true);
        Assert.Equal(3, Running().Length);
        _world.Restart();
        Assert.All(repairs, repair => Assert.Equal(JobState.Suspended, _world.Run(repair).State));
        Assert.Equal(1, MostAtOnce(() => _world.Jobs.Count(static job => job is { Name: "Repair", State: JobState.Completed }) == 3));
        Assert.Equal(_disks.Order(), _world.Jobs.Select(static job => job.VirtualDisk).Order());
    }

    [Fact]
    public void The_setting_is_kept_by_the_pool_of_any_format()
    {
        Set(inTurn: true);
        _world.Restart();
        Assert.True(_world.Run(_world.Subsystem.Pools.ListAsync())[0].Description.RepairsInTurn);
        foreach (ushort format in (ushort[])[PoolDescription.OldestFormat, PoolDescription.NewestFormat])
        {
            PoolDescription description = _world.Run(_world.Subsystem.Pools.ListAsync())[0].Description with { FormatVersion = format };
            Assert.Equal((true, format), (Coded(description).RepairsInTurn, Coded(description).FormatVersion));
            description = description with { RepairsInTurn = false };
            Assert.Equal((false, format), (Coded(description).RepairsInTurn, Coded(description).FormatVersion));
        }
    }

    private static PoolDescription Coded(PoolDescription description)
    {
        ByteWriter writer = new();
        description.Encode(writer);
        ByteReader reader = new(writer.Written);
        return PoolDescription.Decode(ref reader);
    }

    private Guid NewDisk(string name) => _world.Run(_world.Subsystem.VirtualDisks.CreateAsync(
        _world.Pool, new VirtualDiskRequest { FriendlyName = name, SizeBytes = Size, NumberOfColumns = 1 })).Description.Id.Value;

    private void Set(bool inTurn) => _world.Run(_world.Subsystem.Pools.SetAsync(_world.Pool, pool => pool with { RepairsInTurn = inTurn }));

    private void LoseAndWrite()
    {
        _world.Pull(0);
        _world.Advance(TimeSpan.FromSeconds(3));
        Write();
    }

    private void Write()
    {
        foreach (Guid disk in _disks)
        {
            for (long at = 0; at < Size; at += Mebibyte)
            {
                _world.Write(disk, at, (int)Mebibyte);
            }
        }
    }

    private bool IsWhole(Guid disk) => _world.Opened(disk).BytesToResync == 0 && !Array.Exists(Running(), job => job.Spec.VirtualDisk == disk);

    private StorageJob[] Running() => [.. _world.Subsystem.Jobs.Listed.Where(static job => !job.HasEnded)];

    private int MostAtOnce(Func<bool> ends)
    {
        int most = 0;
        _world.Until(() =>
        {
            most = Math.Max(most, Running().Length);
            return ends();
        });
        return most;
    }
}
