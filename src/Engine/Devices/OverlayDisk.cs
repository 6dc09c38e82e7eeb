using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Devices;

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
                block.AsSpan(within, length).CopyTo(target.Span.Slice(at, length));
            }

            at += length;
        }

        return error;
    }

    /// <inheritdoc/>
    public async LaneTask<IoError> Write(long offset, IoBuffer source, WriteFlags flags)
    {
        IoError error = IoError.None;
        for (int at = 0; error == IoError.None && at < source.Length;)
        {
            long number = (offset + at) / BlockSize;
            int within = (int)((offset + at) % BlockSize);
            int length = Math.Min(BlockSize - within, source.Length - at);
            if (!_written.TryGetValue(number, out byte[]? block))
            {
                (error, block) = await Load(number, length == BlockSize);
            }

            source.Span.Slice(at, length).CopyTo(block.AsSpan(within));
            at += length;
        }

        return error;
    }

    /// <inheritdoc/>
    public LaneTask<IoError> Flush() => LaneTask.FromResult(IoError.None);

    /// <inheritdoc/>
    public LaneTask<IoError> Unmap(long offset, long length) => LaneTask.FromResult(IoError.None);

    /// <inheritdoc/>
    public LaneTask<IoError> WriteZeroes(long offset, long length, WriteFlags flags)
    {
        for (long at = offset; at < offset + length; at += BlockSize)
        {
            _written[at / BlockSize] = new byte[BlockSize];
        }

        return LaneTask.FromResult(offset % BlockSize == 0 && length % BlockSize == 0 ? IoError.None : IoError.InvalidArgument);
    }

    /// <inheritdoc/>
    public LaneTask<IoError> Status(long offset, long length, List<StoreExtent> extents) => below.Status(offset, length, extents);

    /// <inheritdoc/>
    public LaneTask Close()
    {
        _written.Clear();
        return below.Close();
    }

    private async LaneTask<(IoError Error, byte[] Block)> Load(long number, bool isWhole)
    {
        byte[] block = new byte[BlockSize];
        IoError error = IoError.None;
        if (!isWhole)
        {
            (error, block) = await ReadBlock(number, block);
        }

        _written[number] = block;
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
