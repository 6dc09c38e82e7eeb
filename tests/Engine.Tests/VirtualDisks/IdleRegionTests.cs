using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Verification;

namespace TierSpaces.Engine.Tests.VirtualDisks;

/// <summary>Regions that a load has left: clean after a while, and not resynced after a crash, although nothing was written since.</summary>
public sealed class IdleRegionTests
{
    private const int Mebibyte = 1 << 20;

    [Theory]
    [InlineData(2, true, false)]
    [InlineData(2, true, true)]
    [InlineData(2, false, true)]
    [InlineData(3, true, true)]
    public void What_is_idle_for_five_minutes_is_not_resynced_after_a_crash(int copies, bool checksums, bool rotates)
    {
        PoolWorld world = PoolWorld.New(4, 96 * Mebibyte, 4096, seed: 11, rotates: rotates);
        Assert.Equal("", world.Lane.Run(world.Create(new VirtualDiskDescription
        {
            FriendlyName = "d", ResiliencySettingName = "Mirror", SizeBytes = 32 * Mebibyte, NumberOfColumns = 1, NumberOfDataCopies = (ushort)copies,
            Interleave = 64 << 10, LogicalSectorSize = 4096, ProvisioningType = ProvisioningType.Thin,
            Checksum = checksums ? ChecksumKind.CRC32C : ChecksumKind.None,
        })));
        IoBuffer buffer = world.Lane.Buffers.Rent(4096);
        buffer.Span.Fill(7);
        for (long at = 0; at < 32 * Mebibyte; at += Mebibyte)
        {
            Assert.Equal(IoError.None, world.Lane.Run(world.Store.Write(at, buffer, WriteFlags.None)));
        }

        Assert.NotEqual(0, world.VirtualDisk!.Space.DirtyRegions);
        PoolWorld busy = world.Cut(5, (_, _, _) => false);
        Assert.Equal("", busy.Lane.Run(busy.Open()));
        Assert.NotEqual(0, busy.VirtualDisk!.Space.UnresolvedRegions);

        world.Lane.Advance(300_000_000_000);
        Assert.Equal(0, world.VirtualDisk.Space.DirtyRegions);
        long writes = world.VirtualDisk.Space.Counters.Io.MetadataWrites;
        world.Lane.Advance(300_000_000_000);
        Assert.Equal(writes, world.VirtualDisk.Space.Counters.Io.MetadataWrites);   // nothing is written where nothing happens
        PoolWorld idle = world.Cut(5, (_, _, _) => false);
        Assert.Equal("", idle.Lane.Run(idle.Open()));
        Assert.Equal(0, idle.VirtualDisk!.Space.UnresolvedRegions);
    }
}
