using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Verification;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Tests.Resiliency;

/// <summary>Time that it takes to bring many checksum pages to their disks: with an integrity log that is full, clients wait for that.</summary>
public sealed class WritebackTests
{
    private const int Pages = 48;
    private const long PageReach = 2 << 20;
    private const long SlowNs = 100_000_000;   // a page on a rotating disk that clients keep busy

    [Fact]
    public void Pages_are_written_and_read_back_many_at_a_time()
    {
        PoolWorld world = PoolWorld.New(2, 256 << 20, 4096, 1, new VirtualDiskDescription
        {
            FriendlyName = "disk", ResiliencySettingName = "Mirror", SizeBytes = Pages * PageReach, NumberOfColumns = 1, NumberOfDataCopies = 2,
                Interleave = 64 << 10,
        });
        Assert.Equal("", world.Lane.Run(world.Open(isNew: true)));
        IoBuffer block = world.Lane.Buffers.Rent(4096);
        for (int page = 0; page < Pages; page++)
        {
            Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk!.Disk.Write(page * PageReach, block, WriteFlags.None)));
        }

        Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk!.Disk.Flush()));
        int slow = 0;
        foreach (SimDisk disk in world.Disks)
        {
            disk.WriteTakesLonger = disk.ReadTakesLonger = (_, _) =>
            {
                slow++;
                return SlowNs;
            };
        }

        long startNs = world.Lane.NowNs;
        Assert.Equal(IoError.None, world.Lane.Run(world.Close()));
        Assert.True(slow >= 4 * Pages, $"{slow} requests: every page goes to two disks and is read back from both.");
        Assert.InRange(world.Lane.NowNs - startNs, 0, Pages * SlowNs);   // one after the other they take four times as long
    }
}
