using TierSpaces.Engine.Caching;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Verification;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Tests.Caching;

/// <summary>A cache that is damaged on every copy while it holds data: what is known of the loss, and that it is given up for good.</summary>
public class LostCacheTests
{
    private const int Block = 4096;
    private static readonly byte[] s_backing = Pattern(1, 32 * Block);
    private static readonly byte[] s_cached = Pattern(2, 8 * Block);

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void What_can_still_be_read_names_what_is_lost(int copies)
    {
        PoolWorld world = Damaged(copies);
        Assert.Contains("damaged on every copy", world.Lane.Run(world.Open()), StringComparison.Ordinal);
        CacheLoss loss = world.Lane.Run(world.VirtualDisk!.Cache!.Survey());
        Assert.False(loss.IsComplete);   // the first record named the blocks from 4 on
        Assert.Equal([(20L * Block, 8L * Block)], loss.Ranges);
    }

    [Fact]
    public void A_loss_while_it_is_used_is_known_in_full()
    {
        PoolWorld world = Filled(1);
        world.Disks[0].Pulled = true;
        Assert.NotEqual(IoError.None, Write(world, 0, s_cached));
        CacheLoss loss = world.Lane.Run(world.VirtualDisk!.Cache!.Survey());
        Assert.True(loss.IsComplete);
        Assert.Equal([(4L * Block, 8L * Block), (20L * Block, 8L * Block)], loss.Ranges);
    }

    [Fact]
    public void A_long_list_is_said_in_larger_units()
    {
        CacheLoss loss = new([(0, Block), (2 * Block, Block), (5 * Block, 2 * Block), (100 * Block, Block)], true);
        Assert.Equal((loss.Ranges, (long)Block), loss.Coarsened(4));
        (IReadOnlyList<(long Offset, long Length)> ranges, long unit) = loss.Coarsened(2);
        Assert.Equal(2 * Block, unit);
        Assert.Equal([(0L, 8L * Block), (100L * Block, 2L * Block)], ranges);
    }

    // A power cut before each request of the giving up: the disk is lost as before, or is served from its home, and never again lost.
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void It_is_given_up_for_good_or_not_at_all(int copies)
    {
        PoolWorld damaged = Damaged(copies);
        bool ends = false;
        (int lost, int served) = (0, 0);
        for (int point = 1; !ends; point += 3)
        {
            PoolWorld world = damaged.Cut((ulong)point, (_, _, _) => true);
            Assert.NotEqual("", world.Lane.Run(world.Open()));
            ends = StopBefore(world, point, GiveUp(world));
            for (int kept = 0; kept < 3; kept++)   // of what the disks had cached: nothing, every other sector, all
            {
                PoolWorld after = world.Cut((ulong)point, (disk, write, sector) => ((disk + write + sector + point) & 1) < kept);
                string fault = after.Lane.Run(after.Open());
                Assert.True(fault.Length == 0 || !ends, fault);
                lost += fault.Length > 0 ? 1 : 0;
                if (fault.Length == 0)
                {
                    served++;
                    Assert.Equal(s_backing, Read(after, s_backing.Length));
                    Assert.Equal(IoError.None, Write(after, 4 * Block, s_cached));
                    Assert.True(after.VirtualDisk!.Cache is null or { State: WriteCacheState.WriteThrough });
                }
            }
        }

        Assert.True(lost > 0 && served > 0, $"{lost} lost, {served} served");
    }

    [Fact]
    public void Its_slabs_are_free_and_it_can_be_given_another()
    {
        PoolWorld world = Damaged(2);
        Assert.NotEqual("", world.Lane.Run(world.Open()));
        long used = world.Pool!.State.Disks.Values.Sum(disk => disk.UsedSlabs);
        OpenVirtualDisk open = world.Lane.Run(GiveUp(world));
        Assert.Equal((0L, SpaceId.None), (open.Description.WriteCacheSize, open.Description.CacheSpace));
        Assert.Equal(used - 2, world.Pool.State.Disks.Values.Sum(disk => disk.UsedSlabs));
        Assert.True(world.Lane.Run(CacheExchange.ResizeCache(world.Pool, open, 1 << 20)).Succeeded);
        Assert.Equal(WriteCacheState.Active, open.Cache!.State);
    }

    private static async LaneTask<OpenVirtualDisk> GiveUp(PoolWorld world)
    {
        OpenVirtualDisk open = world.VirtualDisk!;
        CommitResult given = await LostCaches.GiveUpCache(world.Pool!, open);
        Assert.True(given.Succeeded, given.Reason);
        open = await VirtualDiskStack.Reopen(world.Pool!, open);
        Assert.Equal((WriteCacheState.WriteThrough, ""), (open.Cache!.State, open.FaultReason));
        CommitResult removed = await LostCaches.RemoveGivenUpCache(world.Pool!, open);
        Assert.True(removed.Succeeded, removed.Reason);
        return open;
    }

    /// <summary>Lets an operation go on until so many requests have reached the disks; whether it has ended before.</summary>
    private static bool StopBefore(PoolWorld world, int point, LaneTask<OpenVirtualDisk> operation)
    {
        int requests = 0;
        bool ended = false;
        Array.ForEach(world.Disks, disk => disk.OnRequest = (_, _, _) => requests++);
        Watch().Forget();
        world.Lane.PumpWhile(() => requests < point && !ended, 60_000_000_000);
        return ended;

        async LaneTask Watch()
        {
            await operation;
            ended = true;
        }
    }

    /// <summary>A backing store with data, and two records over it that are durable and not destaged.</summary>
    private static PoolWorld Filled(int copies)
    {
        PoolWorld world = PoolWorld.New(copies + 3, 48 << 20, 4096, 1, new VirtualDiskDescription
        {
            FriendlyName = "d",
            ResiliencySettingName = copies == 1 ? "Simple" : "Mirror",
            SizeBytes = 1 << 20,
            NumberOfColumns = 1,
            NumberOfDataCopies = (ushort)copies,
            Interleave = 64 << 10,
            LogicalSectorSize = 4096,
            ProvisioningType = ProvisioningType.Thin,
            Checksum = ChecksumKind.CRC32C,
            WriteCacheSize = 1 << 20,
            Destage = new DestageSettings { Hold = true },
        });
        Assert.Equal("", world.Lane.Run(world.Open(isNew: true)));
        for (int at = 0; at < s_backing.Length; at += s_cached.Length)
        {
            Assert.Equal(IoError.None, Write(world, at, s_backing[at..(at + s_cached.Length)]));
        }

        world.VirtualDisk!.Cache!.TakeSettings(new DestageSettings { IdleNs = 0 });
        world.Lane.PumpWhile(() => world.VirtualDisk.Cache.DirtyBytes > 0, 60_000_000_000);
        world.VirtualDisk.Cache.TakeSettings(new DestageSettings { Hold = true });
        Assert.Equal(IoError.None, Write(world, 4 * Block, s_cached));
        Assert.Equal(IoError.None, Write(world, 20 * Block, s_cached));
        return world;
    }

    /// <summary>The same after a clean stop, the first of the two records destroyed on every copy.</summary>
    private static PoolWorld Damaged(int copies)
    {
        PoolWorld world = Filled(copies);
        SpaceState ring = world.Pool!.State.Space(world.VirtualDisk!.Description.CacheSpace)!;
        long[] places = [.. ring.Row(0)!.Mapping.Sources.ToArray().Select(slab => PoolMemberHost.PlaceOf(world.Pool.State, slab).DataOffset)];
        Assert.Equal(IoError.None, world.Lane.Run(world.Close()));
        PoolWorld stopped = world.Cut(2, (_, _, _) => true);
        for (int copy = 0; copy < copies; copy++)
        {
            long first = places[copy] + ((CacheAnchor.Slots + (4 * 9)) * Block);   // four records were destaged before
            stopped.Disks[copy].Media.Write(first, new byte[Block]);
            stopped.Disks[copy].Media.Harden(1);
        }

        return stopped;
    }

    private static IoError Write(PoolWorld world, long offset, byte[] data)
    {
        IoBuffer source = world.Lane.Buffers.Rent(data.Length);
        data.CopyTo(source.Span);
        IoError error = world.Lane.Run(world.Store.Write(offset, source, WriteFlags.None));
        error = error == IoError.None ? world.Lane.Run(world.Store.Flush()) : error;
        world.Lane.Buffers.Return(source);
        return error;
    }

    private static byte[] Read(PoolWorld world, int length)
    {
        IoBuffer target = world.Lane.Buffers.Rent(length);
        Assert.Equal(IoError.None, world.Lane.Run(world.Store.Read(0, target)));
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
