using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Tiering;
using TierSpaces.Engine.Verification;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>A tier with parity under a mirror: slices move there and back with a disk of either missing; it grows and is repaired as others are.</summary>
public sealed class ParityTierTests
{
    private const int Mebibyte = 1 << 20;
    private const int Length = 192 << 10;
    private const long Fast = 4 * Mebibyte;
    private const long Slow = 12 * Mebibyte;

    private readonly SubsystemWorld _world = new();

    [Theory]
    [InlineData(3, 1)]   // slices are whole stripes
    [InlineData(4, 1)]   // slices end within stripes
    [InlineData(6, 2)]
    public void Slices_move_there_and_back_whatever_disk_is_missing(int columns, int redundancy)
    {
        Guid id = Make(columns, redundancy);
        WriteAll(id);
        for (int disk = 0; disk < 2 + columns; disk++)
        {
            _world.Pull(disk);
            _world.Write(id, disk * 5 * Length, Length);
            Swap(_world.Opened(id), disk);
            RequireAll(id);
            _world.PutBack(disk);
            _world.Until(() => _world.Run(_world.Subsystem.PhysicalDisks.ListAsync()).All(static member => member.OperationalStatus == "OK")
                && !_world.IsBehind(id) && _world.Opened(id).BytesToResync == 0);
        }

        RequireAll(id);
        VirtualDiskStatus status = Assert.Single(_world.Run(_world.Subsystem.VirtualDisks.ListAsync()));
        Assert.Equal(0, status.SpaceCounters!.Damage.BlocksLost);
        Assert.True(status.SpaceCounters.Parity.WholeStripes > 0);
    }

    [Fact]
    public void It_grows_and_is_there_after_a_restart()
    {
        Guid id = Make(columns: 4, redundancy: 1);
        WriteAll(id);
        TierDescription slow = _world.Opened(id).Tiering!.Tiers[1];
        _world.Run(_world.Subsystem.Tiers.ResizeAsync(slow.Id, slow.SizeBytes + (5 * Mebibyte)));
        _world.Write(id, Fast + Slow, 5 * Mebibyte);
        _world.Restart();
        RequireAll(id);
        Assert.Equal(SubsystemWorld.Written((int)(Fast + Slow), 5 * Mebibyte), _world.Read(id, Fast + Slow, 5 * Mebibyte));
        TierDescription grown = _world.Opened(id).Tiering!.Tiers[1];
        Assert.Equal(("Parity", 4, slow.SizeBytes + (5 * Mebibyte)), (grown.ResiliencySettingName, grown.NumberOfColumns, grown.SizeBytes));
    }

    /// <summary>Exchanges some slices between the tiers.</summary>
    private void Swap(OpenVirtualDisk open, int round)
    {
        DiskTiering tiering = open.Tiering!;
        List<SliceOrder> orders = [];
        for (int rank = 0; rank < 2; rank++)
        {
            int[] here = [.. Enumerable.Range(0, tiering.Store.Slices)
                .Where(slice => tiering.PlaceOf(slice) is { IsMapped: true } place && place.Tier == rank)];
            orders.Add(new SliceOrder(here[round % here.Length], tiering.Store.Order[1 - rank], rank == 0 ? SliceReason.Demoted : SliceReason.Promoted));
        }

        SimLane lane = (SimLane)open.Lane;
        Assert.Equal(RepairEnd.Done, _world.Lane.Run(tiering.Move(orders, new SimPacer(lane))));
    }

    private Guid Make(int columns, int redundancy)
    {
        _world.NewPool([.. Enumerable.Repeat((64L << 20, MediaType.SSD), 2), .. Enumerable.Repeat((64L << 20, MediaType.HDD), columns)]);
        Guid fast = Template("fast", MediaType.SSD, "Mirror", 1, 1);
        Guid slow = Template("slow", MediaType.HDD, "Parity", redundancy, columns);
        return _world.Run(_world.Subsystem.VirtualDisks.CreateAsync(_world.Pool, new VirtualDiskRequest
        {
            FriendlyName = "d", Tiers = [new TierRequest(fast, Fast), new TierRequest(slow, Slow)], WriteCacheSize = 0,
        })).Description.Id.Value;
    }

    private Guid Template(string name, MediaType media, string layout, int redundancy, int columns) =>
        _world.Run(_world.Subsystem.Tiers.CreateTemplateAsync(_world.Pool, new TierTemplateRequest
        {
            FriendlyName = name, MediaType = media, ResiliencySettingName = layout, PhysicalDiskRedundancy = redundancy, NumberOfColumns = columns,
        })).UniqueId;

    private void WriteAll(Guid id)
    {
        for (int at = 0; at + Length <= Fast + Slow; at += Length)
        {
            _world.Write(id, at, Length);
        }
    }

    private void RequireAll(Guid id)
    {
        for (int at = 0; at + Length <= Fast + Slow; at += Length)
        {
            Assert.Equal(SubsystemWorld.Written(at, Length), _world.Read(id, at, Length));
        }
    }
}
