using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Pools;

/// <summary>Labels that are taken from a disk and given back to it.</summary>
public sealed class DiskLabelsTests
{
    [Fact]
    public void Both_labels_are_back_durably_after_an_erasure()
    {
        PoolWorld world = new(1, 1);
        Pool pool = world.Create();
        long last = pool.Layout(new DiskNumber(1)).LabelB;
        world.Lane.Run(pool.Close());
        byte[][] before = Both(world.Media[0]);
        (IoError error, DiskLabels labels) = world.Lane.Run(DiskLabels.Read(world.Lane, world.Disks[0]));
        Assert.Equal(IoError.None, error);
        Assert.Equal(IoError.None, world.Lane.Run(PoolScan.Erase(world.Lane, world.Disks[0])));
        Assert.Equal(ScanKind.Blank, world.Scan()[0].Kind);

        Assert.Equal(IoError.None, world.Lane.Run(labels.Write(world.Lane, world.Disks[0])));

        Assert.Equal(before, Both(world.Media[0].Cut((_, _) => false)));
        Assert.Equal(ScanKind.Member, world.Scan()[0].Kind);

        byte[][] Both(SimMedia media) => [BlockOf(media, DiskLayout.LabelA), BlockOf(media, last)];
    }

    private static byte[] BlockOf(SimMedia media, long offset)
    {
        byte[] block = new byte[PoolBlock.Size];
        media.Read(offset, block);
        return block;
    }
}
