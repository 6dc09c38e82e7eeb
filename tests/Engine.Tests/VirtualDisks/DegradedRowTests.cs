using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.VirtualDisks;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.VirtualDisks;

/// <summary>First writes while a disk is away that no other can replace.</summary>
public class DegradedRowTests
{
    private const int Mebibyte = 1 << 20;

    [Theory]
    [InlineData(1, 2, true, 2, ProvisioningType.Thin)]
    [InlineData(1, 2, false, 2, ProvisioningType.Thin)]
    [InlineData(1, 2, false, 2, ProvisioningType.Fixed)]
    [InlineData(2, 2, true, 4, ProvisioningType.Thin)]
    [InlineData(1, 3, true, 3, ProvisioningType.Thin)]
    public void A_first_write_succeeds_with_the_copies_there_are_and_is_made_whole_later(int columns, int copies, bool checksums, int disks,
        ProvisioningType provisioning)
    {
        PoolWorld world = Create(Spec(columns, copies, checksums) with { ProvisioningType = provisioning }, disks);
        world.Disks[1].Pulled = true;
        byte[] data = Write(world, Random(2 * Mebibyte), 0);
        Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk!.Disk.Flush()));
        Assert.True(world.IsDegraded);

        world = world.Cut(3, (_, _, _) => false);
        Assert.Equal("", world.Lane.Run(world.Open()));
        Assert.Equal(data, Read(world, data.Length));

        Assert.Equal("", world.Lane.Run(world.Return(1)));
        Assert.Equal(RepairEnd.Done, world.Lane.Run(world.Spaces.Resync(new SimPacer(world.Lane))));
        Assert.False(world.IsDegraded);
        Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk!.Disk.Flush()));
        for (int disk = 0; disk < disks; disk++)
        {
            PoolWorld without = world.Cut(50 + (ulong)disk, (_, _, _) => false);
            without.Disks[disk].Pulled = true;
            Assert.Equal("", without.Lane.Run(without.Open()));
            Assert.Equal(data, Read(without, data.Length));
        }
    }

    // Disk 2 has lost a session, so everything on it is stale, rows that were never written too. A first write clears both slabs: nothing is
    // missing on disk 2 from then on, and the loss of disk 1 costs nothing.
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_first_write_into_a_row_that_is_stale_on_a_disk_has_a_good_copy_on_every_disk(bool checksums)
    {
        PoolWorld world = Create(Spec(1, 2, checksums) with { ProvisioningType = ProvisioningType.Fixed }, 2);
        world.Disks[1].FlushLies = true;
        Write(world, Random(4096), 0);
        Assert.Equal(IoError.None, world.Lane.Run(world.Close()));
        world = world.Restart(3);
        Assert.Equal("", world.Lane.Run(world.Open()));
        Assert.Equal(RepairEnd.Done, world.Lane.Run(world.Spaces.Resync(new SimPacer(world.Lane))));

        byte[] data = Write(world, Random(Mebibyte), 4 * Mebibyte);
        Assert.False(world.IsDegraded);
        Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk!.Disk.Flush()));
        for (int disk = 0; disk < 2; disk++)
        {
            PoolWorld without = world.Cut(50 + (ulong)disk, (_, _, _) => false);
            without.Disks[disk].Pulled = true;
            Assert.Equal("", without.Lane.Run(without.Open()));
            Assert.Equal(data, Read(without, data.Length, 4 * Mebibyte));
        }
    }

    [Theory]
    [InlineData(1, 2, true, 2)]
    [InlineData(1, 2, false, 2)]
    [InlineData(2, 2, true, 4)]
    [InlineData(1, 3, true, 3)]
    public void A_first_write_takes_a_retired_disk_where_no_other_has_room_and_a_repair_moves_it(int columns, int copies, bool checksums, int disks)
    {
        PoolWorld world = Create(Spec(columns, copies, checksums), disks);
        Retire(world, 1);
        byte[] data = Write(world, Random(2 * Mebibyte), 0);
        Assert.False(world.IsDegraded);
        Assert.NotEqual(CapacityLevel.Full, world.Pool!.Capacity);
        Assert.False(CapacityAlert.LacksRoom(world.Pool.State, world.Pool.Allocator, world.VirtualDisk!.Description));
        Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk.Disk.Flush()));
        for (int disk = 0; disk < disks; disk++)
        {
            PoolWorld without = world.Cut(50 + (ulong)disk, (_, _, _) => false);
            without.Disks[disk].Pulled = true;
            Assert.Equal("", without.Lane.Run(without.Open()));
            Assert.Equal(data, Read(without, data.Length));
        }

        SimMedia added = new("added", 96 * Mebibyte, 4096);
        Assert.True(world.Lane.Run(world.Pool.AddDisks([new NewDiskSpec(new SimDisk(world.Lane, added), "new")])).Succeeded);
        SlabMover mover = new(world.Pool, world.VirtualDisk);
        foreach (SlabMove move in mover.Plan(givesUpMissing: false))
        {
            Assert.Equal(RepairEnd.Done, world.Lane.Run(mover.Move(move, [], new SimPacer(world.Lane))));
        }

        Write(world, Random(Mebibyte), 4 * Mebibyte);   // the new disk has room: nothing more comes to the retired one
        Assert.True(world.Lane.Run(world.Pool.RemoveDisk(new DiskNumber(2))).Succeeded);
        Assert.Equal(data, Read(world, data.Length));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_first_write_succeeds_while_a_retired_disk_is_away(bool isGivenUpLater)
    {
        PoolWorld world = Create(Spec(1, 2, checksums: true), 2);
        world.Disks[1].Pulled = true;
        Write(world, Random(4096), isGivenUpLater ? 4 * Mebibyte : 0);
        Retire(world, 1);
        byte[] data = Write(world, Random(Mebibyte), 0);
        Assert.True(world.IsDegraded);
        Assert.NotEqual(CapacityLevel.Full, world.Pool!.Capacity);
        Assert.Equal("", world.Lane.Run(world.Return(1)));
        Assert.Equal(RepairEnd.Done, world.Lane.Run(world.Spaces.Resync(new SimPacer(world.Lane))));
        Assert.False(world.IsDegraded);
        Assert.Equal(data, Read(world, data.Length));
    }

    [Fact]
    public void Each_column_of_a_new_row_has_a_copy_on_a_disk_that_is_to_stay()
    {
        PoolWorld world = Create(Spec(1, 2, checksums: true), 3);
        Retire(world, 0);
        Retire(world, 1);
        world.Disks[2].Pulled = true;
        world.Lane.Run(world.Pool!.Evict(new DiskNumber(3), "it was pulled"));
        Assert.Equal(IoError.NoSpace, TryWrite(world, Random(4096), 0));
        Assert.Equal(CapacityLevel.Full, world.Pool.Capacity);
    }

    [Fact]
    public void A_retired_disk_that_is_removed_while_a_row_is_made_on_it_costs_no_write()
    {
        PoolWorld world = Create(Spec(1, 2, checksums: true), 4);
        int[] spare = [.. Enumerable.Range(0, 4).Where(disk => world.Pool!.State.Disk(Number(disk))!.UsedSlabs == 0)];
        int[] others = [.. Enumerable.Range(0, 4).Except(spare)];
        Retire(world, spare[0]);
        Retire(world, spare[1]);
        Retire(world, others[1]);
        LaneTask<CommitResult>? removed = null;
        world.Disks[spare[0]].OnRequest = (operation, _, length) =>
        {
            if (operation == SimOperation.Write && removed is null && length < Mebibyte)
            {
                removed = world.Pool!.RemoveDisk(Number(spare[0]));
            }
        };
        byte[] data = Write(world, Random(4096), 0);
        Assert.True(world.Lane.Run(removed!.Value).Succeeded);
        Assert.Equal(data, Read(world, data.Length));
    }

    [Theory]
    [InlineData(ProvisioningType.Thin, 0, false)]
    [InlineData(ProvisioningType.Thin, 0, true)]
    [InlineData(ProvisioningType.Thin, 2, false)]
    [InlineData(ProvisioningType.Thin, 2, true)]
    [InlineData(ProvisioningType.Fixed, 0, false)]
    [InlineData(ProvisioningType.Fixed, 0, true)]
    [InlineData(ProvisioningType.Fixed, 2, false)]
    [InlineData(ProvisioningType.Fixed, 2, true)]
    public void First_writes_to_tiers_on_two_disks_work_while_one_is_away_or_retired(ProvisioningType provisioning, int disk, bool isRetired)
    {
        PoolWorld world = CreateTiered(provisioning);
        if (isRetired)
        {
            Retire(world, disk);
        }
        else
        {
            world.Disks[disk].Pulled = true;
        }

        byte[] data = Write(world, Random(4 * Mebibyte), 0);
        Assert.All(world.VirtualDisk!.Description.Parts, part => Assert.NotEqual(0, world.Pool!.State.Space(part.DataSpace)!.MappedRows));
        Assert.Equal(!isRetired, world.IsDegraded);
        Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk.Disk.Flush()));
        world = world.Cut(3, (_, _, _) => false);
        Assert.Equal("", world.Lane.Run(world.Open()));
        Assert.Equal(data, Read(world, data.Length));
        if (!isRetired)
        {
            Assert.Equal("", world.Lane.Run(world.Return(disk)));
            Assert.Equal(RepairEnd.Done, world.Lane.Run(world.Spaces.Resync(new SimPacer(world.Lane))));
        }

        Assert.False(world.IsDegraded);
        Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk!.Disk.Flush()));
        PoolWorld without = world.Cut(4, (_, _, _) => false);
        without.Disks[disk ^ 1].Pulled = true;
        Assert.Equal("", without.Lane.Run(without.Open()));
        Assert.Equal(data, Read(without, data.Length));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_slab_that_was_not_cleared_shows_nothing_of_a_former_owner(bool checksums)
    {
        PoolWorld world = Create(Spec(1, 2, checksums), 2);
        world.Disks[1].Pulled = true;
        byte[] data = Write(world, Random(4096), 0);
        SlabRef slab = world.Pool!.State.Space(world.VirtualDisk!.Description.DataSpace)!.Row(0)!.Mapping.Sources.ToArray()
            .Single(static slab => slab.Disk == Number(1));
        byte[] former = new byte[world.Pool.Slabs.DataBytes];
        former.AsSpan().Fill(0xA5);
        world.Disks[1].Media.Write(world.Pool.Layout(slab.Disk).SlabOffset(slab.Slab) + world.Pool.Slabs.ChecksumBytes, former);
        world.Disks[1].Media.Harden(world.Disks[1].Media.CachedWrites);
        Assert.Equal("", world.Lane.Run(world.Return(1)));
        Assert.Equal(RepairEnd.Done, world.Lane.Run(world.Spaces.Resync(new SimPacer(world.Lane))));
        Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk.Disk.Flush()));
        PoolWorld without = world.Cut(9, (_, _, _) => false);
        without.Disks[0].Pulled = true;
        Assert.Equal("", without.Lane.Run(without.Open()));
        Assert.Equal([.. data, .. new byte[former.Length - data.Length]], Read(without, former.Length));
    }

    [Fact]
    public void A_row_whose_clearing_failed_on_one_disk_and_then_on_the_other_is_written_when_both_are_back()
    {
        PoolWorld world = Create(Spec(1, 2, checksums: false) with { ProvisioningType = ProvisioningType.Fixed }, 4);
        int[] disks = DisksOfRow(world);
        bool first = true;
        foreach (int disk in disks)
        {
            world.Disks[disk].OnRequest = (operation, _, _) =>
            {
                world.Disks[disk].Pulled |= first || operation == SimOperation.Write;   // both vanish while the row is cleared
                first = false;
            };
        }

        Assert.NotEqual(IoError.None, TryWrite(world, Random(4096), 0));
        foreach (int disk in disks)
        {
            world.Disks[disk].OnRequest = null;
            if (world.CanReturn(disk))
            {
                Assert.Equal("", world.Lane.Run(world.Return(disk)));
            }
        }

        byte[] data = Write(world, Random(4096), 0);
        world.Lane.Run(world.Spaces.Resync(new SimPacer(world.Lane)));
        Assert.False(world.IsDegraded);
        Assert.Equal(data, Read(world, data.Length));
    }

    [Fact]
    public void What_no_copy_can_give_is_named()
    {
        PoolWorld world = Create(Spec(1, 2, checksums: false), 3);
        Write(world, Random(2 * Mebibyte), 0);
        Assert.Equal((true, ""), (world.IsComplete, world.UnreadableReason));
        SpaceId space = world.VirtualDisk!.Description.DataSpace;
        Assert.True(world.Lane.Run(world.Pool!.Commit(new StaleMarked(space, [new StaleEntry(1, 0, 0b1110), new StaleEntry(1, 1, 0b0110)]))).Succeeded);
        Assert.False(world.IsComplete);
        Assert.Equal(
            "No good copy of 128 KB is there, at offset 1088 KB to 1216 KB. Every copy of them is stale: they stay errors. Copy the rest to another virtual disk.",
            world.UnreadableReason);
    }

    private static VirtualDiskDescription Spec(int columns, int copies, bool checksums) => new()
    {
        FriendlyName = "d",
        ResiliencySettingName = "Mirror",
        SizeBytes = 8 * Mebibyte,
        NumberOfColumns = (ushort)columns,
        NumberOfDataCopies = (ushort)copies,
        Interleave = 64 << 10,
        LogicalSectorSize = 4096,
        ProvisioningType = ProvisioningType.Thin,
        Checksum = checksums ? ChecksumKind.CRC32C : ChecksumKind.None,
    };

    private static PoolWorld Create(VirtualDiskDescription spec, int disks)
    {
        PoolWorld world = PoolWorld.New(disks, 96 * Mebibyte, 4096, seed: 5);
        Assert.Equal("", world.Lane.Run(world.Create(spec)));
        return world;
    }

    /// <summary>Two mirrored tiers of 2 MiB, one on disks 0 and 1, which are SSDs, and one on disks 2 and 3.</summary>
    private static PoolWorld CreateTiered(ProvisioningType provisioning)
    {
        PoolWorld world = PoolWorld.New(4, 96 * Mebibyte, 4096, seed: 5);
        world.Lane.Run(world.CreatePool());
        for (int disk = 0; disk < 4; disk++)
        {
            Change(world, disk, description => description with { MediaTypeCode = (ushort)MediaOf(disk) });
        }

        Assert.Equal("", world.Lane.Run(world.CreateVirtualDisk(Spec(1, 2, checksums: true) with
        {
            SizeBytes = 4 * Mebibyte,
            ProvisioningType = provisioning,
            SliceSize = 256 << 10,
            Tiers = [Tier(0), Tier(2)],
        })));
        return world;

        static MediaType MediaOf(int disk) => disk < 2 ? MediaType.SSD : MediaType.HDD;

        static TierDescription Tier(int disk) => new()
        {
            FriendlyName = $"t{disk}",
            MediaTypeCode = (ushort)MediaOf(disk),
            ResiliencySettingName = "Mirror",
            SizeBytes = 2 * Mebibyte,
            NumberOfColumns = 1,
            NumberOfDataCopies = 2,
            Interleave = 64 << 10,
        };
    }

    private static void Retire(PoolWorld world, int disk) => Change(world, disk, static description => description with { Usage = DiskUsage.Retired });

    private static void Change(PoolWorld world, int disk, Func<DiskDescription, DiskDescription> change) =>
        Assert.True(world.Lane.Run(world.Pool!.Commit(new DiskChanged(change(world.Pool.State.Disk(Number(disk))!.Description)))).Succeeded);

    /// <summary>The pool's number of a disk (counted from 0).</summary>
    private static DiskNumber Number(int disk) => new((ushort)(disk + 1));

    /// <summary>Disks (counted from 0) of the first row, by position.</summary>
    private static int[] DisksOfRow(PoolWorld world) =>
        [.. world.Pool!.State.Space(world.VirtualDisk!.Description.DataSpace)!.Row(0)!.Mapping.Sources.ToArray().Select(slab => slab.Disk.Value - 1)];

    private static byte[] Random(int length)
    {
        byte[] data = new byte[length];
        new Random(7).NextBytes(data);
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

    private static byte[] Read(PoolWorld world, int length, long offset = 0)
    {
        IoBuffer buffer = world.Lane.Buffers.Rent(length);
        Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk!.Disk.Read(offset, buffer)));
        byte[] data = buffer.Span.ToArray();
        world.Lane.Buffers.Return(buffer);
        return data;
    }
}
