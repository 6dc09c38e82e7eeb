using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Resiliency.Layouts;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Resiliency;

/// <summary>A space in the simulator with data in it, cleanly opened, and a model of what it should hold; with means to damage it.</summary>
internal sealed class ScrubWorld
{
    private const int Block = 4096;

    private readonly SpaceScenario _scenario;
    private readonly byte[] _model;
    private readonly bool[] _written;
    private readonly Random _random;

    private ScrubWorld(SpaceScenario scenario, SpaceWorld world, byte[] model, bool[] written)
    {
        _scenario = scenario;
        World = world;
        _model = model;
        _written = written;
        _random = new Random((int)world.Lane.Seed);
        Assert.Equal("", Lane.Run(world.Open(isNew: false)));
    }

    internal SpaceWorld World { get; }

    internal SimLane Lane => World.Lane;

    internal Space Space => World.Space;

    internal SimDisk[] Disks => World.Disks;

    internal int RowLength => (int)_scenario.Shape.RowSize;

    /// <summary>Three rows; the first 16 blocks are written, and of the others a half; the last row has none.</summary>
    internal static ScrubWorld New(int columns, int copies, bool checksums, ulong seed = 1, int rows = 3, int slabSize = 256 << 10, int parities = 0)
    {
        SpaceScenario scenario = new(columns, copies, checksums, 512, rows) { SlabSize = slabSize, Parities = parities };
        SpaceWorld world = SpaceWorld.New(scenario, seed);
        Assert.Equal("", world.Lane.Run(world.Open(isNew: true)));
        byte[] model = new byte[scenario.Length];
        bool[] written = new bool[scenario.Length / Block];
        Random random = new((int)seed);
        for (int block = 0; block < written.Length * 2 / 3; block++)
        {
            if (block < 16 || random.Next(2) == 0)
            {
                random.NextBytes(model.AsSpan(block * Block, Block));
                written[block] = true;
                WriteTo(world, model, block * Block, Block);
            }
        }

        Assert.Equal(IoError.None, world.Lane.Run(world.Close()));
        return new ScrubWorld(scenario, (SpaceWorld)world.Fork(seed + 1), model, written);
    }

    internal ScrubWorld Reopen()
    {
        Assert.Equal(IoError.None, Lane.Run(World.Close()));
        return Opened((SpaceWorld)World.Fork(Lane.Seed + 1));
    }

    internal ScrubWorld Opened(SpaceWorld world) => new(_scenario, world, _model, _written);

    internal int Reported(DiskFinding finding) => World.Host.Reports.GetValueOrDefault(finding);

    /// <summary>Returns the place of a copy of an address; with parity, of the strips of its line, its own first.</summary>
    internal (int Disk, long Offset) DataPlace(int copy, long address)
    {
        SpaceShape shape = _scenario.Shape;
        StripPiece piece = shape.Parities > 0 ? new ParityLayout(shape).First(address, Block) : new MirrorLayout(shape).First(address, Block);
        int position = shape.Parities > 0 ? (piece.Column + copy) % shape.Columns : (piece.Column * shape.Copies) + copy;
        SlabPlace place = World.Host.Row(piece.Row)!.Places[position];
        return (place.Disk, place.DataOffset + piece.SlabOffset);
    }

    /// <summary>Returns the place of a copy of the first checksum page.</summary>
    internal (int Disk, long Offset) PagePlace(int copy)
    {
        SlabPlace place = World.Host.Row(0)!.Places[copy];
        return (place.Disk, place.PagesOffset);
    }

    /// <summary>Flips a random byte of one copy of a block.</summary>
    internal void Flip(int copy, long address)
    {
        (int disk, long offset) = DataPlace(copy, address);
        FlipByte(disk, offset + _random.Next(Block));
    }

    /// <summary>Every written block.</summary>
    internal IEnumerable<int> Written => Enumerable.Range(0, _written.Length).Where(block => _written[block]);

    internal int FlipEverythingWritten(int copy)
    {
        int count = 0;
        for (int block = 0; block < _written.Length; block++)
        {
            if (_written[block])
            {
                Flip(copy, (long)block * Block);
                count++;
            }
        }

        return count;
    }

    /// <summary>Flips a byte in two sectors of every checksum page of a copy: one in use, one that describes nothing yet.</summary>
    internal int FlipChecksumSectors(int copy)
    {
        SpaceShape shape = _scenario.Shape;
        int count = 0;
        for (int row = 0; World.Host.Row(row) is { } map; row++)
        {
            for (int column = 0; column < shape.Columns; column++)
            {
                SlabPlace place = map.Places[(column * shape.Copies) + copy];
                FlipByte(place.Disk, place.PagesOffset + _random.Next(512));
                FlipByte(place.Disk, place.PagesOffset + (5 * 512) + _random.Next(512));
                count += 2;
            }
        }

        return count;
    }

    internal void FlipByte(int disk, long offset) => Disks[disk].Media.Corrupt(offset, sector =>
    {
        sector[offset % 512] ^= 0x10;
        return sector;
    });

    internal LaneTask<ScrubStride> Pass(long cursor, ScrubFindings findings) => PassOver(Space, cursor, findings);

    internal ScrubStride Stride(long cursor, ScrubFindings findings) => Lane.Run(Space.Scrub(cursor, findings));

    internal ScrubFindings Scrub(long cursor = 0)
    {
        ScrubFindings findings = new();
        ScrubStride end = Lane.Run(Pass(cursor, findings));
        Assert.Equal((true, IoError.None), (end.IsDone, end.Error));
        return findings;
    }

    internal static async LaneTask<ScrubStride> PassOver(Space space, long cursor, ScrubFindings findings)
    {
        ScrubStride stride = new(cursor, 0, false, IoError.None);
        while (stride is { IsDone: false, Error: IoError.None })
        {
            stride = await space.Scrub(stride.Cursor, findings);
        }

        return stride;
    }

    internal void Write(int offset, int length)
    {
        Put(offset, length);
        Assert.Equal(IoError.None, Lane.Run(Space.Flush()));
    }

    /// <summary>A write that is acknowledged and not flushed.</summary>
    internal void Put(int offset, int length)
    {
        _random.NextBytes(_model.AsSpan(offset, length));
        _written.AsSpan(offset / Block, length / Block).Fill(true);
        WriteTo(World, _model, offset, length);
    }

    /// <summary>A write of a block full of one byte, neither flushed nor followed by the model.</summary>
    internal async LaneTask<IoError> Overwrite(int offset, byte value)
    {
        IoBuffer buffer = Lane.Buffers.Rent(Block);
        buffer.Span.Fill(value);
        IoError error = await Space.Write(offset, buffer, WriteFlags.None);
        Lane.Buffers.Return(buffer);
        return error;
    }

    /// <summary>A block is full of one byte, from whichever copy it is read.</summary>
    internal void AssertFullOf(byte value, int offset)
    {
        for (int i = 0; i < 4; i++)
        {
            Assert.Equal(IoError.None, Read(offset, Block, out byte[] data));
            Assert.True(!data.AsSpan().ContainsAnyExcept(value), $"{data[0]:X2} instead of {value:X2}");
        }
    }

    internal void Unmap(int offset, int length) => Assert.Equal(IoError.None, Lane.Run(Space.Unmap(offset, length)));

    /// <summary>The range is zeros from now on.</summary>
    internal void Forget(int offset, int length)
    {
        _model.AsSpan(offset, length).Clear();
        _written.AsSpan(offset / Block, length / Block).Clear();
    }

    /// <summary>So much idle time that every region is clean.</summary>
    internal void Settle() => Lane.Advance(60_000_000_000);

    internal IoError Read(int offset, int length, out byte[] data)
    {
        IoBuffer buffer = Lane.Buffers.Rent(length);
        IoError error = Lane.Run(Space.Read(offset, buffer));
        data = buffer.Span.ToArray();
        Lane.Buffers.Return(buffer);
        return error;
    }

    /// <summary>Right content of a range.</summary>
    internal ReadOnlySpan<byte> Model(int offset, int length) => _model.AsSpan(offset, length);

    internal void AssertReads(int offset, int length)
    {
        for (int at = offset; at < offset + length; at += 64 << 10)
        {
            int count = Math.Min(64 << 10, offset + length - at);
            Assert.Equal(IoError.None, Read(at, count, out byte[] data));
            Assert.True(_model.AsSpan(at, count).SequenceEqual(data), $"wrong data from {at} on");
        }
    }

    /// <summary>The same in one request, which may leave its memory with a disk that hangs.</summary>
    internal void AssertReadsAtOnce(int offset, int length)
    {
        IoBuffer buffer = Lane.Buffers.Rent(length).AllowKeeping();
        Assert.Equal(IoError.None, Lane.Run(Space.Read(offset, buffer)));
        buffer = Lane.Buffers.Settle(buffer);
        Assert.True(_model.AsSpan(offset, length).SequenceEqual(buffer.Span), $"wrong data from {offset} on");
        Lane.Buffers.Return(buffer);
    }

    /// <summary>One copy, read past the engine, has the right content.</summary>
    internal void AssertCopy(int copy)
    {
        byte[] data = new byte[Block];
        for (int block = 0; block < _written.Length; block++)
        {
            if (_written[block])
            {
                (int disk, long offset) = DataPlace(copy, (long)block * Block);
                Disks[disk].Media.Read(offset, data);
                Assert.True(_model.AsSpan(block * Block, Block).SequenceEqual(data), $"copy {copy} of block {block} is wrong");
            }
        }
    }

    /// <summary>One request of a random kind somewhere; the model does not follow it.</summary>
    internal async LaneTask<Nothing> RandomRequest(long beyond = 0)
    {
        long offset = beyond + (Lane.Next((int)((Space.Length - beyond) / Block) - 8) * (long)Block);
        int length = (1 + Lane.Next(8)) * Block;
        switch (Lane.Next(8))
        {
            case 0:
                Assert.Equal(IoError.None, await Space.Unmap(offset, length));
                break;
            case 1:
                Assert.Equal(IoError.None, await Space.Unmap(Math.Max(beyond, Lane.Next(3) * _scenario.Shape.RowSize), _scenario.Shape.RowSize));
                break;
            case 2:
                Assert.Equal(IoError.None, await Space.Flush());
                break;
            default:
                IoBuffer buffer = Lane.Buffers.Rent(length);
                _random.NextBytes(buffer.Span);
                Assert.Equal(IoError.None, await Space.Write(offset, buffer, WriteFlags.None));
                Lane.Buffers.Return(buffer);
                break;
        }

        return default;
    }

    private static void WriteTo(SpaceWorld world, byte[] model, int offset, int length)
    {
        IoBuffer buffer = world.Lane.Buffers.Rent(length);
        model.AsSpan(offset, length).CopyTo(buffer.Span);
        Assert.Equal(IoError.None, world.Lane.Run(world.Space.Write(offset, buffer, WriteFlags.None)));
        world.Lane.Buffers.Return(buffer);
    }
}
