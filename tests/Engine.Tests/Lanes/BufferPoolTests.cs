using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Lanes;

public class BufferPoolTests
{
    [Fact]
    public void Returned_buffer_is_reused()
    {
        using BufferPool pool = new();
        IoBuffer first = pool.Rent(5000);
        Assert.True(first.IsAligned(BufferPool.Alignment));
        pool.Return(first);
        pool.Return(pool.Rent(8192));
        Assert.Equal(8192, pool.BytesReserved);
        Assert.Equal(0, pool.Outstanding);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(BufferPool.LargestBuffer + 1)]
    public void Length_outside_the_range_is_refused(int length)
    {
        using BufferPool pool = new();
        Assert.Throws<ArgumentOutOfRangeException>(() => pool.Rent(length));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Buffers_never_overlap_and_are_aligned(bool hugePages)
    {
        using BufferPool pool = hugePages ? new(HugePageMemory.Instance) : new();
        Random random = new(4);
        List<IoBuffer> rented = [];
        for (int i = 0; i < 300; i++)
        {
            IoBuffer buffer = pool.Rent(random.Next(1, random.Next(10) == 0 ? 5 << 20 : 200 << 10));
            Assert.True(buffer.IsAligned(BufferPool.Alignment));
            Assert.Equal(-1, buffer.Span.IndexOfAnyExcept((byte)0));
            buffer.Span.Fill((byte)(i + 1));
            rented.Add(buffer);
        }

        for (int i = 0; i < rented.Count; i++)
        {
            Assert.Equal(-1, rented[i].Span.IndexOfAnyExcept((byte)(i + 1)));
        }
    }

    [Fact]
    public void Small_buffers_share_a_huge_page()
    {
        using BufferPool pool = new(HugePageMemory.Instance);
        for (int i = 0; i < 512; i++)
        {
            pool.Rent(4096);
        }

        Assert.Equal(2 << 20, pool.BytesReserved);
    }
}
