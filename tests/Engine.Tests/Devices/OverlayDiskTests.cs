using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tests.Primitives;
using TierSpaces.Engine.Verification;

namespace TierSpaces.Engine.Tests.Devices;

/// <summary>The suite of every store over an overlay, and what it promises beside: the disk below is never written.</summary>
public sealed class OverlayDiskTests : BlockStoreConformance
{
    private const int Sector = 512;

    /// <summary>Unmapping is a hint that an overlay does not take.</summary>
    protected override bool UnmapReadsZeros => false;

    protected override void WithStore(Func<ILane, IBlockStore, LaneTask> body)
    {
        SimLane lane = new(1);
        SimDisk below = new(lane,
            new SimMedia("below", 4 << 20, Sector)) { WriteFails = (_, _) => throw new InvalidOperationException("The disk below was written.") };
        OverlayDisk disk = new(below);
        lane.Run(body(lane, disk));
        lane.Run(disk.Close());
    }

    [Theory]
    [InlineData(100, 4096)]
    [InlineData(0, 100)]
    [InlineData(4 << 20, Sector)]
    [InlineData(-Sector, Sector)]
    public void A_refused_request_changes_nothing(long offset, int length) => WithStore(async (lane, store) =>
    {
        IoBuffer ones = lane.Buffers.Rent(8192);
        ones.Span.Fill(1);
        Assert.Equal(IoError.None, await store.Write(0, ones, WriteFlags.None));
        Assert.Equal(IoError.InvalidArgument, await store.WriteZeroes(offset, length, WriteFlags.None));
        Assert.Equal(IoError.InvalidArgument, await store.Unmap(offset, length));
        Assert.Equal(IoError.InvalidArgument, await store.Write(offset, ones.Slice(0, length), WriteFlags.None));
        ones.Span.Clear();
        Assert.Equal(IoError.None, await store.Read(0, ones));
        Assert.Equal(-1, ones.Span.IndexOfAnyExcept((byte)1));
    });

    [Fact]
    public void Zeroing_a_part_of_a_block_leaves_its_rest() => WithStore(async (lane, store) =>
    {
        IoBuffer ones = lane.Buffers.Rent(8192);
        ones.Span.Fill(1);
        Assert.Equal(IoError.None, await store.Write(0, ones, WriteFlags.None));
        Assert.Equal(IoError.None, await store.WriteZeroes(Sector, 4096, WriteFlags.None));
        Assert.Equal(IoError.None, await store.Read(0, ones));
        Assert.Equal(-1, ones.Span[..Sector].IndexOfAnyExcept((byte)1));
        Assert.Equal(-1, ones.Span.Slice(Sector, 4096).IndexOfAnyExcept((byte)0));
        Assert.Equal(-1, ones.Span[(Sector + 4096)..].IndexOfAnyExcept((byte)1));
    });
}
