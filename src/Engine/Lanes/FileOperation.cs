namespace TierSpaces.Engine.Lanes;

/// <summary>Operation of a lane on a file.</summary>
internal enum FileOpcode : byte
{
    /// <summary>pread into the buffer.</summary>
    Read,

    /// <summary>pwrite from the buffer.</summary>
    Write,

    /// <summary>fdatasync.</summary>
    Sync,

    /// <summary>
    /// fallocate of <see cref="FileOperation.Offset"/> and <see cref="FileOperation.Length"/> with <see cref="FileOperation.Flags"/> as its mode.
    /// </summary>
    Allocate,

    /// <summary>BLKDISCARD.</summary>
    Discard,

    /// <summary>BLKZEROOUT.</summary>
    ZeroOut,

    /// <summary>close. The last close of an unlinked file frees its blocks, which may take seconds: never on the lane.</summary>
    Close,
}

/// <summary>One request on one file. Buffers belong to it until it completes.</summary>
/// <param name="Opcode">Operation.</param>
/// <param name="File">File that the operation is on.</param>
/// <param name="Buffer">Address of the data, for reads and writes.</param>
/// <param name="Offset">First byte.</param>
/// <param name="Length">Bytes; at most 2 GiB − 4 KiB for reads and writes.</param>
/// <param name="Flags">RWF_* for reads and writes, the mode for Allocate.</param>
internal readonly record struct FileOperation(
    FileOpcode Opcode, LaneFile File, nint Buffer, long Offset, long Length, int Flags);

/// <summary>A descriptor that a lane does I/O on.</summary>
/// <param name="descriptor">The open file.</param>
/// <param name="tableIndex">Its place among the ring's registered files, or -1.</param>
internal sealed class LaneFile(int descriptor, int tableIndex)
{
    internal int Descriptor { get; } = descriptor;

    internal int TableIndex { get; } = tableIndex;

    /// <summary>Operations on it that wait for a thread.</summary>
    internal FileQueue Waiting { get; } = new();
}
