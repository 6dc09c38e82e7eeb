using TierSpaces.Engine.Caching;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Caching;

/// <summary>A write cache on simulated disks: what it takes, what it gives back, when it empties itself, what it loses and says so.</summary>
public class WriteCacheTests
{
    private const int Block = 4096;
    private const long Second = 1_000_000_000;
    private const int Away = 0;   // the first row lies on a disk that is not the cache's; its blocks 0 to 63 are used
    private const int RingBlocks = 56;
    private static readonly SpaceScenario s_simple = new(1, 1, true, 4096, 4, CacheBlocks: 64);
    private static readonly SpaceScenario s_mirror = new(1, 2, true, 4096, 4, CacheBlocks: 64);

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void What_it_holds_is_read_from_it_and_again_after_a_clean_stop(int copies)
    {
        SpaceWorld world = Open(copies == 1 ? s_simple : s_mirror, Held);
        byte[] data = Write(world, Away, 5, 1);
        Assert.Equal((1, 5 * Block), (world.Cache!.Counters.Writes(WriteReason.Cache), world.Cache.Counters.WriteBytes(WriteReason.Cache)));
        Assert.Equal(0, world.Space.Counters.Io.DataBytesWritten);
        Assert.Equal(data, Read(world, Away, 5));
        Assert.Equal(5 * Block, world.Cache.Counters.HitBytes);

        world = Stop(world);
        Assert.Equal(data, Read(world, Away, 5));
        Assert.Equal(5 * Block, world.Cache!.Counters.HitBytes);
    }

    [Fact]
    public void A_read_takes_its_blocks_from_ring_and_home()
    {
        SpaceWorld world = Open(s_mirror, Held);
        byte[] below = Write(world, Away, 20, 1);   // larger than a record: home
        byte[] above = Write(world, Away + 5, 3, 2);
        above.CopyTo(below, 5 * Block);
        Zero(world, Away + 6, 1);
        below.AsSpan(6 * Block, Block).Clear();
        Assert.Equal(below, Read(world, Away, 20));
        Assert.Equal((3 * Block, 17 * Block), (world.Cache!.Counters.HitBytes, world.Cache.Counters.MissBytes));
    }

    [Fact]
    public void What_is_written_after_a_flush_is_durable_only_with_the_next()
    {
        SpaceWorld world = Open(s_mirror, Held);
        byte[] old = Write(world, Away, 3, 1);
        Assert.Equal(IoError.None, world.Lane.Run(world.Store.Flush()));
        Write(world, Away, 3, 2);
        world = (SpaceWorld)world.Cut(5, (_, _, _) => false);
        Reopen(world);
        Assert.Equal(old, Read(world, Away, 3));
    }

    [Fact]
    public void A_flush_of_what_only_the_ring_holds_leaves_the_home_alone()
    {
        SpaceWorld world = Open(s_mirror, Held);
        Write(world, Away, 3, 1);
        long flushes = world.Space.Counters.Io.Flushes;
        Assert.Equal(IoError.None, world.Lane.Run(world.Store.Flush()));
        Assert.Equal(flushes, world.Space.Counters.Io.Flushes);
        Write(world, Away, 30, 2);   // past the cache, but over blocks in it: through the ring, in parts
        Assert.Equal(0, world.Cache!.Counters.Writes(WriteReason.BypassLarge));
    }

    [Theory]
    [InlineData(40, 15)]
    [InlineData(60, 50)]
    [InlineData(25, 0)]
    public void Destaging_starts_and_stops_at_its_marks(int start, int stop)
    {
        SpaceWorld world = Open(s_simple, new DestageSettings { StartPercent = start, StopPercent = stop, IdleNs = 1000 * Second });
        for (int i = 0; world.Cache!.DirtyBytes * 100 < start * RingBlocks * Block; i++)
        {
            Assert.Equal(0, world.Cache.Counters.DestagedBytes);
            Write(world, Away + i, 1, i);   // two blocks of the ring each
        }

        world.Lane.Advance(Second);
        Assert.InRange(world.Cache.DirtyBytes, ((stop * RingBlocks / 100) - 2) * Block, ((stop * RingBlocks / 100) + 2) * Block);
        Assert.True(world.Cache.Counters.DestagedBytes > 0);
    }

    [Fact]
    public void An_idle_cache_empties_itself()
    {
        SpaceWorld world = Open(s_mirror, new DestageSettings { IdleNs = 2 * Second });
        byte[] data = Write(world, Away, 3, 1);
        world.Lane.Advance((long)(1.9 * Second));
        Assert.Equal(0, world.Cache!.Counters.DestagedBytes);
        world.Lane.Advance((long)(0.6 * Second));
        Assert.Equal((3 * Block, 0), (world.Cache.Counters.DestagedBytes, world.Cache.DirtyBytes));
        Assert.Equal(data, Read(world, Away, 3));
        Assert.Equal(0, world.Cache.Counters.HitBytes);
    }

    [Fact]
    public void Held_writes_stay_until_four_fifths_are_full()
    {
        SpaceWorld world = Open(s_simple, Held);
        for (int i = 0; world.Cache!.DirtyBytes < 44 * Block; i++)   // of 56, which is less than 80 %
        {
            Write(world, Away + i, 1, i);
            world.Lane.Advance(Second);
            Assert.Equal(0, world.Cache.Counters.DestagedBytes);
        }

        Write(world, Away, 1, 99);
        world.Lane.Advance(Second);
        Assert.InRange(world.Cache.DirtyBytes, 1, 6 * Block);
    }

    [Fact]
    public void The_pace_is_kept()
    {
        const int rate = 16 * Block;
        SpaceWorld world = Open(s_simple, Held with { BytesPerSecond = rate });
        for (int i = 0; i < 20; i++)
        {
            Write(world, Away + (2 * i), 1, i);
        }

        long startNs = world.Lane.NowNs;
        world.Cache!.TakeSettings(new DestageSettings { StartPercent = 5, StopPercent = 0, IdleNs = 0, BytesPerSecond = rate });
        world.Lane.PumpWhile(() => world.Cache.Counters.DestagedBytes < 20 * Block, 100 * Second);
        double seconds = (world.Lane.NowNs - startNs) / (double)Second;
        Assert.InRange(seconds, 19.0 / 16 * 0.98, 20.0 / 16 * 1.06);
    }

    [Fact]
    public void A_full_cache_lets_writes_pass_and_is_used_again()
    {
        SpaceWorld world = Open(s_mirror, Held);
        List<byte[]> written = [];
        LaneTask<IoError>[] writes = new LaneTask<IoError>[60];
        for (int i = 0; i < writes.Length; i++)
        {
            written.Add(Random(i, Block));
            writes[i] = world.Store.Write((Away + i) * Block, Buffer(world, written[i]), WriteFlags.None);
        }

        Assert.All(writes, write => Assert.Equal(IoError.None, world.Lane.Run(write)));
        WriteCacheCounters counters = world.Cache!.Counters;
        Assert.True(counters.Writes(WriteReason.BypassFull) > 0);
        Assert.Equal(60, counters.Writes(WriteReason.BypassFull) + counters.Writes(WriteReason.Cache));
        world.Lane.Advance(Second);
        long before = counters.Writes(WriteReason.Cache);
        written[0] = Write(world, Away, 1, 1000);
        Assert.Equal(before + 1, counters.Writes(WriteReason.Cache));
        Assert.Equal(written.SelectMany(block => block), Read(world, Away, 60));
    }

    [Fact]
    public void A_wrong_block_is_healed_from_the_other_copy_and_one_wrong_on_both_is_an_error_of_its_own()
    {
        SpaceWorld world = Open(s_mirror, Held);
        byte[] data = Write(world, Away, 3, 1);
        Spoil(world, 0, 10, 1, 12);   // behind the anchors the header in block 8, then the payload
        Spoil(world, 1, 9, 1, 12);
        for (int i = 0; i < 4; i++)
        {
            Assert.Equal(data[..Block], Read(world, Away, 1));
            Assert.Equal(data[Block..(2 * Block)], Read(world, Away + 1, 1));
        }

        Spoil(world, 0, 11, 1, 13);
        Spoil(world, 1, 11, 1, 14);
        IoBuffer target = world.Lane.Buffers.Rent(Block);
        Assert.Equal(IoError.Io, world.Lane.Run(world.Store.Read((Away + 2) * Block, target)));
        Assert.Equal(data[Block..(2 * Block)], Read(world, Away + 1, 1));
        Assert.True(world.Cache!.Counters.BlocksLost > 0);
        byte[] again = Write(world, Away + 2, 1, 5);
        Assert.Equal(again, Read(world, Away + 2, 1));
    }

    [Fact]
    public void A_wrong_block_on_one_copy_is_rewritten()
    {
        SpaceWorld world = Open(s_mirror, Held);
        byte[] data = Write(world, Away, 1, 1);
        Spoil(world, 0, 9, 1, 12);
        for (int i = 0; i < 4; i++)
        {
            Assert.Equal(data, Read(world, Away, 1));
        }

        Assert.Equal(1, world.Cache!.Counters.BlocksHealed);
        Spoil(world, 1, 9, 1, 13);
        Assert.Equal(data, Read(world, Away, 1));
        Assert.Equal(data, Read(world, Away, 1));
    }

    [Theory]
    [InlineData(WriteFlags.None)]
    [InlineData(WriteFlags.NoHole)]
    public void Zeroing_over_what_it_holds_reads_as_zeros_here_and_at_home(WriteFlags flags)
    {
        SpaceWorld world = Open(s_mirror, Held);
        byte[] data = Write(world, Away, 6, 1);
        Assert.Equal(IoError.None, world.Lane.Run(world.Store.WriteZeroes((Away + 1) * Block, 20 * Block, flags)));
        byte[] expected = [.. data[..Block], .. new byte[20 * Block]];
        Assert.Equal(expected, Read(world, Away, 21));
        world.Cache!.TakeSettings(new DestageSettings { IdleNs = 0 });
        world.Lane.Advance(Second);
        Assert.Equal(0, world.Cache.DirtyBytes);
        Assert.Equal(expected, Read(world, Away, 21));
        List<StoreExtent> extents = [];
        Assert.Equal(IoError.None, world.Lane.Run(world.Store.Status((Away + 1) * Block, 5 * Block, extents)));
        ExtentState state = flags == WriteFlags.NoHole ? ExtentState.Data : ExtentState.Zero;
        Assert.Equal([new StoreExtent(5 * Block, state)], extents);
    }

    [Fact]
    public void A_large_zeroing_over_a_full_ring_comes_to_its_end()
    {
        SpaceWorld world = Open(s_simple, Held);
        for (int i = 0; i < 20; i++)
        {
            Write(world, Away + (3 * i), 1, i);
        }

        Assert.Equal(IoError.None, world.Lane.Run(world.Store.WriteZeroes(Away * Block, 64 * Block, WriteFlags.NoHole)));
        Assert.Equal(new byte[64 * Block], Read(world, Away, 64));
        for (int i = 0; i < 20; i++)
        {
            Write(world, Away + (3 * i), 1, i);
        }

        Zero(world, Away, 64);
        Assert.Equal(new byte[64 * Block], Read(world, Away, 64));
    }

    [Fact]
    public void One_disk_of_it_lost_changes_nothing_but_the_copies()
    {
        SpaceWorld world = Open(s_mirror, Held);
        byte[] first = Write(world, Away, 3, 1);
        world.Disks[0].Pulled = true;
        byte[] second = Write(world, Away + 3, 3, 2);
        Assert.Equal(first.Concat(second), Read(world, Away, 6));
        Assert.Equal((WriteCacheState.Active, IoError.None), (world.Cache!.State, world.Space.Fault));
        Assert.Equal(IoError.None, world.Lane.Run(world.Store.Flush()));
        world = (SpaceWorld)world.Cut(9, (_, _, _) => false);
        Reopen(world);
        Assert.Equal(first.Concat(second), Read(world, Away, 6));
    }

    [Fact]
    public void All_of_it_lost_while_it_holds_data_detaches_with_the_reason()
    {
        SpaceWorld world = Open(s_simple, Held);
        Write(world, Away, 3, 1);
        CacheLoss held = world.Lane.Run(world.Cache!.Survey());
        Assert.True(held.IsComplete);
        Assert.Equal([(Away * Block, 3L * Block)], held.Ranges);
        Assert.Equal(IoError.None, world.Lane.Run(world.Close()));
        SpaceWorld without = (SpaceWorld)world.Cut(9, (_, _, _) => true);
        without.Disks[0].Media.Write(Offset(8), new byte[Block]);   // the only record
        without.Disks[0].Media.Write(Offset(9), new byte[Block]);
        string reason = without.Lane.Run(without.Open(isNew: false));
        Assert.Contains("damaged on every copy", reason, StringComparison.Ordinal);
    }

    [Fact]
    public void After_a_write_to_its_only_disk_failed_it_empties_itself_and_is_given_up()
    {
        SpaceWorld world = Open(s_simple, Held);
        byte[] data = Write(world, Away, 3, 1);
        world.Disks[0].WriteFails = (offset, _) => offset >= Offset(8) && offset < Offset(64);
        byte[] next = Write(world, Away + 3, 2, 2);
        Assert.Equal(WriteCacheState.WriteThrough, world.Cache!.State);
        Assert.NotEqual("", world.Cache.StateReason);
        world.Disks[0].WriteFails = null;
        Assert.Equal(data.Concat(next), Read(world, Away, 5));
        byte[] last = Write(world, Away, 5, 3);
        Assert.Equal(IoError.None, world.Lane.Run(world.Store.Flush()));
        world = (SpaceWorld)world.Cut(9, (_, _, _) => true);
        Reopen(world);
        Assert.Equal(last, Read(world, Away, 5));
        Assert.Equal(WriteCacheState.WriteThrough, world.Cache!.State);
    }

    private static DestageSettings Held => new() { Hold = true, StopPercent = 10 };

    private static SpaceWorld Open(SpaceScenario scenario, DestageSettings settings)
    {
        SpaceWorld world = (SpaceWorld)scenario.NewWorld(1);
        Assert.Equal("", world.Lane.Run(world.Open(isNew: true)));
        world.Cache!.TakeSettings(settings);
        return world;
    }

    private static void Reopen(SpaceWorld world)
    {
        Assert.Equal("", world.Lane.Run(world.Open(isNew: false)));
        world.Cache!.TakeSettings(Held);
    }

    private static SpaceWorld Stop(SpaceWorld world)
    {
        Assert.Equal(IoError.None, world.Lane.Run(world.Close()));
        world = (SpaceWorld)world.Cut(7, (_, _, _) => false);
        Reopen(world);
        return world;
    }

    private static long Offset(int ringBlock) => SimSpaceHost.Place(s_simple.Shape, 0, 1).DataOffset + (ringBlock * (long)Block);

    private static void Spoil(SpaceWorld world, int disk, int ringBlock, int count, byte value)
    {
        byte[] junk = new byte[count * Block];
        Array.Fill(junk, value);
        world.Disks[disk].Media.Write(Offset(ringBlock), junk);
    }

    private static byte[] Write(SpaceWorld world, long block, int count, int seed)
    {
        byte[] data = Random(seed, count * Block);
        IoBuffer source = Buffer(world, data);
        Assert.Equal(IoError.None, world.Lane.Run(world.Store.Write(block * Block, source, WriteFlags.None)));
        world.Lane.Buffers.Return(source);
        return data;
    }

    private static void Zero(SpaceWorld world, long block, int count) =>
        Assert.Equal(IoError.None, world.Lane.Run(world.Store.Unmap(block * Block, count * (long)Block)));

    private static byte[] Read(SpaceWorld world, long block, int count)
    {
        IoBuffer target = world.Lane.Buffers.Rent(count * Block);
        Assert.Equal(IoError.None, world.Lane.Run(world.Store.Read(block * Block, target)));
        byte[] data = target.Span.ToArray();
        world.Lane.Buffers.Return(target);
        return data;
    }

    private static IoBuffer Buffer(SpaceWorld world, byte[] data)
    {
        IoBuffer buffer = world.Lane.Buffers.Rent(data.Length);
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
