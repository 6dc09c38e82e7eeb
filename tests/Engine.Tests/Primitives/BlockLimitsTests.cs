using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tests.Exports.Nbd;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Primitives;

/// <summary>Over a store that checks what it is given: whole blocks, inside, no transfer above its largest.</summary>
public sealed class BlockLimitsTests
{
    private const int Block = 4096;
    private const int Unit = 512;

    private readonly SimLane _lane = new(5);

    [Theory]
    [InlineData(WriteFlags.None)]
    [InlineData(WriteFlags.ForceUnitAccess)]
    public void A_long_write_bounces_only_its_ends_and_is_durable_when_all_of_it_is(WriteFlags flags)
    {
        TestStore store = new(_lane, 1 << 20, Block);
        using BufferPool bounces = new();
        Assert.Equal(IoError.None, Write(new BlockLimits(bounces, store, Unit), 512, new byte[200 << 10], flags));
        Assert.Equal(["read 0+4096", "read 204800+4096", "write 0+4096 None", "write 204800+4096 None", "write 4096+200704 None"], store.Calls.Take(5));
        Assert.Equal(flags == WriteFlags.None ? [] : ["flush"], store.Calls.Skip(5));
        Assert.Equal(2 * Block, bounces.BytesReserved);
    }

    [Theory]
    [InlineData(512, 512, "read 0+4096", "write 0+4096")]
    [InlineData(512, 7168, "read 0+4096", "read 4096+4096", "write 0+8192")]
    [InlineData(0, 4608, "read 4096+4096", "write 0+8192")]
    [InlineData(4096, 8192, "write 4096+8192")]
    public void A_short_write_is_one_transfer_and_keeps_its_flags(int offset, int length, params string[] calls)
    {
        TestStore store = new(_lane, 1 << 20, Block);
        Assert.Equal(IoError.None, Write(new BlockLimits(_lane.Buffers, store, Unit), offset, new byte[length], WriteFlags.ForceUnitAccess));
        Assert.Equal([.. calls[..^1], $"{calls[^1]} ForceUnitAccess"], store.Calls);
    }

    [Theory]
    [InlineData(WriteFlags.None)]
    [InlineData(WriteFlags.ForceUnitAccess)]
    public void What_is_done_in_several_transfers_is_durable_when_all_of_it_is(WriteFlags flags)
    {
        TestStore store = new(_lane, 1 << 20, Block) { MaxTransfer = 2 * Block };
        BlockLimits limits = new(_lane.Buffers, store, Unit);
        Assert.Equal(IoError.None, Write(limits, 0, new byte[5 * Block], flags));
        AssertFlushedAtTheEnd(store, flags);
        Assert.Equal(IoError.None, _lane.Run(limits.WriteZeroes(512, 3 * Block, flags)));
        AssertFlushedAtTheEnd(store, flags);
    }

    [Fact]
    public void A_write_whose_block_cannot_be_read_writes_nothing_and_lets_the_blocks_go()
    {
        TestStore store = new(_lane, 1 << 20, Block) { Answer = IoError.Io };
        BlockLimits limits = new(_lane.Buffers, store, Unit);
        Assert.Equal(IoError.Io, Write(limits, 512, new byte[200 << 10], WriteFlags.ForceUnitAccess));
        Assert.All(store.Calls, static call => Assert.StartsWith("read", call));
        store.Answer = IoError.None;
        Assert.Equal(IoError.None, Write(limits, 512, new byte[200 << 10], WriteFlags.None));
    }

    [Fact]
    public void A_unit_above_the_block_of_the_store_is_refused() =>
        Assert.Throws<ArgumentOutOfRangeException>(() => new BlockLimits(_lane.Buffers, new TestStore(_lane, 1 << 20, Block), 2 * Block));

    /// <summary>Several requests at once at random places, over stores with short transfers, match an array.</summary>
    [Theory]
    [InlineData(32 << 20)]
    [InlineData(128 << 10)]
    [InlineData(20_000)]
    [InlineData(5000)]
    public void Random_requests_match_an_array(int maxTransfer)
    {
        for (ulong seed = 1; seed <= 20; seed++)
        {
            SimLane lane = new(seed);
            TestStore store = new(lane, 1 << 20, Block) { MaxTransfer = maxTransfer, MaxDelayNs = 1000 };
            BlockLimits limits = new(lane.Buffers, store, Unit);
            byte[] model = new byte[1 << 20];
            for (int round = 0; round < 40; round++)
            {
                List<(LaneTask<IoError> Task, int Start, int End)> changes = [];
                for (int i = 0; i < 4; i++)
                {
                    int length = (1 + lane.Next(lane.Next(3) == 0 ? 600 : 24)) * Unit;
                    int offset = lane.Next((model.Length - length) / Unit) * Unit;
                    if (!changes.Exists(other => offset < other.End && other.Start < offset + length))   // not the same bytes; the same blocks are the point
                    {
                        changes.Add((Change(lane, limits, model, offset, length), offset, offset + length));
                    }
                }

                foreach ((LaneTask<IoError> task, _, _) in changes)
                {
                    Assert.Equal(IoError.None, lane.Run(task));
                }

                int from = lane.Next(100) * Unit;
                int count = model.Length - from - (lane.Next(100) * Unit);
                Assert.True(lane.Run(ReadAll(lane, limits, from, count)).AsSpan().SequenceEqual(model.AsSpan(from, count)), $"seed {seed}, round {round}");
            }

            Assert.Equal(0, lane.Buffers.Outstanding);
        }
    }

    private static void AssertFlushedAtTheEnd(TestStore store, WriteFlags flags)
    {
        Assert.DoesNotContain(store.Calls, static call => call.Contains("ForceUnitAccess", StringComparison.Ordinal));
        Assert.Equal(flags == WriteFlags.None ? -1 : store.Calls.Count - 1, store.Calls.IndexOf("flush"));
        store.Calls.Clear();
    }

    private static LaneTask<IoError> Change(SimLane lane, BlockLimits limits, byte[] model, int offset, int length)
    {
        WriteFlags flags = lane.Next(3) == 0 ? WriteFlags.ForceUnitAccess : WriteFlags.None;
        switch (lane.Next(4))
        {
            case 0:
                model.AsSpan(offset, length).Clear();
                return limits.WriteZeroes(offset, length, flags);
            case 1:
                int first = (offset + Block - 1) / Block * Block;
                int end = (offset + length) / Block * Block;
                model.AsSpan(first, Math.Max(0, end - first)).Clear();
                return limits.Unmap(offset, length);
            default:
                byte[] data = new byte[length];
                data.AsSpan().Fill((byte)(1 + lane.Next(255)));
                data.CopyTo(model, offset);
                return WriteFrom(lane, limits, offset, data, flags);
        }
    }

    private IoError Write(BlockLimits limits, long offset, byte[] data, WriteFlags flags) => _lane.Run(WriteFrom(_lane, limits, offset, data, flags));

    private static async LaneTask<IoError> WriteFrom(SimLane lane, BlockLimits limits, long offset, byte[] data, WriteFlags flags)
    {
        IoBuffer buffer = lane.Buffers.Rent(data.Length);
        data.CopyTo(buffer.Span);
        IoError error = await limits.Write(offset, buffer, flags);
        lane.Buffers.Return(buffer);
        return error;
    }

    private static async LaneTask<byte[]> ReadAll(SimLane lane, BlockLimits limits, long offset, int length)
    {
        IoBuffer buffer = lane.Buffers.Rent(length);
        Assert.Equal(IoError.None, await limits.Read(offset, buffer));
        byte[] data = buffer.Span.ToArray();
        lane.Buffers.Return(buffer);
        return data;
    }
}
