using TierSpaces.Bench.Tables;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Bench.Tests;

/// <summary>The disk that processor times are measured on keeps what is written.</summary>
public sealed class MemoryDiskTests
{
    [Fact]
    public async Task A_disk_in_memory_reads_what_was_written_and_zeros_elsewhere()
    {
        using BufferPool buffers = new();
        MemoryDisk disk = new("memory", 4 << 20);
        IoBuffer written = buffers.Rent(64 << 10), read = buffers.Rent(128 << 10);
        new Random(1).NextBytes(written.Span);
        long border = (1 << 20) - (32 << 10);   // over two chunks

        Assert.Equal(IoError.None, await disk.Write(border, written, WriteFlags.None));
        Assert.Equal(IoError.None, await disk.Read(border - (32 << 10), read));
        Assert.True(read.Span[..(32 << 10)].IndexOfAnyExcept((byte)0) < 0);
        Assert.True(read.Span.Slice(32 << 10, 64 << 10).SequenceEqual(written.Span));
        Assert.True(read.Span[(96 << 10)..].IndexOfAnyExcept((byte)0) < 0);

        Assert.Equal(IoError.None, await disk.WriteZeroes(border, 64 << 10, WriteFlags.None));
        Assert.Equal(IoError.None, await disk.Read(border - (32 << 10), read));
        Assert.True(read.Span.IndexOfAnyExcept((byte)0) < 0);
        buffers.Return(written);
        buffers.Return(read);
        await disk.Close();
    }
}
