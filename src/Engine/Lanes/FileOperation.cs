namespace TierSpaces.Engine.Lanes;

/// <summary>Operation of a lane on a file.</summary>
internal enum FileOpcode : byte
{
    /// <summary>pread into the buffer.</summary>
    Read,

    /// <summary>pwrite from the buffer.</summary>
    Write,

    /// <summary>fdatasync. The <see cref="Status"/> of a watched file follows in the same call.</summary>
    Sync,

    /// <summary>
    /// fallocate of <see cref="FileOperation.Offset"/> and <see cref="FileOperation.Length"/> with <see cref="FileOperation.Flags"/> as its mode.
    /// </summary>
    Allocate,

    /// <summary>BLKDISCARD.</summary>
    Discard,

    /// <summary>BLKZEROOUT.</summary>
    ZeroOut,

    /// <summary>
    /// statx: 0 while the file has a name and <see cref="FileOperation.Length"/> bytes, else <see cref="FileCalls.Gone"/>, also where the call fails.
    /// </summary>
    Status,

    /// <summary>
    /// Closes a descriptor, with <see cref="FileOperation.Flags"/> 1 after the lock of the file has been released. The last close of an unlinked file frees
    /// its blocks, which may take seconds.
    /// </summary>
    Close,

    /// <summary>A call of <see cref="BlockingCall"/>.</summary>
    Call,
}

/// <summary>One request on one file. Buffers belong to it until it completes.</summary>
/// <param name="Opcode">Operation.</param>
/// <param name="File">File that the operation is on.</param>
/// <param name="Buffer">Address of the data, for reads and writes; of vectors, if there are any.</param>
/// <param name="Offset">First byte.</param>
/// <param name="Length">Bytes; at most 2 GiB − 4 KiB for reads and writes. For Status the least size.</param>
/// <param name="Flags">RWF_* for reads and writes, the mode for Allocate, 1 for a Close that releases the lock.</param>
/// <param name="Vectors">Vectors of a read or write whose memory is in several stretches, see <see cref="MemoryVectors"/>; 0: it is in one.</param>
internal readonly record struct FileOperation(
    FileOpcode Opcode, LaneFile File, nint Buffer, long Offset, long Length, int Flags, ushort Vectors = 0);

/// <summary>A descriptor that a lane does I/O on.</summary>
/// <param name="descriptor">The open file.</param>
/// <param name="tableIndex">Its place among the ring's registered files, or -1.</param>
/// <param name="waiting">Its queue, if it shares that of another file.</param>
internal class LaneFile(int descriptor, int tableIndex, FileQueue? waiting = null)
{
    internal int Descriptor { get; } = descriptor;

    internal int TableIndex { get; } = tableIndex;

    /// <summary>
    /// Bytes that the file has to have after each Sync: an image that is truncated or unlinked swallows writes without an error. All calls on such a
    /// watched file are made on threads. 0: the file is not watched.
    /// </summary>
    internal long WatchedSize { get; init; }

    /// <summary>The guard for which calls that change ranges of it wait; null: none.</summary>
    internal CallGuard? Guard { get; init; }

    /// <summary>Operations on it that wait for a thread.</summary>
    internal FileQueue Waiting { get; } = waiting ?? new FileQueue();
}
