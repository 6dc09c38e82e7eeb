using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>Disks that are made disks of usage Journal while they are in use: data leaves them; logs, parity journals and write caches go there.</summary>
public sealed class JournalDiskTests
{
    private const int Mebibyte = 1 << 20;
    private const int Length = 192 << 10;
    private const int Size = 6 * Mebibyte;

    private readonly SubsystemWorld _world = new();

    [Theory]
    [InlineData("Parity")]
    [InlineData("Mirror")]
    public void Data_leaves_them_and_rings_go_there_while_it_is_written(string layout)
    {
        _world.NewPool([.. Enumerable.Repeat((320L << 20, MediaType.HDD), 6)]);
        Guid id = _world.Run(_world.Subsystem.VirtualDisks.CreateAsync(_world.Pool, new VirtualDiskRequest
        {
            FriendlyName = "d", SizeBytes = Size, ResiliencySettingName = layout, NumberOfColumns = layout == "Parity" ? 4 : 1,
        })).Description.Id.Value;
        WriteAll(id);
        Guid[] journals = [.. ((int[])[4, 5]).Select(number => _world.Physical(number).UniqueId)];
        PhysicalDiskStatus first = Set(journals[0], DiskUsage.Journal);
        bool hasData = Placement(id).Data.Any(extent => extent.PhysicalDisk == journals[0]);
        Assert.Equal(hasData, first.Remarks.Any(static text => text.Contains("holds data of virtual disks", StringComparison.Ordinal)));
        _world.Until(() => !Placement(id).Data.Any(extent => extent.PhysicalDisk == journals[0]));

        Set(journals[1], DiskUsage.Journal);
        for (int round = 0; round < 400 && !IsSettled(id, journals); round++)
        {
            _world.Write(id, round * 5 % 30 * Length, Length);
            _world.Advance(TimeSpan.FromSeconds(1));
        }

        Assert.True(IsSettled(id, journals), "Every ring is on the disks for journals, and no data is.");
        RequireAll(id);

        _world.Pull(4);   // one copy of each ring is lost
        WriteAll(id);
        RequireAll(id);
        _world.PutBack(4);
        _world.Until(() => _world.Opened(id).BytesToResync == 0 && _world.Run(_world.Subsystem.PhysicalDisks.ListAsync())
            .All(static disk => disk.OperationalStatus == "OK"));
        _world.Restart();
        RequireAll(id);
        Assert.True(IsSettled(id, journals));
    }

    [Fact]
    public void Rings_stay_where_they_are_while_one_disk_for_journals_would_hold_two_copies()
    {
        _world.NewPool(4);
        Guid id = _world.NewMirror("m", 4 * Mebibyte);
        PhysicalExtent[] before = Placement(id).Log;
        Guid free = _world.Run(_world.Subsystem.PhysicalDisks.ListAsync()).First(disk => before.All(extent => extent.PhysicalDisk != disk.UniqueId)).UniqueId;
        Set(free, DiskUsage.Journal);
        _world.Until(() => !Placement(id).Data.Any(extent => extent.PhysicalDisk == free));
        _world.Advance(TimeSpan.FromMinutes(5));
        Assert.Equal(before.Select(static extent => extent.PhysicalDisk), Placement(id).Log.Select(static extent => extent.PhysicalDisk));
    }

    [Fact]
    public void A_lost_one_is_left_only_when_it_is_given_up()
    {
        _world.NewPool([.. Enumerable.Repeat((320L << 20, MediaType.HDD), 6)]);
        Guid id = _world.Run(_world.Subsystem.VirtualDisks.CreateAsync(_world.Pool, new VirtualDiskRequest
        {
            FriendlyName = "d", SizeBytes = Size, ResiliencySettingName = "Parity", NumberOfColumns = 4,
        })).Description.Id.Value;
        WriteAll(id);
        Guid[] journals = [.. ((int[])[4, 5]).Select(number => _world.Physical(number).UniqueId)];
        Array.ForEach(journals, journal => Set(journal, DiskUsage.Journal));
        _world.Until(() => IsSettled(id, journals));
        _world.Run(_world.Subsystem.Pools.SetAsync(_world.Pool, static pool => pool with { RetireMissingPhysicalDisks = RetireMissingPhysicalDisks.Always }));

        _world.Pull(4);
        _world.Advance(TimeSpan.FromSeconds(30));
        Assert.Contains(Placement(id).Log, extent => extent.PhysicalDisk == journals[0]);
        _world.Run(_world.Subsystem.Repairs.RepairAsync(id));
        VirtualDiskPlacement now = Placement(id);
        Assert.DoesNotContain(now.Log.Concat(now.Cache).Concat(now.Data), extent => extent.PhysicalDisk == journals[0]);
        _world.Pull(5);   // the rings have another copy again
        WriteAll(id);
        RequireAll(id);
    }

    private bool IsSettled(Guid id, Guid[] journals)
    {
        VirtualDiskPlacement now = Placement(id);
        return now.Log.Concat(now.Cache).All(extent => journals.Contains(extent.PhysicalDisk))
            && !now.Data.Any(extent => journals.Contains(extent.PhysicalDisk));
    }

    private PhysicalDiskStatus Set(Guid disk, DiskUsage usage) =>
        _world.Run(_world.Subsystem.PhysicalDisks.SetAsync(disk, null, null, null, usage));

    private VirtualDiskPlacement Placement(Guid id) => _world.Run(_world.Subsystem.Placements.GetAsync(id));

    private void WriteAll(Guid id)
    {
        for (int at = 0; at + Length <= Size; at += Length)
        {
            _world.Write(id, at, Length);
        }
    }

    private void RequireAll(Guid id)
    {
        for (int at = 0; at + Length <= Size; at += Length)
        {
            Assert.Equal(SubsystemWorld.Written(at, Length), _world.Read(id, at, Length));
        }
    }
}
