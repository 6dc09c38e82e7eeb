using TierSpaces.Engine.Caching;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Verification;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Tests.Caching;

/// <summary>Reads of a ring by an opening.</summary>
public class CacheReplayTests
{
    private const int RingBytes = 16 << 20;

    // A durable record is not verified at an opening: of long ones the headers are read, of short ones everything, since headers lie close together.
    [Theory]
    [InlineData(256 << 10, 0.2)]
    [InlineData(64 << 10, 1.5)]
    public void Of_long_records_little_more_than_their_headers_is_read(int bytes, double most)
    {
        PoolWorld world = NewWorld();
        Assert.Equal("", world.Lane.Run(world.Open(isNew: true)));
        int writes = 12 * (1 << 20) / bytes;
        for (int i = 0; i < writes; i++)
        {
            Write(world, i, bytes);
        }

        long dirty = world.VirtualDisk!.Cache!.DirtyBytes;
        Assert.True(dirty > writes * bytes);
        Assert.Equal(IoError.None, world.Lane.Run(world.Close()));
        PoolWorld again = world.Cut(2, (_, _, _) => false);
        long read = BytesRead(world, again);
        Assert.Equal(dirty, again.VirtualDisk!.Cache!.DirtyBytes);
        Assert.InRange(read, 1, (long)(most * RingBytes));
        for (int i = 0; i < writes; i++)
        {
            IoBuffer target = again.Lane.Buffers.Rent(bytes);
            Assert.Equal(IoError.None, again.Lane.Run(again.Store.Read((long)i * bytes, target)));
            Assert.False(target.Span.ContainsAnyExcept((byte)(i + 1)));
            again.Lane.Buffers.Return(target);
        }
    }

    // Records of many lengths: nothing that was read ahead is read again for every change from short to long.
    [Fact]
    public void Of_records_of_mixed_lengths_nothing_is_read_many_times()
    {
        PoolWorld world = NewWorld();
        Assert.Equal("", world.Lane.Run(world.Open(isNew: true)));
        for (int i = 0; i < 60; i++)
        {
            Write(world, i, i % 3 == 0 ? 256 << 10 : 128 << 10, 256 << 10);
        }

        Assert.Equal(IoError.None, world.Lane.Run(world.Close()));
        PoolWorld again = world.Cut(2, (_, _, _) => false);
        Assert.InRange(BytesRead(world, again), 1, RingBytes);
    }

    // Each header says up to where the records before it were flushed: after a kill only those since the last flush are verified and written again.
    [Fact]
    public void After_a_kill_only_what_was_not_flushed_is_written_again()
    {
        PoolWorld world = NewWorld();
        Assert.Equal("", world.Lane.Run(world.Open(isNew: true)));
        for (int i = 0; i < 48; i++)
        {
            Write(world, i, 256 << 10);
            Assert.Equal(IoError.None, i % 4 == 3 ? world.Lane.Run(world.Store.Flush()) : IoError.None);
        }

        long dirty = world.VirtualDisk!.Cache!.DirtyBytes;
        PoolWorld again = world.Kill(2, () => true);
        long written = 0;
        foreach ((int disk, long start, long end) in Places(world))
        {
            again.Disks[disk].OnRequest += (kind, offset, length) => written += kind == SimOperation.Write && offset >= start && offset < end ? length : 0;
        }

        Assert.Equal("", again.Lane.Run(again.Open()));
        Assert.Equal(dirty, again.VirtualDisk!.Cache!.DirtyBytes);
        Assert.InRange(written, 1, 2 << 20);
    }

    private static PoolWorld NewWorld() => PoolWorld.New(4, 48 << 20, 4096, 1, new VirtualDiskDescription
    {
        FriendlyName = "d",
        ResiliencySettingName = "Simple",
        SizeBytes = 16 << 20,
        NumberOfColumns = 1,
        NumberOfDataCopies = 1,
        Interleave = 64 << 10,
        LogicalSectorSize = 4096,
        ProvisioningType = ProvisioningType.Fixed,
        Checksum = ChecksumKind.CRC32C,
        WriteCacheSize = RingBytes,
        Destage = new DestageSettings { Hold = true },
    });

    private static IEnumerable<(int Disk, long Start, long End)> Places(PoolWorld world)
    {
        SpaceState ring = world.Pool!.State.Space(world.VirtualDisk!.Description.CacheSpace)!;
        long slab = world.Pool.State.Pool!.Slabs.DataBytes;
        foreach ((_, RowState row) in ring.EnumerateRows())
        {
            foreach (SlabRef source in row.Mapping.Sources.ToArray())
            {
                long start = PoolMemberHost.PlaceOf(world.Pool.State, source).DataOffset;
                yield return (source.Disk.Value - 1, start, start + slab);
            }
        }
    }

    private static long BytesRead(PoolWorld world, PoolWorld again)
    {
        long read = 0;
        foreach ((int disk, long start, long end) in Places(world))
        {
            again.Disks[disk].OnRequest += (kind, offset, length) => read += kind == SimOperation.Read && offset >= start && offset < end ? length : 0;
        }

        Assert.Equal("", again.Lane.Run(again.Open()));
        return read;
    }

    private static void Write(PoolWorld world, int index, int bytes, int stride = 0)
    {
        IoBuffer source = world.Lane.Buffers.Rent(bytes);
        source.Span.Fill((byte)(index + 1));
        Assert.Equal(IoError.None, world.Lane.Run(world.Store.Write((long)index * (stride > 0 ? stride : bytes), source, WriteFlags.None)));
        world.Lane.Buffers.Return(source);
    }
}
