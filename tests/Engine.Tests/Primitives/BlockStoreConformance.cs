using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Primitives;

/// <summary>
/// Promises of every store (<see cref="IBlockStore"/>): derive from it, open a fresh store of at least 1 MiB, and the
/// suite does the rest. All calls are made on the store's lane.
/// </summary>
public abstract class BlockStoreConformance
{
    private static readonly Random s_seeds = new(20);

    /// <summary>Opens a fresh store, runs the body on its lane, closes the store.</summary>
    protected abstract void WithStore(Func<ILane, IBlockStore, LaneTask> body);

    /// <summary>Whether an unmapped range reads as zeros.</summary>
    protected virtual bool UnmapReadsZeros => true;

    /// <summary>Whether a range never written reads as zeros.</summary>
    protected virtual bool FreshReadsZeros => true;

    [Fact]
    public void Geometry_is_sane() => WithStore(async (lane, store) =>
    {
        await lane.Yield();
        StoreGeometry geometry = store.Geometry;
        Assert.True(geometry.Length >= 1 << 20);
        Assert.True(System.Numerics.BitOperations.IsPow2(geometry.BlockSize));
        Assert.Equal(0, geometry.Length % geometry.BlockSize);
        Assert.True(geometry.AtomicSize >= geometry.BlockSize);
        Assert.True(geometry.MaxTransfer >= 1 << 20);
    });

    [Fact]
    public void A_fresh_store_reads_zeros() => WithStore(async (lane, store) =>
    {
        if (!FreshReadsZeros)
        {
            Assert.Skip("This store does not promise zeros before the first write.");
        }

        Assert.True(await ReadsAs(lane, store, 0, 64 << 10, 0));
        Assert.True(await ReadsAs(lane, store, store.Geometry.Length - (64 << 10), 64 << 10, 0));
    });

    [Theory]
    [InlineData(WriteFlags.None)]
    [InlineData(WriteFlags.ForceUnitAccess)]
    public void Written_data_is_read_back(WriteFlags flags) => WithStore(async (lane, store) =>
    {
        int block = store.Geometry.BlockSize;
        long last = store.Geometry.Length - block;
        (long Offset, int Length)[] ranges = [(0, block), (last, block), (block * 3, block * 5), (256 << 10, 512 << 10)];
        byte tag = 1;
        foreach ((long offset, int length) in ranges)
        {
            Assert.Equal(IoError.None, await Fill(lane, store, offset, length, tag, flags));
            Assert.True(await ReadsAs(lane, store, offset, length, tag++));
        }

        Assert.Equal(IoError.None, await store.Flush());
        tag = 1;
        foreach ((long offset, int length) in ranges)
        {
            Assert.True(await ReadsAs(lane, store, offset, length, tag++));
        }
    });

    [Fact]
    public void A_request_outside_or_unaligned_is_refused_and_changes_nothing() => WithStore(async (lane, store) =>
    {
        int block = store.Geometry.BlockSize, part = store.Geometry.SmallestRequest / 2;
        long length = store.Geometry.Length;
        await Fill(lane, store, length - block, block, 7, WriteFlags.None);
        (long Offset, int Length)[] bad =
            [(length, block), (length - block, 2 * block), (-block, block), (long.MaxValue - block + 1, block), (1, block), (0, block - 1), (part, block)];
        foreach ((long offset, int count) in bad)
        {
            Assert.Equal(IoError.InvalidArgument, await Fill(lane, store, offset, count, 9, WriteFlags.None));
            Assert.Equal(IoError.InvalidArgument, await ReadInto(lane, store, offset, count));
            Assert.Equal(IoError.InvalidArgument, await store.Unmap(offset, count));
            Assert.Equal(IoError.InvalidArgument, await store.WriteZeroes(offset, count, WriteFlags.None));
            Assert.Equal(IoError.InvalidArgument, await store.Status(offset, count, []));
        }

        Assert.True(await ReadsAs(lane, store, length - block, block, 7));
    });

    [Theory]
    [InlineData(WriteFlags.None)]
    [InlineData(WriteFlags.NoHole)]
    [InlineData(WriteFlags.ForceUnitAccess)]
    [InlineData(WriteFlags.NoHole | WriteFlags.ForceUnitAccess)]
    public void Zeroed_ranges_read_zeros_and_neighbours_stay(WriteFlags flags) => WithStore(async (lane, store) =>
    {
        int block = store.Geometry.BlockSize;
        await Fill(lane, store, 0, 256 << 10, 5, WriteFlags.None);
        Assert.Equal(IoError.None, await store.WriteZeroes(block * 3, block * 20, flags));
        Assert.True(await ReadsAs(lane, store, 0, block * 3, 5));
        Assert.True(await ReadsAs(lane, store, block * 3, block * 20, 0));
        Assert.True(await ReadsAs(lane, store, block * 23, block * 9, 5));
        Assert.Equal(IoError.None, await store.WriteZeroes(0, store.Geometry.Length, flags));
        Assert.True(await ReadsAs(lane, store, 0, 256 << 10, 0));
    });

    [Fact]
    public void Unmap_keeps_neighbours() => WithStore(async (lane, store) =>
    {
        int block = store.Geometry.BlockSize;
        await Fill(lane, store, 0, 256 << 10, 5, WriteFlags.None);
        Assert.Equal(IoError.None, await store.Unmap(block * 3, block * 20));
        Assert.True(await ReadsAs(lane, store, 0, block * 3, 5));
        Assert.True(!UnmapReadsZeros || await ReadsAs(lane, store, block * 3, block * 20, 0));
        Assert.True(await ReadsAs(lane, store, block * 23, block * 9, 5));
        await Fill(lane, store, block * 4, block, 6, WriteFlags.None);
        Assert.True(await ReadsAs(lane, store, block * 4, block, 6));
    });

    [Fact]
    public void Status_covers_the_range_once_and_never_calls_data_zero() => WithStore(async (lane, store) =>
    {
        int block = store.Geometry.BlockSize;
        await Fill(lane, store, 128 << 10, 64 << 10, 5, WriteFlags.None);
        await Fill(lane, store, 512 << 10, block, 6, WriteFlags.None);
        (long Offset, long Length)[] ranges = [(0, store.Geometry.Length), (block, block), (64 << 10, 128 << 10), (store.Geometry.Length - block, block)];
        foreach ((long offset, long length) in ranges)
        {
            List<StoreExtent> extents = [];
            Assert.Equal(IoError.None, await store.Status(offset, length, extents));
            Assert.Equal(length, extents.Sum(extent => extent.Length));
            Assert.All(extents, extent => Assert.True(extent.Length > 0 && extent.Length % block == 0));
            Assert.All(extents.Zip(extents.Skip(1)), pair => Assert.NotEqual(pair.First.State, pair.Second.State));
            Assert.Equal(ExtentState.Data, StateAt(extents, offset, 128 << 10) ?? ExtentState.Data);
            Assert.Equal(ExtentState.Data, StateAt(extents, offset, 512 << 10) ?? ExtentState.Data);
        }
    });

    [Fact]
    public void A_request_of_no_bytes_succeeds() => WithStore(async (lane, store) =>
    {
        await lane.Yield();
        Assert.Equal(IoError.None, await store.Unmap(0, 0));
        Assert.Equal(IoError.None, await store.WriteZeroes(store.Geometry.Length, 0, WriteFlags.None));
        List<StoreExtent> extents = [];
        Assert.Equal(IoError.None, await store.Status(0, 0, extents));
        Assert.Empty(extents);
    });

    [Fact]
    public void Overlapping_writes_leave_every_block_from_one_of_them() => WithStore(async (lane, store) =>
    {
        const int writes = 24;
        int block = store.Geometry.BlockSize;
        Random random = new(3);
        (long Offset, int Length)[] ranges = [.. Enumerable.Range(0, writes).Select(_ => (random.Next(8) * (long)block, random.Next(1, 24) * block))];
        LaneTask<IoError>[] pending = [.. ranges.Select((range, index) => Fill(lane, store, range.Offset, range.Length, (byte)(index + 1), WriteFlags.None))];
        foreach (LaneTask<IoError> write in pending)
        {
            Assert.Equal(IoError.None, await write);
        }

        IoBuffer buffer = lane.Buffers.Rent(block * 32);
        Assert.Equal(IoError.None, await store.Read(0, buffer));
        for (int index = 0; index < 32; index++)
        {
            byte[] found = buffer.Span.Slice(index * block, block).ToArray();
            Assert.True(found.All(value => value == found[0]), $"Block {index} is mixed.");
            bool covered = ranges.Any(range => Covers(range, index * (long)block));
            Assert.True(covered ? found[0] > 0 && Covers(ranges[found[0] - 1], index * (long)block) : !FreshReadsZeros || found[0] == 0);
        }

        lane.Buffers.Return(buffer);
    });

    [Fact]
    public void Many_requests_at_once_come_back_whole() => WithStore(async (lane, store) =>
    {
        int count = (int)Math.Min(200, store.Geometry.Length / (8 << 10));
        for (int round = 0; round < 3; round++)
        {
            List<LaneTask<IoError>> pending = [];
            for (int index = 0; index < count; index++)
            {
                pending.Add(Fill(lane, store, index * (8L << 10), 8 << 10, (byte)(index + round + 1), WriteFlags.None));
                if (index % 50 == 0)
                {
                    pending.Add(store.Flush());
                }
            }

            foreach (LaneTask<IoError> request in pending)
            {
                Assert.Equal(IoError.None, await request);
            }

            List<LaneTask<bool>> reads = [.. Enumerable.Range(0, count).Select(index =>
                ReadsAs(lane, store, index * (8L << 10), 8 << 10, (byte)(index + round + 1)))];
            foreach (LaneTask<bool> read in reads)
            {
                Assert.True(await read);
            }
        }
    });

    [Fact]
    public void Random_operations_match_a_plain_array() => WithStore(async (lane, store) =>
    {
        int seed = s_seeds.Next();
        Random random = new(seed);
        int block = store.Geometry.BlockSize;
        byte[] model = new byte[1 << 20];
        if (!FreshReadsZeros)
        {
            await store.WriteZeroes(0, model.Length, WriteFlags.None);
        }

        for (int step = 0; step < 400; step++)
        {
            int length = random.Next(1, random.Next(4) == 0 ? (256 << 10) / block : 16) * block;
            int offset = random.Next((model.Length - length) / block + 1) * block;
            byte tag = (byte)random.Next(1, 256);
            IoError error = IoError.None;
            switch (random.Next(8))
            {
                case <= 2:
                    error = await Fill(lane, store, offset, length, tag, random.Next(4) == 0 ? WriteFlags.ForceUnitAccess : WriteFlags.None);
                    model.AsSpan(offset, length).Fill(tag);
                    break;
                case 3:
                    error = await store.WriteZeroes(offset, length, random.Next(2) == 0 ? WriteFlags.NoHole : WriteFlags.None);
                    model.AsSpan(offset, length).Clear();
                    break;
                case 4 when UnmapReadsZeros:
                    error = await store.Unmap(offset, length);
                    model.AsSpan(offset, length).Clear();
                    break;
                case 5:
                    error = await store.Flush();
                    break;
                default:
                    IoBuffer buffer = lane.Buffers.Rent(length);
                    error = await store.Read(offset, buffer);
                    Assert.True(buffer.Span.SequenceEqual(model.AsSpan(offset, length)), $"Seed {seed}, step {step}: wrong bytes in {offset}+{length}.");
                    lane.Buffers.Return(buffer);
                    break;
            }

            Assert.True(error == IoError.None, $"Seed {seed}, step {step}: {error}.");
        }
    });

    [Fact]
    public void Buffers_at_odd_addresses_work() => WithStore(async (lane, store) =>
    {
        int block = store.Geometry.BlockSize;
        IoBuffer memory = lane.Buffers.Rent((block * 8) + 64);
        IoBuffer odd = memory.Slice(40, block * 8);
        odd.Span.Fill(33);
        Assert.Equal(IoError.None, await store.Write(block * 2, odd, WriteFlags.None));
        odd.Span.Clear();
        Assert.Equal(IoError.None, await store.Read(block * 2, odd));
        Assert.Equal(-1, odd.Span.IndexOfAnyExcept((byte)33));
        lane.Buffers.Return(memory);
    });

    /// <summary>A request as long as the store says it may be, wherever it begins; what lies beside it stays.</summary>
    [Theory]
    [InlineData(0, WriteFlags.None)]
    [InlineData(1, WriteFlags.None)]
    [InlineData(1, WriteFlags.ForceUnitAccess)]
    [InlineData(7, WriteFlags.None)]
    [InlineData(-1, WriteFlags.None)]
    public void The_largest_transfer_works_at_every_offset(int firstBlock, WriteFlags flags) => WithStore(async (lane, store) =>
    {
        StoreGeometry geometry = store.Geometry;
        int block = geometry.BlockSize;
        int length = (int)Math.Min(geometry.MaxTransfer, geometry.Length - (9 * block)) & -block;
        long offset = (firstBlock >= 0 ? firstBlock : (geometry.Length - length) / block - 1) * (long)block;
        long after = offset + length;
        Assert.Equal(IoError.None, await Fill(lane, store, Math.Max(offset - block, 0), block, 3, WriteFlags.None));
        Assert.Equal(IoError.None, await Fill(lane, store, after, block, 4, WriteFlags.None));
        IoBuffer buffer = lane.Buffers.Rent(length);
        for (int at = 0; at < length; at += 8)
        {
            BitConverter.TryWriteBytes(buffer.Span[at..], offset + at);   // the value at each place is unique
        }

        Assert.Equal(IoError.None, await store.Write(offset, buffer, flags));
        buffer.Span.Fill(0xEE);
        Assert.Equal(IoError.None, await store.Read(offset, buffer));
        int wrong = -1;
        for (int at = 0; at < length && wrong < 0; at += 8)
        {
            wrong = BitConverter.ToInt64(buffer.Span[at..]) == offset + at ? wrong : at;
        }

        Assert.Equal(-1, wrong);
        lane.Buffers.Return(buffer);
        Assert.True(offset == 0 || await ReadsAs(lane, store, offset - block, block, 3));
        Assert.True(await ReadsAs(lane, store, after, block, 4));
        Assert.Equal(IoError.None, await store.Flush());
    });

    private static bool Covers((long Offset, int Length) range, long offset) => offset >= range.Offset && offset < range.Offset + range.Length;

    private static ExtentState? StateAt(List<StoreExtent> extents, long start, long offset)
    {
        foreach (StoreExtent extent in extents)
        {
            if (offset >= start && offset < start + extent.Length)
            {
                return extent.State;
            }

            start += extent.Length;
        }

        return null;
    }

    private static async LaneTask<IoError> Fill(ILane lane, IBlockStore store, long offset, int length, byte tag, WriteFlags flags)
    {
        IoBuffer buffer = lane.Buffers.Rent(length);
        buffer.Span.Fill(tag);
        IoError error = await store.Write(offset, buffer, flags);
        lane.Buffers.Return(buffer);
        return error;
    }

    private static async LaneTask<IoError> ReadInto(ILane lane, IBlockStore store, long offset, int length)
    {
        IoBuffer buffer = lane.Buffers.Rent(length);
        IoError error = await store.Read(offset, buffer);
        lane.Buffers.Return(buffer);
        return error;
    }

    private static async LaneTask<bool> ReadsAs(ILane lane, IBlockStore store, long offset, int length, byte tag)
    {
        IoBuffer buffer = lane.Buffers.Rent(length);
        buffer.Span.Fill((byte)~tag);
        IoError error = await store.Read(offset, buffer);
        bool same = error == IoError.None && buffer.Span.IndexOfAnyExcept(tag) < 0;
        lane.Buffers.Return(buffer);
        return same;
    }
}
