using TierSpaces.Engine.Caching;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Verification;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Caching;

/// <summary>
/// A block of the ring that no copy can return: the backing store returns errors for this block alone, until it is written, while all other blocks are
/// destaged; with a stop at every point of that.
/// </summary>
public class LostBlockTests
{
    private const int Block = 4096;
    private const long Second = 1_000_000_000;
    private const int Blocks = 8;
    private const int Lost = 3;
    private const int FirstRecord = 8;   // block of the ring: behind the anchors

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void It_is_an_error_at_home_until_it_is_written(int copies)
    {
        (SpaceWorld world, byte[] data) = Losing(copies);
        Destage(world);
        WriteCache cache = world.Cache!;
        Assert.Equal((Block, (Blocks + 1) * Block), (cache.Counters.LostBytes, cache.Counters.DestagedBytes));
        Assert.Contains(ByteText.Range(Lost * Block, Block), cache.StateReason, StringComparison.Ordinal);
        Check(world, data, isLost: true);

        Assert.Equal(IoError.None, Write(world, Lost, data[(Lost * Block)..((Lost + 1) * Block)]));
        Check(world, data, isLost: false);
        Destage(world);
        Assert.Equal((false, ""), (cache.HasLostBlocks, cache.StateReason));
        Check(world, data, isLost: false);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void It_stays_so_over_restarts_and_power_cuts(int copies)
    {
        (SpaceWorld world, byte[] data) = Losing(copies);
        Destage(world);
        world = Reopened((SpaceWorld)world.Cut(7, (_, _, _) => false));
        Check(world, data, isLost: true);
        Assert.Equal(IoError.None, world.Lane.Run(world.Close()));
        world = Reopened((SpaceWorld)world.Cut(8, (_, _, _) => false));
        Check(world, data, isLost: true);
        Assert.Equal(IoError.None, world.Lane.Run(world.Store.Unmap(Lost * Block, Block)));
        data.AsSpan(Lost * Block, Block).Clear();
        Check(world, data, isLost: false);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void A_stop_at_any_point_loses_nothing_else(int copies)
    {
        bool ends = false;
        int stops = 0;
        for (int point = 1; !ends; point++, stops++)
        {
            (SpaceWorld world, byte[] data) = Losing(copies);
            int requests = 0;
            Array.ForEach(world.Disks, disk => disk.OnRequest = (_, _, _) => requests++);
            world.Cache!.TakeSettings(new DestageSettings { IdleNs = 0 });
            world.Lane.PumpWhile(() => requests < point && world.Cache.DirtyBytes > 0, 60 * Second);
            ends = world.Cache.DirtyBytes == 0;
            for (int kept = 0; kept < 3; kept++)   // of what the disks had cached: nothing, every other sector, all
            {
                CheckToTheEnd((SpaceWorld)world.Cut((ulong)point, (disk, write, sector) => ((disk + write + sector + point) & 1) < kept), [.. data]);
            }

            int arrivals = point;
            CheckToTheEnd((SpaceWorld)world.Kill((ulong)point, () => (arrivals++ & 1) == 0), [.. data]);
        }

        Assert.True(stops > 10, $"{stops} stops");
    }

    [Fact]
    public void A_disk_that_gives_nothing_at_all_is_waited_for()
    {
        (SpaceWorld world, byte[] data) = Filled(1);
        world.Disks[0].ReadFails = (offset, _) => offset >= RingAt(0) && offset < RingAt(64);
        world.Cache!.TakeSettings(new DestageSettings { IdleNs = 0 });
        world.Lane.Advance(20 * Second);
        Assert.True(world.Cache.DirtyBytes > 0);
        Assert.NotEqual("", world.Cache.StateReason);
        world.Disks[0].ReadFails = null;
        Destage(world);
        Assert.Equal((0L, ""), (world.Cache.Counters.LostBytes, world.Cache.StateReason));
        Check(world, data, isLost: false);
    }

    [Fact]
    public void A_block_that_comes_at_the_second_try_is_not_lost()
    {
        (SpaceWorld world, byte[] data) = Filled(1);
        int rejected = 0;
        world.Disks[0].ReadFails = (offset, length) => offset <= RingAt(PayloadOf(Lost)) && offset + length > RingAt(PayloadOf(Lost)) && rejected++ < 2;
        Destage(world);
        Assert.True(rejected >= 2);
        Assert.Equal(0, world.Cache!.Counters.LostBytes);
        Check(world, data, isLost: false);
    }

    [Fact]
    public void Without_checksums_it_says_what_to_do()
    {
        (SpaceWorld world, byte[] data) = Losing(1, checksums: false);
        world.Cache!.TakeSettings(new DestageSettings { IdleNs = 0 });
        world.Lane.Advance(20 * Second);
        Assert.True(world.Cache.DirtyBytes > 0);
        Assert.Contains($"{ByteText.Range(Lost * Block, Block)} are lost", world.Cache.StateReason, StringComparison.Ordinal);
        Assert.Contains("written or unmapped", world.Cache.StateReason, StringComparison.Ordinal);
        Check(world, data, isLost: true);
        Assert.Equal(IoError.None, Write(world, Lost, data[(Lost * Block)..((Lost + 1) * Block)]));
        Destage(world);
        Check(world, data, isLost: false);
    }

    // The log calls the block lost; that a process wrote it again before it died is known from its notes alone.
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void A_kill_after_it_was_written_again_loses_nothing(int copies)
    {
        (SpaceWorld world, _) = Losing(copies);
        Destage(world);
        byte[] large = Pattern(5, 20 * Block);   // past the cache
        Assert.Equal(IoError.None, Write(world, 0, large, flushes: false));
        Assert.True(world.Cache!.Counters.Writes(WriteReason.BypassLarge) > 0);
        world = Reopened((SpaceWorld)world.Kill(3, () => true));
        Assert.Equal(large, Read(world, 0, 20));
    }

    // The newest record has rotted on the copy that is there, its header or its payload. It was flushed: the version before is no answer, and the copy that is
    // away is not written over.
    [Theory]
    [InlineData(0, 1)]
    [InlineData(0, 2)]
    [InlineData(1, 1)]
    [InlineData(1, 2)]
    public void A_record_that_a_disk_which_is_away_may_have_is_waited_for(int away, int block)
    {
        (SpaceWorld world, _) = Filled(2);
        SpaceWorld killed = (SpaceWorld)world.Kill(3, () => true);
        killed.Disks[1 - away].Media.Corrupt(RingAt(FirstRecord + Blocks + block), static sector => [.. sector.Select(static value => (byte)~value)]);
        SpaceWorld without = (SpaceWorld)killed.Fork(4);
        without.Remove(away);
        Assert.Contains("a disk with another copy is away", without.Lane.Run(without.Open(isNew: false)), StringComparison.Ordinal);
        Assert.Equal(Pattern(3, Block), Read(Reopened((SpaceWorld)killed.Fork(6)), 40, 1));
    }

    // Every block that is called lost takes its note back with one more: there is room for 512.
    [Fact]
    public void Calling_blocks_lost_drives_out_no_note_of_a_first_write()
    {
        SpaceWorld world = (SpaceWorld)new SpaceScenario(1, 1, true, 4096, 4).NewWorld(1);
        Assert.Equal("", world.Lane.Run(world.Open(isNew: true)));
        byte[] data = Pattern(1, 64 * Block);
        Assert.Equal(IoError.None, Write(world, 0, data, flushes: false));
        for (int i = 0; i < 40; i++)
        {
            Assert.Equal(IoError.None, world.Lane.Run(world.Space.Poison(32 * Block, 32 * Block)));
        }

        world = (SpaceWorld)world.Kill(3, () => true);
        Assert.Equal("", world.Lane.Run(world.Open(isNew: false)));
        Assert.Equal(data[..(32 * Block)], Read(world, 0, 32));
    }

    /// <summary>State that a stop has left: served, destaged, written again, nothing else is missing.</summary>
    private static void CheckToTheEnd(SpaceWorld world, byte[] data)
    {
        world = Reopened(world);
        Check(world, data, isLost: true);
        Destage(world);
        Check(world, data, isLost: true);
        Pattern(9, Block).CopyTo(data, Lost * Block);
        Assert.Equal(IoError.None, Write(world, Lost, data[(Lost * Block)..((Lost + 1) * Block)]));
        Destage(world);
        Check(world, data, isLost: false);
        world.Release();
    }

    private static void Check(SpaceWorld world, byte[] data, bool isLost)
    {
        for (int block = 0; block < data.Length / Block; block++)
        {
            IoBuffer target = world.Lane.Buffers.Rent(Block);
            IoError error = world.Lane.Run(world.Store.Read(block * Block, target));
            Assert.Equal((block, isLost && block == Lost ? IoError.Io : IoError.None), (block, error));
            Assert.True(error != IoError.None || target.Span.SequenceEqual(data.AsSpan(block * Block, Block)), $"block {block}");
            world.Lane.Buffers.Return(target);
        }
    }

    /// <summary>The same with the payload of one block destroyed on every copy of the ring.</summary>
    private static (SpaceWorld World, byte[] Data) Losing(int copies, bool checksums = true)
    {
        (SpaceWorld world, byte[] data) = Filled(copies, checksums);
        for (int copy = 0; copy < copies; copy++)
        {
            world.Disks[copy].Media.Corrupt(RingAt(PayloadOf(Lost)), static sector => [.. sector.Select(static value => (byte)~value)]);
        }

        return (world, data);
    }

    /// <summary>Blocks with older data on the backing store; the newer data of all of them is durable in the ring.</summary>
    private static (SpaceWorld World, byte[] Data) Filled(int copies, bool checksums = true)
    {
        SpaceWorld world = (SpaceWorld)new SpaceScenario(1, copies, checksums, 4096, 4, CacheBlocks: 64).NewWorld(1);
        Assert.Equal("", world.Lane.Run(world.Open(isNew: true)));
        Assert.Equal(IoError.None, Write(world, 0, Pattern(1, 20 * Block)));   // past the cache
        world.Cache!.TakeSettings(Held);
        byte[] data = Pattern(2, Blocks * Block);
        Assert.Equal(IoError.None, Write(world, 0, data));
        Assert.Equal(IoError.None, Write(world, 40, Pattern(3, Block)));   // says that the one before is durable
        Assert.Equal(2, world.Cache.Counters.Records);
        return (world, data);
    }

    private static int PayloadOf(int block) => FirstRecord + 1 + block;

    private static long RingAt(int ringBlock) => SimSpaceHost.Place(new SpaceScenario(1, 1, true, 4096, 4).Shape, 0, 1).DataOffset + (ringBlock * (long)Block);

    private static DestageSettings Held => new() { Hold = true };

    private static SpaceWorld Reopened(SpaceWorld world)
    {
        Assert.Equal("", world.Lane.Run(world.Open(isNew: false)));
        world.Cache!.TakeSettings(Held);
        return world;
    }

    private static void Destage(SpaceWorld world)
    {
        world.Cache!.TakeSettings(new DestageSettings { IdleNs = 0 });
        world.Lane.PumpWhile(() => world.Cache.DirtyBytes > 0, 60 * Second);
        world.Cache.TakeSettings(Held);
    }

    private static IoError Write(SpaceWorld world, long block, byte[] data, bool flushes = true)
    {
        IoBuffer source = world.Lane.Buffers.Rent(data.Length);
        data.CopyTo(source.Span);
        IoError error = world.Lane.Run(world.Store.Write(block * Block, source, WriteFlags.None));
        world.Lane.Buffers.Return(source);
        return error == IoError.None && flushes ? world.Lane.Run(world.Store.Flush()) : error;
    }

    private static byte[] Read(SpaceWorld world, long block, int count)
    {
        IoBuffer target = world.Lane.Buffers.Rent(count * Block);
        Assert.Equal(IoError.None, world.Lane.Run(world.Store.Read(block * Block, target)));
        byte[] data = target.Span.ToArray();
        world.Lane.Buffers.Return(target);
        return data;
    }

    private static byte[] Pattern(int seed, int length)
    {
        byte[] data = new byte[length];
        new Random(seed).NextBytes(data);
        return data;
    }
}
