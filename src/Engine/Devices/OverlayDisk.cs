using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Devices;

// Invariants
//  1. A request that the disk below would refuse changes nothing here.
//  2. _written holds whole blocks only: a block that could not be read from below is not there, and reading it is an error.

/// <summary>
/// A disk that is only read: what is written to it stays in memory, block by block, and is forgotten when it is closed. The whole engine can
/// open a pool on such disks, recovery included, without a byte of them changing.
/// </summary>
public sealed class OverlayDisk(IDisk below) : IDisk
{
    private const int BlockSize = 4096;

    private readonly Dictionary<long, byte[]> _written = [];

    /// <inheritdoc/>
    public DiskIdentity Identity => below.Identity;

    /// <inheritdoc/>
    public bool IsPresent => below.IsPresent;

    /// <inheritdoc/>
    public LaneTask<IoError> CheckPresence() => below.CheckPresence();

    /// <inheritdoc/>
    public int InFlight => below.InFlight;

    /// <inheritdoc/>
    public StoreGeometry Geometry => below.Geometry;

    /// <inheritdoc/>
    public async LaneTask<IoError> Read(long offset, IoBuffer target)
    {
        IoError error = await below.Read(offset, target);
        for (int at = 0; error == IoError.None && at < target.Length;)
        {
            int within = (int)((offset + at) % BlockSize);
            int length = Math.Min(BlockSize - within, target.Length - at);
            if (_written.TryGetValue((offset + at) / BlockSize, out byte[]? block))
            {
                block.AsSpan(within, length).CopyTo(target.Slice(at, length).Span);
            }

            at += length;
        }

        return error;
    }

    /// <inheritdoc/>
    public async LaneTask<IoError> Write(long offset, IoBuffer source, WriteFlags flags)
    {
        IoError error = source.Length > Geometry.MaxTransfer ? IoError.TooLarge : Check(offset, source.Length);
        for (int at = 0; error == IoError.None && at < source.Length;)
        {
            long number = (offset + at) / BlockSize;
            int within = (int)((offset + at) % BlockSize);
            int length = Math.Min(BlockSize - within, source.Length - at);
            if (!_written.TryGetValue(number, out byte[]? block))
            {
                (error, block) = await Load(number, length == BlockSize);
            }

            if (error == IoError.None)
            {
                source.Slice(at, length).Span.CopyTo(block.AsSpan(within));
                at += length;
            }
        }

        return error;
    }

    /// <inheritdoc/>
    public LaneTask<IoError> Flush() => LaneTask.FromResult(IoError.None);

    /// <inheritdoc/>
    public LaneTask<IoError> Unmap(long offset, long length) => LaneTask.FromResult(Check(offset, length));

    /// <inheritdoc/>
    public async LaneTask<IoError> WriteZeroes(long offset, long length, WriteFlags flags)
    {
        IoError error = Check(offset, length);
        for (long at = offset; error == IoError.None && at < offset + length;)
        {
            int within = (int)(at % BlockSize);
            int count = (int)Math.Min(BlockSize - within, offset + length - at);
            if (!_written.TryGetValue(at / BlockSize, out byte[]? block))
            {
                (error, block) = await Load(at / BlockSize, count == BlockSize);
            }

            if (error == IoError.None)
            {
                block.AsSpan(within, count).Clear();
                at += count;
            }
        }

        return error;
    }

    /// <inheritdoc/>
    public LaneTask<IoError> Status(long offset, long length, List<StoreExtent> extents) => below.Status(offset, length, extents);

    /// <inheritdoc/>
    public DiskShare Share() => throw new NotSupportedException($"{Identity.Uri}: a disk that is only read offline is used by one lane.");

    /// <inheritdoc/>
    public LaneTask Close()
    {
        _written.Clear();
        return below.Close();
    }

    private IoError Check(long offset, long length)
    {
        bool isInside = offset >= 0 && length >= 0 && offset <= Geometry.Length - length;
        return isInside && ((offset | length) & (Geometry.BlockSize - 1)) == 0 ? IoError.None : IoError.InvalidArgument;
    }

    private async LaneTask<(IoError Error, byte[] Block)> Load(long number, bool isWhole)
    {
        byte[] block = new byte[BlockSize];
        IoError error = IoError.None;
        if (!isWhole)
        {
            (error, block) = await ReadBlock(number, block);
        }

        if (_written.TryGetValue(number, out byte[]? meanwhile))
        {
            return (IoError.None, meanwhile);   // another request has brought it while this one read
        }

        if (error == IoError.None)
        {
            _written[number] = block;
        }

        return (error, block);
    }

    private async LaneTask<(IoError Error, byte[] Block)> ReadBlock(long number, byte[] block)
    {
        IoBuffer whole = Allocate(out BufferPool buffers);
        IoError error = await below.Read(number * BlockSize, whole);
        whole.Span.CopyTo(block);
        buffers.Return(whole);
        buffers.Dispose();
        return (error, block);
    }

    private static IoBuffer Allocate(out BufferPool buffers)
    {
        buffers = new BufferPool();
        return buffers.Rent(BlockSize);
    }
}
