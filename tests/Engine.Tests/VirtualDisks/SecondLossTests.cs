using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Verification;
using TierSpaces.Engine.VirtualDisks;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.VirtualDisks;

/// <summary>
/// A disk of single parity leaves under load before another one, which has come back, is whole again. Requests that need both fail meanwhile. The disk
/// has the last good copy of its columns, so nothing of it may count as stale when it is back, and nothing is given up while it is away.
/// </summary>
public class SecondLossTests
{
    private const int Block = 4096;
    private const long Bytes = 8 << 20;
    private const int Depth = 16;

    [Theory]
    [InlineData(1, false)]
    [InlineData(2, true)]
    [InlineData(3, true)]
    [InlineData(4, true)]
    [InlineData(5, true)]
    [InlineData(6, false)]
    [InlineData(7, true)]
    [InlineData(8, true)]
    public void Every_block_is_right_when_the_second_disk_is_back(int seed, bool isPulled)
    {
        (PoolWorld world, uint[][] values) = LoseTwo(seed, isPulled, hasLostPower: false);
        IoBuffer block = world.Lane.Buffers.Rent(Block);
        Resync(world);
        for (int at = 0; at < Bytes / Block; at++)
        {
            Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk!.Disk.Read((long)at * Block, block)));
            Assert.Contains(BitConverter.ToUInt32(block.Span), values[at]);
            Assert.Equal(BitConverter.ToUInt32(block.Span), BitConverter.ToUInt32(block.Span[(Block - 4)..]));
        }

        Assert.Equal(0, world.Spaces.Counters.Damage.BlocksLost);
    }

    /// <summary>Its unflushed writes may be lost with the power of the second disk, of two losses too many; the rest of its columns is not.</summary>
    [Theory]
    [InlineData(4)]
    [InlineData(5)]
    [InlineData(6)]
    public void Every_row_can_be_read_when_the_second_disk_had_no_power(int seed)
    {
        (PoolWorld world, uint[][] values) = LoseTwo(seed, isPulled: true, hasLostPower: true);
        IoBuffer block = world.Lane.Buffers.Rent(Block);
        Resync(world);
        int errors = 0;
        for (int at = 0; at < Bytes / Block; at++)
        {
            IoError error = world.Lane.Run(world.VirtualDisk!.Disk.Read((long)at * Block, block));
            errors += error == IoError.None ? 0 : 1;
            Assert.True(error != IoError.None || values[at].Contains(BitConverter.ToUInt32(block.Span)));
        }

        Assert.InRange(errors, 0, Depth);
    }

    private static (PoolWorld World, uint[][] Values) LoseTwo(int seed, bool isPulled, bool hasLostPower)
    {
        PoolWorld world = PoolWorld.New(6, 64 << 20, Block, (ulong)seed, new VirtualDiskDescription
        {
            FriendlyName = "disk", ResiliencySettingName = "Parity", SizeBytes = Bytes, NumberOfColumns = 3, NumberOfDataCopies = 1,
            PhysicalDiskRedundancy = 1, Interleave = 64 << 10,
        });
        Assert.Equal("", world.Lane.Run(world.Open(isNew: true)));
        Load load = new(world, new Random(seed));
        load.WriteAll();
        SpaceState log = world.Pool!.State.Space(world.VirtualDisk!.Description.Parts.First().LogSpace)!;
        HashSet<int> used = [.. log.EnumerateRows().SelectMany(static row => row.Row.Mapping.Sources.ToArray()).Select(static slab => slab.Disk.Value - 1)];
        int[] victims = [.. Enumerable.Range(0, 6).Where(disk => !used.Contains(disk))];
        foreach (int victim in victims.Take(2))
        {
            Leave(world, victim, isPulled, load);
            Back(world, victim, hasLostPower);
            Assert.True(world.Spaces.StaleRegions > 0);
            Assert.Equal((IoError.None, ""), (world.VirtualDisk!.Fault, world.UnreadableReason));
        }

        return (world, load.Values);
    }

    private static void Resync(PoolWorld world)
    {
        for (int again = 0; again < 5 && world.Spaces.StaleRegions > 0; again++)
        {
            world.Lane.Advance(5_000_000_000);
            world.Lane.Run(world.Spaces.Resync(new SimPacer(world.Lane)));
        }

        Assert.Equal(0, world.Spaces.StaleRegions);
    }

    /// <summary>A disk leaves while clients write; what they write may fail.</summary>
    private static void Leave(PoolWorld world, int disk, bool isPulled, Load load)
    {
        DiskNumber number = new((ushort)(disk + 1));
        for (int round = 0; round < 20; round++)
        {
            load.Round(() =>
            {
                if (round == 5 && isPulled)
                {
                    world.Disks[disk].Pulled = true;
                }
                else if (round == 5)
                {
                    world.Lane.Run(world.Pool!.Evict(number, "it is taken out"));
                }
            });
        }

        world.Lane.Run(world.Pool!.Evict(number, "it is taken out"));
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
            world.VirtualDisks[0].Serve(world.Lane.Run(VirtualDiskStack.Reopen(world.Pool!, world.VirtualDisk)));
        }
    }

    /// <summary>Clients that write blocks of one number each, and what each block may hold: the last number written, and those that failed since.</summary>
    private sealed class Load(PoolWorld world, Random random)
    {
        private uint _last;

        internal uint[][] Values { get; } = new uint[Bytes / Block][];

        internal void WriteAll()
        {
            for (int at = 0; at < Values.Length; at++)
            {
                Values[at] = [++_last];
                IoBuffer block = Filled(_last);
                Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk!.Disk.Write((long)at * Block, block, WriteFlags.None)));
                world.Lane.Buffers.Return(block);
            }

            Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk!.Disk.Flush()));
        }

        /// <summary>Writes blocks side by side, each another one.</summary>
        internal void Round(Action meanwhile)
        {
            HashSet<int> blocks = [];
            while (blocks.Count < Depth)
            {
                blocks.Add(random.Next(Values.Length));
            }

            (int At, uint Value, IoBuffer Block, LaneTask<IoError> Write)[] writes = [.. blocks.Select(at =>
            {
                IoBuffer block = Filled(++_last);
                return (at, _last, block, world.VirtualDisk!.Disk.Write((long)at * Block, block, WriteFlags.None));
            })];
            meanwhile();
            foreach ((int at, uint value, IoBuffer block, LaneTask<IoError> write) in writes)
            {
                Values[at] = world.Lane.Run(write) == IoError.None ? [value] : [.. Values[at], value];
                world.Lane.Buffers.Return(block);
            }
        }

        private IoBuffer Filled(uint value)
        {
            IoBuffer block = world.Lane.Buffers.Rent(Block);
            System.Runtime.InteropServices.MemoryMarshal.Cast<byte, uint>(block.Span).Fill(value);
            return block;
        }
    }
}
