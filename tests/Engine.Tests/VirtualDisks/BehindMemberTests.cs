using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.VirtualDisks;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.VirtualDisks;

/// <summary>
/// A member that holds less than the pool knows that it held (an older image, a disk that lied about flushes) is stale as a whole: no old byte
/// of it is read, and it is copied again.
/// </summary>
public sealed class BehindMemberTests
{
    private const int Length = 4 << 20;

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_copy_from_before_the_last_session_of_a_disk_that_was_away(bool checksums)
    {
        for (int disk = 0; disk < 3; disk++)
        {
            PoolWorld world = Create(checksums);
            Write(world, 'O');
            Stop(world);
            SimMedia old = world.CopyOf(disk);
            world = Start(world.Restart(2));
            Write(world, 'A');
            Stop(world);
            world = Start(world.Restart(3, (disk, null)));
            Stop(world);
            world = Start(world.Restart(4, (disk, old)));
            IsStaleAndThenWhole(world, disk, 'A');
        }
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_copy_that_was_made_while_the_host_ran_in_the_place_of_its_disk_after_a_good_stop(bool checksums)
    {
        for (int disk = 0; disk < 3; disk++)
        {
            PoolWorld world = Create(checksums);
            SimMedia old = world.CopyOf(disk);
            Write(world, 'A');
            Stop(world);
            world = Start(world.Restart(2, (disk, old)));
            IsStaleAndThenWhole(world, disk, 'A');
        }
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_disk_that_acknowledges_flushes_without_doing_them_and_loses_them_after_a_good_stop(bool checksums)
    {
        for (int disk = 0; disk < 3; disk++)
        {
            PoolWorld world = Create(checksums);
            Write(world, 'O');
            Stop(world);
            world = Start(world.Restart(2));
            world.Disks[disk].FlushLies = true;
            Write(world, 'A');
            Stop(world);
            world = Start(world.Restart(3));
            IsStaleAndThenWhole(world, disk, 'A');
        }
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_copy_in_the_place_of_a_disk_that_was_pulled_while_the_host_runs(bool checksums)
    {
        for (int disk = 0; disk < 3; disk++)
        {
            PoolWorld world = Create(checksums);
            Write(world, 'O');
            SimMedia old = world.CopyOf(disk);
            Stop(world);
            world = Start(world.Restart(2));
            Write(world, 'A');
            world.Disks[disk].Pulled = true;
            Assert.True(world.Lane.Run(world.Pool!.Evict(new DiskNumber((ushort)(disk + 1)), "test")).Succeeded);
            Assert.Equal("", world.Lane.Run(world.Return(disk, old)));
            IsStaleAndThenWhole(world, disk, 'A');
        }
    }

    [Fact]
    public void A_disk_that_was_away_and_kept_what_it_held_is_given_what_it_missed_alone()
    {
        PoolWorld world = Create(checksums: false);
        Write(world, 'O');
        Stop(world);
        world = Start(world.Restart(2, (0, null)));
        Write(world, 'A', 4096);
        Stop(world);
        for (int session = 3; session < 80; session++)
        {
            world = world.Restart((ulong)session, (0, null));   // long enough that no member remembers the session that it left in
            world = Start(world);
            Stop(world);
        }

        SimMedia kept = world.CopyOf(0);
        world = Start(world.Restart(100, (0, kept)));
        Assert.Equal(3, world.Pool!.View.Members.Length);
        Assert.InRange(world.VirtualDisk!.Space.StaleRegions, 0, 1);
        Assert.Empty(world.Pool.State.Held);
    }

    [Fact]
    public void A_pool_of_a_release_without_the_records_opens_and_gains_them()
    {
        PoolWorld world = Create(checksums: true);
        Write(world, 'A');
        Stop(world);
        world = world.Restart(2);
        for (int disk = 0; disk < 3; disk++)
        {
            Forget(world, disk);
        }

        world = Start(world);
        Assert.Equal(3, world.Pool!.View.Members.Length);
        Assert.Equal(0, world.VirtualDisk!.Space.StaleRegions);
        Stop(world);
        world = world.Restart(3);
        Superblock gained = world.Lane.Run(Pool.Scan(world.Environment, world.Disks[0])).Superblock!;
        Assert.Equal(FeatureFlags.MemberHistoryFeature, gained.Features.Compatible);
        Assert.True(gained.History.HeldByAll > 0);
        Assert.Equal(2, gained.History.Sessions.Length);   // that of the older release is known from its record
    }

    /// <summary>Writes the newest superblock of a disk as a release without member histories would have.</summary>
    private static void Forget(PoolWorld world, int disk)
    {
        PoolScan scan = world.Lane.Run(Pool.Scan(world.Environment, world.Disks[disk]));
        DiskLayout.TryCreate(scan.Label!.DiskBytes, scan.Label.Slabs, out DiskLayout layout, out _);
        byte[] block = new byte[PoolBlock.Size];
        foreach (long ring in new[] { DiskLayout.SuperblockRingA, layout.SuperblockRingB })
        {
            long offset = DiskLayout.SuperblockSlot(ring, scan.Superblock!.Epoch);
            (scan.Superblock with { Features = scan.Superblock.Features with { Compatible = 0 } }).Encode(block, scan.Label.Pool, scan.Label.Disk, offset);
            world.Disks[disk].Media.Write(offset, block);
        }

        world.Disks[disk].Media.LosePower(static (_, _) => true);
    }

    private static void IsStaleAndThenWhole(PoolWorld world, int disk, char expected)
    {
        Assert.Equal(3, world.Pool!.View.Members.Length);
        bool holdsSlabs = world.Pool.State.Disks[new DiskNumber((ushort)(disk + 1))].UsedSlabs > 0;
        Assert.Equal(holdsSlabs, world.IsDegraded);
        Holds(world, expected);
        Assert.Equal(RepairEnd.Done, world.Lane.Run(world.Spaces.Resync(new SimPacer(world.Lane))));
        Assert.False(world.IsDegraded);
        Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk!.Disk.Flush()));
        for (int away = 0; away < 3; away++)
        {
            PoolWorld without = Start(world.Restart(50 + (ulong)away, (away, null)));
            Holds(without, expected);
        }
    }

    private static void Holds(PoolWorld world, char expected)
    {
        IoBuffer buffer = world.Lane.Buffers.Rent(1 << 20);
        for (long at = 0; at < Length; at += buffer.Length)
        {
            Assert.Equal(IoError.None, world.Lane.Run(world.Store.Read(at, buffer)));
            Assert.Equal(-1, buffer.Span.IndexOfAnyExcept((byte)expected));
        }

        world.Lane.Buffers.Return(buffer);
    }

    private static PoolWorld Create(bool checksums)
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
            Checksum = checksums ? ChecksumKind.CRC32C : ChecksumKind.None,
        })));
        return world;
    }

    private static PoolWorld Start(PoolWorld world)
    {
        Assert.Equal("", world.Lane.Run(world.Open()));
        return world;
    }

    private static void Stop(PoolWorld world) => Assert.Equal(IoError.None, world.Lane.Run(world.Close()));

    private static void Write(PoolWorld world, char value, int length = Length)
    {
        IoBuffer buffer = world.Lane.Buffers.Rent(Math.Min(length, 1 << 20));
        buffer.Span.Fill((byte)value);
        for (long at = 0; at < length; at += buffer.Length)
        {
            Assert.Equal(IoError.None, world.Lane.Run(world.Store.Write(at, buffer, WriteFlags.None)));
        }

        Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk!.Disk.Flush()));
        world.Lane.Buffers.Return(buffer);
    }
}
