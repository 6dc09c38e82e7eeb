using TierSpaces.Engine.Caching;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.VirtualDisks;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Caching;

/// <summary>Ordering constraints around the ring of a write cache, each case made to happen.</summary>
public class CacheOrderTests
{
    private const int Block = 4096;
    private const int RingBlocks = 56;
    private static readonly SpaceScenario s_simple = new(1, 1, true, 4096, 4, CacheBlocks: 64);
    private static readonly SpaceScenario s_parity = new(3, 1, true, 4096, 2, CacheBlocks: 64) { Parities = 1 };
    private static readonly SpaceScenario s_mirror = new(1, 2, true, 4096, 4, CacheBlocks: 64);

    // The record is on its way into the ring when that is emptied: it is in it when the ring seems to be empty.
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void A_write_on_its_way_into_the_ring_outlives_an_exchange(ulong seed)
    {
        PoolWorld world = NewPool(seed, copies: 2, cache: 1 << 20);
        Array.ForEach(world.Disks[..2], disk => disk.WriteTakesLonger = (_, length) => length == 3 * Block ? 300_000_000 : 0);
        byte[] data = Random(7, 2 * Block);
        LaneTask<IoError> write = world.Store.Write(0, Buffer(world.Lane, data), WriteFlags.None);
        CommitResult resized = world.Lane.Run(CacheExchange.ResizeCache(world.Pool!, world.VirtualDisk!, 2 << 20));
        Assert.True(resized.Succeeded, resized.Reason);
        Assert.Equal(IoError.None, world.Lane.Run(write));
        Assert.Equal(data, Read(world.Lane, world.Store, 0, 2));
    }

    // One copy is being made whole while the other refuses a write: the ring is given up, and the copy must not count again.
    [Fact]
    public void A_copy_that_is_made_whole_does_not_count_once_the_ring_is_given_up()
    {
        (SpaceWorld world, GatePacer pacer, LaneTask<RepairEnd> resync) = RemadeWhileTheOtherFails();
        byte[] data = Write(world, 0, 2, 2);
        pacer.Open();
        world.Lane.Run(resync);
        world.Lane.Advance(5_000_000_000);
        Assert.Equal(WriteCacheState.WriteThrough, world.Cache!.State);
        Assert.Equal(IoError.None, world.Lane.Run(world.Store.Flush()));

        SpaceWorld after = (SpaceWorld)world.Cut(9, (_, _, _) => true);
        Assert.Equal("", after.Lane.Run(after.Open(isNew: false)));
        Assert.Equal(WriteCacheState.WriteThrough, after.Cache!.State);
        Assert.Equal(data, Read(after.Lane, after.Store, 0, 2));
    }

    // The same, and the copy becomes whole while the pool marks the copies stale, one after the other.
    [Fact]
    public void A_copy_that_is_made_whole_while_the_ring_is_given_up_does_not_count()
    {
        (SpaceWorld world, GatePacer pacer, LaneTask<RepairEnd> resync) = RemadeWhileTheOtherFails();
        world.MarkTakesLonger = copy =>
        {
            if (copy == 1)
            {
                pacer.Open();
            }

            return copy == 1 ? 1_000_000_000 : 0;
        };
        Write(world, 0, 2, 2);
        world.Lane.Run(resync);
        world.Lane.Advance(5_000_000_000);
        Assert.Equal(WriteCacheState.WriteThrough, world.Cache!.State);
        Assert.Equal(0b11, world.StaleCacheCopies);
    }

    // A read of the ring is slow. Its data is destaged by then, and there would be room for other records in its place.
    [Fact]
    public void A_record_that_is_being_read_is_not_written_over()
    {
        SpaceWorld world = Open(s_simple);
        byte[] data = Write(world, 0, 3, 1);
        IoBuffer target = world.Lane.Buffers.Rent(3 * Block);
        LaneTask<IoError> read = SlowRead(world, target);
        world.Cache!.TakeSettings(new DestageSettings { IdleNs = 0 });
        world.Lane.Advance(100_000_000);
        world.Cache.TakeSettings(Held);
        for (int i = 1; i < 16; i++)
        {
            Write(world, i * 3, 3, i);   // once round the ring
        }

        Assert.Equal(IoError.None, world.Lane.Run(read));
        Assert.Equal(data, target.Span.ToArray());
    }

    // The same, and the copy that is read moves to another disk: its former slabs then belong to another owner. Data that was read there would be taken
    // for damage.
    [Fact]
    public void Former_places_of_a_ring_that_are_being_read_are_not_given_back()
    {
        SpaceWorld world = Open(s_mirror);
        byte[] data = Write(world, 0, 3, 1);
        IoBuffer target = world.Lane.Buffers.Rent(3 * Block);
        LaneTask<IoError> read = SlowRead(world, target);
        int copy = Array.FindIndex(world.Disks, disk => disk.InFlight > 0);
        SlabPlace place = SimSpaceHost.Place(s_mirror.Shape, 2, world.Host.SlabsPerDisk - 1);
        Assert.Equal(RepairEnd.Done, world.Lane.Run(world.Cache!.Move(copy, [place], () => LaneTask.FromResult(IoError.None), new SimPacer(world.Lane))));
        world.Disks[copy].Media.Write(Offset(8), Random(9, 16 * Block));
        Assert.Equal(IoError.None, world.Lane.Run(read));
        Assert.Equal(data, target.Span.ToArray());
        Assert.Equal(0, world.Cache.Counters.BlocksHealed);
    }

    [Fact]
    public void Zeros_over_cached_blocks_that_are_written_through_are_there_after_a_power_cut()
    {
        SpaceWorld world = Open(s_simple);
        Write(world, 0, 3, 1);
        Assert.Equal(IoError.None, world.Lane.Run(world.Store.Flush()));
        Assert.Equal(IoError.None, world.Lane.Run(world.Store.WriteZeroes(0, 3 * Block, WriteFlags.ForceUnitAccess)));
        SpaceWorld after = (SpaceWorld)world.Cut(4, (_, _, _) => false);
        Assert.Equal("", after.Lane.Run(after.Open(isNew: false)));
        Assert.Equal(new byte[3 * Block], Read(after.Lane, after.Store, 0, 3));
    }

    // Its first part goes into the ring and fills it, the rest passes by.
    [Fact]
    public void A_large_write_in_two_places_that_is_written_through_is_there_after_a_power_cut()
    {
        SpaceWorld world = Open(s_simple);
        world.Cache!.TakeSettings(new DestageSettings { StartPercent = 100, IdleNs = long.MaxValue });
        for (int i = 0; i < 10; i++)
        {
            Write(world, i == 0 ? 0 : 30 + (i * 3), 3, i);   // 40 of 56 blocks
        }

        byte[] data = Random(7, 26 * Block);
        Assert.Equal(IoError.None, world.Lane.Run(world.Store.Write(0, Buffer(world.Lane, data), WriteFlags.ForceUnitAccess)));
        Assert.True(world.Cache.Counters.Writes(WriteReason.BypassFull) > 0);
        SpaceWorld after = (SpaceWorld)world.Cut(4, (_, _, _) => false);
        Assert.Equal("", after.Lane.Run(after.Open(isNew: false)));
        Assert.Equal(data, Read(after.Lane, after.Store, 0, 26));
    }

    // The header of a record arrives before a power cut, its payload does not: the chain ends before it. The next record is longer, begins at the
    // start of the ring, and leaves the header where it is; the one after the chain's end again, as far as it can be seen from there.
    [Fact]
    public void An_abandoned_record_does_not_join_a_later_chain()
    {
        SpaceWorld world = Open(s_simple);
        for (int i = 0; i < 12; i++)
        {
            Write(world, i * 3, 3, i);   // 48 of 56 blocks
        }

        world.Cache!.TakeSettings(new DestageSettings { IdleNs = 0 });
        world.Lane.PumpWhile(() => world.Cache.DirtyBytes > 0, 60_000_000_000);
        world.Cache.TakeSettings(Held);
        Write(world, 40, 1, 20);   // up to 50
        Assert.Equal(IoError.None, world.Lane.Run(world.Store.Flush()));
        Write(world, 50, 3, 21);   // abandoned: from 50 on
        long header = Offset(8 + 50);
        SpaceWorld cut = (SpaceWorld)world.Cut(3, (_, _, _) => true);
        cut.Disks[0].Media.Write(header + Block, new byte[3 * Block]);
        cut.Disks[0].Media.Harden(cut.Disks[0].Media.CachedWrites);
        Assert.Equal("", cut.Lane.Run(cut.Open(isNew: false)));
        cut.Cache!.TakeSettings(Held);
        Assert.Equal(2 * Block, cut.Cache.DirtyBytes);

        byte[] data = Write(cut, 20, 8, 30);   // does not fit behind 50
        Assert.Equal(IoError.None, cut.Lane.Run(cut.Store.Flush()));
        byte[] next = Write(cut, 30, 1, 31);   // its header says what is durable
        Assert.Equal(IoError.None, cut.Lane.Run(cut.Store.Flush()));
        SpaceWorld after = (SpaceWorld)cut.Cut(4, (_, _, _) => true);
        Assert.Equal("", after.Lane.Run(after.Open(isNew: false)));
        Assert.Equal(data, Read(after.Lane, after.Store, 20, 8));
        Assert.Equal(next, Read(after.Lane, after.Store, 30, 1));
    }

    // If a power cut lost the record after the block was destaged, the ring would replay an older record over it, or no record would hold its row.
    [Fact]
    public void What_goes_home_is_durable_in_the_ring_before()
    {
        SpaceWorld world = Open(s_simple);
        Write(world, 0, 3, 1);
        world.Cache!.TakeSettings(new DestageSettings { IdleNs = 0 });
        world.Lane.PumpWhile(() => world.Cache.DirtyBytes > 0, 60_000_000_000);
        world.Cache.TakeSettings(Held);
        Write(world, 0, 3, 2);   // no region has to be marked for it any more, which would flush the disk as well
        SpaceWorld? cut = null;
        Array.ForEach(world.Disks, disk => disk.OnRequest = (kind, offset, length) =>
            cut ??= kind == SimOperation.Write && length == 3 * Block && !IsOfRing(offset) ? (SpaceWorld)world.Cut(7, (_, _, _) => false) : null);
        world.Cache.TakeSettings(new DestageSettings { IdleNs = 0 });
        world.Lane.PumpWhile(() => world.Cache.DirtyBytes > 0, 60_000_000_000);
        Assert.NotNull(cut);
        Assert.Equal("", cut.Lane.Run(cut.Open(isNew: false)));
        Assert.Equal(4 * Block, cut.Cache!.DirtyBytes);
    }

    // A round completes a stripe with a newer record of its last block. The record that the next round takes has an older version of it, and a later version
    // is not durable yet: the backing store does not go back to the older one.
    [Fact]
    public void What_completed_a_stripe_is_not_written_over_by_an_older_version()
    {
        SpaceWorld world = Open(s_parity);
        Write(world, 0, 3, 1);
        Write(world, 3, 3, 2);    // the first round: a stripe but for two blocks
        Write(world, 7, 1, 3);    // the second round: an older version of its last block, and others
        Write(world, 40, 3, 4);
        Write(world, 50, 3, 5);
        byte[] data = Write(world, 6, 2, 6);
        Assert.Equal(IoError.None, world.Lane.Run(world.Store.Flush()));

        LaneTask<IoError>? last = null;
        Array.ForEach(world.Disks, disk => disk.OnRequest = (kind, _, length) => last ??= kind == SimOperation.Write && length == 4 * Block
            ? world.Store.Write(7 * Block, Buffer(world.Lane, Random(7, Block)), WriteFlags.None) : null);
        world.Cache!.TakeSettings(new DestageSettings { IdleNs = 0 });
        world.Lane.PumpWhile(() => world.Cache.DirtyBytes > 5 * Block, 60_000_000_000);   // until the second round has ended
        world.Cache.TakeSettings(Held);
        Assert.Equal(5 * Block, world.Cache.DirtyBytes);
        Assert.Equal(IoError.None, world.Lane.Run(last!.Value));
        Assert.True(world.Space.Counters.Parity.WholeStripes > 0);
        Assert.Equal(data, Read(world.Lane, world.Space, 6, 2));
    }

    // The flush in the background fails, and the disk lets the next one succeed: what it dropped is not durable for that.
    [Fact]
    public void A_flush_that_failed_behind_the_writes_is_not_forgotten()
    {
        PoolWorld world = NewPool(1, copies: 1, cache: 32 << 20, size: 24 << 20, disk: 128 << 20);
        byte[] data = Random(1, 256 << 10);
        for (long at = 0; at < 24 << 20; at += 1 << 20)   // every row is made ready: that flushes as well
        {
            Assert.Equal(IoError.None, world.Lane.Run(world.Store.Write(at, Buffer(world.Lane, data[..Block]), WriteFlags.None)));
        }

        Assert.Equal(IoError.None, world.Lane.Run(world.Store.Flush()));
        world.Disks[0].FailFlushes = 1;
        for (int i = 0; i < 70; i++)   // 17.5 MiB: a flush was begun after 16
        {
            Assert.Equal(IoError.None, world.Lane.Run(world.Store.Write(i * (long)data.Length, Buffer(world.Lane, data), WriteFlags.None)));
        }

        world.Lane.PumpWhile(() => world.Disks[0].FailFlushes > 0, 1_000_000_000);
        Assert.Equal(0, world.Disks[0].FailFlushes);
        Assert.NotEqual(IoError.None, world.Lane.Run(world.Store.Flush()));
        Assert.Equal(WriteCacheState.Lost, world.VirtualDisk!.Cache!.State);
    }

    // Two copies move at a time; the later one was planned when the first was where it had been.
    [Fact]
    public void Copies_of_a_ring_that_move_side_by_side_both_arrive()
    {
        PoolWorld world = NewPool(1, copies: 2, cache: 1 << 20);
        DiskNumber[] from = Places(world);
        SlabMover mover = new(world.Pool!, world.VirtualDisk!);
        GatePacer pacer = new(world.Lane, free: 0);
        LaneTask<RepairEnd> first = mover.Move(new SlabMove(SlabMove.Log, 0, from[0]), [], pacer);
        LaneTask<RepairEnd> second = mover.Move(new SlabMove(SlabMove.Log, 1, from[1]), [], pacer);
        pacer.Open();
        Assert.Equal((RepairEnd.Done, RepairEnd.Done), (world.Lane.Run(first), world.Lane.Run(second)));
        DiskNumber[] to = Places(world);
        Assert.True(to[0] != from[0] && to[1] != from[1], $"{from[0]}, {from[1]} to {to[0]}, {to[1]}");
        Assert.Equal(IoError.None, world.Lane.Run(world.Close()));
        PoolWorld after = world.Cut(2, (_, _, _) => true);
        Assert.Equal("", after.Lane.Run(after.Open()));
    }

    private static DiskNumber[] Places(PoolWorld world) =>
        [.. world.Pool!.State.Space(world.VirtualDisk!.Description.LogSpace)!.Row(0)!.Mapping.Sources.ToArray().Select(slab => slab.Disk)];

    private static DestageSettings Held => new() { Hold = true, StopPercent = 10 };

    private static bool IsOfRing(long offset) => offset >= Offset(8) && offset < Offset(8 + RingBlocks);

    private static long Offset(int ringBlock) => SimSpaceHost.Place(s_simple.Shape, 0, 1).DataOffset + (ringBlock * (long)Block);

    private static PoolWorld NewPool(ulong seed, int copies, long cache, long size = 1 << 20, long disk = 48 << 20)
    {
        PoolWorld world = PoolWorld.New(copies + 4, disk, 4096, seed, new VirtualDiskDescription
        {
            FriendlyName = "d",
            ResiliencySettingName = copies == 1 ? "Simple" : "Mirror",
            SizeBytes = size,
            NumberOfColumns = 1,
            NumberOfDataCopies = (ushort)copies,
            Interleave = 64 << 10,
            LogicalSectorSize = 4096,
            ProvisioningType = ProvisioningType.Fixed,
            Checksum = ChecksumKind.CRC32C,
            WriteCacheSize = cache,
            Destage = Held,
        });
        Assert.Equal("", world.Lane.Run(world.Open(isNew: true)));
        return world;
    }

    private static SpaceWorld Open(SpaceScenario scenario)
    {
        SpaceWorld world = (SpaceWorld)scenario.NewWorld(1);
        Assert.Equal("", world.Lane.Run(world.Open(isNew: true)));
        world.Cache!.TakeSettings(Held);
        return world;
    }

    /// <summary>A copy of the ring is being made whole, as far as its pacer lets it, and the other takes no more writes.</summary>
    private static (SpaceWorld World, GatePacer Pacer, LaneTask<RepairEnd> Resync) RemadeWhileTheOtherFails()
    {
        SpaceWorld world = Open(s_mirror);
        world.Disks[0].Pulled = true;
        Write(world, 0, 2, 1);
        Assert.Equal("", world.Lane.Run(world.Return(0)));
        GatePacer pacer = new(world.Lane, free: 4);   // the integrity log's 56 blocks
        LaneTask<RepairEnd> resync = world.Space.Resync(pacer);
        world.Lane.PumpWhile(() => pacer.Waiting == 0, 10_000_000_000);
        world.Disks[1].WriteFails = (offset, _) => IsOfRing(offset);
        return (world, pacer, resync);
    }

    /// <summary>A read of the first three blocks, which the ring holds, that takes half a second.</summary>
    private static LaneTask<IoError> SlowRead(SpaceWorld world, IoBuffer target)
    {
        Array.ForEach(world.Disks, disk => disk.ReadTakesLonger = (offset, length) => length == 3 * Block && IsOfRing(offset) ? 500_000_000 : 0);
        LaneTask<IoError> read = world.Store.Read(0, target);
        Array.ForEach(world.Disks, disk => disk.ReadTakesLonger = null);
        return read;
    }

    private static byte[] Write(SpaceWorld world, long block, int count, int seed)
    {
        byte[] data = Random(seed, count * Block);
        Assert.Equal(IoError.None, world.Lane.Run(world.Store.Write(block * Block, Buffer(world.Lane, data), WriteFlags.None)));
        return data;
    }

    private static byte[] Read(SimLane lane, IBlockStore store, long block, int count)
    {
        IoBuffer target = lane.Buffers.Rent(count * Block);
        Assert.Equal(IoError.None, lane.Run(store.Read(block * Block, target)));
        byte[] data = target.Span.ToArray();
        lane.Buffers.Return(target);
        return data;
    }

    private static IoBuffer Buffer(SimLane lane, byte[] data)
    {
        IoBuffer buffer = lane.Buffers.Rent(data.Length);
        data.CopyTo(buffer.Span);
        return buffer;
    }

    private static byte[] Random(int seed, int length)
    {
        byte[] data = new byte[length];
        new Random(seed).NextBytes(data);
        return data;
    }
}
