using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Lanes.Native;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Devices.Raw;

// Requests on ranges: unmap, zeroing, status. They are rare beside reads and writes, so they are plain async code.
public sealed partial class RawDisk
{
    private const int ZeroChunk = 1 << 20;
    private const int ExtentsPerTurn = 256;

    /// <inheritdoc/>
    public LaneTask<IoError> Unmap(long offset, long length)
    {
        IoError error = Check(offset, length, long.MaxValue);
        return error != IoError.None || length == 0 ? new LaneTask<IoError>(error) : UnmapRange(offset, length);
    }

    /// <inheritdoc/>
    public LaneTask<IoError> WriteZeroes(long offset, long length, WriteFlags flags)
    {
        IoError error = Check(offset, length, long.MaxValue);
        return error != IoError.None || length == 0 ? new LaneTask<IoError>(error) : ZeroRange(offset, length, flags);
    }

    /// <inheritdoc/>
    public LaneTask<IoError> Status(long offset, long length, List<StoreExtent> extents)
    {
        IoError error = Check(offset, length, long.MaxValue);
        if (error != IoError.None || length == 0)
        {
            return new LaneTask<IoError>(error);
        }

        if (_device.IsBlockDevice)
        {
            FileExtents.Append(extents, length, ExtentState.Data);
            return new LaneTask<IoError>(IoError.None);
        }

        return StatusOfFile(offset, length, extents);
    }

    private async LaneTask<IoError> UnmapRange(long offset, long length)
    {
        const int punch = Libc.AllocatePunchHole | Libc.AllocateKeepSize;
        IoError error = await OnRange(_device.IsBlockDevice ? FileOpcode.Discard : FileOpcode.Allocate, offset, length, punch);
        return error == IoError.NotSupported ? IoError.None : error;   // only a hint, then
    }

    private async LaneTask<IoError> ZeroRange(long offset, long length, WriteFlags flags)
    {
        IoError error = await ZeroBelow(offset, length, flags);
        if (error == IoError.NotSupported && (flags & WriteFlags.Fast) == 0)
        {
            error = await WriteZeroBlocks(offset, length);
        }

        bool durable = error == IoError.None && (flags & WriteFlags.ForceUnitAccess) != 0;
        return durable ? await Flush() : error;
    }

    private LaneTask<IoError> ZeroBelow(long offset, long length, WriteFlags flags)
    {
        if (_device.IsBlockDevice && (flags & WriteFlags.Fast) == 0)
        {
            return OnRange(FileOpcode.ZeroOut, offset, length, 0);   // where the device cannot, the kernel writes zeros
        }

        int mode = (flags & WriteFlags.NoHole) != 0 ? Libc.AllocateZeroRange : Libc.AllocatePunchHole;
        return OnRange(FileOpcode.Allocate, offset, length, mode | Libc.AllocateKeepSize);
    }

    private async LaneTask<IoError> OnRange(FileOpcode opcode, long offset, long length, int mode)
    {
        FileOperation operation = new(opcode, _file, 0, offset, length, mode);
        if (_unaligned is not { } unaligned)
        {
            return await Start(operation, syncAfter: false);
        }

        await unaligned.EnterShared();
        IoError error = await Start(operation, syncAfter: false);
        unaligned.ExitShared();
        return error;
    }

    private async LaneTask<IoError> WriteZeroBlocks(long offset, long length)
    {
        IoBuffer zeros = Lane.Buffers.Rent((int)Math.Min(length, ZeroChunk));
        zeros.Span.Clear();
        RequestBegun();
        IoError error = IoError.None;
        for (long done = 0; done < length && error == IoError.None;)
        {
            int count = (int)Math.Min(length - done, zeros.Length);
            error = await Write(offset + done, zeros.Slice(0, count), WriteFlags.None);
            done += count;
        }

        RequestEnded();
        Lane.Buffers.Return(zeros);
        return error;
    }

    private async LaneTask<IoError> StatusOfFile(long offset, long length, List<StoreExtent> extents)
    {
        long end = offset + length;
        RequestBegun();
        IoError error = IoError.None;
        for (int count = 1; offset < end && error == IoError.None; count++)
        {
            error = FileExtents.Next(_device.Descriptor, ref offset, end, Geometry.BlockSize, extents);
            if (count % ExtentsPerTurn == 0)
            {
                await Lane.Yield();   // a badly fragmented image must not hold the lane
            }
        }

        RequestEnded();
        return error;
    }
}
