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
    internal static VirtualDiskDescription Describe(Pool pool, NewVirtualDiskSpec spec)
    {
        uint next = pool.State.NextSpace.Value;
        VirtualDiskDescription disk = new()
        {
            Id = new VirtualDiskId(pool.Environment.Lane.NewGuid()),
            FriendlyName = spec.FriendlyName,
            ResiliencySettingName = spec.ResiliencySettingName,
            SizeBytes = spec.SizeBytes,
            NumberOfColumns = (ushort)spec.NumberOfColumns,
            NumberOfDataCopies = (ushort)spec.NumberOfDataCopies,
            PhysicalDiskRedundancy = (ushort)(spec.NumberOfDataCopies - 1),
            Interleave = (uint)spec.Interleave,
            LogicalSectorSize = (ushort)spec.LogicalSectorSize,
            PhysicalSectorSize = (ushort)spec.PhysicalSectorSize,
            ProvisioningType = spec.ProvisioningType,
            Checksum = spec.Checksum,
            MediaTypeCode = spec.MediaTypeCode,
            FaultDomainAwareness = spec.FaultDomainAwareness,
            AllowedDisks = spec.AllowedDisks,
            WriteCacheSize = spec.WriteCacheSize,
            Destage = spec.Destage,
            IsManualAttach = spec.IsManualAttach,
            Usage = spec.Usage,
            OtherUsageDescription = spec.OtherUsageDescription,
            IsBeingCreated = true,
            CreatedUtcTicks = pool.Environment.Lane.UtcNow.UtcTicks,
            SliceSize = (uint)spec.SliceSize,
        };
        disk = spec.Tiers.IsDefaultOrEmpty ? disk with { DataSpace = NewSpace(true), LogSpace = NewSpace(VirtualDiskLayout.HasLog(spec.Checksum, spec.NumberOfDataCopies)) }
            : disk with { SizeBytes = spec.Tiers.Sum(static tier => tier.SizeBytes), Tiers = [.. spec.Tiers.Select(DescribeTier)] };
        disk = disk with { CachePool = spec.CachePool };
        return !disk.IsCacheElsewhere ? disk with { CacheSpace = NewSpace(spec.WriteCacheSize > 0) }
            : disk with { CacheSpace = spec.WriteCacheSize > 0 && RemoteRooms.CachePoolOf(pool, disk) is { } cachePool ? cachePool.State.NextSpace : SpaceId.None };

        SpaceId NewSpace(bool isWanted) => isWanted ? new SpaceId(next++) : SpaceId.None;

        TierDescription DescribeTier(NewTierSpec tier, int index) => DescribeNew(pool, spec, index) with
        {
            Number = index,
            DataSpace = NewSpace(true),
            LogSpace = NewSpace(VirtualDiskLayout.HasLog(spec.Checksum, tier.NumberOfDataCopies)),
        };
    }

    private static TierDescription DescribeNew(Pool pool, NewVirtualDiskSpec spec, int index)
    {
        NewTierSpec tier = spec.Tiers[index];
        long diskBytes = index == 0 ? spec.Tiers.Sum(static tier => tier.SizeBytes) : 0;
        return DescribeNew(pool, tier, VirtualDiskLayout.TierSpaceBytes(tier.NumberOfColumns * pool.Slabs.DataBytes, spec.SliceSize, tier.SizeBytes, diskBytes));
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

    internal static TierDescription DescribeAdded(Pool pool, VirtualDiskDescription disk, NewTierSpec spec)
    {
        SpaceId next = pool.State.NextSpace;
        long rowSize = spec.NumberOfColumns * pool.Slabs.DataBytes;
        return DescribeNew(pool, spec, VirtualDiskLayout.TierSpaceBytes(rowSize, (int)disk.SliceSize, spec.SizeBytes, disk.SizeBytes + spec.SizeBytes)) with
        {
            Number = disk.Tiers.Length,
            DataSpace = next,
            LogSpace = VirtualDiskLayout.HasLog(disk.Checksum, spec.NumberOfDataCopies) ? new SpaceId(next.Value + 1) : SpaceId.None,
        };
    }

    // Properties that all tiers share are set on the disk too.
    internal static VirtualDiskDescription WithTier(VirtualDiskDescription disk, TierDescription tier, ImmutableArray<DiskNumber> disks)
    {
        ImmutableArray<TierDescription> tiers = [.. disk.Tiers.Append(tier).OrderByDescending(static one => one.MediaTypeCode)];
        ushort copies = tiers.Max(static one => one.NumberOfDataCopies);
        return disk with
        {
            Tiers = tiers,
            SizeBytes = disk.SizeBytes + tier.SizeBytes,
            AllowedDisks = disk.AllowedDisks.IsEmpty ? [] : [.. disk.AllowedDisks.Union(disks)],
            ResiliencySettingName = tiers.All(one => one.ResiliencySettingName == tier.ResiliencySettingName) ? tier.ResiliencySettingName : "",
            NumberOfColumns = tiers.All(one => one.NumberOfColumns == tier.NumberOfColumns) ? tier.NumberOfColumns : (ushort)0,
            Interleave = tiers.All(one => one.Interleave == tier.Interleave) ? tier.Interleave : 0,
            NumberOfDataCopies = copies,
            PhysicalDiskRedundancy = (ushort)(copies - 1),
        };
    }

    /// <summary>A disk with a tier of another size.</summary>
    internal static VirtualDiskDescription WithTierSize(Pool pool, VirtualDiskDescription disk, int index, long sizeBytes)
    {
        TierDescription tier = disk.Tiers[index];
        long size = disk.SizeBytes - tier.SizeBytes + sizeBytes;
        long space = VirtualDiskLayout.TierSpaceBytes(VirtualDiskLayout.ShapeOf(pool, disk, tier).RowSize, (int)disk.SliceSize, sizeBytes, index == 0 ? size : 0);
        return disk with
        {
            SizeBytes = size,
            Tiers = disk.Tiers.SetItem(index, tier with { SizeBytes = sizeBytes, SpaceBytes = Math.Max(space, tier.SpaceBytes) }),
        };
    }
}
