using System.Collections.Immutable;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.VirtualDisks;

// Descriptions of virtual disks and tiers that do not exist yet. They take the next numbers of spaces of the pool; nothing is committed here.

/// <summary>Describes new virtual disks, new tiers, and virtual disks whose tiers change.</summary>
internal static class NewDescriptions
{
    /// <summary>Completes what a plan has decided of a virtual disk: identities, spaces, redundancy and time.</summary>
    internal static VirtualDiskDescription Describe(IPoolReader pool, VirtualDiskDescription decided)
    {
        uint next = pool.State.NextSpace.Value;
        bool isTiered = decided.IsTiered;
        VirtualDiskDescription disk = decided with
        {
            Id = decided.Id.Value == Guid.Empty || pool.State.VirtualDisk(decided.Id) is not null ? new VirtualDiskId(pool.NewGuid()) : decided.Id,
            PhysicalDiskRedundancy = decided.Parts.Min(static part => RedundancyOf(part)),
            IsBeingCreated = true,
            CreatedUtcTicks = pool.UtcNow.UtcTicks,
        };
        disk = !isTiered ? disk with { DataSpace = NewSpace(true), LogSpace = NewSpace(VirtualDiskLayout.HasLog(decided.Checksum, decided.NumberOfDataCopies)) }
            : disk with { SizeBytes = decided.Tiers.Sum(static tier => tier.SizeBytes), Tiers = [.. decided.Tiers.Select(DescribeTier)] };
        return !disk.IsCacheElsewhere ? disk with { CacheSpace = NewSpace(decided.WriteCacheSize > 0) }
            : disk with { CacheSpace = decided.WriteCacheSize > 0 && pool.FindPool(disk.CachePool) is { } cachePool ? cachePool.State.NextSpace
                : SpaceId.None };

        SpaceId NewSpace(bool isWanted) => isWanted ? new SpaceId(next++) : SpaceId.None;

        TierDescription DescribeTier(TierDescription tier, int index) => DescribeNew(pool, decided, index) with
        {
            Number = index,
            DataSpace = NewSpace(true),
            LogSpace = NewSpace(VirtualDiskLayout.HasLog(decided.Checksum, tier.NumberOfDataCopies)),
        };
    }

    /// <summary>Disks that may fail: of parity those that it was made for, else one fewer than there are copies.</summary>
    private static ushort RedundancyOf(TierDescription part) => part.Parities > 0 ? part.PhysicalDiskRedundancy : (ushort)(part.NumberOfDataCopies - 1);

    private static TierDescription DescribeNew(IPoolReader pool, VirtualDiskDescription decided, int index)
    {
        TierDescription tier = decided.Tiers[index];
        long diskBytes = index == 0 ? decided.Tiers.Sum(static tier => tier.SizeBytes) : 0;
        return DescribeNew(pool, tier,
            VirtualDiskLayout.TierSpaceBytes(tier.RowBytes(pool.Slabs.DataBytes), (int)decided.SliceSize, tier.SizeBytes, diskBytes));
    }

    private static TierDescription DescribeNew(IPoolReader pool, TierDescription decided, long spaceBytes) => decided with
    {
        Id = pool.NewGuid(),
        PhysicalDiskRedundancy = RedundancyOf(decided),
        SpaceBytes = spaceBytes,
    };

    internal static TierDescription DescribeAdded(IPoolReader pool, VirtualDiskDescription disk, TierDescription decided)
    {
        SpaceId next = pool.State.NextSpace;
        long rowSize = decided.RowBytes(pool.Slabs.DataBytes);
        return DescribeNew(pool, decided,
            VirtualDiskLayout.TierSpaceBytes(rowSize, (int)disk.SliceSize, decided.SizeBytes, disk.SizeBytes + decided.SizeBytes)) with
        {
            Number = disk.Tiers.Length,
            DataSpace = next,
            LogSpace = VirtualDiskLayout.HasLog(disk.Checksum, decided.NumberOfDataCopies) ? new SpaceId(next.Value + 1) : SpaceId.None,
        };
    }

    // Properties that all tiers share are set on the disk too.
    internal static VirtualDiskDescription WithTier(VirtualDiskDescription disk, TierDescription tier, ImmutableArray<DiskNumber> disks)
    {
        ImmutableArray<TierDescription> tiers = [.. disk.Tiers.Append(tier).OrderByDescending(static one => one.MediaTypeCode)];
        return disk with
        {
            Tiers = tiers,
            SizeBytes = disk.SizeBytes + tier.SizeBytes,
            AllowedDisks = disk.AllowedDisks.IsEmpty ? [] : [.. disk.AllowedDisks.Union(disks)],
            ResiliencySettingName = tiers.All(one => one.ResiliencySettingName == tier.ResiliencySettingName) ? tier.ResiliencySettingName : "",
            NumberOfColumns = tiers.All(one => one.NumberOfColumns == tier.NumberOfColumns) ? tier.NumberOfColumns : (ushort)0,
            Interleave = tiers.All(one => one.Interleave == tier.Interleave) ? tier.Interleave : 0,
            NumberOfDataCopies = tiers.Max(static one => one.NumberOfDataCopies),
            PhysicalDiskRedundancy = tiers.Min(static one => one.PhysicalDiskRedundancy),
        };
    }

    /// <summary>A disk with a tier of another size.</summary>
    internal static VirtualDiskDescription WithTierSize(IPoolReader pool, VirtualDiskDescription disk, int index, long sizeBytes)
    {
        TierDescription tier = disk.Tiers[index];
        long size = disk.SizeBytes - tier.SizeBytes + sizeBytes;
        long space = VirtualDiskLayout.TierSpaceBytes(
            VirtualDiskLayout.ShapeOf(pool, disk, tier).RowSize, (int)disk.SliceSize, sizeBytes, index == 0 ? size : 0);
        return disk with
        {
            SizeBytes = size,
            Tiers = disk.Tiers.SetItem(index, tier with { SizeBytes = sizeBytes, SpaceBytes = Math.Max(space, tier.SpaceBytes) }),
        };
    }
}
