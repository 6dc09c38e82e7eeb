using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.VirtualDisks;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.VirtualDisks;

/// <summary>First writes while a disk is away that no other can stand in for.</summary>
public class DegradedRowTests
{
    private const int Mebibyte = 1 << 20;

    [Theory]
    [InlineData(1, 2, true, 2, ProvisioningType.Thin)]
    [InlineData(1, 2, false, 2, ProvisioningType.Thin)]
    [InlineData(1, 2, false, 2, ProvisioningType.Fixed)]
    [InlineData(2, 2, true, 4, ProvisioningType.Thin)]
    [InlineData(1, 3, true, 3, ProvisioningType.Thin)]
    public void A_first_write_succeeds_with_the_copies_there_are_and_is_made_whole_later(int columns, int copies, bool checksums, int disks, ProvisioningType provisioning)
    {
        PoolWorld world = Create(Spec(columns, copies, checksums) with { ProvisioningType = provisioning }, disks);
        world.Disks[1].Pulled = true;
        byte[] data = Write(world, Random(2 * Mebibyte), 0);
        Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk!.Disk.Flush()));
        Assert.True(world.VirtualDisk.IsDegraded);

        world = world.Cut(3, (_, _, _) => false);
        Assert.Equal("", world.Lane.Run(world.Open()));
        Assert.Equal(data, Read(world, data.Length));

        Assert.Equal("", world.Lane.Run(world.Return(1)));
        Assert.Equal(RepairEnd.Done, world.Lane.Run(world.Spaces.Resync(new SimPacer(world.Lane))));
        Assert.False(world.VirtualDisk!.IsDegraded);
        Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk.Disk.Flush()));
        for (int disk = 0; disk < disks; disk++)
        {
            PoolWorld without = world.Cut(50 + (ulong)disk, (_, _, _) => false);
            without.Disks[disk].Pulled = true;
            Assert.Equal("", without.Lane.Run(without.Open()));
            Assert.Equal(data, Read(without, data.Length));
        }
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
        Assert.False(world.VirtualDisk!.IsDegraded);
        Assert.Equal(data, Read(world, data.Length));
    }

    [Fact]
    public void What_no_copy_can_give_is_named()
    {
        PoolWorld world = Create(Spec(1, 2, checksums: false), 3);
        Write(world, Random(2 * Mebibyte), 0);
        Assert.Equal((true, ""), (world.VirtualDisk!.IsComplete, world.VirtualDisk.UnreadableReason));
        SpaceId space = world.VirtualDisk.Description.DataSpace;
        Assert.True(world.Lane.Run(world.Pool!.Commit(new StaleMarked(space, [new StaleEntry(1, 0, 0b1110), new StaleEntry(1, 1, 0b0110)]))).Succeeded);
        Assert.False(world.VirtualDisk.IsComplete);
        Assert.Equal(
            "No good copy of 131072 bytes is there, at offset 1114112 to 1245184. Every copy of them is stale: they stay errors. Copy the rest to another virtual disk.",
            world.VirtualDisk.UnreadableReason);
    }

    private static NewVirtualDiskSpec Spec(int columns, int copies, bool checksums) => new()
    {
        FriendlyName = "d",
        ResiliencySettingName = "Mirror",
        SizeBytes = 8 * Mebibyte,
        NumberOfColumns = columns,
        NumberOfDataCopies = copies,
        Interleave = 64 << 10,
        LogicalSectorSize = 4096,
        ProvisioningType = ProvisioningType.Thin,
        Checksum = checksums ? ChecksumKind.CRC32C : ChecksumKind.None,
    };

    private static PoolWorld Create(NewVirtualDiskSpec spec, int disks)
    {
        PoolWorld world = PoolWorld.New(disks, 96 * Mebibyte, 4096, seed: 5);
        Assert.Equal("", world.Lane.Run(world.Create(spec)));
        return world;
    }

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

    private static byte[] Read(PoolWorld world, int length)
    {
        IoBuffer buffer = world.Lane.Buffers.Rent(length);
        Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk!.Disk.Read(0, buffer)));
        byte[] data = buffer.Span.ToArray();
        world.Lane.Buffers.Return(buffer);
        return data;
    }
}
