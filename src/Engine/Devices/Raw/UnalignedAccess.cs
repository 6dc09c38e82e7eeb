using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Devices.Raw;

// Requests that direct access cannot take as they are: a buffer at an odd address is copied through an aligned one; a
// range that does not fill the device's units is widened to whole units, and a write of that kind reads them first.
//
// Invariants
//  1. A write that reads first holds the gate alone: otherwise it could put back the old contents of a neighbour that
//     was written meanwhile. Where the unit is no larger than the sector such writes cannot occur, and there is no gate.

/// <summary>The slow way into a disk with direct access.</summary>
internal sealed class UnalignedAccess(RawDisk disk, OpenedDevice device)
{
    private const int ChunkMax = 1 << 20;

    private readonly int _unit = device.OffsetAlignment;
    private readonly int _memoryAlignment = device.MemoryAlignment;
    private readonly SharedGate? _gate = device.OffsetAlignment > disk.Geometry.BlockSize ? new SharedGate() : null;

    /// <summary>Whether direct access takes a read as it is.</summary>
    internal bool IsAligned(long offset, IoBuffer buffer) =>
        buffer.IsAligned(_memoryAlignment) && IsWhole(offset, buffer.Length);

    /// <summary>Whether direct access takes a write as it is and no gate has to be passed.</summary>
    internal bool MayWriteDirectly(long offset, IoBuffer buffer) => _gate is null && IsAligned(offset, buffer);

    /// <summary>Keeps writes that read first away from a range; completes at once where there is no gate.</summary>
    internal LaneTask EnterShared() => _gate?.EnterShared() ?? LaneTask.Completed;

    internal void ExitShared() => _gate?.ExitShared();

    internal async LaneTask<IoError> Read(long offset, IoBuffer target)
    {
        disk.RequestBegun();
        IoError error = IoError.None;
        for (int done = 0; done < target.Length && error == IoError.None;)
        {
            int count = ChunkOf(target, done);
            error = await ReadChunk(offset + done, target.Slice(done, count));
            done += count;
        }

        disk.RequestEnded();
        return error;
    }

    internal async LaneTask<IoError> Write(long offset, IoBuffer source, bool durable)
    {
        disk.RequestBegun();
        bool alone = !IsWhole(offset, source.Length);
        await (alone ? _gate!.EnterExclusive() : EnterShared());
        IoError error = IsAligned(offset, source)
            ? await disk.StartWrite(offset, source, durable)
            : await WriteChunks(offset, source, durable);
        if (alone)
        {
            _gate!.ExitExclusive();
        }
        else
        {
            ExitShared();
        }

        disk.RequestEnded();
        return error;
    }

    private async LaneTask<IoError> WriteChunks(long offset, IoBuffer source, bool durable)
    {
        IoError error = IoError.None;
        for (int done = 0; done < source.Length && error == IoError.None;)
        {
            int count = ChunkOf(source, done);
            error = await WriteChunk(offset + done, source.Slice(done, count), durable);
            done += count;
        }

        return error;
    }

    private async LaneTask<IoError> ReadChunk(long offset, IoBuffer target)
    {
        long start = offset & -_unit;
        IoBuffer whole = disk.Lane.Buffers.Rent(WholeLength(offset, target.Length));
        IoError error = await disk.StartRead(start, whole);
        if (error == IoError.None)
        {
            whole.Span.Slice((int)(offset - start), target.Length).CopyTo(target.Span);
        }

        disk.Lane.Buffers.Return(whole);
        return error;
    }

    private async LaneTask<IoError> WriteChunk(long offset, IoBuffer source, bool durable)
    {
        long start = offset & -_unit;
        IoBuffer whole = disk.Lane.Buffers.Rent(WholeLength(offset, source.Length));
        IoError error = IsWhole(offset, source.Length) ? IoError.None : await disk.StartRead(start, whole);
        if (error == IoError.None)
        {
            source.Span.CopyTo(whole.Span[(int)(offset - start)..]);
            error = await disk.StartWrite(start, whole, durable);
        }

        disk.Lane.Buffers.Return(whole);
        return error;
    }

    /// <summary>Returns the length of the next chunk of a request. A chunk of a striped buffer is one strip at most.</summary>
    private static int ChunkOf(IoBuffer buffer, int done) => Math.Min(buffer.Length - done, Math.Min(buffer.Strip(0).Length, ChunkMax));

    private bool IsWhole(long offset, int length) => ((offset | (uint)length) & (_unit - 1)) == 0;

    private int WholeLength(long offset, int length) => (int)(((offset + length + _unit - 1) & -_unit) - (offset & -_unit));
}
