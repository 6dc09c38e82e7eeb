using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

/// <summary>
/// Reads and writes metadata between managed memory and disks, in pieces the disk accepts. Its buffers may be kept by a device
/// that does not answer.
/// </summary>
internal static class MetadataIo
{
    private const int LargestPiece = 256 << 10;

    /// <summary>Fills <paramref name="target"/>; stops at the first error.</summary>
    internal static async LaneTask<IoError> Read(ILane lane, IDisk disk, long offset, Memory<byte> target)
    {
        IoError error = IoError.None;
        for (int at = 0; at < target.Length && error == IoError.None;)
        {
            IoBuffer buffer = lane.Buffers.Rent(PieceOf(disk, target.Length - at)).AllowKeeping();
            error = await disk.Read(offset + at, buffer);
            if (error == IoError.None)
            {
                buffer.Span.CopyTo(target.Span[at..]);
            }

            at += buffer.Length;
            lane.Buffers.Return(buffer);
        }

        return error;
    }

    /// <summary>Writes all of <paramref name="source"/>; stops at the first error.</summary>
    internal static async LaneTask<IoError> Write(ILane lane, IDisk disk, long offset, ReadOnlyMemory<byte> source)
    {
        IoError error = IoError.None;
        for (int at = 0; at < source.Length && error == IoError.None;)
        {
            IoBuffer buffer = lane.Buffers.Rent(PieceOf(disk, source.Length - at)).AllowKeeping();
            source.Span.Slice(at, buffer.Length).CopyTo(buffer.Span);
            error = await disk.Write(offset + at, buffer, WriteFlags.None);
            at += buffer.Length;
            lane.Buffers.Return(buffer);
        }

        return error;
    }

    private static int PieceOf(IDisk disk, int left) => Math.Min(left, Math.Min(LargestPiece, disk.Geometry.MaxTransfer));
}
