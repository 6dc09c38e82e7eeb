using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Devices.Raw;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tests.Lanes;
using TierSpaces.Engine.Tests.Primitives;

namespace TierSpaces.Engine.Tests.Devices;

/// <summary>The suite over a real block device (loop).</summary>
public abstract class BlockDeviceConformance(LaneBackend backend, int sectorSize) : BlockStoreConformance
{
    protected override bool UnmapReadsZeros => false;

    protected override void WithStore(Func<ILane, IBlockStore, LaneTask> body)
    {
        using LoopDevice loop = LoopDevice.Attach(sectorSize);
        using TestLane test = TestLane.Create(backend);
        test.Run(async () =>
        {
            RawDisk disk = (RawDisk)await new DiskFactory().Open(test.Lane, $"block:{loop.Path}", new DiskOverrides());
            Assert.Equal(DiskAccess.Direct, disk.Access);
            Assert.Equal(sectorSize, disk.Geometry.BlockSize);
            await body(test.Lane, disk);
            Assert.True(disk.IsPresent);
            await disk.Close();
        });
    }

    [Fact]
    public void A_second_opener_is_refused()
    {
        using LoopDevice loop = LoopDevice.Attach(sectorSize);
        using TestLane test = TestLane.Create(backend);
        test.Run(async () =>
        {
            string uri = $"block:{loop.Path}";
            IDisk disk = await new DiskFactory().Open(test.Lane, uri, new DiskOverrides());
            DiskOpenException rejected = await new DiskFactory().WhyNot(test.Lane, uri, new DiskOverrides());
            Assert.Equal(DiskOpenFailure.InUse, rejected.Failure);
            await disk.Close();
            await (await new DiskFactory().Open(test.Lane, uri, new DiskOverrides())).Close();
        });
    }

    [Fact]
    public void A_logical_sector_smaller_than_that_of_the_device_is_refused()
    {
        using LoopDevice loop = LoopDevice.Attach(sectorSize);
        using TestLane test = TestLane.Create(backend);
        test.Run(async () =>
        {
            string uri = $"block:{loop.Path}";
            DiskOverrides asked = new(LogicalSectorSize: 512);
            if (sectorSize == 512)
            {
                await (await new DiskFactory().Open(test.Lane, uri, asked)).Close();
                return;
            }

            Assert.Equal(
                DiskOpenFailure.Unsuitable,
                (await new DiskFactory().WhyNot(test.Lane, uri, asked)).Failure);
        });
    }
}

public sealed class UringBlockDevice512Conformance() : BlockDeviceConformance(LaneBackend.Uring, 512);

public sealed class UringBlockDevice4096Conformance() : BlockDeviceConformance(LaneBackend.Uring, 4096);

public sealed class ThreadsBlockDevice4096Conformance() : BlockDeviceConformance(LaneBackend.Threads, 4096);
