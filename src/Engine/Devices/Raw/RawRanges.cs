using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Lanes.Native;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Devices.Raw;

// Requests on ranges: unmap, zeroing, status. They are rare beside reads and writes, so they are plain async code.
//
// Invariant
//  1. Close of the disk waits for them, also between two of their parts.

/// <summary>Unmaps, zeroes and describes ranges of a raw disk.</summary>
/// <param name="disk">The disk; it has checked the range.</param>
/// <param name="device">The open file or device.</param>
/// <param name="file">The device at its lane.</param>
/// <param name="unaligned">Unaligned writes, which a request on a range must not meet; null without direct access.</param>
internal sealed class RawRanges(RawDisk disk, OpenedDevice device, LaneFile file, UnalignedAccess? unaligned)
{
    private const int ZeroChunk = 1 << 20;
    private const int ExtentsPerCall = 256;

    internal async LaneTask<IoError> Unmap(long offset, long length)
    {
        const int punch = Libc.AllocatePunchHole | Libc.AllocateKeepSize;
        IoError error = await OnRange(device.IsBlockDevice ? FileOpcode.Discard : FileOpcode.Allocate, offset, length, punch);
        return error == IoError.NotSupported ? IoError.None : error;   // only a hint, then
    }

    internal async LaneTask<IoError> Zero(long offset, long length, WriteFlags flags)
    {
        IoError error = await ZeroBelow(offset, length, flags);
        if (error == IoError.NotSupported && (flags & WriteFlags.Fast) == 0)
        {
            error = await WriteZeroBlocks(offset, length);
        }

        bool durable = error == IoError.None && (flags & WriteFlags.ForceUnitAccess) != 0;
        return durable ? await disk.Flush() : error;
    }

    private LaneTask<IoError> ZeroBelow(long offset, long length, WriteFlags flags)
    {
        if (device.IsBlockDevice && (flags & WriteFlags.Fast) == 0)
        {
            return OnRange(FileOpcode.ZeroOut, offset, length, 0);   // where the device cannot, the kernel writes zeros
        }

        int mode = (flags & WriteFlags.NoHole) != 0 ? Libc.AllocateZeroRange : Libc.AllocatePunchHole;
        return OnRange(FileOpcode.Allocate, offset, length, mode | Libc.AllocateKeepSize);
    }

    private async LaneTask<IoError> OnRange(FileOpcode opcode, long offset, long length, int mode)
    {
        FileOperation operation = new(opcode, file, 0, offset, length, mode);
        if (unaligned is null)
        {
            return await disk.Start(operation, syncAfter: false);
        }

        await unaligned.EnterShared();
        IoError error = await disk.Start(operation, syncAfter: false);
        unaligned.ExitShared();
        return error;
    }

    private async LaneTask<IoError> WriteZeroBlocks(long offset, long length)
    {
        IoBuffer zeros = disk.Lane.Buffers.Rent((int)Math.Min(length, ZeroChunk));
        zeros.Span.Clear();
        disk.RequestBegun();
        IoError error = IoError.None;
        for (long done = 0; done < length && error == IoError.None;)
        {
            int count = (int)Math.Min(length - done, zeros.Length);
            error = await disk.Write(offset + done, zeros.Slice(0, count), WriteFlags.None);
            done += count;
        }

        disk.RequestEnded();
        disk.Lane.Buffers.Return(zeros);
        return error;
    }

    internal async LaneTask<IoError> StatusOfFile(long offset, long length, List<StoreExtent> extents)
    {
        long end = offset + length;
        disk.RequestBegun();
        IoError error = IoError.None;
        List<StoreExtent> found = [];
        while (offset < end && error == IoError.None)
        {
            found.Clear();
            await disk.OffloadCalls(() =>
            {
                for (int count = 0; count < ExtentsPerCall && offset < end && error == IoError.None; count++)
                {
                    error = FileExtents.Next(device.Descriptor, ref offset, end, disk.Geometry.BlockSize, found);
                }
            });
            found.ForEach(extent => FileExtents.Append(extents, extent.Length, extent.State));
        }

        disk.RequestEnded();
        return error;
    }
}
