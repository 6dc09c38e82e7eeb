using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.VirtualDisks;

public class VirtualDiskTests
{
    private const long Mebibyte = 1 << 20;

    private static VirtualDiskDescription Spec(int columns, int copies, long mebibytes, bool thin, bool checksums = true, int sector = 4096) => new()
    {
        FriendlyName = "d",
        ResiliencySettingName = copies == 1 ? "Simple" : "Mirror",
        SizeBytes = mebibytes * Mebibyte,
        NumberOfColumns = (ushort)columns,
        NumberOfDataCopies = (ushort)copies,
        Interleave = 64 << 10,
        LogicalSectorSize = (ushort)sector,
        ProvisioningType = thin ? ProvisioningType.Thin : ProvisioningType.Fixed,
        Checksum = checksums ? ChecksumKind.CRC32C : ChecksumKind.None,
    };

    [Theory]
    [InlineData(1, 1, true, true)]
    [InlineData(2, 1, false, true)]
    [InlineData(1, 2, true, true)]
    [InlineData(2, 2, false, true)]
    [InlineData(1, 3, true, true)]
    [InlineData(2, 2, true, false)]
    [InlineData(3, 1, true, false)]
    public void What_was_written_is_there_after_a_clean_stop_and_after_a_power_cut(int columns, int copies, bool thin, bool checksums)
    {
        PoolWorld world = PoolWorld.New(5, 96 * Mebibyte, 4096, seed: (ulong)((columns * 10) + copies));
        Assert.Equal("", world.Lane.Run(world.Create(Spec(columns, copies, 12, thin, checksums))));
        byte[] expected = Write(world, Random(7, 3 * (int)Mebibyte), 5 * Mebibyte);
        Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk!.Disk.Flush()));

        PoolWorld cut = world.Cut(99, (_, _, _) => false);
        Assert.Equal("", cut.Lane.Run(cut.Open()));
        Assert.Equal(expected, Read(cut, 5 * Mebibyte, expected.Length));

        Assert.Equal(IoError.None, world.Lane.Run(world.Close()));
        PoolWorld again = world.Cut(100, (_, _, _) => false);
        Assert.Equal("", again.Lane.Run(again.Open()));
        Assert.Equal(expected, Read(again, 5 * Mebibyte, expected.Length));
        Assert.All(Read(again, 0, (int)Mebibyte), value => Assert.Equal(0, value));
        Assert.Equal(0, again.VirtualDisk!.Space.Counters.Repair.RegionsResynced);
    }

    [Fact]
    public void A_flush_covers_the_only_disk_of_a_space_without_a_log()
    {
        PoolWorld world = PoolWorld.New(1, 64 * Mebibyte, 4096, seed: 3);
        Assert.Equal("", world.Lane.Run(world.Create(Spec(1, 1, 4, thin: false, checksums: false))));
        Write(world, Random(1, 65536), 0);
        Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk!.Disk.Flush()));
        byte[] expected = Write(world, Random(2, 65536), 0);   // nothing but data: no row is made ready
        Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk.Disk.Flush()));
        PoolWorld cut = world.Cut(4, (_, _, _) => false);
        Assert.Equal("", cut.Lane.Run(cut.Open()));
        Assert.Equal(expected, Read(cut, 0, expected.Length));
    }

    [Theory]
    [InlineData(1, 2)]
    [InlineData(2, 2)]
    [InlineData(1, 3)]
    public void A_mirror_serves_with_a_disk_missing_at_open_and_with_one_pulled_while_it_runs(int columns, int copies)
    {
        PoolWorld world = PoolWorld.New(5, 96 * Mebibyte, 4096, seed: 5);
        Assert.Equal("", world.Lane.Run(world.Create(Spec(columns, copies, 12, thin: false))));
        byte[] first = Write(world, Random(8, (int)Mebibyte), 0);
        world.Disks[0].Pulled = true;
        byte[] second = Write(world, Random(9, (int)Mebibyte), 4 * Mebibyte);
        Assert.Equal(first, Read(world, 0, first.Length));
        Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk!.Disk.Flush()));
        Assert.Equal(IoError.None, world.Lane.Run(world.Close()));

        PoolWorld without = world.Cut(3, (_, _, _) => false);
        Assert.Equal("", without.Lane.Run(without.Open()));
        Assert.Equal(first, Read(without, 0, first.Length));
        Assert.Equal(second, Read(without, 4 * Mebibyte, second.Length));
        Assert.True(without.IsDegraded);
        Assert.True(without.IsComplete);
    }

    [Fact]
    public void Sectors_smaller_than_a_block_keep_their_neighbours()
    {
        PoolWorld world = PoolWorld.New(2, 64 * Mebibyte, 4096, seed: 6);
        Assert.Equal("", world.Lane.Run(world.Create(Spec(1, 2, 4, thin: true, sector: 512))));
        byte[] model = new byte[256 << 10];
        Random random = new(4);
        for (int i = 0; i < 400; i++)
        {
            int offset = random.Next(model.Length / 512) * 512;
            int length = Math.Min(model.Length - offset, (1 + random.Next(40)) * 512);
            byte[] data = new byte[length];
            switch (random.Next(4))
            {
                case 0:
                    Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk!.Disk.WriteZeroes(offset, length, WriteFlags.None)));
                    break;
                default:
                    random.NextBytes(data);
                    Write(world, data, offset);
                    break;
            }

            data.CopyTo(model, offset);
        }

        Assert.Equal(model, Read(world, 0, model.Length));
        Assert.True(world.VirtualDisk!.Disk.Counters.ReadModifyWrites > 100);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Zeros_that_are_written_through_are_there_after_a_power_cut(bool toSpace)
    {
        PoolWorld world = PoolWorld.New(2, 64 * Mebibyte, 4096, seed: 9);
        Assert.Equal("", world.Lane.Run(world.Create(Spec(1, 2, 4, thin: true))));
        Write(world, Random(5, 8192), 0);
        VirtualDisk disk = world.VirtualDisk!.Disk;
        Assert.Equal(IoError.None, world.Lane.Run(disk.Flush()));
        IBlockStore store = toSpace ? world.VirtualDisk.Space : disk;
        Assert.Equal(IoError.None, world.Lane.Run(store.WriteZeroes(0, 8192, WriteFlags.ForceUnitAccess)));
        PoolWorld cut = world.Cut(10, (_, _, _) => false);
        Assert.Equal("", cut.Lane.Run(cut.Open()));
        Assert.Equal(new byte[8192], Read(cut, 0, 8192));
    }

    // A write whose ends are parts of blocks reads both, one after the other; what happens to the first meanwhile is not undone by it.
    [Theory]
    [InlineData("write")]
    [InlineData("unmap")]
    [InlineData("zero")]
    public void Requests_that_meet_in_a_block_do_not_undo_each_other(string other)
    {
        for (int seed = 1; seed <= 16; seed++)
        {
            PoolWorld world = PoolWorld.New(2, 64 * Mebibyte, 4096, (ulong)seed);
            Assert.Equal("", world.Lane.Run(world.Create(Spec(1, 2, 4, thin: true, sector: 512))));
            VirtualDisk disk = world.VirtualDisk!.Disk;
            byte[] expected = Write(world, Random(1, 8192), 0);
            byte[] ours = Random(2, 7168);
            byte[] theirs = Random(3, 512);
            LaneTask<IoError> first = WriteAt(disk, world.Lane, 512, ours);
            world.Lane.Advance(seed * 25_000);
            LaneTask<IoError> second = other switch
            {
                "write" => WriteAt(disk, world.Lane, 0, theirs),
                "unmap" => disk.Unmap(0, 4096),
                _ => disk.WriteZeroes(0, 4096, WriteFlags.None),
            };
            Assert.Equal(IoError.None, world.Lane.Run(first));
            Assert.Equal(IoError.None, world.Lane.Run(second));

            byte[] after = Read(world, 0, 8192);
            bool oursCameFirst = other != "write" && !after.AsSpan(512, 3584).ContainsAnyExcept((byte)0);
            (other == "write" ? theirs : new byte[512]).CopyTo(expected, 0);
            ours.CopyTo(expected, 512);
            expected.AsSpan(512, oursCameFirst ? 3584 : 0).Clear();
            Assert.Equal(expected, after);
        }
    }

    [Fact]
    public void A_thin_disk_gives_rows_back_and_a_full_pool_refuses_only_new_ones()
    {
        PoolWorld world = PoolWorld.New(2, 64 * Mebibyte, 4096, seed: 7);
        Assert.Equal("", world.Lane.Run(world.Create(Spec(1, 1, 1024, thin: true))));
        long free = Free(world);
        byte[] mebibyte = Random(3, (int)Mebibyte);
        long written = 0;
        while (TryWrite(world, mebibyte, written * Mebibyte) == IoError.None)
        {
            written++;
        }

        Assert.Equal(free, written);
        Assert.Equal(IoError.NoSpace, TryWrite(world, mebibyte, written * Mebibyte));
        Assert.Equal(IoError.None, TryWrite(world, mebibyte, 3 * Mebibyte));
        Assert.Equal(mebibyte, Read(world, 3 * Mebibyte, mebibyte.Length));
        Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk!.Disk.Unmap(0, written * Mebibyte)));
        world.Lane.Advance(10_000_000_000);
        Assert.Equal(free, Free(world));
        Assert.All(Read(world, 3 * Mebibyte, (int)Mebibyte), value => Assert.Equal(0, value));
    }

    [Fact]
    public void A_removed_disk_frees_its_slabs_and_its_bytes_never_show_in_the_next()
    {
        PoolWorld world = PoolWorld.New(2, 64 * Mebibyte, 4096, seed: 8);
        Assert.Equal("", world.Lane.Run(world.Create(Spec(1, 2, 8, thin: false))));
        Write(world, Enumerable.Repeat((byte)0xEE, 4 * (int)Mebibyte).ToArray(), 0);
        Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk!.Close()));
        Assert.True(world.Lane.Run(VirtualDiskBuilder.Remove(world.Pool!, world.VirtualDisk.Description.Id)).Succeeded);
        Assert.All(world.Pool!.State.Disks.Values, disk => Assert.Equal(0u, disk.UsedSlabs));
        VirtualDiskResult next = world.Lane.Run(VirtualDiskBuilder.Create(world.Pool, Spec(1, 2, 8, thin: false)));
        Assert.Equal("", next.Reason);
        Assert.Equal(IoError.None, world.Lane.Run(WriteAt(next.Disk!.Disk, world.Lane, 0, new byte[4096])));
        Assert.All(world.Lane.Run(ReadAt(next.Disk.Disk, world.Lane, 0, (int)Mebibyte)), value => Assert.Equal(0, value));
    }

    [Fact]
    public void A_grown_disk_keeps_its_bytes_and_takes_new_ones()
    {
        PoolWorld world = PoolWorld.New(3, 64 * Mebibyte, 4096, seed: 9);
        Assert.Equal("", world.Lane.Run(world.Create(Spec(1, 2, 8, thin: false))));
        byte[] before = Write(world, Random(1, (int)Mebibyte), 7 * Mebibyte);
        Assert.True(world.Lane.Run(VirtualDiskGrowth.Grow(world.Pool!, world.VirtualDisk!, 16 * Mebibyte)).Succeeded);
        byte[] after = Write(world, Random(2, (int)Mebibyte), 15 * Mebibyte);
        Assert.Equal(IoError.None, world.Lane.Run(world.Close()));
        PoolWorld again = world.Cut(4, (_, _, _) => false);
        Assert.Equal("", again.Lane.Run(again.Open()));
        Assert.Equal(16 * Mebibyte, again.VirtualDisk!.Disk.SizeBytes);
        Assert.Equal(before, Read(again, 7 * Mebibyte, before.Length));
        Assert.Equal(after, Read(again, 15 * Mebibyte, after.Length));
    }

    // The rows of a fixed disk are mapped before its size is: a host may stop in between.
    [Fact]
    public void A_host_that_stops_while_a_disk_grows_leaves_one_that_opens_and_grows_again()
    {
        PoolWorld world = PoolWorld.New(3, 64 * Mebibyte, 4096, seed: 10);
        Assert.Equal("", world.Lane.Run(world.Create(Spec(1, 2, 4, thin: false))));
        byte[] data = Write(world, Random(1, 65536), 0);
        Pool pool = world.Pool!;
        Assert.True(pool.Allocator.TryReserveRow(1, 2, new AllocationPreferences(), out SlabRef[] slabs, out string reason), reason);
        SpaceId space = world.VirtualDisk!.Description.DataSpace;
        Assert.True(world.Lane.Run(pool.Commit(new RowsMapped(space, 4, 2, [new RowMapping(slabs, isInitialized: false)]))).Succeeded);
        PoolWorld again = world.Kill(11, static () => true);
        Assert.Equal("", again.Lane.Run(again.Open()));
        Assert.Equal(data, Read(again, 0, data.Length));
        Assert.True(again.Lane.Run(VirtualDiskGrowth.Grow(again.Pool!, again.VirtualDisk!, 6 * Mebibyte)).Succeeded);
        Assert.Equal(6, again.Pool!.State.Space(space)!.MappedRows);
        byte[] more = Write(again, Random(2, 65536), 5 * Mebibyte);
        Assert.Equal(more, Read(again, 5 * Mebibyte, more.Length));
    }

    [Theory]
    [InlineData(1, true, false)]
    [InlineData(2, false, true)]
    [InlineData(3, true, true)]
    public void A_disk_with_a_write_cache_has_a_space_for_it_until_it_is_removed(int copies, bool checksums, bool thin)
    {
        PoolWorld world = PoolWorld.New(5, 64 * Mebibyte, 4096, seed: 21);
        Assert.Equal("", world.Lane.Run(
            world.Create(Spec(1, copies, 8, thin, checksums) with { WriteCacheSize = 5 * Mebibyte, Destage = new() { Hold = true } })));
        Assert.Equal(IoError.None, world.Lane.Run(world.Close()));
        PoolWorld again = world.Cut(22, static (_, _, _) => false);
        Assert.Equal("", again.Lane.Run(again.Open()));
        VirtualDiskDescription disk = again.VirtualDisk!.Description;
        Assert.Equal((5 * Mebibyte, true), (disk.WriteCacheSize, disk.Destage.Hold));
        SpaceState cache = again.Pool!.State.Space(disk.CacheSpace)!;
        Assert.Equal(new SpaceDescription(disk.CacheSpace, disk.Id, SpaceKind.WriteCache, 1, (ushort)copies), cache.Description);
        Assert.Equal(5, cache.MappedRows);
        Assert.Single(cache.EnumerateRows().Select(static row => string.Join(',', row.Row.Mapping.Sources.ToArray().Select(slab => slab.Disk))).Distinct());
        Assert.Equal(IoError.None, again.Lane.Run(again.VirtualDisk.Close()));
        Assert.True(again.Lane.Run(VirtualDiskBuilder.Remove(again.Pool, disk.Id)).Succeeded);
        Assert.Empty(again.Pool.State.Spaces);
        Assert.All(again.Pool.State.Disks.Values, static member => Assert.Equal(0u, member.UsedSlabs));
    }

    [Fact]
    public void A_write_cache_that_does_not_fit_changes_nothing()
    {
        PoolWorld world = PoolWorld.New(3, 64 * Mebibyte, 4096, seed: 23);
        Assert.Equal("", world.Lane.Run(world.Create(Spec(1, 2, 8, thin: true))));
        long free = Free(world);
        VirtualDiskDescription spec = Spec(1, 2, 8, thin: true) with { FriendlyName = "e", WriteCacheSize = 64 * Mebibyte };
        VirtualDiskResult result = world.Lane.Run(VirtualDiskBuilder.Create(world.Pool!, spec));
        Assert.Equal(CommitStatus.NoSpace, result.Status);
        Assert.Equal("It needs 2 disks with 64 free slabs each, flash or of usage Journal; there are 0.", result.Reason);
        Assert.Equal((free, 1), (Free(world), world.Pool!.State.VirtualDisks.Count));
    }

    private static long Free(PoolWorld world) => world.Pool!.Allocator.LargestRowCount(1, 1, new());

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

    private static IoError TryWrite(PoolWorld world, byte[] data, long offset) =>
        world.Lane.Run(WriteAt(world.VirtualDisk!.Disk, world.Lane, offset, data));

    private static byte[] Read(PoolWorld world, long offset, int length) =>
        world.Lane.Run(ReadAt(world.VirtualDisk!.Disk, world.Lane, offset, length));

    private static async LaneTask<IoError> WriteAt(IBlockStore store, SimLane lane, long offset, byte[] data)
    {
        IoBuffer buffer = lane.Buffers.Rent(data.Length);
        data.CopyTo(buffer.Span);
        IoError error = await store.Write(offset, buffer, WriteFlags.None);
        lane.Buffers.Return(buffer);
        return error;
    }

    private static async LaneTask<byte[]> ReadAt(IBlockStore store, SimLane lane, long offset, int length)
    {
        IoBuffer buffer = lane.Buffers.Rent(length);
        IoError error = await store.Read(offset, buffer);
        byte[] data = buffer.Span.ToArray();
        lane.Buffers.Return(buffer);
        return error == IoError.None ? data : throw new IOException($"read at {offset}: {error}");
    }
}
