using System.Runtime.InteropServices;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Bench.Tables;

/// <summary>
/// A member disk that ends every request within the call and keeps what is written, in memory of this process, megabyte by megabyte. No system call, no
/// wait: what a virtual disk on it takes of the processor is its own, and a copy of the bytes.
/// </summary>
internal sealed unsafe class MemoryDisk(string name, long length) : IDisk
{
    private const int ChunkBytes = 1 << 20;
    private const int SectorBytes = 4096;
    private const int TransferMax = 32 << 20;

    private readonly nint[] _chunks = new nint[(length + ChunkBytes - 1) / ChunkBytes];   // 0: zeros

    /// <inheritdoc/>
    public DiskIdentity Identity { get; } = new(
        $"memory:{name}", name, length, SectorBytes, SectorBytes, MediaType.SSD, BusType.Virtual, 0, true, "", "Memory", "", "", "");

    /// <inheritdoc/>
    public StoreGeometry Geometry { get; } = new(length, SectorBytes, SectorBytes, TransferMax);

    /// <inheritdoc/>
    public bool IsPresent => true;

    /// <inheritdoc/>
    public int InFlight => 0;

    /// <inheritdoc/>
    public LaneTask<IoError> Read(long offset, IoBuffer target)
    {
        for (int done = 0; done < target.Length;)
        {
            int within = (int)((offset + done) % ChunkBytes), count = Math.Min(ChunkBytes - within, target.Length - done);
            nint chunk = _chunks[(offset + done) / ChunkBytes];
            Span<byte> part = target.Slice(done, count).Span;
            if (chunk == 0)
            {
                part.Clear();
            }
            else
            {
                new ReadOnlySpan<byte>((byte*)chunk + within, count).CopyTo(part);
            }

            done += count;
        }

        return new LaneTask<IoError>(IoError.None);
    }

    /// <inheritdoc/>
    public LaneTask<IoError> Write(long offset, IoBuffer source, WriteFlags flags)
    {
        for (int done = 0; done < source.Length;)
        {
            int within = (int)((offset + done) % ChunkBytes), count = Math.Min(ChunkBytes - within, source.Length - done);
            source.Slice(done, count).Span.CopyTo(new Span<byte>(Chunk((offset + done) / ChunkBytes) + within, count));
            done += count;
        }

        return new LaneTask<IoError>(IoError.None);
    }

    /// <inheritdoc/>
    public LaneTask<IoError> Flush() => new(IoError.None);

    /// <inheritdoc/>
    public LaneTask<IoError> Unmap(long offset, long length) => WriteZeroes(offset, length, WriteFlags.None);

    /// <inheritdoc/>
    public LaneTask<IoError> WriteZeroes(long offset, long length, WriteFlags flags)
    {
        for (long done = 0; done < length;)
        {
            int within = (int)((offset + done) % ChunkBytes), count = (int)Math.Min(ChunkBytes - within, length - done);
            if (_chunks[(offset + done) / ChunkBytes] is not 0 and nint chunk)
            {
                new Span<byte>((byte*)chunk + within, count).Clear();
            }

            done += count;
        }

        return new LaneTask<IoError>(IoError.None);
    }

    /// <inheritdoc/>
    public LaneTask<IoError> Status(long offset, long length, List<StoreExtent> extents)
    {
        extents.Add(new StoreExtent(length, ExtentState.Data));
        return new LaneTask<IoError>(IoError.None);
    }

    /// <inheritdoc/>
    public LaneTask Close()
    {
        for (int number = 0; number < _chunks.Length; number++)
        {
            NativeMemory.AlignedFree((void*)_chunks[number]);
            _chunks[number] = 0;
        }

        return LaneTask.Completed;
    }

    private byte* Chunk(long number)
    {
        if (_chunks[number] == 0)
        {
            _chunks[number] = (nint)NativeMemory.AlignedAlloc(ChunkBytes, SectorBytes);
            new Span<byte>((void*)_chunks[number], ChunkBytes).Clear();
        }

        return (byte*)_chunks[number];
    }
}
