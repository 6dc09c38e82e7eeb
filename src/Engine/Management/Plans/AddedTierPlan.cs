using System.Collections.Immutable;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

/// <summary>Decides a tier that a virtual disk is to be given, or refuses what cannot be. Changes nothing.</summary>
/// <param name="pool">The pool.</param>
/// <param name="disk">The virtual disk.</param>
internal sealed class AddedTierPlan(IPoolReader pool, VirtualDiskDescription disk)
{
    /// <summary>The tier, and the physical disks that it may lie on.</summary>
    /// <param name="asked">Template and size in bytes, which is rounded up to whole slices.</param>
    /// <exception cref="ManagementException">The virtual disk cannot have that tier, or the pool has no room for it.</exception>
    internal (TierDescription Spec, ImmutableArray<DiskNumber> Disks) Decide(TierRequest asked)
    {
        RequireTiers();
        VirtualDiskRequest request = new()
        {
            FriendlyName = disk.FriendlyName, SliceSize = disk.SliceSize, ProvisioningType = disk.ProvisioningType, Tiers = [asked], Checksum = disk.Checksum,
            ColumnIsolation = disk.ColumnIsolation > FaultDomainLevel.PhysicalDisk ? disk.ColumnIsolation : null,
        };
        TieredDiskPlan plan = new(pool, request, UsableDisks) { TierParameter = "StorageTier", SizeParameter = "Size", Existing = disk.Tiers };
        List<(TierTemplate Template, long SizeBytes)> named = plan.Named();
        RequireNewMedium(named[0].Template);
        plan.Provisioning([named[0].Template]);
        TierDescription spec = plan.Decide(named)[0];
        ImmutableArray<DiskNumber> disks = [.. UsableDisks(spec.Media())];
        RequireNewName(spec);
        RequireCopiesOfCache(spec);
        RequireRoom(spec, asked.SizeBytes, disks);
        return (spec, disks);
    }

    private void RequireTiers()
    {
        if (!disk.IsTiered)
        {
            throw new ManagementException(
                ManagementError.NotSupported,
                $"Virtual disk '{disk.FriendlyName}' has no tiers, and its data lies in one piece, not in slices that could move to one.",
                "Make another one with New-VirtualDisk -StorageTiers, and copy the data.");
        }
    }

    private void RequireNewMedium(TierTemplate template)
    {
        if (disk.Tiers.FirstOrDefault(tier => tier.MediaTypeCode == template.MediaTypeCode) is { } same)
        {
            throw new ManagementException(
                ManagementError.InvalidParameter,
                $"-StorageTier '{template.FriendlyName}' is of medium {template.Media()}, of which virtual disk '{disk.FriendlyName}' has storage tier "
                + $"'{same.FriendlyName}'. Slices move to faster media, so it has one tier of each.",
                "Make that one larger with Resize-StorageTier, or name a template of another medium.");
        }
    }

    private void RequireNewName(TierDescription spec)
    {
        if (disk.Tiers.Any(tier => string.Equals(tier.FriendlyName, spec.FriendlyName, StringComparison.OrdinalIgnoreCase)))
        {
            throw new ManagementException(
                ManagementError.NameTaken,
                $"The tier would be called '{spec.FriendlyName}', and virtual disk '{disk.FriendlyName}' has a storage tier of that name.",
                "Rename that one, or the template, with Set-StorageTier -NewFriendlyName.");
        }
    }

    // A write cache has as many copies as the tier that is copied most, and keeps them as long as it is there.
    private void RequireCopiesOfCache(TierDescription spec)
    {
        if (disk.CacheSpace != SpaceId.None && spec.RingCopies > disk.CacheCopies)
        {
            throw new ManagementException(
                ManagementError.InvalidParameter,
                $"Storage tier '{spec.FriendlyName}' would survive the loss of {TieredDiskPlan.DisksText(spec.RingCopies - 1)}, and the write cache of virtual disk '{disk.FriendlyName}' has {disk.CacheCopies} copies: writes would be kept less safely than the tier keeps them.",
                "Take the write cache away (Set-VirtualDisk -WriteCacheSize 0), add the tier, and give it one again; or use a template with less redundancy.");
        }
    }

    private void RequireRoom(TierDescription spec, long asked, ImmutableArray<DiskNumber> disks)
    {
        long most = RoomPlans.LargestAddedTierSize(pool, disk, spec, disks);
        if (spec.SizeBytes > most)
        {
            throw new ManagementException(
                ManagementError.NotEnoughCapacity,
                $"-Size {ByteText.Exact(asked)} of storage tier '{spec.FriendlyName}' is more than storage pool '{pool.State.Pool!.FriendlyName}' has room for: at most {ByteText.Exact(most)} on {spec.Media()} with {CountText.Of(spec.NumberOfColumns, "column")} and {TieredDiskPlan.LayoutText(spec)}.",
                "Give a smaller size, or add disks of its medium.");
        }
    }

    // Where the disks of the virtual disk were named, those of the medium among them; where there are none, as for a disk that names none.
    private DiskNumber[] UsableDisks(MediaType medium)
    {
        DiskDescription[] present = [.. pool.State.Disks.Values.Select(static member => member.Description)
            .Where(member => pool.IsUsable(member.Number) && member.Media() == medium)];
        DiskNumber[] named = [.. present.Where(
            member => disk.AllowedDisks.Contains(member.Number) && member.Usage is DiskUsage.AutoSelect or DiskUsage.ManualSelect)
            .Select(static member => member.Number)];
        return named.Length > 0 ? named : [.. present.Where(static member => member.Usage == DiskUsage.AutoSelect).Select(static member => member.Number)];
    }
}
