using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Verification;
using TierSpaces.Engine.VirtualDisks;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.VirtualDisks;

/// <summary>
/// A disk of single parity leaves under load before another one, which has come back, is whole again. Requests that need both fail meanwhile. What the disk
/// holds is the last good copy of its columns, so nothing of it may count as stale when it is back.
/// </summary>
public class SecondLossTests
{
    private const int Block = 4096;
    private const long Bytes = 8 << 20;
    private const int Depth = 16;

    [Theory]
    [InlineData(1, false, false)]
    [InlineData(2, true, false)]
    [InlineData(3, true, false)]
    [InlineData(4, true, true)]
    [InlineData(5, true, true)]
    [InlineData(6, true, true)]
    public void Every_row_can_be_read_when_the_second_disk_is_back(int seed, bool isPulled, bool hasLostPower)
    {
        PoolWorld world = PoolWorld.New(6, 64 << 20, Block, (ulong)seed, new VirtualDiskDescription
        {
            FriendlyName = "disk", ResiliencySettingName = "Parity", SizeBytes = Bytes, NumberOfColumns = 3, NumberOfDataCopies = 1,
            PhysicalDiskRedundancy = 1, Interleave = 64 << 10,
        });
        Assert.Equal("", world.Lane.Run(world.Open(isNew: true)));
        Random random = new(seed);
        IoBuffer block = world.Lane.Buffers.Rent(Block);
        for (long at = 0; at < Bytes; at += 16 * Block)
        {
            Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk!.Disk.Write(at, block, WriteFlags.None)));
        }

        Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk!.Disk.Flush()));
        SpaceState log = world.Pool!.State.Space(world.VirtualDisk!.Description.Parts.First().LogSpace)!;
        HashSet<int> used = [.. log.EnumerateRows().SelectMany(static row => row.Row.Mapping.Sources.ToArray()).Select(static slab => slab.Disk.Value - 1)];
        int[] victims = [.. Enumerable.Range(0, 6).Where(disk => !used.Contains(disk))];
        Leave(world, victims[0], isPulled, random, block);
        Back(world, victims[0], hasLostPower);
        Assert.True(world.Spaces.StaleRegions > 0);
        Assert.Equal((IoError.None, ""), (world.VirtualDisk!.Fault, world.UnreadableReason));
        Leave(world, victims[1], isPulled, random, block);
        Back(world, victims[1], hasLostPower);
        Assert.Equal((IoError.None, ""), (world.VirtualDisk!.Fault, world.UnreadableReason));
        for (int again = 0; again < 5 && world.Spaces.StaleRegions > 0; again++)
        {
            world.Lane.Advance(5_000_000_000);
            world.Lane.Run(world.Spaces.Resync(new SimPacer(world.Lane)));
        }

        Assert.Equal(0, world.Spaces.StaleRegions);
        for (long at = 0; at < Bytes; at += Block)
        {
            Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk!.Disk.Read(at, block)));
        }
    }

    /// <summary>A disk leaves while clients write; what they write may fail.</summary>
    private static void Leave(PoolWorld world, int disk, bool isPulled, Random random, IoBuffer block)
    {
        LaneTask<IoError>[] writes = new LaneTask<IoError>[Depth];
        for (int round = 0; round < 20; round++)
        {
            for (int i = 0; i < Depth; i++)
            {
                writes[i] = world.VirtualDisk!.Disk.Write(random.NextInt64(Bytes / Block) * Block, block, WriteFlags.None);
            }

            if (round == 5 && isPulled)
            {
                world.Disks[disk].Pulled = true;
            }
            else if (round == 5)
            {
                world.Lane.Run(world.Pool!.Evict(new DiskNumber((ushort)(disk + 1)), "it is taken out"));
            }

            foreach (LaneTask<IoError> write in writes)
            {
                world.Lane.Run(write);
            }
        }

        world.Lane.Run(world.Pool!.Evict(new DiskNumber((ushort)(disk + 1)), "it is taken out"));
    }

    private static void Back(PoolWorld world, int disk, bool hasLostPower)
    {
        world.Disks[disk].Pulled = false;
        for (int again = 0; again < 100 && !world.Pool!.View.Contains(new DiskNumber((ushort)(disk + 1))); again++)
        {
            world.Lane.Advance(100_000_000);
            world.Lane.Run(world.TryReturn(disk, hasLostPower));
            hasLostPower = false;
        }

        if (world.VirtualDisk!.Fault != IoError.None)   // its log or a row was on both
        {
            world.VirtualDisks[0].Open = world.Lane.Run(VirtualDiskStack.Reopen(world.Pool!, world.VirtualDisk));
        }
    }
}
