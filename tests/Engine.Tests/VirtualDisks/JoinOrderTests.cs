using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.VirtualDisks;

/// <summary>
/// Mirrors without checksums, so that only stale marks tell which copy is right. A disk loses what was in its cache and leaves; a flush that the other copy
/// takes is acknowledged while the marks are still on their way, because the journal of the pool is slow. Flushed writes are there afterwards.
/// </summary>
public sealed class JoinOrderTests
{
    private const int Length = 1 << 20;
    private const long SlowNs = 20_000_000;

    [Fact]
    public void A_disk_that_left_joins_after_the_spaces_of_the_pool_are_open()
    {
        int acknowledged = 0;
        for (int lost = 0; lost < 3; lost++)
        {
            PoolWorld world = CreateDirty();
            LosePower(world, lost);
            acknowledged += EvictAndFlush(world, lost) ? 1 : 0;
            PoolWorld again = world.Restart(2);
            again.Disks[lost].Pulled = false;
            Assert.Equal("", again.Lane.Run(again.Open()));
            Assert.True(again.Pool!.View.Contains(new DiskNumber((ushort)(lost + 1))), "it has joined");
            Holds(again, 'A');
        }

        Assert.Equal(3, acknowledged);
    }

    [Fact]
    public void A_disk_does_not_join_before_marks_that_are_queued()
    {
        for (int lost = 0; lost < 3; lost++)
        {
            PoolWorld world = CreateDirty();
            DiskNumber number = new((ushort)(lost + 1));
            SimDisk back = new(world.Lane, world.Disks[lost].Media);
            PoolScan scan = world.Lane.Run(Pool.Scan(world.Environment, back));
            LosePower(world, lost);
            LaneTask<CommitResult>? joined = null;
            world.Pool!.MembershipChanged += change =>
            {
                if (change.Kind == MembershipChangeKind.Left)
                {
                    Assert.Equal("", world.Pool.Offer(scan));
                    joined = world.Pool.Rejoin(number);
                }
            };
            Assert.True(EvictAndFlush(world, lost));
            PoolWorld again = world.Restart(2);
            again.Disks[lost].Pulled = false;
            Assert.Equal("", again.Lane.Run(again.Open()));
            Holds(again, 'A');
            Assert.True(world.Lane.Run(joined!.Value).Succeeded);
        }
    }

    [Fact]
    public void A_copy_that_took_a_write_counts_only_while_its_disk_is_in_the_view()
    {
        PoolWorld world = CreateDirty();
        int[] disks = [.. world.Pool!.State.Space(world.VirtualDisk!.Description.DataSpace)!.Row(0)!.Mapping.Sources.ToArray()
            .Select(slab => slab.Disk.Value - 1)];
        world.Disks[disks[1]].WriteTakesLonger = static (offset, _) => IsMetadata(offset) ? 0 : 10 * SlowNs;
        world.Disks[disks[1]].WriteFails = static (offset, _) => !IsMetadata(offset);
        IoBuffer buffer = world.Lane.Buffers.Rent(4096);
        buffer.Span.Fill((byte)'B');
        IoError? answer = null;
        Write().Forget();
        world.Lane.Advance(SlowNs);
        Assert.Null(answer);
        Assert.True(world.Lane.Run(world.Pool.Evict(new DiskNumber((ushort)(disks[0] + 1)), "it was pulled")).Succeeded);
        world.Lane.PumpWhile(() => answer is null, 60_000_000_000);
        Assert.NotEqual(IoError.None, answer);   // no disk in the view has it

        async LaneTask Write() => answer = await world.Store.Write(0, buffer, WriteFlags.None);
    }

    /// <summary>Everything reads A, which neither copy has flushed.</summary>
    private static PoolWorld CreateDirty()
    {
        PoolWorld world = PoolWorld.New(3, 48 << 20, 4096, seed: 1);
        Assert.Equal("", world.Lane.Run(world.Create(new VirtualDiskDescription
        {
            FriendlyName = "d",
            ResiliencySettingName = "Mirror",
            SizeBytes = Length,
            NumberOfColumns = 1,
            NumberOfDataCopies = 2,
            Interleave = 64 << 10,
            Checksum = ChecksumKind.None,
        })));
        Write(world, 'O');
        Assert.Equal(IoError.None, world.Lane.Run(world.Store.Flush()));
        Write(world, 'A');
        Array.ForEach(world.Disks, static disk =>
            disk.WriteTakesLonger = static (offset, _) => offset >= DiskLayout.Journal && IsMetadata(offset) ? SlowNs : 0);
        return world;
    }

    private static bool IsMetadata(long offset) => offset is < 2 << 20 or >= 47 << 20;

    private static void LosePower(PoolWorld world, int disk)
    {
        world.Disks[disk].Pulled = true;
        world.Disks[disk].Media.LosePower(static (_, _) => false);
    }

    /// <summary>The host notices that a disk is gone, and a client flushes; false if the flush is refused. It ends with the flush.</summary>
    private static bool EvictAndFlush(PoolWorld world, int disk)
    {
        bool left = false;
        IoError? flushed = null;
        Evict().Forget();
        world.Lane.PumpWhile(() => world.Pool!.View.Contains(new DiskNumber((ushort)(disk + 1))), 60_000_000_000);
        Flush().Forget();
        world.Lane.PumpWhile(() => flushed is null, 60_000_000_000);
        return flushed == IoError.None;

        async LaneTask Evict() => left = (await world.Pool!.Evict(new DiskNumber((ushort)(disk + 1)), "it is gone")).Succeeded;

        async LaneTask Flush() => flushed = await world.Store.Flush();
    }

    private static void Write(PoolWorld world, char value)
    {
        IoBuffer buffer = world.Lane.Buffers.Rent(Length);
        buffer.Span.Fill((byte)value);
        Assert.Equal(IoError.None, world.Lane.Run(world.Store.Write(0, buffer, WriteFlags.None)));
        world.Lane.Buffers.Return(buffer);
    }

    private static void Holds(PoolWorld world, char expected)
    {
        IoBuffer buffer = world.Lane.Buffers.Rent(Length);
        Assert.Equal(IoError.None, world.Lane.Run(world.Store.Read(0, buffer)));
        Assert.Equal(-1, buffer.Span.IndexOfAnyExcept((byte)expected));
        world.Lane.Buffers.Return(buffer);
    }
}
