using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Lanes;

public class BufferPoolTests
{
    [Fact]
    public void ReturnedBufferIsReused()
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
    public void LengthOutsideTheRangeIsRefused(int length)
    {
        using BufferPool pool = new();
        Assert.Throws<ArgumentOutOfRangeException>(() => pool.Rent(length));
    }
}
