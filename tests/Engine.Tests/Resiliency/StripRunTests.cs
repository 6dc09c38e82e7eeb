using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Resiliency.Layouts;
using TierSpaces.Engine.Verification;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Resiliency;

/// <summary>Requests over more strips than there are columns: one request to each disk, and everything else as with one strip.</summary>
public sealed class StripRunTests
{
    private const int Block = 4096;
    private const int Strip = 16 << 10;
    private const byte Value = 0x5A;
    private const long Millisecond = 1_000_000;

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    public void The_pieces_of_a_request_have_each_of_its_blocks_once(int seed)
    {
        Random random = new(seed);
        using BufferPool pool = new();
        IoBuffer memory = pool.Rent(4 << 20);
        for (int i = 0; i < 300; i++)
        {
            int slab = 1 << random.Next(20, 25);
            SpaceShape shape = new(random.Next(1, 9), random.Next(1, 4), Math.Min(Strip << random.Next(6), slab), slab, random.Next(2) == 0);
            MirrorLayout layout = new(shape);
            long offset = random.NextInt64(3 * shape.RowSize / Block) * Block;
            int length = random.Next(1, (2 << 20) / Block) * Block;
            AssertCovers(layout, shape, offset, memory.Slice(random.Next(4) * Block, length), length);
        }
    }

    [Theory]
    [InlineData(4, 16 << 10, 4)]
    [InlineData(4, 64 << 10, 4)]
    [InlineData(4, 256 << 10, 4)]
    [InlineData(2, 16 << 10, 2)]
    [InlineData(1, 16 << 10, 1)]
    [InlineData(3, 16 << 10, 3)]
    public void A_mebibyte_is_one_piece_of_each_column(int columns, int interleave, int pieces)
    {
        StripRuns runs = new(new MirrorLayout(new SpaceShape(columns, 1, interleave, 256 << 20, true)), 0, 1 << 20);
        int count = 0;
        while (runs.Next(out _))
        {
            count++;
        }

        Assert.Equal(pieces, count);
    }

    [Theory]
    [InlineData(true, 1)]
    [InlineData(false, 2)]
    [InlineData(true, 2)]
    public void A_request_is_one_request_to_each_disk(bool checksums, int copies)
    {
        ScrubWorld world = ScrubWorld.New(2, copies, checksums, rows: 1, slabSize: 1 << 20);
        List<(SimOperation Operation, int Length)> requests = [];
        Array.ForEach(world.Disks, disk => disk.OnRequest = (operation, _, length) => requests.Add((operation, length)));
        world.Put(0, 8 * Strip);   // the region of each column, which is dirty already
        requests.Clear();
        world.Put(0, 8 * Strip);
        Assert.Equal(2 * copies, requests.Count(request => request == (SimOperation.Write, 4 * Strip)));
        Assert.Equal(2 * copies, requests.Count(static request => request.Operation == SimOperation.Write));
        requests.Clear();
        world.AssertReadsAtOnce(0, 8 * Strip);
        Assert.Equal(2, requests.Count(request => request == (SimOperation.Read, 4 * Strip)));
        Assert.Equal(2, requests.Count);
    }

    [Fact]
    public void A_block_of_a_joined_read_that_is_wrong_is_healed()
    {
        ScrubWorld world = ScrubWorld.New(2, 2, checksums: true, rows: 1, slabSize: 1 << 20);
        world.Write(0, 8 * Strip);
        foreach (int copy in (int[])[0, 1])
        {
            world.Flip(copy, (2 * Strip) + (copy * Block));   // second strip of the first column
        }

        for (int i = 0; i < 4; i++)
        {
            world.AssertReadsAtOnce(0, 8 * Strip);
            world.AssertReadsAtOnce(Strip, Block);   // it is the other copy's turn next
        }

        Assert.Equal(2, world.Reported(DiskFinding.Healed));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Blocks_of_a_joined_write_that_failed_everywhere_are_the_same_at_every_read(bool checksums)
    {
        ScrubWorld world = ScrubWorld.New(2, 2, checksums, rows: 1, slabSize: 1 << 20);
        world.Write(0, 8 * Strip);
        (int first, long place) = world.DataPlace(0, 2 * Strip);
        int second = world.DataPlace(1, 2 * Strip).Disk;
        foreach (int number in (int[])[first, second])
        {
            SimDisk disk = world.Disks[number];
            disk.WriteFails = (offset, length) =>
            {
                if (number == first && length == 4 * Strip)
                {
                    disk.Media.Write(place, [.. Enumerable.Repeat(Value, Block)]);   // of all that it was to write this arrived, on one copy
                }

                return length == 4 * Strip;
            };
        }

        IoBuffer source = world.Lane.Buffers.Rent(8 * Strip);
        source.Span.Fill(Value);
        Assert.Equal(IoError.Io, world.Lane.Run(world.Space.Write(0, source, WriteFlags.None)));
        Array.ForEach(world.Disks, static disk => disk.WriteFails = null);
        Assert.Equal(IoError.None, world.Read(2 * Strip, Block, out byte[] before));
        for (int i = 0; i < 4; i++)
        {
            Assert.Equal(IoError.None, world.Read(2 * Strip, Block, out byte[] again));
            Assert.Equal(before, again);
        }

        world.Lane.Advance(3000 * Millisecond);
        Assert.Equal(CopyOf(world, 0), CopyOf(world, 1));
        Assert.Equal(0, world.Reported(DiskFinding.Lost) + world.Reported(DiskFinding.ChecksumMismatch));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_joined_read_from_a_disk_that_hangs_is_answered_by_the_other_copy(bool checksums)
    {
        ScrubWorld world = ScrubWorld.New(2, 2, checksums, rows: 1, slabSize: 1 << 20);
        world.Write(0, 8 * Strip);
        world.Disks[world.DataPlace(0, 0).Disk].Hang();
        for (int i = 0; i < 4; i++)
        {
            world.AssertReadsAtOnce(0, 8 * Strip);
            world.AssertReadsAtOnce(Strip, Block);   // it is the other copy's turn next
        }

        Assert.True(world.Space.HedgesWon > 0, "no read went to the disk that hangs");
        Assert.True(world.Lane.Buffers.Waiting > 0);
        world.Disks[world.DataPlace(0, 0).Disk].Wake();
        world.Lane.Advance(100 * Millisecond);
        Assert.Equal(0, world.Lane.Buffers.Waiting);
        world.AssertReadsAtOnce(0, 8 * Strip);
    }

    private static byte[] CopyOf(ScrubWorld world, int copy)
    {
        byte[] data = new byte[Block];
        (int disk, long offset) = world.DataPlace(copy, 2 * Strip);
        world.Disks[disk].Media.Read(offset, data);
        return data;
    }

    private static unsafe void AssertCovers(MirrorLayout layout, SpaceShape shape, long offset, IoBuffer memory, int length)
    {
        HashSet<long> seen = [];
        int unit = Math.Min(shape.RegionSize, shape.PageSpan);
        StripRuns runs = new(layout, offset, length);
        while (runs.Next(out StripRun run))
        {
            IoBuffer part = run.MemoryOf(memory);
            Assert.Equal(run.Piece.Length, part.Length);
            Assert.Equal(run.Piece.SlabOffset / unit, (run.Piece.SlabOffset + run.Piece.Length - 1) / unit);
            for (int at = 0; at < part.Length; at += Block)
            {
                long address = layout.AddressOf(run.Piece.Row, run.Piece.Column, run.Piece.SlabOffset + at);
                Assert.Equal(address - offset, part.Slice(at, Block).Pointer - memory.Pointer);
                Assert.True(seen.Add(address));
            }
        }

        Assert.Equal(length / Block, seen.Count);
    }
}
