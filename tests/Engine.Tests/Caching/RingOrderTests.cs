using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Resiliency.Layouts;
using TierSpaces.Engine.VirtualDisks;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Caching;

/// <summary>Copies of a ring that are made whole, or move, while the ring itself goes away: nothing is written any more to what others may own then.</summary>
public class RingOrderTests
{
    private const int RingBytes = 256 << 10;
    private const int Slab = 5;   // without an owner
    private const int StepsOfRing = (1 << 20) / (64 << 10);
    private static readonly DiskNumber s_from = new(3);
    private static readonly DiskNumber s_to = new(4);
    private static readonly SpaceScenario s_mirror = new(1, 2, true, 4096, 4);

    // Between two steps of the copying, or in the middle of one.
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_ring_taken_away_is_not_copied_any_more(bool isInStep)
    {
        SpaceWorld world = (SpaceWorld)s_mirror.NewWorld(1);
        Assert.Equal("", world.Lane.Run(world.Open(isNew: true)));
        SlabPlace[] places = [.. Enumerable.Range(0, 2).Select(disk => SimSpaceHost.Place(s_mirror.Shape, disk, Slab))];
        IBackingStore backing = world.Space;
        RingMedium ring = backing.AddRing(new RingOptions
        {
            Name = "the ring", Copies = [[places[0]], [places[1]]], Blocks = RingBytes / 4096, StaleCopies = 0b10, MarkStale = Done, ClearStale = Done,
                KeepsLastCopy = true,
        });
        GatePacer pacer = new(world.Lane, free: 1);
        bool isWriting = false;
        world.Disks[1].WriteTakesLonger = (offset, _) => (isWriting |= offset >= places[1].DataOffset) && isInStep ? 300_000_000 : 0;
        LaneTask<RepairEnd> resync = world.Space.Resync(pacer);
        world.Lane.PumpWhile(() => isInStep ? !isWriting : pacer.Waiting == 0, 10_000_000_000);
        world.Lane.Run(backing.RemoveRing(ring));

        world.Disks[1].WriteTakesLonger = null;
        byte[] next = Fill(world.Lane, world.Disks[1], places[1].DataOffset, RingBytes);
        pacer.Open();
        Assert.Equal(RepairEnd.Stopped, world.Lane.Run(resync));
        world.Lane.Advance(1_000_000_000);
        Assert.Equal(next, Read(world.Lane, world.Disks[1], places[1].DataOffset, RingBytes));

        static LaneTask<IoError> Done(int copy) => LaneTask.FromResult(IoError.None);
    }

    // The new place of a copy is being committed when the ring is replaced: the slabs that the copy left may have a new owner, the slabs that it
    // moved to are freed with the ring and punched on the disk.
    [Fact]
    public void A_copy_that_arrives_while_the_ring_is_exchanged_leaves_nothing_at_either_place()
    {
        PoolWorld world = NewPool();
        GatePacer pacer = new(world.Lane, free: StepsOfRing - 1);
        LaneTask<RepairEnd> move = MoveCopy(world, s_to, pacer);
        world.Lane.PumpWhile(() => pacer.Waiting == 0, 10_000_000_000);
        (long slabs, long ring) = (world.Pool!.Layout(s_from).SlabOffset(0), FirstOfRing(world));
        bool isCommitting = false;
        foreach (SimDisk disk in world.Disks)   // commits take long, and the ring's first slab takes its time until it is punched
        {
            disk.WriteTakesLonger = (offset, _) =>
                offset < slabs && (isCommitting = true) ? 500_000_000 : disk == world.Disks[0] && offset == ring ? 3_000_000_000 : 0;
        }

        pacer.Open();
        world.Lane.PumpWhile(() => !isCommitting, 10_000_000_000);
        LaneTask<CommitResult> exchange = CacheExchange.ResizeCache(world.Pool, world.VirtualDisk!, 2 << 20);
        Assert.Equal(RepairEnd.Done, world.Lane.Run(move));
        Assert.True(HoldsAnything(world, s_to));
        CheckNextOwners(world, exchange);
        Assert.False(HoldsAnything(world, s_to));
    }

    // The copy's move finds out that the ring is gone while the slabs of the ring are being punched.
    [Fact]
    public void A_copy_that_does_not_arrive_because_the_ring_is_exchanged_gives_nothing_away_that_is_to_be_punched()
    {
        PoolWorld world = NewPool();
        GatePacer pacer = new(world.Lane, free: 1);
        LaneTask<RepairEnd> move = MoveCopy(world, s_to, pacer);
        world.Lane.PumpWhile(() => pacer.Waiting == 0, 10_000_000_000);
        long ring = FirstOfRing(world);
        bool isPunching = false;
        world.Disks[0].WriteTakesLonger = (offset, _) => offset == ring && (isPunching = true) ? 3_000_000_000 : 0;
        LaneTask<CommitResult> exchange = CacheExchange.ResizeCache(world.Pool!, world.VirtualDisk!, 2 << 20);
        world.Lane.PumpWhile(() => !isPunching, 10_000_000_000);
        pacer.Open();
        Assert.Equal(RepairEnd.Stopped, world.Lane.Run(move));
        CheckNextOwners(world, exchange);
    }

    private static LaneTask<RepairEnd> MoveCopy(PoolWorld world, DiskNumber to, IWorkPacer pacer) => new SlabMover(world.Pool!, world.VirtualDisk!).Move(
        new SlabMove(SlabMove.Cache, 1, world.Pool!.State.Space(world.VirtualDisk!.Description.CacheSpace)!.Row(0)!.Mapping.Sources[1].Disk), [to], pacer);

    private static long FirstOfRing(PoolWorld world) => world.Pool!.Layout(new DiskNumber(1)).SlabOffset(
        world.Pool.State.Space(world.VirtualDisk!.Description.CacheSpace)!.Row(0)!.Mapping.Sources[0].Slab);

    /// <summary>Whether the first slab of a disk has any data: neither blank nor unmapped.</summary>
    private static bool HoldsAnything(PoolWorld world, DiskNumber disk) => Read(
        world.Lane, world.Disks[disk.Value - 1], world.Pool!.Layout(disk).SlabOffset(0), (int)world.Pool.Slabs.DataBytes).AsSpan()
        .ContainsAnyExcept((byte)0, SimDisk.Unmapped);

    /// <summary>Free slabs on the disk that a copy was to leave are given to others: an exchange that goes on leaves it alone.</summary>
    private static void CheckNextOwners(PoolWorld world, LaneTask<CommitResult> exchange)
    {
        SimDisk disk = world.Disks[s_from.Value - 1];
        Dictionary<long, byte[]> owned = [];
        while (world.Pool!.Allocator.TryReserveRow(1, 1, new AllocationPreferences { AllowedDisks = [s_from] }, out SlabRef[] slab, out _))
        {
            long offset = world.Pool.Layout(s_from).SlabOffset(slab[0].Slab);
            owned[offset] = Fill(world.Lane, disk, offset, 4096);
        }

        CommitResult result = world.Lane.Run(exchange);
        Assert.True(result.Succeeded, result.Reason);
        Assert.All(owned, slab => Assert.Equal(slab.Value, Read(world.Lane, disk, slab.Key, 4096)));
    }

    /// <summary>A mirror with a cache of a slab per copy, one on a disk for journals, the other on one of flash, from which it may go to another.</summary>
    private static PoolWorld NewPool()
    {
        PoolWorld world = PoolWorld.New(6, 48 << 20, 4096, 1, new SpaceScenario(1, 2, true, 4096, 1, IsWholePool: true, CacheBlocks: 256).Spec(0) with
        {
            ProvisioningType = ProvisioningType.Thin,
        });
        Assert.Equal("", world.Lane.Run(world.Open(isNew: true)));
        for (ushort number = 3; number <= 4; number++)
        {
            DiskDescription disk = world.Pool!.State.Disk(new DiskNumber(number))!.Description;
            Assert.True(world.Lane.Run(world.Pool.Commit(new DiskChanged(disk with { MediaTypeCode = (ushort)MediaType.SSD }))).Succeeded);
        }

        Assert.Equal(RepairEnd.Done, world.Lane.Run(MoveCopy(world, s_from, new SimPacer(world.Lane))));
        return world;
    }

    private static byte[] Fill(SimLane lane, SimDisk disk, long offset, int length)
    {
        IoBuffer buffer = lane.Buffers.Rent(length);
        buffer.Span.Fill(0xEE);
        byte[] bytes = buffer.Span.ToArray();
        Assert.Equal(IoError.None, lane.Run(disk.Write(offset, buffer, WriteFlags.None)));
        lane.Buffers.Return(buffer);
        return bytes;
    }

    private static byte[] Read(SimLane lane, SimDisk disk, long offset, int length)
    {
        IoBuffer buffer = lane.Buffers.Rent(length);
        Assert.Equal(IoError.None, lane.Run(disk.Read(offset, buffer)));
        byte[] bytes = buffer.Span.ToArray();
        lane.Buffers.Return(buffer);
        return bytes;
    }
}
