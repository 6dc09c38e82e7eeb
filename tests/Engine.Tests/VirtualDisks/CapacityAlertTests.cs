using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Verification;

namespace TierSpaces.Engine.Tests.VirtualDisks;

public class CapacityAlertTests
{
    private const int Block = 4096;
    private const int RowBytes = 1 << 20;
    private const int Rows = 52;

    [Fact]
    public void A_pool_around_its_threshold_alerts_once_until_it_has_room_again()
    {
        PoolWorld world = PoolWorld.New(2, 64 << 20, Block, 1, new VirtualDiskDescription
        {
            FriendlyName = "thin", ResiliencySettingName = "Mirror", SizeBytes = Rows * RowBytes, NumberOfColumns = 1, NumberOfDataCopies = 2,
            Interleave = 64 << 10, ProvisioningType = ProvisioningType.Thin,
        });
        Assert.Equal("", world.Lane.Run(world.Open(isNew: true)));
        List<string> alerts = [];
        world.Pool!.CapacityAlerted += alerts.Add;
        int row = 0;
        while (alerts.Count == 0)
        {
            Assert.True(row < Rows);
            Write(world, row++);
        }

        for (int again = 0; again < 5; again++)
        {
            Unmap(world, row - 1, row);
            Write(world, row - 1);
        }

        Assert.Single(alerts);
        Unmap(world, row / 2, row);
        for (int i = row / 2; i < row; i++)
        {
            Write(world, i);
        }

        Assert.Equal(2, alerts.Count);
    }

    private static void Write(PoolWorld world, int row)
    {
        IoBuffer block = world.Lane.Buffers.Rent(Block);
        Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk!.Disk.Write((long)row * RowBytes, block, WriteFlags.None)));
        world.Lane.Buffers.Return(block);
    }

    private static void Unmap(PoolWorld world, int from, int to)
    {
        Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk!.Disk.Unmap((long)from * RowBytes, (long)(to - from) * RowBytes)));
        world.Lane.Advance(10_000_000_000);   // their rows are given back
    }
}
