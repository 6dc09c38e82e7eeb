using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

/// <summary>Sizes that tiers may have, as functions of a snapshot.</summary>
internal static class TierSizes
{
    /// <summary>Returns the sizes of a tier that is made of a template, or that a tier of a virtual disk may be given.</summary>
    /// <exception cref="ManagementException">There is no such tier, its virtual disk is not open, or the layout is another one.</exception>
    internal static SupportedSize Of(SubsystemSnapshot now, Guid id, string? resiliencySettingName)
    {
        if (now.ManagedPools.FirstOrDefault(pool => pool.State?.TierTemplates.ContainsKey(id) == true) is { } owner)
        {
            PoolSnapshot open = now.TakeOpen(owner.Id.Value).Pool!;
            return VirtualDiskPlan.SupportedSize(open, open.State.TierTemplates[id], resiliencySettingName);
        }

        VirtualDiskDescription known = now.ManagedPools.SelectMany(static pool => pool.State?.VirtualDisks.Values ?? [])
            .FirstOrDefault(disk => disk.IndexOf(id) >= 0) ?? throw Unavailable.UnknownTier(id);
        (ManagedPoolSnapshot managed, VirtualDiskSnapshot disk) = now.TakeDisk(known.Id.Value);
        VirtualDiskDescription description = disk.Description;
        int index = description.IndexOf(id);
        TierDescription tier = description.Tiers[index];
        return FriendlyNames.AreSame(resiliencySettingName ?? tier.ResiliencySettingName, tier.ResiliencySettingName)
            ? new SupportedSize(tier.SizeBytes, RoomPlans.LargestTierSize(managed.Pool!, description, index), description.SliceSize)
            : throw new ManagementException(
                ManagementError.InvalidParameter,
                $"-ResiliencySettingName '{resiliencySettingName}': storage tier '{tier.FriendlyName}' is {tier.ResiliencySettingName} and stays so.");
    }

    /// <summary>Returns the size that a tier of a virtual disk is to grow to, in whole slices.</summary>
    /// <exception cref="ManagementException">It is smaller than the tier, or more than the pool has room for.</exception>
    internal static long NewSize(IPoolReader pool, VirtualDiskDescription disk, int index, long sizeBytes)
    {
        TierDescription tier = disk.Tiers[index];
        long size = VirtualDiskPlan.RoundUp(sizeBytes, disk.SliceSize, "Size");
        if (size < tier.SizeBytes)
        {
            throw new ManagementException(
                ManagementError.SizeNotSupported, $"-Size {ByteText.Exact(sizeBytes)} is smaller than storage tier '{tier.FriendlyName}' ({ByteText.Exact(tier.SizeBytes)}).",
                "A tier is not made smaller.");
        }

        long most = disk.ProvisioningType == ProvisioningType.Fixed ? RoomPlans.LargestTierSize(pool, disk, index) : long.MaxValue;
        return size == tier.SizeBytes || size <= most ? size : throw new ManagementException(
            ManagementError.NotEnoughCapacity,
            $"-Size {ByteText.Exact(sizeBytes)} of storage tier '{tier.FriendlyName}' is more than storage pool '{pool.State.Pool!.FriendlyName}' has room for: at most {ByteText.Exact(Math.Max(most, tier.SizeBytes))}.",
            "Give a smaller size, or add disks of its medium.");
    }

    /// <summary>Returns the index of a tier of a virtual disk; −1: it has none of that identity.</summary>
    internal static int IndexOf(this VirtualDiskDescription disk, Guid tier) => disk.IsTiered ? disk.Tiers.ToList().FindIndex(one => one.Id == tier) : -1;
}
