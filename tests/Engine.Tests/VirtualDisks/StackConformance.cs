using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tests.Primitives;
using TierSpaces.Engine.VirtualDisks;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.VirtualDisks;

/// <summary>The suite over every layer above member disks, on pools of simulated disks.</summary>
public abstract class StackConformance : BlockStoreConformance
{
    private const long Mebibyte = 1 << 20;

    protected virtual int LogicalSectorSize => 4096;

    protected virtual int Copies => 2;

    protected virtual long CacheBytes => 0;

    protected virtual bool IsTiered => false;

    /// <summary>A part of a block that is unmapped keeps its bytes.</summary>
    protected override bool UnmapReadsZeros => LogicalSectorSize == 4096;

    /// <summary>The layer that is tried.</summary>
    protected virtual IBlockStore Layer(OpenVirtualDisk disk) => disk.Disk;

    protected override void WithStore(Func<ILane, IBlockStore, LaneTask> body)
    {
        VirtualDiskDescription spec = new()
        {
            FriendlyName = "d",
            ResiliencySettingName = Copies == 1 ? "Simple" : "Mirror",
            SizeBytes = 80 * Mebibyte,
            NumberOfColumns = (ushort)(Copies == 1 ? 2 : 1),
            NumberOfDataCopies = (ushort)Copies,
            Interleave = 256 << 10,
            LogicalSectorSize = (ushort)LogicalSectorSize,
            ProvisioningType = ProvisioningType.Thin,
            Checksum = ChecksumKind.CRC32C,
            WriteCacheSize = CacheBytes,
            SliceSize = (int)Mebibyte,
            Tiers = IsTiered ? [Tier(30), Tier(50)] : [],
        };
        PoolWorld world = PoolWorld.New(5, 224 * Mebibyte, 4096, seed: 31, spec);
        Assert.Equal("", world.Lane.Run(world.Open(isNew: true)));
        int rented = world.Lane.Buffers.Outstanding;
        world.Lane.Run(body(world.Lane, Layer(world.VirtualDisk!)));
        Assert.Equal(0, world.VirtualDisk!.Disk.Counters.Queue);
        world.Lane.Advance(1_000_000_000);
        Assert.True(world.Lane.Buffers.Outstanding <= rented);
        Assert.Equal(IoError.None, world.Lane.Run(world.Close()));
        world.Release();
    }

    private TierDescription Tier(int slices) => new()
    {
        FriendlyName = $"t{slices}", MediaTypeCode = 0, ResiliencySettingName = "Mirror", SizeBytes = slices * Mebibyte,
        NumberOfColumns = 1, NumberOfDataCopies = (ushort)Copies, Interleave = 256 << 10,
    };
}

public sealed class MirrorSpaceConformance : StackConformance
{
    protected override IBlockStore Layer(OpenVirtualDisk disk) => disk.Space;
}

public sealed class WriteCacheConformance : StackConformance
{
    protected override long CacheBytes => 8 << 20;

    protected override IBlockStore Layer(OpenVirtualDisk disk) => disk.Cache!;
}

public sealed class TieredStoreConformance : StackConformance
{
    protected override bool IsTiered => true;

    protected override IBlockStore Layer(OpenVirtualDisk disk) => disk.Tiers!;
}

public sealed class VirtualDiskConformance : StackConformance;

public sealed class SmallSectorConformance : StackConformance
{
    protected override int LogicalSectorSize => 512;
}

public sealed class SmallSectorStripeConformance : StackConformance
{
    protected override int Copies => 1;

    protected override int LogicalSectorSize => 512;
}

public sealed class SmallSectorCacheConformance : StackConformance
{
    protected override int LogicalSectorSize => 512;

    protected override long CacheBytes => 8 << 20;
}

public sealed class SmallSectorTierConformance : StackConformance
{
    protected override int LogicalSectorSize => 512;

    protected override bool IsTiered => true;
}
