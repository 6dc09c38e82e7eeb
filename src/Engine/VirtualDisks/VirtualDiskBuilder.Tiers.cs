using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;
using TierSpaces.Engine.Tiering;

namespace TierSpaces.Engine.VirtualDisks;

// The tiers of a virtual disk. The space of a tier is longer than the tier: slots that slices move to while their old ones are in use; in the
// fastest tier, and in one that came later, also slots that the heat of all slices is kept in; and what is left of the last row.

public static partial class VirtualDiskBuilder
{
    private const int SpareSlots = 4;
    private const int HeatBytesPerSlice = 9;   // 4 bytes, in two areas, and what goes round them

    /// <summary>Length of the space of a tier: its size, its reserve, and the rest of its last row; bytes.</summary>
    /// <param name="rowSize">Bytes of a row of its space.</param>
    /// <param name="sliceSize">Bytes of a slice.</param>
    /// <param name="sizeBytes">Size of the tier.</param>
    /// <param name="diskBytes">Size of the disk when its heat is to have room in the tier, else 0.</param>
    public static long TierSpaceBytes(long rowSize, int sliceSize, long sizeBytes, long diskBytes)
    {
        long bytes = sizeBytes + TierReserveBytes(sliceSize, diskBytes);
        return (bytes + rowSize - 1) / rowSize * rowSize;
    }

    /// <summary>What the space of a tier has beyond its size, at least; bytes.</summary>
    public static long TierReserveBytes(int sliceSize, long diskBytes)
    {
        long heat = diskBytes / sliceSize * HeatBytesPerSlice;
        return (SpareSlots + ((heat + sliceSize - 1) / sliceSize) + (heat > 0 ? 1 : 0)) * sliceSize;
    }

    /// <summary>Makes a tier of an open disk larger, and the disk with it.</summary>
    public static LaneTask<CommitResult> GrowTier(Pool pool, OpenVirtualDisk open, int index, long sizeBytes) =>
        GrowPart(pool, open, index, WithTierSize(pool, open.Description, index, sizeBytes));

    /// <summary>A disk with a tier of another size.</summary>
    internal static VirtualDiskDescription WithTierSize(Pool pool, VirtualDiskDescription disk, int index, long sizeBytes)
    {
        TierDescription tier = disk.Tiers[index];
        long size = disk.SizeBytes - tier.SizeBytes + sizeBytes;
        long space = TierSpaceBytes(ShapeOf(pool, disk, tier).RowSize, (int)disk.SliceSize, sizeBytes, index == 0 ? size : 0);
        return disk with
        {
            SizeBytes = size,
            Tiers = disk.Tiers.SetItem(index, tier with { SizeBytes = sizeBytes, SpaceBytes = Math.Max(space, tier.SpaceBytes) }),
        };
    }

    private static TierDescription DescribeNew(Pool pool, NewVirtualDiskSpec spec, int index)
    {
        NewTierSpec tier = spec.Tiers[index];
        long diskBytes = index == 0 ? spec.Tiers.Sum(static tier => tier.SizeBytes) : 0;
        return DescribeNew(pool, tier, TierSpaceBytes(tier.NumberOfColumns * pool.Slabs.DataBytes, spec.SliceSize, tier.SizeBytes, diskBytes));
    }

    private static TierDescription DescribeNew(Pool pool, NewTierSpec tier, long spaceBytes) => new()
    {
        Id = pool.Environment.Lane.NewGuid(),
        FriendlyName = tier.FriendlyName,
        Description = tier.Description,
        MediaTypeCode = tier.MediaTypeCode,
        ResiliencySettingName = tier.ResiliencySettingName,
        NumberOfColumns = (ushort)tier.NumberOfColumns,
        NumberOfDataCopies = (ushort)tier.NumberOfDataCopies,
        PhysicalDiskRedundancy = (ushort)(tier.NumberOfDataCopies - 1),
        Interleave = (uint)tier.Interleave,
        FaultDomainAwareness = tier.FaultDomainAwareness,
        SizeBytes = tier.SizeBytes,
        SpaceBytes = spaceBytes,
    };

    private static TieredStore TiersOf(Pool pool, VirtualDiskDescription disk, List<OpenPart> parts)
    {
        bool isThin = disk.ProvisioningType == ProvisioningType.Thin;
        List<StorageTierStore> tiers = parts.ConvertAll(part =>
            new StorageTierStore(part.Space, disk.Part(part.Number)!.SizeBytes, (int)disk.SliceSize, isThin));
        int[] order = [.. disk.Tiers.Select(static tier => tier.Number)];
        return new TieredStore(pool.Environment.Lane, new PoolSliceHost(pool, disk.Id), tiers, order, (int)disk.SliceSize, disk.SizeBytes);
    }
}
