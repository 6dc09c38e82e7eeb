using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.VirtualDisks;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.VirtualDisks;

/// <summary>Disks that missed writes come back and are brought up to date.</summary>
public class ResyncTests
{
    private const int Block = 4096;
    private const int Mebibyte = 1 << 20;
    private const int Region = Mebibyte / 16;   // a sixteenth of the slab of these pools

    [Theory]
    [InlineData(2, true, false)]
    [InlineData(2, true, true)]
    [InlineData(2, false, false)]
    [InlineData(3, true, true)]
    [InlineData(3, false, true)]
    public void A_returning_disk_is_given_its_stale_regions_and_nothing_else(int copies, bool checksums, bool whileRunning)
    {
        PoolWorld world = Create(copies, checksums, disks: Math.Max(3, copies));
        byte[] before = Write(world, Random(1, 6 * Mebibyte), 0);
        Settle(world);
        Assert.Equal(IoError.None, world.Lane.Run(world.Close()));   // the pages are written too
        world = world.Cut(6, (_, _, _) => false);
        Assert.Equal("", world.Lane.Run(world.Open()));
        world.Disks[0].Pulled = true;
        byte[] missed = Write(world, Random(2, 3 * Region), 2 * Mebibyte);
        missed.CopyTo(before, 2 * Mebibyte);
        Settle(world);
        if (!whileRunning)
        {
            Assert.Equal(IoError.None, world.Lane.Run(world.Close()));
            world = world.Cut(7, (_, _, _) => false);
            world.Disks[0].Pulled = false;
            Assert.Equal("", world.Lane.Run(world.Open()));   // joins again on the way
        }
        else
        {
            Assert.Equal("", world.Lane.Run(world.Return(0)));
        }

        Space space = world.VirtualDisk!.Space;
        Assert.True(world.IsDegraded);
        int stale = checksums && !whileRunning ? 16 : 3;   // the clean stop wrote a page, which covers the whole slab here
        Assert.Equal(stale, space.StaleRegions);
        Assert.Equal(RepairEnd.Done, world.Lane.Run(space.Resync(new SimPacer(world.Lane))));
        SpaceRepairCounters counters = space.Counters.Repair;
        Assert.Equal((stale, 3 * Region, 1), (counters.RegionsRepaired, counters.RepairBytesWritten, counters.LogCopiesRepaired));
        Assert.Equal(checksums && !whileRunning ? stale * Region : 0, counters.RepairBytesCompared);
        Assert.Equal((0, 0), (space.StaleRegions, space.BytesToResync));
        Assert.False(world.IsDegraded);
        Assert.Equal(before, Read(world, 0, before.Length));
        ReadsWithoutAnyOne(world, before);
    }

    // All that was written is dirty when the disk leaves, and flushed but for three blocks.
    [Theory]
    [InlineData(2, true)]
    [InlineData(2, false)]
    [InlineData(3, true)]
    [InlineData(3, false)]
    public void A_disk_that_leaves_soon_after_a_flush_is_given_what_it_can_lack_and_nothing_else(int copies, bool checksums)
    {
        PoolWorld world = Create(copies, checksums, disks: Math.Max(3, copies));
        byte[] expected = Write(world, Random(1, 6 * Mebibyte), 0);
        Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk!.Disk.Flush()));
        int away = DisksOfRow(world)[0];
        Put(0, 3);                          // flushed on no disk
        world.Disks[away].Pulled = true;
        world.Disks[away].Media.LosePower(static (_, _) => false);
        Put(Region + (5 * Block), 2);       // missed, in a region of which all else is there
        Put(4 * Region - Block, 2);         // missed, in two regions
        Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk.Disk.Flush()));
        Assert.Equal("", world.Lane.Run(world.Return(away)));

        Space space = world.VirtualDisk.Space;
        Assert.True(space.StaleRegions >= 16, "the whole row was dirty");
        Assert.InRange(space.BytesToResync - space.RingBytesToResync, 7 * Block, (7 + space.StaleRegions) * Block);
        Assert.Equal(RepairEnd.Done, world.Lane.Run(space.Resync(new SimPacer(world.Lane))));
        Assert.Equal((7 * Block, 0L), (space.Counters.Repair.RepairBytesWritten, space.Counters.Repair.RepairBytesCompared));
        Assert.Equal((0, 0), (space.StaleRegions, space.BytesToResync));
        ReadsWithoutAnyOne(world, expected);

        void Put(int offset, int blocks) => Write(world, Random(offset + 2, blocks * Block), offset).CopyTo(expected, offset);
    }

    // One copy has taken the write when its disk loses its power and leaves the view; the other one takes it later, and then it is acknowledged.
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_write_that_was_on_its_way_when_a_disk_left_is_given_to_it_when_it_is_back(bool checksums)
    {
        PoolWorld world = Create(2, checksums, disks: 3);
        byte[] expected = Write(world, Random(1, Mebibyte), 0);
        Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk!.Disk.Flush()));
        int[] disks = DisksOfRow(world);
        world.Disks[disks[1]].WriteTakesLonger = (_, length) => length == 3 * Block ? 500_000_000 : 0;   // no other write is as long
        IoBuffer buffer = world.Lane.Buffers.Rent(3 * Block);
        Random(2, 3 * Block).CopyTo(buffer.Span);
        buffer.Span.CopyTo(expected.AsSpan(Region));
        LaneTask<IoError> write = world.VirtualDisk.Disk.Write(Region, buffer, WriteFlags.None);
        world.Lane.Advance(100_000_000);
        Assert.False(write.IsCompleted);
        world.Disks[disks[0]].Pulled = true;
        world.Disks[disks[0]].Media.LosePower(static (_, _) => false);
        Assert.True(world.Lane.Run(world.Pool!.Evict(new DiskNumber((ushort)(disks[0] + 1)), "it lost its power")).Succeeded);
        Assert.False(write.IsCompleted);
        Assert.Equal(IoError.None, world.Lane.Run(write));
        world.Lane.Buffers.Return(buffer);
        Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk.Disk.Flush()));
        Assert.Equal("", world.Lane.Run(world.Return(disks[0])));

        Assert.Equal(RepairEnd.Done, world.Lane.Run(world.VirtualDisk.Space.Resync(new SimPacer(world.Lane))));
        Assert.Equal(3 * Block, world.VirtualDisk.Space.Counters.Repair.RepairBytesWritten);
        ReadsWithoutAnyOne(world, expected);
    }

    // Only the former process knew the blocks that the disk lacks; its marks say the regions.
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void After_a_start_of_the_host_a_stale_region_is_compared_with_its_checksums_or_copied(bool checksums)
    {
        PoolWorld world = Create(2, checksums, disks: 3);
        byte[] expected = Write(world, Random(1, Mebibyte), 0);
        Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk!.Disk.Flush()));
        int away = DisksOfRow(world)[0];
        world.Disks[away].Pulled = true;
        Write(world, Random(2, 3 * Block), Region).CopyTo(expected, Region);
        Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk.Disk.Flush()));
        world = world.Cut(6, (_, _, _) => false);
        world.Disks[away].Pulled = false;
        Assert.Equal("", world.Lane.Run(world.Open()));

        Space space = world.VirtualDisk!.Space;
        int stale = space.StaleRegions;
        Assert.Equal(stale * Region, space.BytesToResync - space.RingBytesToResync);
        Assert.Equal(RepairEnd.Done, world.Lane.Run(space.Resync(new SimPacer(world.Lane))));
        SpaceRepairCounters counters = space.Counters.Repair;
        Assert.Equal(checksums ? (3 * Block, stale * Region) : (stale * Region, 0), (counters.RepairBytesWritten, counters.RepairBytesCompared));
        ReadsWithoutAnyOne(world, expected);
    }

    // The medium may have dropped more than what this virtual disk had not flushed: another one may have flushed beside it.
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_disk_that_failed_a_flush_is_compared_where_it_was_dirty_or_copied(bool checksums)
    {
        PoolWorld world = Create(2, checksums, disks: 3);
        byte[] expected = Write(world, Random(1, Mebibyte), 0);
        Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk!.Disk.Flush()));
        int away = DisksOfRow(world)[0];
        Write(world, Random(2, Block), 0).CopyTo(expected, 0);
        world.Disks[away].FailFlushes = 1;
        Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk.Disk.Flush()));
        world.Disks[away].Media.LosePower(static (_, _) => false);
        Assert.Equal("", world.Lane.Run(world.Return(away)));

        Space space = world.VirtualDisk.Space;
        Assert.Equal((16, 16 * Region), (space.StaleRegions, space.BytesToResync - space.RingBytesToResync));
        Assert.Equal(RepairEnd.Done, world.Lane.Run(space.Resync(new SimPacer(world.Lane))));
        SpaceRepairCounters counters = space.Counters.Repair;
        Assert.Equal(checksums ? (Block, 16 * Region) : (16 * Region, 0), (counters.RepairBytesWritten, counters.RepairBytesCompared));
        ReadsWithoutAnyOne(world, expected);
    }

    [Fact]
    public void A_copy_that_is_behind_is_never_read_and_the_last_good_one_never_called_stale()
    {
        PoolWorld world = Create(2, checksums: true, disks: 3);
        byte[] old = Write(world, Random(1, Mebibyte), 0);
        Settle(world);
        int[] disks = DisksOfRow(world);
        world.Disks[disks[0]].Pulled = true;
        byte[] young = Write(world, Random(2, Region), 0);
        Settle(world);
        Assert.Equal("", world.Lane.Run(world.Return(disks[0])));
        world.Disks[disks[1]].Pulled = true;   // the only disk that has what was written since

        Assert.Equal(IoError.Io, TryRead(world, 0, Region, out _));
        Assert.Equal(IoError.Io, TryWrite(world, Random(3, 4096), 0));
        Assert.Equal(IoError.Io, world.Lane.Run(world.VirtualDisk!.Disk.Unmap(0, 4096)));
        Assert.Equal(RepairEnd.Incomplete, world.Lane.Run(world.VirtualDisk.Space.Resync(new SimPacer(world.Lane))));
        Assert.Equal(IoError.None, TryRead(world, Region, Mebibyte - Region, out byte[] rest));
        Assert.Equal(old[Region..], rest);

        Assert.Equal("", world.Lane.Run(world.Return(disks[1])));
        world.Lane.Advance(1_000_000);
        Assert.Equal(IoError.None, TryRead(world, 0, Region, out byte[] back));
        Assert.Equal(young, back);
        Assert.Equal(RepairEnd.Done, world.Lane.Run(world.VirtualDisk.Space.Resync(new SimPacer(world.Lane))));
        young.CopyTo(old, 0);
        ReadsWithoutAnyOne(world, old);
    }

    [Fact]
    public void First_writes_that_only_the_log_knows_wait_there_for_their_disk()
    {
        PoolWorld world = PoolWorld.New(4, 96 * Mebibyte, 4096, seed: 3);
        Assert.Equal("", world.Lane.Run(world.Create(Spec(1, checksums: true))));
        byte[] data = Write(world, Random(4, Region), 0);
        Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk!.Disk.Flush()));
        int owner = DisksOfRow(world)[0];
        PoolWorld without = world.Cut(8, (_, _, _) => false);   // entries are logged, pages are not written
        without.Disks[owner].Pulled = true;
        Assert.Equal("", without.Lane.Run(without.Open()));
        Assert.Equal(IoError.Io, TryRead(without, 0, Region, out _));
        without.Lane.Run(without.Close());

        PoolWorld again = without.Cut(9, (_, _, _) => false);
        again.Disks[owner].Pulled = false;
        Assert.Equal("", again.Lane.Run(again.Open()));
        Assert.Equal(data, Read(again, 0, Region));
    }

    [Fact]
    public void Repair_that_is_stopped_goes_on_where_it_was_and_copies_nothing_twice()
    {
        PoolWorld world = Create(2, checksums: true, disks: 3);
        byte[] data = Write(world, Random(1, 2 * Mebibyte), 0);
        Settle(world);
        int away = DisksOfRow(world)[0];
        world.Disks[away].Pulled = true;
        Write(world, data, 0);
        Assert.Equal("", world.Lane.Run(world.Return(away)));
        Space space = world.VirtualDisk!.Space;
        int pieces = 0;
        while (world.Lane.Run(space.Resync(new SimPacer(world.Lane, stopAfter: 3))) == RepairEnd.Stopped)
        {
            Assert.True(++pieces < 1000, "never ends");
        }

        Assert.True(pieces > 2);   // pieces that are in flight at a stop are carried to their end
        Assert.Equal(RepairEnd.Done, world.Lane.Run(space.Resync(new SimPacer(world.Lane))));
        Assert.Equal(space.Counters.Repair.RegionsRepaired * Region, space.Counters.Repair.RepairBytesWritten);
        ReadsWithoutAnyOne(world, data);
    }

    // The data path does not evict the disk: a commit of metadata finds it gone. Writes that were acknowledged on it and not flushed are lost there.
    [Fact]
    public void What_a_disk_had_in_its_cache_when_the_metadata_lost_it_is_stale_there()
    {
        PoolWorld world = Create(2, checksums: false, disks: 3);
        Write(world, Random(1, Region), 0);
        Settle(world);
        int away = DisksOfRow(world)[0];
        byte[] young = Write(world, Random(2, Region), 0);
        world.Disks[away].Pulled = true;
        Assert.True(world.Lane.Run(world.Pool!.Commit(new JobRecord(Guid.Empty, [1]))).Succeeded);
        Assert.Null(world.Pool.Disk(new DiskNumber((ushort)(away + 1))));
        Settle(world);

        Assert.Equal("", world.Lane.Run(world.Return(away)));
        Assert.Equal(RepairEnd.Done, world.Lane.Run(world.VirtualDisk!.Space.Resync(new SimPacer(world.Lane))));
        ReadsWithoutAnyOne(world, young);
    }

    // It is unknown later which writes the disk lacks in the dirty regions of the power cut: the opening without it records the regions as stale.
    [Fact]
    public void A_disk_that_is_missing_after_a_power_cut_is_stale_where_it_may_differ()
    {
        PoolWorld before = Create(2, checksums: false, disks: 3);
        Write(before, Random(1, Region), 0);
        Settle(before);
        byte[] young = Write(before, Random(2, Region), 0);
        int away = DisksOfRow(before)[0];
        PoolWorld world = before.Cut(5, (disk, _, _) => disk != away);
        world.Disks[away].Pulled = true;
        Assert.Equal("", world.Lane.Run(world.Open()));
        Assert.Equal(young, Read(world, 0, Region));
        Settle(world);

        Assert.Equal("", world.Lane.Run(world.Return(away)));
        Assert.Equal(RepairEnd.Done, world.Lane.Run(world.VirtualDisk!.Space.Resync(new SimPacer(world.Lane))));
        ReadsWithoutAnyOne(world, young);
    }

    // The disk comes back with the power, without what was in its cache, and would be the first to be asked.
    [Fact]
    public void A_flush_that_puts_a_disk_out_waits_until_what_it_misses_is_recorded()
    {
        PoolWorld world = Create(2, checksums: false, disks: 4);
        Write(world, Random(1, Region), 0);
        Settle(world);
        byte[] young = Write(world, Random(2, Region), 0);
        int away = DisksOfRow(world)[0];
        world.Disks[away].Pulled = true;
        Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk!.Disk.Flush()));

        PoolWorld back = world.Cut(5, (_, _, _) => false);
        back.Disks[away].Pulled = false;
        Assert.Equal("", back.Lane.Run(back.Open()));
        Assert.Equal(young, Read(back, 0, Region));
    }

    // A slab of a former owner is to be cleared for the first write, and its disk is gone: none of its data may be returned when the disk is back.
    [Fact]
    public void A_new_slab_that_could_not_be_cleared_is_stale_all_over()
    {
        PoolWorld world = PoolWorld.New(3, 96 * Mebibyte, 4096, seed: 5);
        Assert.Equal("", world.Lane.Run(world.Create(Spec(2, checksums: false) with { ProvisioningType = ProvisioningType.Fixed })));
        SlabRef slab = world.Pool!.State.Space(world.VirtualDisk!.Description.DataSpace)!.Row(0)!.Mapping.Sources.ToArray()[0];
        SimDisk away = world.Disks[slab.Disk.Value - 1];
        away.Media.Write(world.Pool.Layout(slab.Disk).SlabOffset(slab.Slab), Random(1, Mebibyte));
        away.Pulled = true;
        Write(world, Random(2, 4096), 0);
        Settle(world);
        away.Media.Harden(away.Media.CachedWrites);
        Assert.Equal("", world.Lane.Run(world.Return(slab.Disk.Value - 1)));
        for (int i = 0; i < 4; i++)
        {
            Assert.Equal(new byte[Region], Read(world, 4 * Region, Region));
        }
    }

    // The log goes on while the copy is made whole: what is written into the part that is being copied is on the copy as well.
    [Fact]
    public void A_copy_of_the_log_that_was_made_whole_under_flushes_is_enough_to_open()
    {
        for (ulong seed = 1; seed <= 6; seed++)
        {
            PoolWorld world = PoolWorld.New(2, 96 * Mebibyte, 4096, seed);
            Assert.Equal("", world.Lane.Run(world.Create(Spec(2, checksums: true))));
            byte[] expected = Write(world, Random(1, Mebibyte), 0);
            world.Disks[0].Pulled = true;
            Write(world, Random(2, 4096), 0).CopyTo(expected, 0);
            Assert.Equal("", world.Lane.Run(world.Return(0)));
            bool isRunning = true;
            Resync().Forget();
            for (int i = 0; isRunning; i++)
            {
                Write(world, Random(i, 4096), i % 200 * 4096).CopyTo(expected, i % 200 * 4096);
                Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk!.Disk.Flush()));
            }

            ReadsWithoutAnyOne(world, expected);

            async LaneTask Resync()
            {
                await world.VirtualDisk!.Space.Resync(new SimPacer(world.Lane));
                isRunning = false;
            }
        }
    }

    private static VirtualDiskDescription Spec(int copies, bool checksums) => new()
    {
        FriendlyName = "d",
        ResiliencySettingName = copies == 1 ? "Simple" : "Mirror",
        SizeBytes = 8 * Mebibyte,
        NumberOfColumns = 1,
        NumberOfDataCopies = (ushort)copies,
        Interleave = 64 << 10,
        LogicalSectorSize = 4096,
        ProvisioningType = ProvisioningType.Thin,
        Checksum = checksums ? ChecksumKind.CRC32C : ChecksumKind.None,
    };

    private static PoolWorld Create(int copies, bool checksums, int disks)
    {
        PoolWorld world = PoolWorld.New(disks, 96 * Mebibyte, 4096, seed: (ulong)(copies * 2) + (checksums ? 1UL : 0));
        Assert.Equal("", world.Lane.Run(world.Create(Spec(copies, checksums))));
        return world;
    }

    /// <summary>Everything flushed, and long enough idle that no region is dirty.</summary>
    private static void Settle(PoolWorld world)
    {
        Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk!.Disk.Flush()));
        world.Lane.Advance(90_000_000_000);
    }

    /// <summary>Disks (counted from 0) of the first row, by position.</summary>
    private static int[] DisksOfRow(PoolWorld world) =>
        [.. world.Pool!.State.Space(world.VirtualDisk!.Description.DataSpace)!.Row(0)!.Mapping.Sources.ToArray().Select(slab => slab.Disk.Value - 1)];

    private static void ReadsWithoutAnyOne(PoolWorld world, byte[] expected)
    {
        Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk!.Disk.Flush()));
        for (int disk = 0; disk < world.Disks.Length; disk++)
        {
            PoolWorld without = world.Cut(50 + (ulong)disk, (_, _, _) => false);
            without.Disks[disk].Pulled = true;
            Assert.Equal("", without.Lane.Run(without.Open()));
            Assert.Equal(expected, Read(without, 0, expected.Length));
        }
    }

    private static byte[] Random(int seed, int length)
    {
        byte[] data = new byte[length];
        new Random(seed).NextBytes(data);
        return data;
    }

    private static byte[] Write(PoolWorld world, byte[] data, long offset)
    {
        Assert.Equal(IoError.None, TryWrite(world, data, offset));
        return data;
    }

    private static IoError TryWrite(PoolWorld world, byte[] data, long offset)
    {
        IoBuffer buffer = world.Lane.Buffers.Rent(data.Length);
        data.CopyTo(buffer.Span);
        IoError error = world.Lane.Run(world.VirtualDisk!.Disk.Write(offset, buffer, WriteFlags.None));
        world.Lane.Buffers.Return(buffer);
        return error;
    }

    private static byte[] Read(PoolWorld world, long offset, int length)
    {
        Assert.Equal(IoError.None, TryRead(world, offset, length, out byte[] data));
        return data;
    }

    private static IoError TryRead(PoolWorld world, long offset, int length, out byte[] data)
    {
        IoBuffer buffer = world.Lane.Buffers.Rent(length);
        IoError error = world.Lane.Run(world.VirtualDisk!.Disk.Read(offset, buffer));
        data = buffer.Span.ToArray();
        world.Lane.Buffers.Return(buffer);
        return error;
    }
}
