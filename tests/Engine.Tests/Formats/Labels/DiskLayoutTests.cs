using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Formats;

public sealed class DiskLayoutTests
{
    [Fact]
    public void Areas_follow_one_another_and_end_with_the_disk()
    {
        Random random = new(1);
        for (int i = 0; i < 100_000; i++)
        {
            long bytes = random.NextInt64(DiskLayout.SmallestDisk, random.Next(3) switch { 0 => 256L << 20, 1 => 64L << 30, _ => 64L << 40 });
            SlabGeometry slabs = SlabGeometry.ForSmallestDisk(bytes);
            Assert.True(DiskLayout.TryCreate(bytes, slabs, out DiskLayout layout, out string reason), reason);
            Assert.Equal(DiskLayout.Journal, DiskLayout.SuperblockRingA + (DiskLayout.SuperblockSlots * DiskLayout.BlockBytes));
            Assert.Equal(layout.Heap, layout.JournalBlock((ulong)layout.JournalBlocks - 1) + DiskLayout.BlockBytes);
            Assert.True(layout.HeapPage((uint)layout.HeapPages - 1) + DiskLayout.BlockBytes <= layout.SlabArea);
            Assert.True(layout.Lease >= layout.HeapPage((uint)layout.HeapPages - 1) + DiskLayout.BlockBytes);
            Assert.True(layout.Lease + LeaseArea.Bytes <= layout.SlabArea, $"{bytes} bytes leave no room for a lease");
            Assert.True(layout.SlabOffset(layout.SlabCount - 1) + slabs.Stride <= layout.SuperblockRingB);
            Assert.True(layout.SuperblockRingB - layout.SlabOffset(layout.SlabCount - 1) < 2 * slabs.Stride);
            Assert.True(layout.LabelB + DiskLayout.BlockBytes <= bytes && bytes - layout.LabelB < 2 * DiskLayout.BlockBytes);
            Assert.True(bytes < 64 << 20 || layout.SlabCount >= 32, $"{bytes} bytes give {layout.SlabCount} slabs");
        }
    }

    [Theory]
    [InlineData(64L << 20, 1L << 20)]
    [InlineData(1L << 30, 4L << 20)]
    [InlineData(100L << 30, 256L << 20)]
    [InlineData(20L << 40, 256L << 20)]
    public void The_slab_is_a_256th_of_the_smallest_disk(long disk, long slab) =>
        Assert.Equal(slab, SlabGeometry.ForSmallestDisk(disk).DataBytes);

    [Fact]
    public void A_disk_too_small_is_refused_with_what_it_needs()
    {
        SlabGeometry slabs = new(SlabGeometry.SmallestSlab);
        Assert.True(DiskLayout.TryCreate(DiskLayout.SmallestDisk, slabs, out DiskLayout layout, out _));
        Assert.Equal(1u, layout.SlabCount);
        Assert.False(DiskLayout.TryCreate(DiskLayout.SmallestDisk - 1, slabs, out _, out string reason));
        Assert.Contains(ByteText.Exact(DiskLayout.SmallestDisk), reason);
        Assert.False(DiskLayout.TryCreate(0, slabs, out _, out _));
    }
}
